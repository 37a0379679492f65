#pragma once

#include "closest/point_triangle.hpp"
#include "closest/segment_segment.hpp"

namespace clearance {

// Three edge pairs and the two ends against the face. A segment that pierces the face is not looked for here: the
// separating plane of the pair found cannot hold then, and the careful path takes over.
template <class Real>
CLEARANCE_INLINE Weights<Real> closest(const Core<Real, 2>& segment, const Core<Real, 3>& triangle) {
    Real zero(0.0);
    Nearest<Real> nearest = nothing_yet<Real>();
    Edge<Real> a = edge_along(segment.vertex[1] - segment.vertex[0]);
    CLEARANCE_UNROLL
    for (int k = 0; k < 3; ++k) {
        Edge<Real> b = edge_along(triangle.vertex[(k + 1) % 3] - triangle.vertex[k]);
        auto found = closest_on_edges(triangle.vertex[k] - segment.vertex[0], a, b);
        Weights<Real> at{found.s, zero, zero, zero};
        weights_on_edge(k, found.t, at.b1, at.b2);
        nearest.consider(found.distance_sq, at);
    }
    TriangleFrame<Real> frame = frame_of(triangle);
    CLEARANCE_UNROLL
    for (int end = 0; end < 2; ++end) {
        auto foot = foot_on_face(segment.vertex[end] - triangle.vertex[0], frame);
        nearest.consider(foot.distance_sq, {Real(end == 1 ? 1.0 : 0.0), zero, foot.w1, foot.w2});
    }
    return nearest.at;
}

}  // namespace clearance
