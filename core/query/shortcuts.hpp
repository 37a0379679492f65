#pragma once

#include <optional>

#include "closest/certificate.hpp"
#include "convex/convex.hpp"

namespace clearance {

// Closed forms: a point against solids that have one, in the frame of the solid. The normal points from the solid to the
// point, and point_a lies on the solid. Rounding is left to the caller.
CoreGap<double> gap_of_point(const Box& solid, const Vec3d& point);
CoreGap<double> gap_of_point(const Cylinder& solid, const Vec3d& point);
CoreGap<double> gap_of_point(const Cone& solid, const Vec3d& point);

// The one for this solid, if there is any.
std::optional<CoreGap<double>> gap_of_point(const ConvexCore& solid, const Vec3d& point);

}  // namespace clearance
