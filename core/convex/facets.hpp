#pragma once

#include <array>
#include <vector>

#include "math/vec3.hpp"

namespace clearance {

// A triangle of the surface of a convex hull, counter-clockwise seen from outside.
struct Facet {
    std::array<int, 3> corner;     // points
    std::array<int, 3> neighbour;  // facets across the edges from corner k to the next
    Vec3d normal;                  // outward, unit
};

// The surface of the convex hull of some points, as triangles. A flat hull has two sides; points on a line have no facets.
// Points nearer to the surface than rounding can tell may be left out.
std::vector<Facet> facets_of(const std::vector<Vec3d>& points);

}  // namespace clearance
