#pragma once

#include <vector>

#include "closest/core.hpp"
#include "query/pair.hpp"
#include "query/plane_contact.hpp"

namespace clearance {

struct Contact {
    Vec3d point;  // halfway between the surfaces
    double depth;
    Vec3d normal;  // from a to b
    std::int32_t part_a, part_b;
    std::int32_t triangle_a = -1, triangle_b = -1;  // of surfaces
};

// Where two parts with this gap touch or overlap, neither of them a surface, or are within the margin: up to four points.
// Depths are negative where they are apart.
void add_contacts(const PlacedPart& a, const PlacedPart& b, const Gap& gap, PlaneRule rule, double margin,
                  std::vector<Contact>& found);

// What of a convex part lies below a triangle of solid ground, seen along the normal of the triangle, however deep.
void add_contacts_above(const Core<double, 3>& triangle, const Vec3d& normal, const PlacedPart& solid,
                        std::vector<Contact>& found);

}  // namespace clearance
