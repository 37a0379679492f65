#include "query/pair.hpp"

#include <stdexcept>

#include "closest/kernels.hpp"
#include "query/convex_pair.hpp"
#include "query/shortcuts.hpp"

namespace clearance {
namespace {

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

// A ball against a solid that has a closed form for points.
std::optional<Gap> gap_of_ball(const Convex& solid, const Element& ball, const PlacedPart& at_solid,
                               const PlacedPart& at_ball) {
    const Vec3d centre = at_ball.rotation * ball.vertex[0] + at_ball.origin;
    const Vec3d seen = transposed_times(at_solid.rotation, centre - at_solid.origin);
    std::optional<CoreGap<double>> found = gap_of_point(solid.core, seen);
    if (!found) return std::nullopt;
    const double rounding = 16.0 * kEpsilon * (at_solid.part.ball.radius + largest(seen) + at_ball.part.offset);
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

Gap gap(const Convex& a, const Convex& b, const PlacedPart& at_a, const PlacedPart& at_b, const Question& question,
        Work& work) {
    if (question.has_shortcuts)
        if (const auto found = gap_in_closed_form(a, b, at_a, at_b)) return *found;
    return ConvexPair(a, b, at_a, at_b, question).gap(work);
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

Gap gap_between(const PlacedPart& a, const PlacedPart& b, const Question& question, Work& work) {
    ++work.element_tests;
    return std::visit([&](const auto& s, const auto& t) { return gap(s, t, a, b, question, work); }, a.part.shape,
                      b.part.shape);
}

}  // namespace clearance
