#pragma once

// The signed distance of two cores, slow and obvious, with 34 digits: every pair of faces is solved, every axis is tried.
// It shares with the library only the sums and products of math/vec3.hpp.
#include <quadmath.h>

#include <initializer_list>
#include <limits>

#include "math/vec3.hpp"

namespace clearance::oracle {

using Quad = __float128;
using Vec3q = Vec3<Quad>;

// A point, segment or triangle, or a face of one: the hull of `count` vertices.
struct Hull {
    Vec3q vertex[3];
    int count = 0;
    void add(const Vec3q& point) { vertex[count++] = point; }
};

// Doubles, and all differences of coordinates that are no further than 60 binary digits apart, are exact here.
inline Hull hull_of(const double* coordinates, int count) {
    Hull hull;
    for (int k = 0; k < count; ++k) hull.add({coordinates[3 * k], coordinates[3 * k + 1], coordinates[3 * k + 2]});
    return hull;
}

inline Hull face_of(const Hull& hull, int subset) {
    Hull face;
    for (int k = 0; k < hull.count; ++k)
        if (subset >> k & 1) face.add(hull.vertex[k]);
    return face;
}

inline Quad norm(const Vec3q& v) { return sqrtq(norm_sq(v)); }

// What is left of a direction, relative to its length, once the directions before it are taken out: at or below this it is
// rounding. Directions of doubles are rarely closer to parallel than 1e-20, so all that differ are told apart.
constexpr double kDependent = 1e-30;

struct Closest {
    bool found = false;
    Vec3q apart;  // from a to b
};

// The closest points of the affine hulls of two faces, if they are unique and lie on the faces: least squares over the
// directions of both, by modified Gram-Schmidt, which (unlike the normal equations it stands for) does not square their
// condition.
//
// Dependent directions are skipped. Then the closest points of the affine hulls fill a line at least; if it meets the faces
// at all it leaves them through a smaller pair of faces, at the same distance, and that pair is tried as well.
inline Closest closest_on_faces(const Hull& a, const Hull& b) {
    const int count = a.count + b.count - 2;
    if (count > 3) return {};
    Vec3q column[3], left[3];
    for (int i = 1; i < a.count; ++i) column[i - 1] = a.vertex[i] - a.vertex[0];
    for (int j = 1; j < b.count; ++j) column[a.count - 2 + j] = b.vertex[0] - b.vertex[j];
    const Vec3q start = b.vertex[0] - a.vertex[0];

    Quad product[3][3], weight[3];
    Vec3q rest = start;
    for (int k = 0; k < count; ++k) left[k] = column[k];
    for (int k = 0; k < count; ++k) {
        const Quad length = norm(left[k]);
        if (length <= kDependent * norm(column[k])) return {};
        left[k] = (1 / length) * left[k];
        product[k][k] = length;
        for (int j = k + 1; j < count; ++j) {
            product[k][j] = dot(left[k], left[j]);
            left[j] = left[j] - product[k][j] * left[k];
        }
        weight[k] = dot(left[k], rest);
        rest = rest - weight[k] * left[k];
    }
    for (int k = count - 1; k >= 0; --k) {
        for (int j = k + 1; j < count; ++j) weight[k] -= product[k][j] * weight[j];
        weight[k] /= product[k][k];
    }

    Quad first_of_a = 1, first_of_b = 1;
    Closest closest{true, start};
    for (int k = 0; k < count; ++k) {
        (k < a.count - 1 ? first_of_a : first_of_b) -= weight[k];
        if (weight[k] < 0) return {};
        closest.apart = closest.apart - weight[k] * column[k];
    }
    if (first_of_a < 0 || first_of_b < 0) return {};
    return closest;
}

// From the point of a nearest to b to the point of b nearest to a. Whatever is kept joins two points of the hulls, so an
// error can only lengthen it.
inline Vec3q apart(const Hull& a, const Hull& b) {
    Vec3q nearest = b.vertex[0] - a.vertex[0];
    for (int i = 1; i < 1 << a.count; ++i) {
        for (int j = 1; j < 1 << b.count; ++j) {
            const Closest closest = closest_on_faces(face_of(a, i), face_of(b, j));
            if (closest.found && norm_sq(closest.apart) < norm_sq(nearest)) nearest = closest.apart;
        }
    }
    return nearest;
}

// How far b lies above a along a unit vector; never more than their signed distance.
inline Quad separation_along(const Vec3q& unit, const Hull& a, const Hull& b) {
    Quad highest_of_a = 0, lowest_of_b = dot(unit, b.vertex[0] - a.vertex[0]);
    for (int i = 1; i < a.count; ++i) {
        const Quad height = dot(unit, a.vertex[i] - a.vertex[0]);
        if (height > highest_of_a) highest_of_a = height;
    }
    for (int j = 1; j < b.count; ++j) {
        const Quad height = dot(unit, b.vertex[j] - a.vertex[0]);
        if (height < lowest_of_b) lowest_of_b = height;
    }
    return lowest_of_b - highest_of_a;
}

// The depth of two hulls that meet is the way from the origin to the boundary of b - a. A solid b - a is bounded by planes
// along one triangle, or along an edge of either. A flat one (anything with a point, two segments, coplanar or collinear
// hulls) has no inside, so its depth is zero; all axes across it say so, and where there are none it lies on one line.
inline Quad depth(const Hull& a, const Hull& b) {
    Vec3q direction[6];
    int of_a = 0, count = 0;
    for (int i = 0; i < a.count; ++i)
        for (int k = i + 1; k < a.count; ++k) direction[count++] = a.vertex[k] - a.vertex[i];
    of_a = count;
    for (int j = 0; j < b.count; ++j)
        for (int k = j + 1; k < b.count; ++k) direction[count++] = b.vertex[k] - b.vertex[j];

    bool flat = true;
    Quad best = -std::numeric_limits<double>::infinity();
    const auto try_across = [&](const Vec3q& u, const Vec3q& v) {
        // Taking u out of v before the product keeps the axis perpendicular to both, however close to parallel they are.
        if (norm_sq(u) == 0) return;
        const Vec3q upright = v - (dot(u, v) / norm_sq(u)) * u;
        if (norm(upright) <= kDependent * norm(v)) return;
        const Vec3q axis = cross(u, upright);
        const Vec3q unit = (1 / norm(axis)) * axis;
        for (const Vec3q& side : {unit, -unit}) {
            const Quad separation = separation_along(side, a, b);
            if (separation > best) best = separation;
        }
        flat = false;
    };
    if (a.count == 3) try_across(direction[0], direction[1]);
    if (b.count == 3) try_across(direction[of_a], direction[of_a + 1]);
    for (int i = 0; i < of_a; ++i)
        for (int j = of_a; j < count; ++j) try_across(direction[i], direction[j]);
    return flat || best > 0 ? Quad(0) : -best;
}

struct SignedDistance {
    Quad distance;
    Vec3q apart;  // joins the closest points; near zero where the cores meet
};

// Closer than 1e-25 of their extent, hulls meet; calling them so when they do not costs no more than that.
inline SignedDistance signed_distance(const Hull& a, const Hull& b) {
    Quad extent_sq = 0;
    for (const Hull* hull : {&a, &b})
        for (int k = 1; k < hull->count; ++k) extent_sq += norm_sq(hull->vertex[k] - hull->vertex[0]);
    const Vec3q between = apart(a, b);
    const bool meet = norm_sq(between) <= Quad(1e-50) * extent_sq;
    return {meet ? -depth(a, b) : norm(between), between};
}

}  // namespace clearance::oracle
