#pragma once

#include <cmath>

#include "convex/minkowski.hpp"

namespace clearance {

// Second derivatives of a support function across a unit vector n, along two tangents: by how much the farthest point
// moves when n turns. Zero for polytopes, whose farthest point stays where it is.
struct Curvature {
    double ee, ef, ff;
};

// Across the unit vector n, two more that make a frame with it.
struct Tangents {
    Vec3d e, f;
};
inline Tangents tangents_of(const Vec3d& n) {  // Duff et al., Building an Orthonormal Basis, Revisited, 2017
    const double sign = std::copysign(1.0, n.z), a = -1.0 / (sign + n.z), b = n.x * n.y * a;
    return {{1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x}, {b, sign + n.y * n.y * a, -n.y}};
}

Curvature curvature(const CorePair& pair, const Vec3d& n, const Tangents& across);

// A better direction than the unit vector n by one step of Newton's method on the sphere, given the farthest point w along
// n. Where the support function does not bend, derivatives know nothing of its corners: there the direction is that of
// `otherwise`, a unit vector near n.
Vec3d turned_by_newton(const CorePair& pair, const Vec3d& n, const Vec3d& w, const Vec3d& otherwise);

// The same for an n that has to stay perpendicular to a ruling: a straight line on the side of a cylinder or a cone.
Vec3d turned_about_ruling(const CorePair& pair, const Vec3d& n, const Vec3d& w, const Vec3d& ruling);

}  // namespace clearance
