#pragma once

#include <optional>

#include "convex/distance.hpp"

namespace clearance {

// The gap of two ellipsoids whose cores are apart, by Newton's method on the sphere of normals alone. Every farthest point
// of A - B proves both bounds, because no corner of either core has to be found by several of them: a simplex is not
// needed. Nothing is returned where this does not converge; then the general path has to be taken.
std::optional<CoreGap<double>> smooth_gap(const CorePair& pair, const CoreQuestion& question, int& iterations);

}  // namespace clearance
