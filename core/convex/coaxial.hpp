#pragma once

#include <optional>

#include "closest/certificate.hpp"
#include "convex/minkowski.hpp"

namespace clearance {

// The gap of two cylinders or cones that stand in each other on one axis, or nearly so: a closed form. They have a circle of
// best normals, around which EPA would lay thousands of faces. Nothing is returned for others, nor where they are apart, nor
// if the bracket would be wider than `width`, as axes that differ make it.
std::optional<CoreGap<double>> coaxial_gap(const CorePair& pair, double width);

}  // namespace clearance
