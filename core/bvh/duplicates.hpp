#pragma once

#include <vector>

#include "bvh/fit.hpp"

namespace clearance {

// Drop all but the first of triangles that have the same corners, if all boxes are the same: no splitting tells such
// triangles apart, and a thousand of them are no nearer than one. Gives what is left, at the beginning of the span.
std::span<TriangleBox> without_duplicates(std::span<TriangleBox> triangles, const Corners& corners);

}  // namespace clearance
