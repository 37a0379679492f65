#include "convex/gjk.hpp"

#include "convex/curvature.hpp"

namespace clearance {

namespace {

constexpr int kMostIterations = 400;
constexpr int kMostIdle = 6;  // iterations in a row that tighten neither bound

// When to trust Newton's method: as long as every step of it halves the bracket. At the corners of a support function it
// does not, but the steps of GJK do; then it is tried less and less often.
class Trust {
public:
    bool given(double width) {
        if (asked_ && !(width <= 0.5 * width_)) wait_ = pause_, pause_ *= 2;
        width_ = width;
        asked_ = wait_ == 0;
        if (!asked_) --wait_;
        return asked_;
    }

private:
    double width_ = std::numeric_limits<double>::infinity();
    bool asked_ = false;
    int wait_ = 0, pause_ = 1;
};

}  // namespace

GjkResult gjk(const CorePair& pair, const Vec3d& towards_b, const StopRule& stop) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    GjkResult result{{}, unit_or({1, 0, 0}, towards_b), -inf, inf, 0};
    Vec3d towards = result.normal;
    Trust newton;
    for (int idle = 0; idle < kMostIdle && result.iterations < kMostIterations;) {
        ++result.iterations;
        const Difference farthest = pair.farthest(towards);
        const double separation = -dot(towards, farthest.w);
        const bool better_direction = separation > result.lower;
        if (better_direction) result.lower = separation, result.normal = towards;
        if (stop.holds(result.lower, result.upper)) break;

        const bool nearer = !result.simplex.has(farthest.w) && result.simplex.extend(farthest);
        result.upper = result.simplex.distance();
        if (stop.holds(result.lower, result.upper) || result.upper == 0.0) break;
        if (!pair.curved && !nearer) break;  // the nearest point of a polytope is found
        idle = better_direction || nearer ? 0 : idle + 1;
        const Vec3d between = result.simplex.direction();
        towards = pair.curved && newton.given(result.upper - result.lower) ? turned_by_newton(pair, towards, farthest.w, between) : between;
    }
    return result;
}

}  // namespace clearance
