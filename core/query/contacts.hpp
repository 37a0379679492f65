#pragma once

#include <vector>

#include "query/body.hpp"
#include "query/plane_contact.hpp"

namespace clearance {

struct Contact {
    Vec3d point;  // halfway between the surfaces
    double depth;
    Vec3d normal;  // from a to b
    std::int32_t part_a, part_b;
};

// Where two placed bodies touch or overlap: up to four points for each pair of parts, appended to `found`. Returns the gap
// of the deepest pair of parts, or of the nearest.
struct ContactRules {
    DepthMethod method = DepthMethod::epa;
    PlaneRule plane = PlaneRule::manifold;
};
Gap contacts(const PlacedBody& a, const PlacedBody& b, const ContactRules& rules, std::vector<Contact>& found, Work& work);

// Whether every part of a body can follow the rule for planes.
bool has_plane_rule(const Body& body, PlaneRule rule);

}  // namespace clearance
