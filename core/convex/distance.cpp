#include "convex/distance.hpp"

#include "convex/box_box.hpp"

namespace clearance {
namespace {

// A gap that is smaller than this, compared with the size, has no direction of its own worth the name.
constexpr double kTouching = 1e-8;

double rounding_of(const CorePair& pair) { return 16.0 * kEpsilon * (pair.size + largest(pair.b_origin)); }

CoreGap<double> gap_apart(const GjkResult& found, double rounding) {
    const Vec3d apart = -found.simplex.nearest();
    return {found.simplex.point_a(), unit_or(found.normal, apart), found.upper, found.lower - rounding,
            found.upper + rounding};
}

}  // namespace

CoreGap<double> core_gap(const CorePair& pair, const CoreQuestion& question, int& iterations) {
    const double rounding = rounding_of(pair);
    StopRule stop{question.width_apart, question.lower_above, question.upper_at_most};
    const GjkResult apart = gjk(pair, question.towards_b, stop);
    iterations += apart.iterations;
    const bool decided = apart.lower > question.lower_above || apart.upper <= question.upper_at_most;
    if (apart.upper > kTouching * pair.size || (decided && apart.upper > 0.0)) return gap_apart(apart, rounding);
    if (decided) return {apart.simplex.point_a(), apart.normal, 0.0, apart.lower - rounding, rounding};

    stop.width = question.width_inside;
    const Box *box_a = std::get_if<Box>(&pair.a), *box_b = std::get_if<Box>(&pair.b);
    const EpaResult inside = box_a && box_b ? box_box_depth(*box_a, *box_b, pair) : epa(pair, apart, stop);
    iterations += inside.iterations;
    return {inside.point_a, inside.normal, inside.lower, inside.lower - rounding, inside.upper + rounding};
}

}  // namespace clearance
