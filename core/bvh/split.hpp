#pragma once

#include <cstdint>
#include <span>

#include "math/float_lanes.hpp"

namespace clearance {

// A triangle as the builder sees it: its box, in units of the tree.
struct TriangleBox {
    float low[3], high[3];
    std::int32_t triangle;
};

// Reorder the triangles so that the first part and the rest make two compact groups, and tell where the rest begins:
// neither is empty. The surface area heuristic over 16 bins along each axis decides; what `leaf` triangles need is one unit
// of its cost. `span` must hold at least two.
std::size_t split(std::span<TriangleBox> triangles, int leaf);

float half_area_of(std::span<const TriangleBox> triangles);

}  // namespace clearance
