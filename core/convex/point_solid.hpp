#pragma once

#include "convex/convex.hpp"

namespace clearance {

// How far a point is from a solid, in the frame of the solid: closed forms. Negative inside.
template <class Real>
struct PointGapOf {
    Real distance;
    Vec3<Real> normal;  // unit, from the solid to the point
    Real bend;          // second derivative of the distance along the line that was asked for
};
using PointGap = PointGapOf<double>;

namespace closed_form {

template <class Real>
CLEARANCE_INLINE Real squared(Real x) {
    return x * x;
}

// A solid of revolution seen in the half-plane of the point: `out` from the axis, `up` along it.
template <class Real>
struct Meridian {
    Real out, up, inverse_out;
    Real outward_x, outward_y;  // unit

    CLEARANCE_INLINE explicit Meridian(const Vec3<Real>& point)
        : out(sqrt_of(point.x * point.x + point.y * point.y)),
          up(point.z),
          inverse_out(inverse_or_zero(out)),
          outward_x(select(out > Real(0.0), point.x * inverse_out, Real(1.0))),
          outward_y(select(out > Real(0.0), point.y * inverse_out, Real(0.0))) {}

    // A distance whose gradient is (n_out, n_up): it bends around the axis, and around a corner of the half-plane.
    CLEARANCE_INLINE PointGapOf<Real> gap(Real distance, Real n_out, Real n_up, Real corner_bend,
                                          const Vec3<Real>& along) const {
        Real radial = along.x * outward_x + along.y * outward_y;
        Real around = squared(along.y * outward_x - along.x * outward_y);
        Real across = corner_bend * squared(along.z * n_out - radial * n_up);
        return {distance, {n_out * outward_x, n_out * outward_y, n_up}, across + around * n_out * inverse_out};
    }
};

inline PointGap gap_to_corner(const Meridian<double>& at, double corner_out, double corner_up, const Vec3d& along) {
    const double dx = at.out - corner_out, dy = at.up - corner_up, distance = std::sqrt(dx * dx + dy * dy);
    if (!(distance > 0.0)) return at.gap(0.0, 0.0, std::copysign(1.0, corner_up), 0.0, along);
    const double inverse = 1.0 / distance;
    return at.gap(distance, dx * inverse, dy * inverse, inverse, along);
}

}  // namespace closed_form

inline PointGap point_gap(const Cylinder& solid, const Vec3d& point, const Vec3d& along) {
    const closed_form::Meridian<double> at(point);
    const double beside = at.out - solid.radius, above = abs_of(at.up) - solid.half_length;
    const double way_up = std::copysign(1.0, at.up);
    if (beside > 0.0 && above > 0.0) return closed_form::gap_to_corner(at, solid.radius, way_up * solid.half_length, along);
    return beside >= above ? at.gap(beside, 1.0, 0.0, 0.0, along) : at.gap(above, 0.0, way_up, 0.0, along);
}

inline PointGap point_gap(const Cone& solid, const Vec3d& point, const Vec3d& along) {
    const closed_form::Meridian<double> at(point);
    const double height = 2.0 * solid.half_length, slope = std::sqrt(height * height + solid.radius * solid.radius);
    const double below = -solid.half_length - at.up;  // how far under the base
    // The side: outward normal, and how far the point stands off its line; then where its foot is, from the rim up.
    const double n_out = height / slope, n_up = solid.radius / slope;
    const double off = (at.out - solid.radius) * n_out + (at.up + solid.half_length) * n_up;
    const double from_rim = -(at.out - solid.radius) * n_up + (at.up + solid.half_length) * n_out;
    if (below <= 0.0 && off <= 0.0)
        return off >= below ? at.gap(off, n_out, n_up, 0.0, along) : at.gap(below, 0.0, -1.0, 0.0, along);
    if (below > 0.0 && at.out <= solid.radius) return at.gap(below, 0.0, -1.0, 0.0, along);
    if (off > 0.0 && from_rim >= slope) return closed_form::gap_to_corner(at, 0.0, solid.half_length, along);
    if (off > 0.0 && from_rim >= 0.0) return at.gap(off, n_out, n_up, 0.0, along);
    return closed_form::gap_to_corner(at, solid.radius, -solid.half_length, along);
}

inline PointGap point_gap(const Box& solid, const Vec3d& point, const Vec3d& along) {
    const Vec3d beyond{abs_of(point.x) - solid.half.x, abs_of(point.y) - solid.half.y, abs_of(point.z) - solid.half.z};
    const Vec3d sign{std::copysign(1.0, point.x), std::copysign(1.0, point.y), std::copysign(1.0, point.z)};
    const Vec3d outside{max_of(beyond.x, 0.0), max_of(beyond.y, 0.0), max_of(beyond.z, 0.0)};
    const double distance = norm(outside);
    if (distance > 0.0) {
        const Vec3d normal = scaled(sign, (1.0 / distance) * outside);
        const Vec3d free{beyond.x > 0.0 ? along.x : 0.0, beyond.y > 0.0 ? along.y : 0.0, beyond.z > 0.0 ? along.z : 0.0};
        return {distance, normal, max_of(0.0, norm_sq(free) - closed_form::squared(dot(along, normal))) / distance};
    }
    // Inside: out through the nearest face.
    if (beyond.x >= beyond.y && beyond.x >= beyond.z) return {beyond.x, {sign.x, 0, 0}, 0.0};
    if (beyond.y >= beyond.z) return {beyond.y, {0, sign.y, 0}, 0.0};
    return {beyond.z, {0, 0, sign.z}, 0.0};
}

}  // namespace clearance
