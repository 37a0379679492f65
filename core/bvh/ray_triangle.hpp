#pragma once

#include "math/vec3.hpp"

namespace clearance {

// A ray that sees triangles along itself, in units of a tree about its centre: z is the axis that it is steepest to, x and
// y are those that follow.
struct TriangleRay {
    double from[3];
    int x, y, z;
    double slope_x, slope_y, per_z;
    double offset, unit;  // where on the ray `from` is, and how long a unit is

    TriangleRay(const Vec3d& from_point, const Vec3d& along, double offset_of, double unit_of)
        : from{from_point.x, from_point.y, from_point.z}, offset(offset_of), unit(unit_of) {
        const double a[3] = {along.x, along.y, along.z};
        const double steep_x = abs_of(a[0]), steep_y = abs_of(a[1]), steep_z = abs_of(a[2]);
        z = steep_x > steep_y ? (steep_x > steep_z ? 0 : 2) : (steep_y > steep_z ? 1 : 2);
        x = z == 2 ? 0 : z + 1, y = x == 2 ? 0 : x + 1;
        per_z = 1.0 / a[z];
        slope_x = a[x] * per_z, slope_y = a[y] * per_z;
    }
};

// A corner seen along the ray: x and y are zero on the ray. It does not depend on the triangle.
template <class Real>
CLEARANCE_INLINE Vec3<Real> seen(const TriangleRay& ray, Real x, Real y, Real z) {
    const Real up = z - Real(ray.from[ray.z]);
    return {x - Real(ray.from[ray.x]) - Real(ray.slope_x) * up, y - Real(ray.from[ray.y]) - Real(ray.slope_y) * up, up};
}

// On which side of the ray the edges of a triangle pass: two triangles that share an edge get opposite numbers, exactly. So
// nothing passes between them, since zero counts as inside (Woop, Benthin and Wald, Watertight ray/triangle intersection,
// 2013).
template <class Real>
struct EdgeSides {
    Real bc, ca, ab;

    CLEARANCE_INLINE EdgeSides(const Vec3<Real>& a, const Vec3<Real>& b, const Vec3<Real>& c)
        : bc(c.x * b.y - c.y * b.x), ca(a.x * c.y - a.y * c.x), ab(b.x * a.y - b.y * a.x) {}

    CLEARANCE_INLINE typename LaneTraits<Real>::Mask are_alike() const {
        const Real zero(0.0);
        return either(min_of(bc, min_of(ca, ab)) >= zero, max_of(bc, max_of(ca, ab)) <= zero);
    }
};

// Where on the ray something at a height along z is.
template <class Real>
CLEARANCE_INLINE Real place_on(const TriangleRay& ray, Real z) {
    return Real(ray.offset) + Real(ray.unit) * (z * Real(ray.per_z));
}

}  // namespace clearance
