#pragma once

#include <span>
#include <utility>
#include <vector>

#include "query/body.hpp"
#include "query/part_contacts.hpp"

namespace clearance {

struct ContactRules {
    DepthMethod method = DepthMethod::epa;
    PlaneRule plane = PlaneRule::manifold;
    double margin = 0.0;        // solids this far apart count as well, with negative depths
    bool only_near = false;     // nothing needs to be known of parts that are farther apart
    bool has_shortcuts = true;  // closed forms for pairs that have one
    bool field_peaks = false;   // also where peaks of a height field stick into a body, not only what is below its triangles
};

// Where two placed bodies touch or overlap: up to four points for each pair of parts, or of triangles, appended to `found`.
// Returns the gap of the deepest pair, or of the nearest.
Gap contacts(const PlacedBody& a, const PlacedBody& b, const ContactRules& rules, std::vector<Contact>& found, Work& work);

// The same for some pairs of parts only; others are known to be apart.
using PartPair = std::pair<std::int32_t, std::int32_t>;
Gap contacts_of_parts(const PlacedBody& a, const PlacedBody& b, std::span<const PartPair> pairs, const ContactRules& rules,
                      std::vector<Contact>& found, Work& work);

// Whether every part of a body can follow the rule for planes.
bool has_plane_rule(const Body& body, PlaneRule rule);

}  // namespace clearance
