#pragma once

#include "closest/core.hpp"
#include "closest/point_segment.hpp"

namespace clearance {

// A triangle seen from its longest edge: x = origin + along base + up to the apex. The altitude is perpendicular to the
// base by construction, so projections stay accurate for needles, where the normal of the triangle would be noise.
template <class Real>
struct TriangleFrame {
    using Mask = typename LaneTraits<Real>::Mask;

    Vec3<Real> origin;  // start of the longest edge, seen from vertex 0
    Vec3<Real> base, altitude, to_apex;
    Real inverse_base_sq, inverse_altitude_sq, foot;  // foot: where the altitude stands on the base, 0 to 1
    Mask longest_is_first, longest_is_second;         // edge 0-1, edge 1-2, else edge 2-0
};

template <class Real>
CLEARANCE_INLINE TriangleFrame<Real> frame_of(const Core<Real, 3>& triangle) {
    Vec3<Real> e01 = triangle.vertex[1] - triangle.vertex[0];
    Vec3<Real> e12 = triangle.vertex[2] - triangle.vertex[1];
    Vec3<Real> e20 = triangle.vertex[0] - triangle.vertex[2];
    Real l01 = norm_sq(e01), l12 = norm_sq(e12), l20 = norm_sq(e20);
    Vec3<Real> nowhere{Real(0.0), Real(0.0), Real(0.0)};

    TriangleFrame<Real> frame;
    frame.longest_is_first = both(l01 >= l12, l01 >= l20);
    frame.longest_is_second = l12 >= l20;
    auto first = frame.longest_is_first;
    auto second = frame.longest_is_second;
    frame.origin = select(first, nowhere, select(second, e01, -e20));
    frame.base = select(first, e01, select(second, e12, e20));
    frame.to_apex = -select(first, e20, select(second, e01, e12));
    frame.inverse_base_sq = inverse_or_zero(select(first, l01, select(second, l12, l20)));
    frame.foot = dot(frame.to_apex, frame.base) * frame.inverse_base_sq;
    frame.altitude = frame.to_apex - frame.foot * frame.base;
    frame.inverse_altitude_sq = inverse_or_zero(norm_sq(frame.altitude));
    return frame;
}

template <class Real>
struct FacePoint {
    Real w1, w2;       // weights of vertices 1 and 2
    Real distance_sq;  // infinite where the foot of the perpendicular lies outside of the triangle
};

// The foot of the perpendicular from a point (seen from vertex 0) onto the face. Only feasible weights are kept, so that a
// badly conditioned triangle can make the answer no worse than its edges do.
template <class Real>
CLEARANCE_INLINE FacePoint<Real> foot_on_face(const Vec3<Real>& from_vertex0, const TriangleFrame<Real>& frame) {
    Real zero(0.0), one(1.0);
    Vec3<Real> y = from_vertex0 - frame.origin;
    Real along = dot(y, frame.base) * frame.inverse_base_sq;
    Real up = dot(y - along * frame.base, frame.altitude) * frame.inverse_altitude_sq;
    Real end = along - up * frame.foot;
    Real start = one - end - up;
    auto inside = both(up >= zero, both(end >= zero, start >= zero));
    Real distance_sq = norm_sq(y - end * frame.base - up * frame.to_apex);
    return {select(frame.longest_is_first, end, select(frame.longest_is_second, start, up)),
            select(frame.longest_is_first, up, select(frame.longest_is_second, end, start)),
            select(inside, distance_sq, Real(std::numeric_limits<double>::infinity()))};
}

// Weights of vertices 1 and 2 at parameter t of edge k (0-1, 1-2, 2-0).
template <class Real>
CLEARANCE_INLINE void weights_on_edge(int k, Real t, Real& w1, Real& w2) {
    Real zero(0.0), one(1.0);
    w1 = k == 0 ? t : k == 1 ? one - t : zero;
    w2 = k == 0 ? zero : k == 1 ? t : one - t;
}

template <class Real>
CLEARANCE_INLINE Weights<Real> closest(const Core<Real, 1>& point, const Core<Real, 3>& triangle) {
    Real zero(0.0);
    Nearest<Real> nearest = nothing_yet<Real>();
    CLEARANCE_UNROLL
    for (int k = 0; k < 3; ++k) {
        Vec3<Real> along = triangle.vertex[(k + 1) % 3] - triangle.vertex[k];
        Vec3<Real> from_start = point.vertex[0] - triangle.vertex[k];
        Real t = closest_on_segment(from_start, along, inverse_or_zero(norm_sq(along)));
        Weights<Real> at{zero, zero, zero, zero};
        weights_on_edge(k, t, at.b1, at.b2);
        nearest.consider(norm_sq(from_start - t * along), at);
    }
    auto foot = foot_on_face(point.vertex[0] - triangle.vertex[0], frame_of(triangle));
    nearest.consider(foot.distance_sq, {zero, zero, foot.w1, foot.w2});
    return nearest.at;
}

}  // namespace clearance
