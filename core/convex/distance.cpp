#include "convex/distance.hpp"

#include "convex/box_box.hpp"
#include "convex/mpr.hpp"

namespace clearance {
namespace {

// A gap that is smaller than this, compared with the size, has no direction of its own: its normal is that of a face.
constexpr double kTouching = 1e-10;

double rounding_of(const CorePair& pair) { return 16.0 * kEpsilon * (pair.size + largest(pair.b_origin)); }

CoreGap<double> gap_apart(const GjkResult& found, double rounding) {
    return {found.simplex.point_a(), unit_or(found.normal, -found.simplex.nearest()), found.upper, found.lower - rounding,
            found.upper + rounding};
}

Vec3d centre_of(const ConvexCore& core) {
    const Element* element = std::get_if<Element>(&core);
    return element == nullptr ? Vec3d{0, 0, 0} : ball_around(*element).centre;
}

EpaResult depth(const CorePair& pair, const CoreQuestion& question, const GjkResult& apart) {
    if (question.by_portal) {
        const Vec3d inner = centre_of(pair.a) - (pair.a_from_b * centre_of(pair.b) + pair.b_origin);
        return mpr(pair, inner, question.width_inside);
    }
    const Box *box_a = std::get_if<Box>(&pair.a), *box_b = std::get_if<Box>(&pair.b);
    if (box_a != nullptr && box_b != nullptr) return box_box_depth(*box_a, *box_b, pair);
    return epa(pair, apart, {question.width_inside, question.width_touching});
}

}  // namespace

CoreGap<double> core_gap(const CorePair& pair, const CoreQuestion& question, int& iterations) {
    const double rounding = rounding_of(pair);
    const GjkResult apart =
        gjk(pair, question.towards_b, {question.width_apart, question.lower_above, question.upper_at_most});
    iterations += apart.iterations;
    if (apart.upper > kTouching * pair.size || apart.lower > question.lower_above) return gap_apart(apart, rounding);
    if (apart.upper <= question.upper_at_most)
        return {apart.simplex.point_a(), apart.normal, apart.upper, apart.lower - rounding, apart.upper + rounding};

    const EpaResult inside = depth(pair, question, apart);
    iterations += inside.iterations;
    const double upper = min_of(apart.upper, inside.upper), lower = min_of(upper, max_of(apart.lower, inside.lower));
    const double distance = min_of(upper, max_of(lower, inside.lower));
    return {inside.point_a, inside.normal, distance, lower - rounding, upper + rounding};
}

}  // namespace clearance
