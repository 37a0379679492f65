#pragma once

#include "convex/point_solid.hpp"

namespace clearance {

// Cylinders side by side: the closed forms of one of them, with selections for branches.
template <class Real>
struct CylinderLanes {
    Real radius, half_length;
};

template <class Real>
CLEARANCE_INLINE PointGapOf<Real> point_gap(const CylinderLanes<Real>& solid, const Vec3<Real>& point,
                                            const Vec3<Real>& along) {
    Real zero(0.0), one(1.0);
    closed_form::Meridian<Real> at(point);
    Real beside = at.out - solid.radius, above = abs_of(at.up) - solid.half_length;
    Real way_up = copysign_of(one, at.up), up = at.up - way_up * solid.half_length;
    auto is_at_rim = both(beside > zero, above > zero), is_beside = beside >= above;
    Real from_rim = sqrt_of(beside * beside + up * up), inverse = inverse_or_zero(from_rim);
    Real n_out = select(is_at_rim, beside * inverse, select(is_beside, one, zero));
    Real n_up = select(is_at_rim, select(from_rim > zero, up * inverse, way_up), select(is_beside, zero, way_up));
    return at.gap(select(is_at_rim, from_rim, select(is_beside, beside, above)), n_out, n_up,
                  select(is_at_rim, inverse, zero), along);
}

template <class Real>
CLEARANCE_INLINE Vec3<Real> support(const CylinderLanes<Real>& solid, const Vec3<Real>& along) {
    Real zero(0.0), across = sqrt_of(along.x * along.x + along.y * along.y);
    auto is_aside = across > zero;
    Real scale = select(is_aside, solid.radius / select(is_aside, across, Real(1.0)), zero);
    return {scale * along.x, scale * along.y, copysign_of(solid.half_length, along.z)};
}

}  // namespace clearance
