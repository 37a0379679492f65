#include "convex/curvature.hpp"

namespace clearance {
namespace {

// Radii of curvature below this, compared with the size, are those of corners and edges.
constexpr double kNoBend = 1e-9;

Curvature curvature_of(const Element&, const Vec3d&, const Tangents&) { return {0, 0, 0}; }
Curvature curvature_of(const Box&, const Vec3d&, const Tangents&) { return {0, 0, 0}; }
Curvature curvature_of(const HullPointer&, const Vec3d&, const Tangents&) { return {0, 0, 0}; }

// A disc in the plane z = 0. Its farthest point runs along the rim, faster the steeper n is.
Curvature curvature_of_rim(double radius, const Vec3d& n, const Tangents& across) {
    const double level = std::sqrt(n.x * n.x + n.y * n.y);
    if (!(level > 1e-9)) return {0, 0, 0};
    const Vec3d along_rim{-n.y / level, n.x / level, 0};
    const double e = dot(along_rim, across.e), f = dot(along_rim, across.f), k = radius / level;
    return {k * e * e, k * e * f, k * f * f};
}

Curvature curvature_of(const Cylinder& core, const Vec3d& n, const Tangents& across) {
    return curvature_of_rim(core.radius, n, across);
}

Curvature curvature_of(const Cone& core, const Vec3d& n, const Tangents& across) {
    return tip_is_farthest(core, n) ? Curvature{0, 0, 0} : curvature_of_rim(core.radius, n, across);
}

Curvature curvature_of(const Ellipsoid& core, const Vec3d& n, const Tangents& across) {
    const Vec3d dn = scaled(core.radii, n), de = scaled(core.radii, across.e), df = scaled(core.radii, across.f);
    const double length_sq = norm_sq(dn), inverse = 1.0 / std::sqrt(length_sq);
    const double ne = dot(dn, de), nf = dot(dn, df);
    return {inverse * (dot(de, de) - ne * ne / length_sq) - core.taken, inverse * (dot(de, df) - ne * nf / length_sq),
            inverse * (dot(df, df) - nf * nf / length_sq) - core.taken};
}

Curvature curvature_of(const ConvexCore& core, const Vec3d& n, const Tangents& across) {
    return std::visit([&](const auto& one) { return curvature_of(one, n, across); }, core);
}

}  // namespace

Curvature curvature(const CorePair& pair, const Vec3d& n, const Tangents& across) {
    const Curvature a = curvature_of(pair.a, n, across);
    const auto in_b = [&](const Vec3d& v) { return transposed_times(pair.a_from_b, v); };
    const Curvature b = curvature_of(pair.b, -in_b(n), {in_b(across.e), in_b(across.f)});
    return {a.ee + b.ee, a.ef + b.ef, a.ff + b.ff};
}

Vec3d turned_by_newton(const CorePair& pair, const Vec3d& n, const Vec3d& w, const Vec3d& otherwise) {
    const Tangents across = tangents_of(n);
    const Curvature bend = curvature(pair, n, across);
    const double height = dot(n, w);
    // Principal directions of the second derivative on the sphere, and the step along each that has a minimum.
    const double half_sum = 0.5 * (bend.ee + bend.ff), half_difference = 0.5 * (bend.ee - bend.ff);
    const double spread = std::sqrt(half_difference * half_difference + bend.ef * bend.ef);
    const Vec3d principal =
        unit_or(across.e, half_difference >= 0.0 ? (half_difference + spread) * across.e + bend.ef * across.f
                                                 : bend.ef * across.e + (spread - half_difference) * across.f);
    const auto step = [&](double bending, const Vec3d& along) {
        const bool has_minimum = bending > kNoBend * pair.size && bending - height > kNoBend * pair.size;
        return has_minimum ? max_of(-0.5, min_of(0.5, -dot(w, along) / (bending - height))) : dot(otherwise, along);
    };
    const Vec3d other = cross(n, principal);
    return unit_or(n, n + step(half_sum + spread, principal) * principal + step(half_sum - spread, other) * other);
}

Vec3d turned_about_ruling(const CorePair& pair, const Vec3d& n, const Vec3d& w, const Vec3d& ruling) {
    const Vec3d level = unit_or(n, n - (dot(n, ruling) / norm_sq(ruling)) * ruling);
    const Vec3d aside = unit_or(level, cross(ruling, level));
    const double second = curvature(pair, level, {aside, cross(level, aside)}).ee - dot(level, w);
    if (!(second > kNoBend * pair.size)) return level;
    const double step = max_of(-0.5, min_of(0.5, -dot(w, aside) / second));
    return unit_or(level, level + step * aside);
}

}  // namespace clearance
