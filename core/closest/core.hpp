#pragma once

#include "math/vec3.hpp"

namespace clearance {

// What a sphere is swept over: a point, a segment or a triangle. Nothing is assumed of the vertices; they may coincide.
template <class Real, int N>
struct Core {
    static_assert(N >= 1 && N <= 3);
    Vec3<Real> vertex[N];
};

// Where the closest points lie: the weights of the second and third vertex of either core (the first has the rest).
template <class Real>
struct Weights {
    Real a1, a2, b1, b2;
};

// The nearest pair of points found so far.
template <class Real>
struct Nearest {
    Real distance_sq;
    Weights<Real> at;

    CLEARANCE_INLINE void consider(Real other_sq, const Weights<Real>& other) {
        auto nearer = other_sq < distance_sq;
        distance_sq = select(nearer, other_sq, distance_sq);
        at.a1 = select(nearer, other.a1, at.a1);
        at.a2 = select(nearer, other.a2, at.a2);
        at.b1 = select(nearer, other.b1, at.b1);
        at.b2 = select(nearer, other.b2, at.b2);
    }
};

template <class Real>
CLEARANCE_INLINE Nearest<Real> nothing_yet() {
    Real zero(0.0);
    return {Real(std::numeric_limits<double>::infinity()), {zero, zero, zero, zero}};
}

// Directions closer to parallel than this angle count as parallel: what rounding alone does to a rotated direction stays
// below it, and treating such a pair as parallel costs less than 1e-13 of its size in distance.
constexpr double kParallelAngle = 1e-13;
constexpr double kParallelAngle_sq = kParallelAngle * kParallelAngle;

}  // namespace clearance
