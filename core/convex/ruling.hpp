#pragma once

#include <optional>
#include <span>

#include "convex/minkowski.hpp"

namespace clearance {

// The line on the side of a cylinder or a cone that faces the unit vector n, if its two ends are among some points of
// A - B. Where
// both cores offer one, n is perpendicular to both of them anyway, and there is none to turn about.
std::optional<Vec3d> ruling_in_use(const CorePair& pair, std::span<const Difference> points, const Vec3d& n);

}  // namespace clearance
