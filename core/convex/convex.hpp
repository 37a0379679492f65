#pragma once

#include <memory>
#include <variant>

#include "closest/element.hpp"
#include "convex/hull.hpp"
#include "math/pose.hpp"

namespace clearance {

// What a sphere is swept over to make a convex shape. All are centred, axes along z.
struct Box {
    Vec3d half;
};
struct Cylinder {
    double radius, half_length;
};
struct Cone {  // base at -half_length, tip at +half_length
    double radius, half_length;
};

// An ellipsoid worn away by its least radius of curvature, or a little less: sweeping what is left by a sphere of that
// radius gives the ellipsoid again. So bodies that overlap by less than these radii have cores that are still apart.
struct Ellipsoid {
    Vec3d radii;   // of the whole
    double taken;  // off all around
};
Ellipsoid worn_ellipsoid(const Vec3d& radii);

using HullPointer = std::shared_ptr<const Hull>;

// Points, segments and triangles are elements; their radius is not part of the core.
using ConvexCore = std::variant<Element, Box, Cylinder, Cone, Ellipsoid, HullPointer>;

// The point of a core that is farthest along a direction of any length but zero.
inline Vec3d support(const Element& core, const Vec3d& along) {
    Vec3d best = core.vertex[0];
    double height = dot(along, best);
    for (int k = 1; k < core.count; ++k) {
        const double other = dot(along, core.vertex[k]);
        if (other > height) height = other, best = core.vertex[k];
    }
    return best;
}

inline Vec3d support(const Box& core, const Vec3d& along) {
    return {std::copysign(core.half.x, along.x), std::copysign(core.half.y, along.y), std::copysign(core.half.z, along.z)};
}

inline Vec3d rim_point(double radius, double z, const Vec3d& along) {
    const double across = std::sqrt(along.x * along.x + along.y * along.y);
    const double scale = across > 0.0 ? radius / across : 0.0;
    return {scale * along.x, scale * along.y, z};
}

inline Vec3d support(const Cylinder& core, const Vec3d& along) {
    return rim_point(core.radius, std::copysign(core.half_length, along.z), along);
}

inline bool tip_is_farthest(const Cone& core, const Vec3d& along) {
    const double across = std::sqrt(along.x * along.x + along.y * along.y);
    return 2.0 * along.z * core.half_length > core.radius * across;
}

inline Vec3d support(const Cone& core, const Vec3d& along) {
    if (tip_is_farthest(core, along)) return {0, 0, core.half_length};
    return rim_point(core.radius, -core.half_length, along);
}

inline Vec3d scaled(const Vec3d& by, const Vec3d& v) { return {by.x * v.x, by.y * v.y, by.z * v.z}; }

inline Vec3d support(const Ellipsoid& core, const Vec3d& along) {
    const Vec3d stretched = scaled(core.radii, along);
    return inverse_or_zero(norm(stretched)) * scaled(core.radii, stretched) -
           (core.taken * inverse_or_zero(norm(along))) * along;
}

inline Vec3d support(const HullPointer& core, const Vec3d& along) { return core->support(along); }

inline Vec3d support(const ConvexCore& core, const Vec3d& along) {
    return std::visit([&](const auto& one) { return support(one, along); }, core);
}

inline bool is_element(const ConvexCore& core) { return std::holds_alternative<Element>(core); }

// Whether some of the surface is curved: polytopes are solved exactly in finitely many steps.
inline bool is_curved(const ConvexCore& core) {
    return std::holds_alternative<Cylinder>(core) || std::holds_alternative<Cone>(core) ||
           std::holds_alternative<Ellipsoid>(core);
}

Ball ball_around(const ConvexCore& core);

}  // namespace clearance
