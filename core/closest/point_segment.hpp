#pragma once

#include "closest/core.hpp"

namespace clearance {

// Parameter of the point of the segment {along * t, 0 <= t <= 1} nearest to `from_start`.
template <class Real>
CLEARANCE_INLINE Real closest_on_segment(const Vec3<Real>& from_start, const Vec3<Real>& along, Real inverse_length_sq) {
    return clamp_unit(dot(from_start, along) * inverse_length_sq);
}

template <class Real>
CLEARANCE_INLINE Weights<Real> closest(const Core<Real, 1>& point, const Core<Real, 2>& segment) {
    Real zero(0.0);
    Vec3<Real> along = segment.vertex[1] - segment.vertex[0];
    Real t = closest_on_segment(point.vertex[0] - segment.vertex[0], along, inverse_or_zero(norm_sq(along)));
    return {zero, zero, t, zero};
}

}  // namespace clearance
