#include "convex/convex.hpp"

namespace clearance {
namespace {

// Ellipsoids whose radii differ by less, relative to the least, are balls as far as depths are concerned.
constexpr double kRound = 1e-3;

Ball ball_of(const Element& core) { return ball_around(core); }
Ball ball_of(const Box& core) { return {{0, 0, 0}, norm(core.half)}; }
Ball ball_of(const Cylinder& core) { return {{0, 0, 0}, std::hypot(core.radius, core.half_length)}; }
Ball ball_of(const Cone& core) {
    // The least ball touches the tip and the rim, unless the cone is so flat that the base alone decides.
    const double height = 2.0 * core.half_length;
    if (core.radius >= height) return {{0, 0, -core.half_length}, core.radius};
    const double radius = (height * height + core.radius * core.radius) / (2.0 * height);
    return {{0, 0, core.half_length - radius}, radius};
}
Ball ball_of(const Ellipsoid& core) { return {{0, 0, 0}, largest(core.radii) - core.taken}; }
Ball ball_of(const HullPointer& core) { return core->ball(); }

}  // namespace

Ellipsoid worn_ellipsoid(const Vec3d& radii) {
    const double least = min_of(min_of(radii.x, radii.y), radii.z);
    // What is left of a ball is a ball again, as deep in another one along every direction: only if it is very small, few
    // faces prove that.
    const double left = largest(radii) - least > kRound * least ? 1e-3 : 1e-5;
    return {radii, (1.0 - left) * least * (least / largest(radii))};
}

Ball ball_around(const ConvexCore& core) {
    return std::visit([](const auto& one) { return ball_of(one); }, core);
}

}  // namespace clearance
