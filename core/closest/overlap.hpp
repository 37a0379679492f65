#pragma once

#include "closest/core.hpp"

namespace clearance {

// The middle of what a segment or triangle and a triangle in a parallel plane have in common when seen along `normal`:
// the middle of a clipped segment, the centroid of a clipped triangle. False where nothing lies above the other.
template <int NA>
bool middle_of_overlap(const Core<double, NA>& a, const Core<double, 3>& b, const Vec3d& normal, Vec3d& middle);

extern template bool middle_of_overlap(const Core<double, 2>&, const Core<double, 3>&, const Vec3d&, Vec3d&);
extern template bool middle_of_overlap(const Core<double, 3>&, const Core<double, 3>&, const Vec3d&, Vec3d&);

}  // namespace clearance
