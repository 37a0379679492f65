#pragma once

#include <optional>

#include "convex/simplex.hpp"

namespace clearance {

// The line on the side of a cylinder or a cone that faces the unit vector n, if the simplex uses both of its ends. Where
// both cores offer one, n is perpendicular to both of them anyway, and there is none to turn about.
std::optional<Vec3d> ruling_in_use(const CorePair& pair, const Simplex& simplex, const Vec3d& n);

}  // namespace clearance
