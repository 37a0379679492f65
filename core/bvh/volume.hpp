#pragma once

#include "math/float_lanes.hpp"
#include "math/vec3.hpp"

namespace clearance {

// A box of any orientation swept by a sphere: an oriented box where the sweep is zero, a rectangle swept sphere where the
// third half length is.
template <class Real>
struct Volume {
    Vec3<Real> centre, half;
    Vec3<Real> axis[3];
    Real sweep;
};

template <class Real>
CLEARANCE_INLINE Vec3<Real> in_axes(const Vec3<Real>* axis, const Vec3<Real>& v) {
    return {dot(axis[0], v), dot(axis[1], v), dot(axis[2], v)};
}

template <class Real>
CLEARANCE_INLINE Vec3<Real> abs_of(const Vec3<Real>& v) {
    return {abs_of(v.x), abs_of(v.y), abs_of(v.z)};
}

template <class Real>
CLEARANCE_INLINE Real length_outside(const Vec3<Real>& reach) {
    const Real zero(0.0f);
    return norm(Vec3<Real>{max_of(reach.x, zero), max_of(reach.y, zero), max_of(reach.z, zero)});
}

template <class Real>
CLEARANCE_INLINE Vec3<Real> clamped(const Vec3<Real>& v, const Vec3<Real>& half) {
    return {max_of(-half.x, min_of(half.x, v.x)), max_of(-half.y, min_of(half.y, v.y)),
            max_of(-half.z, min_of(half.z, v.z))};
}

// The same, or how deep inside.
template <class Real>
CLEARANCE_INLINE Real signed_length_outside(const Vec3<Real>& reach) {
    return length_outside(reach) + min_of(max_of(max_of(reach.x, reach.y), reach.z), Real(0.0f));
}

// A lower bound of the distance of two volumes, but for rounding; it may be negative.
//
// Seen along the axes of either box the gaps are perpendicular to each other, so their root of squares is a bound. And any
// direction n gives one, (n.t - h_a(n) - h_b(n)) / |n| with the support functions h: here the one from the point of a that
// is nearest to the middle of b to the point of b nearest to that. None of this needs n to be exact.
//
// A point in a convex body is as deep as the largest of n.t - h(n) over all directions, which is negative then. So these
// bounds also hold for depths as long as none is replaced by zero: that is the one thing that `is_signed` changes.
template <bool is_signed = false, class Real>
CLEARANCE_INLINE Real distance_bound(const Volume<Real>& a, const Volume<Real>& b) {
    const Vec3<Real> t = in_axes(a.axis, b.centre - a.centre);
    const Vec3<Real> m[3] = {in_axes(a.axis, b.axis[0]), in_axes(a.axis, b.axis[1]), in_axes(a.axis, b.axis[2])};
    const Vec3<Real> size[3] = {abs_of(m[0]), abs_of(m[1]), abs_of(m[2])};

    const Vec3<Real> reach_a = a.half + b.half.x * size[0] + b.half.y * size[1] + b.half.z * size[2];
    const Vec3<Real> reach_b = b.half + in_axes(size, a.half);
    const auto outside = [](const Vec3<Real>& reach) {
        return is_signed ? signed_length_outside(reach) : length_outside(reach);
    };
    const Real along_a = outside(abs_of(t) - reach_a);
    const Real along_b = outside(abs_of(in_axes(m, t)) - reach_b);

    const Vec3<Real> on_a = clamped(t, a.half);
    const Vec3<Real> seen = clamped(in_axes(m, on_a - t), b.half);
    const Vec3<Real> n = t + seen.x * m[0] + seen.y * m[1] + seen.z * m[2] - on_a;
    const Real support = dot(abs_of(n), a.half) + dot(abs_of(in_axes(m, n)), b.half);
    const Real length = norm(n);
    Real along_n = (dot(n, t) - support) / max_of(length, Real(1e-18f));
    if constexpr (is_signed) along_n = select(length > Real(1e-18f), along_n, along_a);  // no direction proves nothing
    return max_of(max_of(along_a, along_b), along_n) - a.sweep - b.sweep;
}

}  // namespace clearance
