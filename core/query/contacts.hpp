#pragma once

#include <vector>

#include "query/body.hpp"

namespace clearance {

struct Contact {
    Vec3d point;  // halfway between the surfaces
    double depth;
    Vec3d normal;  // from a to b
    std::int32_t part_a, part_b;
};

// Where two placed bodies touch or overlap: up to four points for each pair of parts, appended to `found`. Returns the gap
// of the deepest pair of parts, or of the nearest.
Gap contacts(const PlacedBody& a, const PlacedBody& b, DepthMethod method, std::vector<Contact>& found, Work& work);

}  // namespace clearance
