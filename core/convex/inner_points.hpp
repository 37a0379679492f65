#pragma once

#include <vector>

#include "math/vec3.hpp"

namespace clearance {

// Points without those that are certainly inside the convex hull of others, and so never farthest. Not all of these are
// found, but of the vertices of a mesh most are.
std::vector<Vec3d> without_inner_points(const std::vector<Vec3d>& points, const Vec3d& centre);

}  // namespace clearance
