#include "convex/polish.hpp"

#include "convex/gjk.hpp"

namespace clearance {
namespace {

// How far cores are parted to polish the answer, and how closely they are measured then, compared with the size. A normal
// that turned by more than so many radians is worth polishing again.
constexpr double kLift = 1e-4, kPolished = 1e-15, kWorthPolishing = 1e-6;
constexpr int kMostPolishing = 16;

}  // namespace

void polish(const CorePair& pair, Depth& depth) {
    const double width = pair.curved ? kPolished * pair.size : 4.0 * kEpsilon * pair.size;
    for (int step = 1;; ++step) {
        const double lift = kLift * pair.size - depth.lower;
        CorePair parted = pair;
        parted.b_origin = pair.b_origin + lift * depth.normal;
        const GjkResult found = gjk(parted, depth.normal, {width});
        depth.iterations += found.iterations;
        // The points found lie on the cores as they are, too.
        depth.upper = min_of(depth.upper, norm(found.simplex.nearest() + lift * depth.normal));
        const double separation = found.lower - lift * dot(found.normal, depth.normal);
        const double turn = separation > depth.lower ? largest(found.normal - depth.normal) : 0.0;
        if (turn > 0.0) depth.lower = separation, depth.normal = found.normal;
        depth.point_a = found.simplex.point_a();
        if (turn <= kWorthPolishing || step == kMostPolishing) return;
    }
}

}  // namespace clearance
