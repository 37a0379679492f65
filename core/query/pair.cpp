#include "query/pair.hpp"

#include <stdexcept>

#include "closest/kernels.hpp"
#include "closest/swept.hpp"
#include "convex/curvature.hpp"
#include "convex/distance.hpp"
#include "query/shortcuts.hpp"

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

Gap gap_of(const SweptGap<double>& swept) {
    return {swept.distance, swept.lower, swept.upper, swept.point_a, swept.point_b, swept.normal, 0, 0};
}

Gap gap_of_elements(const Element& a, const Element& b, const PlacedPart& at_a, const PlacedPart& at_b) {
    Vec3d vertices_a[3], vertices_b[3];
    for (int k = 0; k < 3; ++k) {
        vertices_a[k] = at_a.rotation * a.vertex[k] + at_a.origin;
        vertices_b[k] = at_b.rotation * b.vertex[k] + at_b.origin;
    }
    Gap gap{};
    gap_between(a.count, {&vertices_a[0].x, &a.radius, 9, 0}, b.count, {&vertices_b[0].x, &b.radius, 9, 0},
                {&gap.distance, &gap.lower, &gap.upper, &gap.point_a.x, &gap.point_b.x, &gap.normal.x});
    return gap;
}

// How far a core lies from the origin of its own frame.
double offset_of(const Part& part) { return norm(part.ball.centre - part.pose.translation); }

// A ball against a solid that has a closed form for points.
std::optional<Gap> gap_of_ball(const Convex& solid, const Element& ball, const PlacedPart& at_solid,
                               const PlacedPart& at_ball) {
    const Vec3d centre = at_ball.rotation * ball.vertex[0] + at_ball.origin;
    const Vec3d seen = transposed_times(at_solid.rotation, centre - at_solid.origin);
    std::optional<CoreGap<double>> found = gap_of_point(solid.core, seen);
    if (!found) return std::nullopt;
    const double rounding = 16.0 * kEpsilon * (at_solid.part.ball.radius + largest(seen) + offset_of(at_ball.part));
    found->lower -= rounding, found->upper += rounding;
    found->point_a = at_solid.rotation * found->point_a + at_solid.origin;
    found->normal = at_solid.rotation * found->normal;
    return gap_of(swept(*found, Weights<double>{}, solid.radius, ball.radius));
}

std::optional<Gap> gap_in_closed_form(const Convex& a, const Convex& b, const PlacedPart& at_a, const PlacedPart& at_b) {
    const Element *element_a = std::get_if<Element>(&a.core), *element_b = std::get_if<Element>(&b.core);
    if (element_a != nullptr && element_b != nullptr) return gap_of_elements(*element_a, *element_b, at_a, at_b);
    if (element_b != nullptr && element_b->count == 1)
        if (const auto found = gap_of_ball(a, *element_b, at_a, at_b)) return found;
    if (element_a != nullptr && element_a->count == 1)
        if (const auto found = gap_of_ball(b, *element_a, at_b, at_a)) return mirrored(*found);
    return std::nullopt;
}

CoreQuestion question_for_cores(const CorePair& pair, double size, double radii, const Question& question) {
    const double asked = 0.8 * question.tolerance * size;  // the rest is for rounding
    CoreQuestion cores{};
    cores.width_apart = asked > 0.0 ? asked : kWidth * size;
    cores.width_inside = asked > 0.0 ? asked : (pair.curved ? kWidthInsideCurved : kWidth) * size;
    cores.width_touching = asked > 0.0 ? asked : (pair.curved ? kWidthTouching : kWidth) * size;
    cores.relative_width = asked > 0.0 ? std::numeric_limits<double>::infinity() : kRelativeWidth;
    cores.lower_above = question.at_most + radii + 64.0 * kEpsilon * pair.reach;
    cores.upper_at_most = question.near_enough + radii;
    cores.by_portal = question.method == DepthMethod::mpr;
    cores.has_shortcuts = question.has_shortcuts;
    return cores;
}

// A point in the middle of a core, in its own frame. Points may lie anywhere; solids are centred.
Vec3d middle_of(const ConvexCore& core) {
    if (const HullPointer* hull = std::get_if<HullPointer>(&core)) return (*hull)->ball().centre;
    const Element* element = std::get_if<Element>(&core);
    if (element == nullptr) return {0, 0, 0};
    return 0.5 * (element->vertex[0] + element->vertex[element->count - 1]);
}

Vec3d between_centres(const CorePair& pair) { return pair.a_from_b * middle_of(pair.b) + pair.b_origin - middle_of(pair.a); }

// Whether the bracket is as narrow as promised, or wider because nobody asked for more.
bool has_converged(const Gap& gap, double size, double reach, bool curved, const Question& question) {
    if (gap.lower > question.at_most || gap.distance <= question.near_enough) return true;
    if (gap.distance < 0.0 && question.method == DepthMethod::mpr) return true;
    const double promised = question.tolerance > 0.0       ? question.tolerance
                            : curved && gap.distance < 0.0 ? kPromisedInsideCurved
                                                           : kPromised;
    return gap.upper - gap.lower <= promised * size + 64.0 * kEpsilon * reach;
}

// Simplices that ran into rounding on one way need not do so on another: from the normal itself, or leaning to one of four
// sides. Both brackets hold.
CoreGap<double> found_another_way(const CorePair& pair, CoreQuestion cores, const CoreGap<double>& known, int way,
                                  int& iterations) {
    const auto [e, f] = tangents_of(known.normal);
    const Vec3d lean[kOtherWays] = {{0, 0, 0}, e, -e, f, -f};
    cores.towards_b = known.normal + kLean * lean[way];
    cores.has_shortcuts = false;
    CoreGap<double> again = core_gap(pair, cores, iterations);
    again.lower = max_of(known.lower, again.lower), again.upper = min_of(known.upper, again.upper);
    again.distance = max_of(again.lower, min_of(again.upper, again.distance));
    return again;
}

// Any direction proves a distance. Nothing is said if that is not enough, so that answers do not depend on the direction.
std::optional<CoreGap<double>> parted_along(const CorePair& pair, const Vec3d& direction, double enough) {
    const Vec3d normal = unit_or({1, 0, 0}, direction);
    const Difference farthest = pair.farthest(normal);
    const double separation = -dot(normal, farthest.w);
    if (!(separation > enough)) return std::nullopt;
    const double lower = separation - 16.0 * kEpsilon * pair.reach;
    return CoreGap<double>{farthest.a, normal, separation, lower, norm(farthest.w) + 16.0 * kEpsilon * pair.reach};
}

Gap gap(const Convex& a, const Convex& b, const PlacedPart& at_a, const PlacedPart& at_b, const Question& question,
        Work& work) {
    if (question.has_shortcuts)
        if (const auto found = gap_in_closed_form(a, b, at_a, at_b)) return *found;
    const double size = size_of(at_a.part, at_b.part), radii = a.radius + b.radius;
    const Mat3& turn = at_a.rotation;
    const Vec3d apart = at_b.origin - at_a.origin;
    const CorePair pair{a.core,
                        b.core,
                        transposed_times(turn, at_b.rotation),
                        transposed_times(turn, apart),
                        size - radii,
                        size + largest(apart) + offset_of(at_a.part) + offset_of(at_b.part),
                        is_curved(a.core) || is_curved(b.core)};
    CoreQuestion cores = question_for_cores(pair, size, radii, question);
    cores.towards_b = norm_sq(question.towards_b) > 0.0 ? transposed_times(turn, question.towards_b) : between_centres(pair);
    int iterations = 0;
    const auto answer = [&](CoreGap<double> found) {
        found.point_a = turn * found.point_a + at_a.origin;
        found.normal = turn * found.normal;
        Gap gap = gap_of(swept(found, Weights<double>{}, a.radius, b.radius));
        gap.converged = has_converged(gap, size, pair.reach, pair.curved, question);
        return gap;
    };
    if (norm_sq(question.parting) > 0.0) {
        ++work.iterations;
        if (const auto proved = parted_along(pair, transposed_times(turn, question.parting), cores.lower_above))
            return answer(*proved);
    }
    CoreGap<double> known = core_gap(pair, cores, iterations);
    Gap best = answer(known);
    for (int way = 0; !best.converged && way < kOtherWays; ++way) {
        known = found_another_way(pair, cores, known, way, iterations);
        best = answer(known);
    }
    work.iterations += iterations;
    return best;
}

// The farthest point of b into the half-space tells all.
Gap gap(const HalfSpace& a, const Convex& b, const PlacedPart& at_a, const PlacedPart& at_b, const Question&, Work&) {
    const Vec3d normal = at_a.rotation * a.normal;
    const Vec3d lowest = at_b.rotation * support(b.core, -transposed_times(at_b.rotation, normal)) + at_b.origin;
    const double distance = dot(normal, lowest - at_a.origin) - a.offset - b.radius;
    const double rounding = 16.0 * kEpsilon * (largest(lowest - at_a.origin) + at_b.part.ball.radius + abs_of(a.offset));
    const Vec3d point_b = lowest - b.radius * normal;
    return {distance, distance - rounding, distance + rounding, point_b - distance * normal, point_b, normal, 0, 0};
}

Gap gap(const Convex& a, const HalfSpace& b, const PlacedPart& at_a, const PlacedPart& at_b, const Question& question,
        Work& work) {
    return mirrored(gap(b, a, at_b, at_a, question, work));
}

template <class A, class B>
Gap gap(const A&, const B&, const PlacedPart&, const PlacedPart&, const Question&, Work&) {
    throw std::logic_error("these parts have no gap of their own.");
}

}  // namespace

double size_of(const Part& a, const Part& b) {
    const auto finite = [](double radius) { return radius < std::numeric_limits<double>::infinity() ? radius : 0.0; };
    return finite(a.ball.radius) + finite(b.ball.radius);
}

Gap gap_between(const PlacedPart& a, const PlacedPart& b, const Question& question, Work& work) {
    ++work.element_tests;
    return std::visit([&](const auto& s, const auto& t) { return gap(s, t, a, b, question, work); }, a.part.shape,
                      b.part.shape);
}

}  // namespace clearance
