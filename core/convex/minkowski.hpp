#pragma once

#include "convex/convex.hpp"

namespace clearance {

// A point of the Minkowski difference A - B, and the points it comes from, in the frame of a.
struct Difference {
    Vec3d w, a, b;
    std::int32_t number_a = -1, number_b = -1;  // of points in a list, where they come from one
};

// Two cores seen only through their farthest points, in the frame of a. The signed distance of the cores is the largest
// separation of any unit vector, where separation(n) = -n.farthest(n): apart or overlapping, this is one problem.
struct CorePair {
    const ConvexCore &a, &b;
    Mat3 a_from_b;
    Vec3d b_origin;
    double size;   // sum of the bounding radii
    double reach;  // how large coordinates can get, which is what rounding is relative to
    bool curved;

    Difference farthest(const Vec3d& along) const {
        const Vec3d on_a = support(a, along);
        const Vec3d on_b = a_from_b * support(b, -transposed_times(a_from_b, along)) + b_origin;
        return {on_a - on_b, on_a, on_b};
    }
};

// Lengths shorter than this lose digits when they are squared.
constexpr double kLeastSquared = 1e-140;

// A unit vector along v, or another one where v has no direction.
inline Vec3d unit_or(const Vec3d& otherwise, const Vec3d& v) {
    const double length = norm(v), longest = largest(v);
    if (length > kLeastSquared) return (1.0 / length) * v;
    if (!(longest > 0.0)) return otherwise;
    const Vec3d scaled{v.x / longest, v.y / longest, v.z / longest};
    return (1.0 / norm(scaled)) * scaled;
}

}  // namespace clearance
