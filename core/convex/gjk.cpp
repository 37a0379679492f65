#include "convex/gjk.hpp"

#include "convex/curvature.hpp"

namespace clearance {

namespace {

constexpr int kMostIterations = 400;
constexpr int kMostIdle = 6;  // iterations in a row that tighten neither bound

bool has(const Simplex& simplex, const Vec3d& w) {
    for (int k = 0; k < simplex.count; ++k)
        if (largest(simplex.vertex[k].w - w) == 0.0) return true;
    return false;
}

}  // namespace

GjkResult gjk(const CorePair& pair, const Vec3d& towards_b, const StopRule& stop) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    GjkResult result{{}, unit_or({1, 0, 0}, towards_b), -inf, inf, 0};
    Vec3d towards = result.normal;
    for (int idle = 0; idle < kMostIdle && result.iterations < kMostIterations;) {
        ++result.iterations;
        const Difference farthest = pair.farthest(towards);
        const double separation = -dot(towards, farthest.w);
        const bool better_direction = separation > result.lower;
        if (better_direction) result.lower = separation, result.normal = towards;
        if (stop.holds(result.lower, result.upper)) break;

        bool nearer = false;
        if (!has(result.simplex, farthest.w)) {
            Simplex next = result.simplex;
            extend(next, farthest);
            const double distance = next.holds_origin ? 0.0 : norm(next.nearest());
            nearer = distance < result.upper;
            if (nearer) result.simplex = next, result.upper = distance;
        }
        if (stop.holds(result.lower, result.upper) || result.upper == 0.0) break;
        idle = better_direction || nearer ? 0 : idle + 1;
        if (pair.curved && better_direction) {
            towards = turned_by_newton(pair, towards, farthest.w);
        } else {
            if (!nearer && !pair.curved) break;  // the nearest point of a polytope is found
            towards = (-1.0 / result.upper) * result.simplex.nearest();
        }
    }
    return result;
}

}  // namespace clearance
