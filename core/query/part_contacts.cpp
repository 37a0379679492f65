#include "query/part_contacts.hpp"

#include <stdexcept>

#include "convex/curvature.hpp"
#include "convex/manifold.hpp"

namespace clearance {
namespace {

constexpr double kTouching = 1e-9;  // of the size: shallower is touching

// The side of a part that looks along n, in the axes of the world, and by how much its sweep raises it.
struct Side {
    Feature feature;
    double raised;
};

Side side_of(const Convex& convex, const PlacedPart& at, const PlacedPart&, const Vec3d& n) {
    Side side{feature_facing(convex.core, transposed_times(at.rotation, n)), convex.radius};
    Feature& feature = side.feature;
    for (int k = 0; k < feature.count; ++k) feature.point[k] = at.rotation * feature.point[k] + at.origin;
    feature.centre = at.rotation * feature.centre + at.origin;
    feature.axis = at.rotation * feature.axis;
    return side;
}

// As much of the plane as the other part can touch.
Side side_of(const HalfSpace& half_space, const PlacedPart& at, const PlacedPart& other, const Vec3d& n) {
    const Vec3d normal = at.rotation * half_space.normal;
    const Ball& ball = other.part.ball;
    const Vec3d centre = other.origin + other.rotation * transposed_times(other.part.pose.rotation,
                                                                          ball.centre - other.part.pose.translation);
    const Vec3d foot = centre - (dot(normal, centre - at.origin) - half_space.offset) * normal;
    const auto [e, f] = tangents_of(n);
    const double reach = 2.0 * ball.radius;
    Side side{{}, 0.0};
    for (const auto& [s, t] : {std::pair{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}})
        side.feature.add(foot + (reach * s) * e + (reach * t) * f);
    return side;
}

[[noreturn]] Side side_of(const Surface&, const PlacedPart&, const PlacedPart&, const Vec3d&) {
    throw std::logic_error("a surface meets others triangle by triangle.");
}

Side side_of(const PlacedPart& at, const PlacedPart& other, const Vec3d& n) {
    return std::visit([&](const auto& shape) { return side_of(shape, at, other, n); }, at.part.shape);
}

// One point for a solid on a half-space. The normal points out of the half-space.
Contact contact_with_plane(const PlacedPart& plane, const PlacedPart& solid, const Vec3d& normal, PlaneRule rule) {
    const auto& half_space = std::get<HalfSpace>(plane.part.shape);
    const auto& convex = std::get<Convex>(solid.part.shape);
    const double offset = half_space.offset + dot(normal, plane.origin - solid.origin);
    const PlaneContact found =
        plane_contact(convex.core, rule, transposed_times(solid.rotation, normal), offset + convex.radius);
    const Vec3d surface = solid.rotation * found.point + solid.origin - convex.radius * normal;
    return {surface + (0.5 * found.depth) * normal, max_of(0.0, found.depth), normal, 0, 0};
}

}  // namespace

void add_contacts(const PlacedPart& a, const PlacedPart& b, const Gap& gap, PlaneRule rule, double margin,
                  std::vector<Contact>& found) {
    const double least = margin > 0.0 ? -std::numeric_limits<double>::infinity() : 0.0;
    const bool a_is_plane = std::holds_alternative<HalfSpace>(a.part.shape);
    if (rule != PlaneRule::manifold && (a_is_plane || std::holds_alternative<HalfSpace>(b.part.shape))) {
        Contact contact =
            a_is_plane ? contact_with_plane(a, b, gap.normal, rule) : contact_with_plane(b, a, -gap.normal, rule);
        contact.normal = gap.normal, contact.part_a = gap.feature_a, contact.part_b = gap.feature_b;
        found.push_back(contact);
        return;
    }
    const double slack = kTouching * size_of(a.part, b.part);
    const Side side_a = side_of(a, b, gap.normal), side_b = side_of(b, a, -gap.normal);
    const double raised = side_a.raised + side_b.raised;
    const Manifold manifold = meeting(side_a.feature, side_b.feature, gap.normal, -raised - max_of(slack, margin));
    double deepest = -std::numeric_limits<double>::infinity();
    for (int k = 0; k < manifold.count; ++k)
        deepest = max_of(deepest, manifold.point[k].height_a - manifold.point[k].height_b + raised);
    // A curved side may bulge between its corners: then the deepest point is where the gap was measured.
    if (!(deepest >= -gap.distance - 100.0 * slack)) {
        found.push_back(
            {0.5 * (gap.point_a + gap.point_b), max_of(least, -gap.distance), gap.normal, gap.feature_a, gap.feature_b});
        return;
    }
    // Nothing is deeper than the gap along its normal; sides that are not quite plane would say so.
    for (int k = 0; k < manifold.count; ++k) {
        const Manifold::Point& p = manifold.point[k];
        const double top = p.height_a + side_a.raised, bottom = p.height_b - side_b.raised;
        const double depth = min_of(top - bottom, -gap.distance);
        found.push_back(
            {p.place + (0.5 * (top + bottom)) * gap.normal, max_of(least, depth), gap.normal, gap.feature_a, gap.feature_b});
    }
}

void add_contacts_above(const Core<double, 3>& triangle, const Vec3d& normal, const PlacedPart& solid,
                        std::vector<Contact>& found) {
    Side ground{{}, 0.0};
    for (const Vec3d& corner : triangle.vertex) ground.feature.add(corner);
    const Side body = side_of(std::get<Convex>(solid.part.shape), solid, solid, -normal);
    const double slack = kTouching * solid.part.ball.radius;
    const Manifold manifold = meeting(ground.feature, body.feature, normal, -body.raised - slack);
    for (int k = 0; k < manifold.count; ++k) {
        const Manifold::Point& p = manifold.point[k];
        const double bottom = p.height_b - body.raised;
        found.push_back({p.place + (0.5 * (p.height_a + bottom)) * normal, max_of(0.0, p.height_a - bottom), normal, 0, 0});
    }
}

}  // namespace clearance
