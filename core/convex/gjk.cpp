#include "convex/gjk.hpp"

#include "convex/curvature.hpp"
#include "convex/polytope_kernels.hpp"
#include "convex/ruling.hpp"

namespace clearance {

namespace {

constexpr int kMostIterations = 400;
constexpr double kTouching = 1e-10;  // of the size: nearer than this, directions are noise
constexpr double kLean = 1e-12;
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

// Steps that care for simplices which are all but flat, and for curved cores.
GjkResult walked_on(const CorePair& pair, GjkResult result, const StopRule& stop) {
    Vec3d towards = result.iterations > 0 ? result.simplex.direction() : result.normal;
    Trust newton;
    double narrowest = std::numeric_limits<double>::infinity();
    for (int idle = 0; idle < kMostIdle && result.iterations < kMostIterations;) {
        ++result.iterations;
        const Difference farthest = pair.farthest(towards);
        const double separation = -dot(towards, farthest.w);
        if (separation > result.lower) result.lower = separation, result.normal = towards;
        if (result.iterations > 1 && stop.holds(result.lower, result.upper)) break;

        const bool nearer = !result.simplex.has(farthest.w) && result.simplex.extend(farthest);
        result.upper = result.simplex.distance();
        if (stop.holds(result.lower, result.upper) || result.upper == 0.0) break;
        if (!pair.curved && !nearer) break;  // the nearest point of a polytope is found
        idle = result.upper - result.lower < narrowest ? 0 : idle + 1;
        narrowest = min_of(narrowest, result.upper - result.lower);
        const Vec3d between = result.simplex.direction();
        if (!pair.curved || !newton.given(result.upper - result.lower)) {
            towards = between;
            continue;
        }
        const std::optional<Vec3d> ruling = ruling_in_use(pair, result.simplex.vertices(), towards);
        if (!ruling) {
            towards = turned_by_newton(pair, towards, farthest.w, between);
            continue;
        }
        // Both ends of the line are farthest: one will be found next, the other by leaning towards it.
        towards = turned_about_ruling(pair, towards, farthest.w, *ruling);
        for (const double lean : {kLean, -kLean}) {
            const Difference end = pair.farthest(towards + (lean / norm(*ruling)) * *ruling);
            if (!result.simplex.holds_origin() && !result.simplex.has(end.w)) result.simplex.extend(end);
        }
        result.upper = result.simplex.distance();
        if (result.upper == 0.0) break;
    }
    return result;
}

PolytopeCorners corners_of(const ConvexCore& core) {
    if (const HullPointer* hull = std::get_if<HullPointer>(&core)) return (*hull)->corners();
    if (const Box* box = std::get_if<Box>(&core)) return {.half = box->half};
    const Element& element = std::get<Element>(core);
    return {.points = element.vertex, .count = static_cast<std::size_t>(element.count)};
}

}  // namespace

PolytopePair polytopes_of(const CorePair& pair, const Vec3d& towards_b, const StopRule& stop) {
    const double length = norm(towards_b);
    const bool is_exact = length > kLeastSquared;
    const Vec3d towards = is_exact ? towards_b : unit_or({1, 0, 0}, towards_b);
    return {corners_of(pair.a),      corners_of(pair.b),    pair.a_from_b, pair.b_origin, towards,
            is_exact ? length : 1.0, kTouching * pair.size, stop};
}

GjkResult gjk(const CorePair& pair, const Vec3d& towards_b, const StopRule& stop) {
    if (pair.curved) {
        constexpr double inf = std::numeric_limits<double>::infinity();
        return walked_on(pair, {{}, unit_or({1, 0, 0}, towards_b), -inf, inf, 0}, stop);
    }
    PolytopeWalk walked;
    polytope_kernels().walk_one(polytopes_of(pair, towards_b, stop), walked);
    return gjk(pair, walked, stop);
}

GjkResult gjk(const CorePair& pair, const PolytopeWalk& walked, const StopRule& stop) {
    GjkResult result{{}, walked.normal, walked.lower, 0.0, walked.iterations};
    result.simplex.take(walked);
    result.upper = result.simplex.distance();
    const bool has_settled = walked.end == PolytopeWalk::End::proved || walked.end == PolytopeWalk::End::settled;
    const bool is_settled = has_settled && stop.holds(result.lower, result.upper);
    // Where corners of both are at one place, no direction leads on.
    if (is_settled || result.upper == 0.0) return result;
    return walked_on(pair, result, stop);
}

}  // namespace clearance
