#pragma once

#include "closest/core.hpp"

namespace clearance {

// The gap between two cores: closest points and a plane between them that proves how far apart they are at least.
template <class Real>
struct CoreGap {
    Vec3<Real> point_a;  // on core a; the other witness is point_a + distance * normal
    Vec3<Real> normal;   // from a to b
    Real distance, lower, upper;
};

template <class Real, int N>
CLEARANCE_INLINE Vec3<Real> point_at(const Core<Real, N>& core, Real w1, Real w2) {
    Vec3<Real> point = core.vertex[0];
    if constexpr (N > 1) point = point + w1 * (core.vertex[1] - core.vertex[0]);
    if constexpr (N > 2) point = point + w2 * (core.vertex[2] - core.vertex[0]);
    return point;
}

// From the closest point of a to that of b, summed from differences of vertices: exact also far from the origin.
template <class Real, int NA, int NB>
CLEARANCE_INLINE Vec3<Real> between(const Core<Real, NA>& a, const Core<Real, NB>& b, const Weights<Real>& at) {
    Vec3<Real> apart = b.vertex[0] - a.vertex[0];
    if constexpr (NB > 1) apart = apart + at.b1 * (b.vertex[1] - b.vertex[0]);
    if constexpr (NB > 2) apart = apart + at.b2 * (b.vertex[2] - b.vertex[0]);
    if constexpr (NA > 1) apart = apart - at.a1 * (a.vertex[1] - a.vertex[0]);
    if constexpr (NA > 2) apart = apart - at.a2 * (a.vertex[2] - a.vertex[0]);
    return apart;
}

// Length of the cores, and the bound on rounding that follows from it, from how far away the coordinates are, and from the
// distance.
template <class Real, int NA, int NB>
CLEARANCE_INLINE Real extent_of(const Core<Real, NA>& a, const Core<Real, NB>& b) {
    Real extent(0.0);
    for (int i = 1; i < NA; ++i) extent = max_of(extent, largest(a.vertex[i] - a.vertex[0]));
    for (int j = 1; j < NB; ++j) extent = max_of(extent, largest(b.vertex[j] - b.vertex[0]));
    return extent;
}

// No coordinate is larger.
template <class Real, int NA, int NB>
CLEARANCE_INLINE Real reach_of(const Core<Real, NA>& a, const Core<Real, NB>& b, Real extent) {
    return max_of(largest(a.vertex[0]), largest(b.vertex[0])) + extent;
}

template <class Real, int NA, int NB>
CLEARANCE_INLINE Real rounding_of(const Core<Real, NA>& a, const Core<Real, NB>& b, Real extent, Real distance) {
    return max_of(Real(3.0 * kEpsilon) * reach_of(a, b, extent), Real(2.0 * kEpsilon) * distance) +
           Real(32.0 * kEpsilon) * extent;
}

// The distance that is proved, before rounding: what the plane keeps the cores apart. Where that agrees with the distance
// of the points as far as a scalar product can tell, it is that distance.
template <class Real>
CLEARANCE_INLINE Real proved_distance(Real distance, Real separation) {
    return select(distance - separation <= Real(4.0 * kEpsilon) * distance, distance, separation);
}

// How far a plane with this unit normal keeps b above a; negative where they overlap along it. True for ANY unit vector.
template <class Real, int NA, int NB>
CLEARANCE_INLINE Real separation_along(const Vec3<Real>& normal, const Core<Real, NA>& a, const Core<Real, NB>& b) {
    Real highest_of_a(0.0);
    for (int i = 1; i < NA; ++i) highest_of_a = max_of(highest_of_a, dot(normal, a.vertex[i] - a.vertex[0]));
    Real lowest_of_b = dot(normal, b.vertex[0] - a.vertex[0]);
    for (int j = 1; j < NB; ++j) lowest_of_b = min_of(lowest_of_b, dot(normal, b.vertex[j] - a.vertex[0]));
    return lowest_of_b - highest_of_a;
}

// A pair whose plane leaves more room for doubt than this, relative to the extent, is computed again on the careful path.
// Cores that pierce each other less deeply than that may pass, so it also bounds the error of the fast path.
constexpr double kDoubt = 5e-13;

template <class Real>
struct Certified {
    CoreGap<Real> gap;
    typename LaneTraits<Real>::Mask doubtful;
};

// Turn the weights of the closest points into a proven bracket: the points bound the distance from above, the plane
// through them from below. Touching and piercing cores show themselves by a plane that does not hold.
template <class Real, int NA, int NB>
CLEARANCE_INLINE Certified<Real> certify(const Core<Real, NA>& a, const Core<Real, NB>& b, const Weights<Real>& at) {
    Vec3<Real> apart = between(a, b, at);
    Real distance = norm(apart);
    Vec3<Real> normal = inverse_or_zero(distance) * apart;
    Real extent = extent_of(a, b);
    Real rounding = rounding_of(a, b, extent, distance);
    Real proven = separation_along(normal, a, b);
    Real doubt = distance - proven;
    auto doubtful = either(distance <= rounding, doubt > Real(4.0 * kEpsilon) * distance + Real(kDoubt) * extent);
    return {{point_at(a, at.a1, at.a2), normal, distance, proved_distance(distance, proven) - rounding, distance + rounding},
            doubtful};
}

// Faces that are parallel share a whole region of closest points; the careful path picks its middle.
template <class Real, int NA, int NB>
CLEARANCE_INLINE typename LaneTraits<Real>::Mask faces_are_parallel(const Core<Real, NA>& a, const Core<Real, NB>& b) {
    Vec3<Real> normal_b = cross(b.vertex[1] - b.vertex[0], b.vertex[2] - b.vertex[0]);
    Vec3<Real> along_a = a.vertex[1] - a.vertex[0];
    Real flat, all;
    if constexpr (NA == 2) {
        Real rise = dot(along_a, normal_b);
        flat = rise * rise;
        all = norm_sq(along_a) * norm_sq(normal_b);
    } else {
        Vec3<Real> normal_a = cross(along_a, a.vertex[2] - a.vertex[0]);
        flat = norm_sq(cross(normal_a, normal_b));
        all = norm_sq(normal_a) * norm_sq(normal_b);
    }
    return flat <= Real(kParallelAngle_sq) * all;
}

}  // namespace clearance
