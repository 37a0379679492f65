#include "convex/polish.hpp"

#include "convex/gjk.hpp"

namespace clearance {
namespace {

// How far cores are parted to polish the answer, and how closely they are measured then, compared with the size. A normal
// that turned by more than so many radians is worth polishing again.
constexpr double kLift = 1e-4, kPolished = 1e-15, kWorthPolishing = 1e-6;
constexpr double kSameNormal = 1e-9, kWorthLeaping = 0.1;
constexpr int kMostPolishing = 16;

// Normals that turn by less and less in one direction, as of a geometric series, are going somewhere: go there at once.
void leap(const CorePair& pair, const Vec3d& before, const Vec3d& turned, Depth& depth) {
    const double ratio = dot(before, turned) / max_of(norm_sq(before), std::numeric_limits<double>::min());
    if (!(ratio > kWorthLeaping && ratio < 1.0)) return;
    const Vec3d normal = unit_or(depth.normal, depth.normal + (ratio / (1.0 - ratio)) * turned);
    const double separation = -dot(normal, pair.farthest(normal).w);
    if (separation > depth.lower) depth.lower = separation, depth.normal = normal;
}

}  // namespace

void polish(const CorePair& pair, Depth& depth) {
    const double width = pair.curved ? kPolished * pair.size : 4.0 * kEpsilon * pair.size;
    Vec3d turned_before{0, 0, 0};
    for (int step = 1;; ++step) {
        const double lift = kLift * pair.size - depth.lower;
        CorePair parted = pair;
        parted.b_origin = pair.b_origin + lift * depth.normal;
        const GjkResult found = gjk(parted, depth.normal, {width});
        depth.iterations += found.iterations;
        // The points found lie on the cores as they are, too.
        depth.upper = min_of(depth.upper, norm(found.simplex.nearest() + lift * depth.normal));
        depth.point_a = found.simplex.point_a();
        const double separation = found.lower - lift * dot(found.normal, depth.normal);
        const Vec3d turned = found.normal - depth.normal;
        const double turn = largest(turned);
        if (!(separation > depth.lower && turn > 0.0)) return;
        depth.lower = separation;
        // Points belong to the normal along which the cores were parted: the last one is hardly changed any more.
        const bool is_last = turn <= kWorthPolishing || step == kMostPolishing;
        if (!is_last || turn <= kSameNormal) depth.normal = found.normal;
        if (is_last) return;
        leap(pair, turned_before, turned, depth);
        turned_before = turned;
    }
}

}  // namespace clearance
