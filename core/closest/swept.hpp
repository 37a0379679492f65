#pragma once

#include "closest/certificate.hpp"

namespace clearance {

// The gap between two swept elements: that of their cores less the radii. Witnesses lie on the surfaces, and
// point_b - point_a == distance * normal.
template <class Real>
struct SweptGap {
    Real distance, lower, upper;
    Vec3<Real> point_a, point_b, normal;
    Weights<Real> at;
};

template <class Real>
CLEARANCE_INLINE SweptGap<Real> swept(const CoreGap<Real>& cores, const Weights<Real>& at, Real radius_a, Real radius_b) {
    Real radii = radius_a + radius_b;
    Real rounding = Real(4.0 * kEpsilon) * radii;
    Real distance = cores.distance - radii;
    Vec3<Real> point_a = cores.point_a + radius_a * cores.normal;
    return {distance, cores.lower - radii - rounding,    cores.upper - radii + rounding,
            point_a,  point_a + distance * cores.normal, cores.normal,
            at};
}

}  // namespace clearance
