#pragma once

#include "closest/point_triangle.hpp"
#include "closest/segment_segment.hpp"

namespace clearance {

// Nine edge pairs and six vertices against the other face: the closest points of two triangles that do not meet are always
// among these. Triangles that pierce each other are left to the careful path, as in segment_triangle.hpp.
template <class Real>
CLEARANCE_INLINE Weights<Real> closest(const Core<Real, 3>& a, const Core<Real, 3>& b) {
    Real zero(0.0);
    Nearest<Real> nearest = nothing_yet<Real>();
    Edge<Real> a_edge[3], b_edge[3];
    CLEARANCE_UNROLL
    for (int k = 0; k < 3; ++k) {
        a_edge[k] = edge_along(a.vertex[(k + 1) % 3] - a.vertex[k]);
        b_edge[k] = edge_along(b.vertex[(k + 1) % 3] - b.vertex[k]);
    }
    CLEARANCE_UNROLL
    for (int i = 0; i < 3; ++i) {
        CLEARANCE_UNROLL
        for (int j = 0; j < 3; ++j) {
            auto found = closest_on_edges(b.vertex[j] - a.vertex[i], a_edge[i], b_edge[j]);
            Weights<Real> at{zero, zero, zero, zero};
            weights_on_edge(i, found.s, at.a1, at.a2);
            weights_on_edge(j, found.t, at.b1, at.b2);
            nearest.consider(found.distance_sq, at);
        }
    }
    TriangleFrame<Real> a_frame = frame_of(a), b_frame = frame_of(b);
    CLEARANCE_UNROLL
    for (int k = 0; k < 3; ++k) {
        Real w1(k == 1 ? 1.0 : 0.0), w2(k == 2 ? 1.0 : 0.0);
        auto on_b = foot_on_face(a.vertex[k] - b.vertex[0], b_frame);
        nearest.consider(on_b.distance_sq, {w1, w2, on_b.w1, on_b.w2});
        auto on_a = foot_on_face(b.vertex[k] - a.vertex[0], a_frame);
        nearest.consider(on_a.distance_sq, {on_a.w1, on_a.w2, w1, w2});
    }
    return nearest.at;
}

}  // namespace clearance
