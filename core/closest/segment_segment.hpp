#pragma once

#include "closest/core.hpp"

namespace clearance {

// A segment {along * s, 0 <= s <= 1} with what every pairing of it needs.
template <class Real>
struct Edge {
    Vec3<Real> along;
    Real length_sq, inverse_length_sq;
};

template <class Real>
CLEARANCE_INLINE Edge<Real> edge_along(const Vec3<Real>& along) {
    Real length_sq = norm_sq(along);
    return {along, length_sq, inverse_or_zero(length_sq)};
}

template <class Real>
struct EdgeParameters {
    Real s, t;
    Real distance_sq;  // to compare with: a trifle less for parallel edges
};

// Closest points a_start + s u and b_start + t v, with w = b_start - a_start.
//
// The crossing of the two lines is taken from cross products: the textbook determinant |u|^2 |v|^2 - (u.v)^2 cancels for
// nearly parallel lines and costs half of the digits. What error is left in s only slides along the near-common direction,
// where the distance hardly changes. Parallel segments meet in the middle of their overlap, so that the witness moves
// steadily when they slide along each other.
template <class Real>
CLEARANCE_INLINE EdgeParameters<Real> closest_on_edges(const Vec3<Real>& w, const Edge<Real>& a, const Edge<Real>& b) {
    const Vec3<Real>& u = a.along;
    const Vec3<Real>& v = b.along;
    Real uv = dot(u, v), uw = dot(u, w), vw = dot(v, w);

    Vec3<Real> n = cross(u, v);
    Real nn = norm_sq(n);
    auto crossing = nn > Real(kParallelAngle_sq) * (a.length_sq * b.length_sq);
    Real at_crossing = dot(cross(w, v), n) / select(crossing, nn, Real(1.0));
    Real middle = Real(0.5) * (clamp_unit(uw * a.inverse_length_sq) + clamp_unit((uw + uv) * a.inverse_length_sq));

    Real s = select(crossing, clamp_unit(at_crossing), middle);
    Real t = clamp_unit((s * uv - vw) * b.inverse_length_sq);
    s = clamp_unit((t * uv + uw) * a.inverse_length_sq);
    // Where a corner of a parallel edge is as near as its middle, the middle wins.
    Real distance_sq = norm_sq(w + t * v - s * u);
    return {s, t, select(crossing, distance_sq, Real(1.0 - 8.0 * kEpsilon) * distance_sq)};
}

template <class Real>
CLEARANCE_INLINE Weights<Real> closest(const Core<Real, 2>& a, const Core<Real, 2>& b) {
    Real zero(0.0);
    auto found = closest_on_edges(b.vertex[0] - a.vertex[0], edge_along(a.vertex[1] - a.vertex[0]),
                                  edge_along(b.vertex[1] - b.vertex[0]));
    return {found.s, zero, found.t, zero};
}

}  // namespace clearance
