#include "query/shortcuts.hpp"

namespace clearance {
namespace {

CoreGap<double> gap_along(const Vec3d& normal, double distance, const Vec3d& point) {
    return {point - distance * normal, normal, distance, distance, distance};
}

// A solid of revolution seen in the half-plane of the point: `out` from the axis, `up` along it.
struct Meridian {
    double out, up;
    Vec3d outward;  // unit
};

Meridian meridian_of(const Vec3d& point) {
    const double out = std::sqrt(point.x * point.x + point.y * point.y);
    return {out, point.z, out > 0.0 ? Vec3d{point.x / out, point.y / out, 0} : Vec3d{1, 0, 0}};
}

}  // namespace

CoreGap<double> gap_of_point(const Box& solid, const Vec3d& point) {
    const Vec3d h = solid.half;
    const Vec3d beyond{abs_of(point.x) - h.x, abs_of(point.y) - h.y, abs_of(point.z) - h.z};
    const Vec3d sign{std::copysign(1.0, point.x), std::copysign(1.0, point.y), std::copysign(1.0, point.z)};
    const Vec3d outside{max_of(beyond.x, 0.0), max_of(beyond.y, 0.0), max_of(beyond.z, 0.0)};
    const double distance = norm(outside);
    if (distance > 0.0) return gap_along(scaled(sign, (1.0 / distance) * outside), distance, point);
    // Inside: out through the nearest face.
    if (beyond.x >= beyond.y && beyond.x >= beyond.z) return gap_along({sign.x, 0, 0}, beyond.x, point);
    if (beyond.y >= beyond.z) return gap_along({0, sign.y, 0}, beyond.y, point);
    return gap_along({0, 0, sign.z}, beyond.z, point);
}

CoreGap<double> gap_of_point(const Cylinder& solid, const Vec3d& point) {
    const auto [out, up, outward] = meridian_of(point);
    const double beside = out - solid.radius, above = abs_of(up) - solid.half_length;
    const Vec3d upward{0, 0, std::copysign(1.0, up)};
    if (beside <= 0.0 && above <= 0.0)
        return beside >= above ? gap_along(outward, beside, point) : gap_along(upward, above, point);
    if (beside <= 0.0) return gap_along(upward, above, point);
    if (above <= 0.0) return gap_along(outward, beside, point);
    const double distance = std::sqrt(beside * beside + above * above);
    return gap_along((beside / distance) * outward + (above / distance) * upward, distance, point);
}

CoreGap<double> gap_of_point(const Cone& solid, const Vec3d& point) {
    const auto [out, up, outward] = meridian_of(point);
    const double height = 2.0 * solid.half_length, slope = std::sqrt(height * height + solid.radius * solid.radius);
    const double below = -solid.half_length - up;  // how far under the base
    // The side: outward normal, and how far the point stands off its line; then where its foot is, from the rim up.
    const double n_out = height / slope, n_up = solid.radius / slope;
    const double off = (out - solid.radius) * n_out + (up + solid.half_length) * n_up;
    const double from_rim = -(out - solid.radius) * n_up + (up + solid.half_length) * n_out;
    const auto towards = [&](double corner_out, double corner_up) {
        const double dx = out - corner_out, dy = up - corner_up, distance = std::sqrt(dx * dx + dy * dy);
        return gap_along((dx / distance) * outward + Vec3d{0, 0, dy / distance}, distance, point);
    };
    if (below <= 0.0 && off <= 0.0)
        return off >= below ? gap_along(n_out * outward + Vec3d{0, 0, n_up}, off, point)
                            : gap_along({0, 0, -1}, below, point);
    if (below > 0.0 && out <= solid.radius) return gap_along({0, 0, -1}, below, point);
    if (off > 0.0 && from_rim >= slope) return towards(0.0, solid.half_length);
    if (off > 0.0 && from_rim >= 0.0) return gap_along(n_out * outward + Vec3d{0, 0, n_up}, off, point);
    return towards(solid.radius, -solid.half_length);
}

std::optional<CoreGap<double>> gap_of_point(const ConvexCore& solid, const Vec3d& point) {
    if (const Box* box = std::get_if<Box>(&solid)) return gap_of_point(*box, point);
    if (const Cylinder* cylinder = std::get_if<Cylinder>(&solid)) return gap_of_point(*cylinder, point);
    if (const Cone* cone = std::get_if<Cone>(&solid)) return gap_of_point(*cone, point);
    return std::nullopt;
}

}  // namespace clearance
