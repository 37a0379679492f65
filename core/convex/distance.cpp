#include "convex/distance.hpp"

#include "convex/box_box.hpp"
#include "convex/coaxial.hpp"
#include "convex/drum_gap.hpp"
#include "convex/mpr.hpp"
#include "convex/polish.hpp"
#include "convex/polytope_kernels.hpp"
#include "convex/smooth.hpp"

namespace clearance {
namespace {

// A gap that is smaller than this, compared with the size, has no direction of its own: its normal is that of a face.
constexpr double kTouching = 1e-10;

// A bracket this narrow, compared with the size, is converged; compared with the distance, it holds the normal, too.
constexpr double kConverged = 1e-11, kHoldsNormal = 1e-8;

// Directions as close as this, in radians, are one.
constexpr double kSameDirection = 1e-9;

// How far a witness may lie off its core, compared with the size.
constexpr double kOffCore = 1e-11;

// Two directions are known: that between the nearest points, and that which proves the distance. The one that separates
// the cores farther is better, but points far apart would leave their cores if they were not opposite each other.
CoreGap<double> gap_apart(const CorePair& pair, const GjkResult& found) {
    CoreGap<double> gap{found.simplex.point_a(), found.normal, found.upper, found.lower, found.upper};
    const Vec3d between = found.simplex.direction();
    const double turn = largest(between - found.normal);
    if (turn <= kSameDirection) return gap;
    const double separation = -dot(between, pair.farthest(between).w);
    if (separation >= found.lower || turn * found.upper > kOffCore * pair.size) gap.normal = between;
    gap.lower = max_of(gap.lower, separation);
    return gap;
}

// Most polytopes that are in each other can be measured without care.
std::optional<CoreGap<double>> gap_of_growth(const CorePair& pair, const PolytopeWalk& walked, const PolytopeGrowth& grown,
                                             int& iterations) {
    if (!grown.is_done) return std::nullopt;
    Depth inside{grown.normal, grown.lower, grown.upper, walked.iterations + grown.iterations};
    if (grown.has_point_a)
        inside.point_a = grown.point_a;
    else
        polish(pair, inside);
    iterations += inside.iterations;
    return CoreGap<double>{*inside.point_a, inside.normal, inside.lower, inside.lower, inside.upper};
}

CoreGap<double> widened(CoreGap<double> gap, double by) {
    gap.lower -= by, gap.upper += by;
    return gap;
}

Vec3d centre_of(const ConvexCore& core) {
    const Element* element = std::get_if<Element>(&core);
    if (element == nullptr) return {0, 0, 0};
    Vec3d sum{0, 0, 0};
    for (int k = 0; k < element->count; ++k) sum = sum + element->vertex[k];
    return (1.0 / element->count) * sum;
}

Depth depth(const CorePair& pair, const CoreQuestion& question, const GjkResult& apart) {
    if (question.by_portal && apart.upper == 0.0) {  // a portal needs cores that overlap for certain
        const Vec3d inner = centre_of(pair.a) - (pair.a_from_b * centre_of(pair.b) + pair.b_origin);
        return mpr(pair, inner, question.width_inside);
    }
    const Box *box_a = std::get_if<Box>(&pair.a), *box_b = std::get_if<Box>(&pair.b);
    if (question.has_shortcuts && box_a != nullptr && box_b != nullptr) return box_box_depth(*box_a, *box_b, pair);
    return epa(pair, apart, {question.width_inside, question.width_touching, question.lower_above});
}

// Corners of boxes that are far apart are seldom opposite a face.
bool are_far_apart(const CorePair& pair) { return norm_sq(pair.b_origin) > pair.size * pair.size; }
bool asks_for_all(const CoreQuestion& question) { return question.lower_above == std::numeric_limits<double>::infinity(); }

// Directions that can separate two boxes tell at once how deep they are in each other, or that they are farther apart than
// anybody asked; and how far they are apart, if points prove it. If none of these, GJK has a good direction to begin with.
std::optional<CoreGap<double>> gap_of_boxes(const CorePair& pair, const CoreQuestion& question, double touching,
                                            Vec3d& towards_b) {
    const Box *a = std::get_if<Box>(&pair.a), *b = std::get_if<Box>(&pair.b);
    if (a == nullptr || b == nullptr) return std::nullopt;
    if (are_far_apart(pair) && asks_for_all(question)) return std::nullopt;
    Depth found = box_box_depth(*a, *b, pair);
    if (found.lower > question.lower_above)
        return CoreGap<double>{{0, 0, 0}, found.normal, found.lower, found.lower, norm(pair.b_origin)};
    if (are_far_apart(pair)) return std::nullopt;  // so that the answer does not depend on what was asked
    if (!(found.lower > touching || found.upper < -touching)) return std::nullopt;
    if (found.lower > 0.0 && !found.point_a) return towards_b = found.normal, std::nullopt;
    if (!found.point_a) polish(pair, found);
    return CoreGap<double>{*found.point_a, found.normal, found.lower, found.lower, found.upper};
}

}  // namespace

bool begins_with_walk(const CorePair& pair, const CoreQuestion& question) {
    if (pair.curved) return false;
    const bool are_boxes = std::holds_alternative<Box>(pair.a) && std::holds_alternative<Box>(pair.b);
    if (!are_boxes || !question.has_shortcuts || question.by_portal) return true;
    return are_far_apart(pair) && asks_for_all(question);
}

CoreGap<double> core_gap(const CorePair& pair, const CoreQuestion& question, int& iterations, const DoneBeside& done) {
    const PolytopeWalk* walked = done.walk;
    const PolytopeGrowth* grown = done.growth;
    const double rounding = rounding_of(pair), touching = kTouching * pair.size;
    const StopRule stop = question.stop();
    Vec3d towards_b = question.towards_b;
    if (walked == nullptr && question.has_shortcuts && !question.by_portal) {
        if (const auto found = gap_of_boxes(pair, question, touching, towards_b)) return widened(*found, rounding);
        if (const auto found = drum_gap(pair, question, iterations, done.touch)) return widened(*found, rounding);
        if (const auto found = coaxial_gap(pair, question.width_inside)) return widened(*found, rounding);
        if (const auto found = smooth_gap(pair, question, iterations)) return widened(*found, rounding);
    }
    PolytopeWalk here;
    if (walked == nullptr && !pair.curved) {
        polytope_kernels().walk_one(polytopes_of(pair, towards_b, stop), here);
        walked = &here;
    }
    if (walked != nullptr) {
        if (walked->end == PolytopeWalk::End::proved) return iterations += walked->iterations, proved_gap(*walked, pair);
        PolytopeGrowth here_too;
        if (const auto rule = growth_after(*walked, pair, question); rule && grown == nullptr) {
            const PolytopePair polytopes = polytopes_of(pair, walked->normal, stop);
            polytope_kernels().grow_one({&polytopes, walked, *rule}, here_too);
            grown = &here_too;
        }
        if (grown != nullptr)
            if (const auto found = gap_of_growth(pair, *walked, *grown, iterations)) return widened(*found, rounding);
    }
    const GjkResult apart = walked != nullptr ? gjk(pair, *walked, stop) : gjk(pair, towards_b, stop);
    iterations += apart.iterations;
    const bool converged = apart.upper - apart.lower <= max_of(question.width_apart, kConverged * pair.size);
    const bool holds_normal = apart.upper - apart.lower <= max_of(kHoldsNormal, question.relative_width) * apart.upper;
    if (converged && holds_normal && apart.upper > touching) return widened(gap_apart(pair, apart), rounding);
    if (apart.lower > question.lower_above || apart.upper <= question.upper_at_most)
        return widened({apart.simplex.point_a(), apart.normal, apart.upper, apart.lower, apart.upper}, rounding);

    // The cores overlap, or touch within rounding, or are so near to each other that GJK cannot tell any more.
    const bool proved_apart = apart.lower > 0.0;
    Depth inside = proved_apart ? Depth{apart.normal, apart.lower, apart.upper, 0} : depth(pair, question, apart);
    if (!inside.point_a) polish(pair, inside);
    iterations += inside.iterations;
    if (proved_apart && inside.upper >= apart.upper && !(inside.lower > apart.lower) && apart.upper > touching) {
        CoreGap<double> gap = gap_apart(pair, apart);
        gap.lower = min_of(gap.upper, max_of(gap.lower, inside.lower));
        return widened(gap, rounding);
    }
    const double upper = min_of(apart.upper, inside.upper), lower = min_of(upper, max_of(apart.lower, inside.lower));
    return widened({*inside.point_a, inside.normal, min_of(upper, max_of(lower, inside.lower)), lower, upper}, rounding);
}

}  // namespace clearance
