#pragma once

#include <optional>

#include "closest/certificate.hpp"
#include "convex/convex.hpp"

namespace clearance {

// Closed forms: a point against a solid that has one, in the frame of the solid. The normal points from the solid to the
// point, and point_a lies on the solid. Rounding is left to the caller.
std::optional<CoreGap<double>> gap_of_point(const ConvexCore& solid, const Vec3d& point);

}  // namespace clearance
