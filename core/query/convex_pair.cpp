#include "query/convex_pair.hpp"

#include "convex/curvature.hpp"
#include "convex/drum_gap.hpp"

namespace clearance {
namespace {

// Brackets are promised to be 1e-9 of the size wide, 1e-7 where curved cores overlap. Polytopes and pairs that are apart
// come much closer for little more, and so do their normals.
constexpr double kPromised = 1e-9, kPromisedInsideCurved = 1e-7;
constexpr double kWidth = 1e-13, kWidthInsideCurved = 0.8e-7, kWidthTouching = 1e-10;

// The direction between points that are very near to each other needs a bracket that is narrow compared with their distance.
constexpr double kRelativeWidth = 1e-11;

// Where rounding blocks one way to the answer, others lean aside by so much.
constexpr double kLean = 0.3;
constexpr int kOtherWays = 5;

// A point in the middle of a core, in its own frame. Points may lie anywhere; solids are centred.
Vec3d middle_of(const ConvexCore& core) {
    if (const HullPointer* hull = std::get_if<HullPointer>(&core)) return (*hull)->ball().centre;
    const Element* element = std::get_if<Element>(&core);
    if (element == nullptr) return {0, 0, 0};
    return 0.5 * (element->vertex[0] + element->vertex[element->count - 1]);
}

Vec3d between_centres(const CorePair& pair) { return pair.a_from_b * middle_of(pair.b) + pair.b_origin - middle_of(pair.a); }

// Any direction proves a distance. Nothing is said if that is not enough, so that answers do not depend on the direction.
std::optional<CoreGap<double>> parted_along(const CorePair& pair, const Vec3d& direction, double enough) {
    const Vec3d normal = unit_or({1, 0, 0}, direction);
    const Difference farthest = pair.farthest(normal);
    const double separation = -dot(normal, farthest.w);
    if (!(separation > enough)) return std::nullopt;
    const double lower = separation - 16.0 * kEpsilon * pair.reach;
    return CoreGap<double>{farthest.a, normal, separation, lower, norm(farthest.w) + 16.0 * kEpsilon * pair.reach};
}

}  // namespace

Gap gap_of(const SweptGap<double>& swept) {
    return {swept.distance, swept.lower, swept.upper, swept.point_a, swept.point_b, swept.normal, 0, 0};
}

bool begins_with_touch(const Convex& a, const Convex& b, const Question& question) {
    const auto is_drum = [](const ConvexCore& core) {
        const Cylinder* it = std::get_if<Cylinder>(&core);
        return it != nullptr && it->radius > 0.0 && it->half_length > 0.0;
    };
    return is_drum(a.core) && is_drum(b.core) && question.has_shortcuts && question.method != DepthMethod::mpr &&
           !(norm_sq(question.parting) > 0.0);
}

ConvexPair::ConvexPair(const Convex& a, const Convex& b, const PlacedPart& at_a, const PlacedPart& at_b,
                       const Question& question)
    : turn_(at_a.rotation),
      origin_(at_a.origin),
      radius_a_(a.radius),
      radius_b_(b.radius),
      size_(size_of(at_a.part, at_b.part)),
      question_(question),
      pair_{a.core,
            b.core,
            transposed_times(at_a.rotation, at_b.rotation),
            transposed_times(at_a.rotation, at_b.origin - at_a.origin),
            size_ - (a.radius + b.radius),
            size_ + largest(at_b.origin - at_a.origin) + at_a.part.offset + at_b.part.offset,
            is_curved(a.core) || is_curved(b.core)},
      cores_(question_for_cores()) {}

CoreQuestion ConvexPair::question_for_cores() const {
    const double asked = 0.8 * question_.tolerance * size_;  // the rest is for rounding
    const double radii = radius_a_ + radius_b_;
    CoreQuestion cores{};
    cores.width_apart = asked > 0.0 ? asked : kWidth * size_;
    cores.width_inside = asked > 0.0 ? asked : (pair_.curved ? kWidthInsideCurved : kWidth) * size_;
    cores.width_touching = asked > 0.0 ? asked : (pair_.curved ? kWidthTouching : kWidth) * size_;
    cores.relative_width = asked > 0.0 ? std::numeric_limits<double>::infinity() : kRelativeWidth;
    cores.lower_above = question_.at_most + radii + 64.0 * kEpsilon * pair_.reach;
    cores.upper_at_most = question_.near_enough + radii;
    cores.by_portal = question_.method == DepthMethod::mpr;
    cores.has_shortcuts = question_.has_shortcuts;
    const bool has_guess = norm_sq(question_.towards_b) > 0.0;
    cores.towards_b = has_guess ? transposed_times(turn_, question_.towards_b) : between_centres(pair_);
    return cores;
}

CLEARANCE_INLINE Gap ConvexPair::answer(const CoreGap<double>& found) const {
    const CoreGap<double> turned{turn_ * found.point_a + origin_, turn_ * found.normal, found.distance, found.lower,
                                 found.upper};
    Gap gap = gap_of(swept(turned, Weights<double>{}, radius_a_, radius_b_));
    gap.converged = has_converged(gap);
    return gap;
}

// Whether the bracket is as narrow as promised, or wider because nobody asked for more.
bool ConvexPair::has_converged(const Gap& gap) const {
    if (gap.lower > question_.at_most || gap.distance <= question_.near_enough) return true;
    if (gap.distance < 0.0 && question_.method == DepthMethod::mpr) return true;
    const double promised = question_.tolerance > 0.0            ? question_.tolerance
                            : pair_.curved && gap.distance < 0.0 ? kPromisedInsideCurved
                                                                 : kPromised;
    return gap.upper - gap.lower <= promised * size_ + 64.0 * kEpsilon * pair_.reach;
}

// Simplices that ran into rounding on one way need not do so on another: from the normal itself, or leaning to one of four
// sides. Both brackets hold.
CoreGap<double> ConvexPair::found_another_way(const CoreGap<double>& known, int way, int& iterations) const {
    const auto [e, f] = tangents_of(known.normal);
    const Vec3d lean[kOtherWays] = {{0, 0, 0}, e, -e, f, -f};
    CoreQuestion cores = cores_;
    cores.towards_b = known.normal + kLean * lean[way];
    cores.has_shortcuts = false;
    CoreGap<double> again = core_gap(pair_, cores, iterations);
    again.lower = max_of(known.lower, again.lower), again.upper = min_of(known.upper, again.upper);
    again.distance = max_of(again.lower, min_of(again.upper, again.distance));
    return again;
}

void ConvexPair::write_drum(DrumColumns& drums, std::size_t row) const {
    drums.set(row, axis_of_drum(pair_), centre_of_drum(pair_), std::get<Cylinder>(pair_.a), std::get<Cylinder>(pair_.b),
              pair_.size);
}

Gap ConvexPair::gap(Work& work, const DoneBeside& done) const {
    if (norm_sq(question_.parting) > 0.0) {
        ++work.iterations;
        if (const auto proved = parted_along(pair_, transposed_times(turn_, question_.parting), cores_.lower_above))
            return answer(*proved);
    }
    return nearest(work, done);
}

Gap ConvexPair::nearest(Work& work, const DoneBeside& done) const {
    if (done.walk != nullptr && done.walk->end == PolytopeWalk::End::proved)
        return work.iterations += done.walk->iterations, answer(proved_gap(*done.walk, pair_));
    int iterations = 0;
    CoreGap<double> known = core_gap(pair_, cores_, iterations, done);
    Gap best = answer(known);
    for (int way = 0; !best.converged && way < kOtherWays; ++way) {
        known = found_another_way(known, way, iterations);
        best = answer(known);
    }
    work.iterations += iterations;
    return best;
}

}  // namespace clearance
