#include "query/solid.hpp"

#include <cmath>

#include "bvh/fit.hpp"
#include "closest/certificate.hpp"
#include "closest/point_triangle.hpp"
#include "closest/segment_segment.hpp"

namespace clearance {
namespace {

struct Extent {
    Vec3d low, high;
};

// Along the axes of its own frame.
Extent extent_of(const ConvexCore& core) {
    const Vec3d x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
    return {{support(core, -x).x, support(core, -y).y, support(core, -z).z},
            {support(core, x).x, support(core, y).y, support(core, z).z}};
}

Vec3<float> rounded(const Vec3d& v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }

Volume<float> box_of(const Element& element, const Vec3d& centre, double per_unit) {
    const std::int32_t face[3] = {0, 1, 2};
    const Corners corners{&element.vertex[0].x, face, centre, per_unit};
    const TriangleBox only{{}, {}, 0};
    Vec3d corner[3];
    corners.get(0, corner);
    Moments moments;
    moments.add(corner);
    return fitted_box({&only, 1}, moments, corners);
}

TriangleGap gap_of_element(const void* context, const Element& element, double at_most) {
    const auto& solid = *static_cast<const SolidPart*>(context);
    Question question = *solid.question;
    question.at_most = at_most;
    const Part part = part_of(element);
    const Gap gap = gap_between({part, kNoTurn, {0, 0, 0}}, solid.placed, question, *solid.work);
    return {gap.distance, gap.lower, gap.upper, gap.point_a, gap.point_b, gap.normal, gap.converged};
}

double highest_point(const void* context, const Vec3d& along) {
    const PlacedPart& placed = static_cast<const SolidPart*>(context)->placed;
    const auto& convex = std::get<Convex>(placed.part.shape);
    const Vec3d farthest = placed.rotation * support(convex.core, transposed_times(placed.rotation, along)) + placed.origin;
    return dot(along, farthest) + convex.radius;
}

double power_of_two_above(double length) { return length > 0.0 ? std::ldexp(1.0, std::ilogb(length) + 1) : 0.0; }

Vec3d nearest_on(const Core<double, 3>& triangle, const Vec3d& point) {
    const Weights<double> at = closest(Core<double, 1>{{point}}, triangle);
    return point_at(triangle, at.b1, at.b2);
}

// The best of several points that are meant to lie on both triangles.
struct CommonPoint {
    Vec3d point;
    double off_sq = std::numeric_limits<double>::infinity();

    void consider(const Vec3d& on_one, const Vec3d& on_other) {
        const double distance_sq = norm_sq(on_one - on_other);
        if (distance_sq < off_sq) off_sq = distance_sq, point = on_one;
    }
};

// Corners of one triangle on the other, and edges that cross its plane.
void consider_edges(const Core<double, 3>& a, const Core<double, 3>& b, CommonPoint& best) {
    const Vec3d normal = cross(b.vertex[1] - b.vertex[0], b.vertex[2] - b.vertex[0]);
    for (int k = 0; k < 3; ++k) {
        const Vec3d &p = a.vertex[k], &q = a.vertex[(k + 1) % 3];
        best.consider(p, nearest_on(b, p));
        const double above = dot(normal, p - b.vertex[0]), next = dot(normal, q - b.vertex[0]);
        if (!((above < 0.0 && next > 0.0) || (above > 0.0 && next < 0.0))) continue;
        const Vec3d crossing = p + (above / (above - next)) * (q - p);
        best.consider(crossing, nearest_on(b, crossing));
    }
}

}  // namespace

Element placed_element(const PlacedPart& placed, std::int32_t number) {
    Element element = surface_of(placed.part)->mesh->element(number);
    for (Vec3d& vertex : element.vertex) vertex = placed.rotation * vertex + placed.origin;
    return element;
}

Core<double, 3> placed_triangle(const PlacedPart& placed, std::int32_t number) {
    const Element element = placed_element(placed, number);
    return {element.vertex[0], element.vertex[1], element.vertex[2]};
}

Part part_of(const Element& element) {
    const Ball ball = ball_around(element);
    return {Convex{element, element.radius}, Pose{}, ball, norm(ball.centre), true};
}

SolidPart::SolidPart(const PlacedPart& part, double least_unit, const Question& asked, Work& counters)
    : placed(part), question(&asked), work(&counters) {
    const auto& convex = std::get<Convex>(part.part.shape);
    const Extent extent = extent_of(convex.core);
    const Vec3d half = 0.5 * (extent.high - extent.low);
    seen.centre = extent.low + half;
    seen.unit = max_of(least_unit, power_of_two_above(largest(half) + convex.radius));
    const double per_unit = 1.0 / seen.unit;
    if (const Element* element = std::get_if<Element>(&convex.core))
        seen.volume = box_of(*element, seen.centre, per_unit);
    else
        seen.volume = {{0, 0, 0}, rounded((per_unit * (1.0 + 1e-7)) * half), {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 0.0f};
    seen.volume.sweep = static_cast<float>(per_unit * (1.0 + 1e-7) * convex.radius);
    seen.gap = &gap_of_element;
    seen.highest = &highest_point;
}

Vec3d common_point(const Core<double, 3>& triangle, const PlacedPart& solid, const Vec3d& near) {
    constexpr int kProjections = 100;
    Vec3d point = near;
    Work work;
    // Projecting in turns onto two convex bodies that meet ends in both of them; it mostly begins there.
    for (int k = 0; k < kProjections; ++k) {
        const Element element{1, {point, point, point}, 0.0};
        const Part part = part_of(element);
        const Gap gap = gap_between({part, kNoTurn, {0, 0, 0}}, solid, {}, work);
        if (gap.distance <= 0.0) break;
        const Vec3d next = nearest_on(triangle, gap.point_b);
        if (norm(next - point) <= 4.0 * kEpsilon * (largest(point) + solid.part.ball.radius)) break;
        point = next;
    }
    return point;
}

Vec3d common_point(const Core<double, 3>& a, const Core<double, 3>& b) {
    CommonPoint best;
    consider_edges(a, b, best);
    consider_edges(b, a, best);
    // Triangles in one plane may have nothing in common but crossings of their edges.
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const Core<double, 2> e{a.vertex[i], a.vertex[(i + 1) % 3]}, f{b.vertex[j], b.vertex[(j + 1) % 3]};
            const Weights<double> at = closest(e, f);
            best.consider(point_at(e, at.a1, at.a2), point_at(f, at.b1, at.b2));
        }
    return best.point;
}

}  // namespace clearance
