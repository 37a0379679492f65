#include "robot/hulls.hpp"

#include <algorithm>
#include <array>

#include "bvh/facing.hpp"
#include "bvh/nearest_triangle.hpp"
#include "robot/cell.hpp"

namespace clearance {
namespace {

// The mesh that a body is, or null.
const Mesh* only_mesh(const Body& body) {
    if (body.parts().size() != 1 || is_cloud(body.parts().front())) return nullptr;
    const Surface* surface = surface_of(body.parts().front());
    return surface == nullptr ? nullptr : surface->mesh.get();
}

// Corners that no triangle has do not belong to the mesh; those of many triangles are one.
HullPointer hull_around(const Mesh& mesh) {
    std::vector<bool> is_used(mesh.vertices.size(), false);
    for (const Face& face : mesh.faces)
        for (const std::int32_t corner : face) is_used[static_cast<std::size_t>(corner)] = true;
    std::vector<std::array<double, 3>> sorted;
    for (std::size_t k = 0; k < is_used.size(); ++k)
        if (is_used[k]) sorted.push_back({mesh.vertices[k].x, mesh.vertices[k].y, mesh.vertices[k].z});
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::vector<Vec3d> corners;
    for (const auto& [x, y, z] : sorted) corners.push_back({x, y, z});
    return std::make_shared<const Hull>(std::move(corners));
}

// A mesh that stands somewhere, about a point that a pair has in common.
Stand stand_of(const HulledBody& placed, const Vec3d& origin) {
    const Pose& part = placed.body.parts().front().pose;
    return {placed.pose.rotation * part.rotation,
            placed.pose.rotation * part.translation + (placed.pose.translation - origin)};
}

NearestTriangle triangle_under(const Vec3d& point, const HulledBody& placed, double within) {
    if (!placed.has_hull) return {0, 0.0};
    const Stand at = stand_of(placed, point);
    return nearest_triangle(*only_mesh(placed.body), -transposed_times(at.rotation, at.origin), within);
}

double reach_of(const HulledBody& placed) {
    const Ball& ball = placed.body.ball();
    return placed.body.is_finite() ? largest(placed.pose.translation) + largest(ball.centre) + ball.radius : 0.0;
}

}  // namespace

std::span<const std::optional<Body>> Hulls::of(std::span<const CellBody> bodies) const {
    std::call_once(is_made_, [&] {
        std::vector<std::optional<Body>> made;
        for (const CellBody& each : bodies) {
            std::optional<Body>& hull = made.emplace_back();
            if (const Mesh* mesh = only_mesh(each.body))
                hull.emplace(std::vector<Part>{part_of(Convex{hull_around(*mesh), 0.0}, each.body.parts().front().pose)});
        }
        made_ = std::move(made);
    });
    return made_;
}

std::optional<Gap> gap_by_hulls(const HulledBody& a, const HulledBody& b, const Gap& of_hulls, Work& work) {
    if (!of_hulls.converged || !(of_hulls.lower > 0.0)) return std::nullopt;
    const double within = 32.0 * kEpsilon * (reach_of(a) + reach_of(b) + of_hulls.upper);
    const NearestTriangle on_a = triangle_under(of_hulls.point_a, a, within);
    const NearestTriangle on_b = triangle_under(of_hulls.point_b, b, within);
    if (on_a.triangle < 0 || on_b.triangle < 0) return std::nullopt;
    work.triangle_tests += a.has_hull + b.has_hull;
    Gap gap = of_hulls;
    if (on_a.distance <= within && on_b.distance <= within) {
        if (a.has_hull) gap.feature_a = on_a.triangle;
        if (b.has_hull) gap.feature_b = on_b.triangle;
        gap.upper += on_a.distance + on_b.distance;
        return gap;
    }
    if (!a.has_hull || !b.has_hull) return std::nullopt;

    const Vec3d& origin = a.pose.translation;
    const SurfacePair pair{only_mesh(a.body), only_mesh(b.body), nullptr, stand_of(a, origin), stand_of(b, origin)};
    // The planes are placed no better than points of the world: they leave out less than there is.
    const ParallelPlanes planes{of_hulls.normal, of_hulls.point_a - origin, of_hulls.lower - within};
    SearchWork counted;
    const std::optional<ForestAnswer> found = nearest_facing(pair, planes, {0, on_a.triangle, on_b.triangle}, counted);
    work.volume_tests += counted.volume_tests, work.triangle_tests += counted.triangle_tests;
    if (!found || !(found->lower > 0.0)) return std::nullopt;
    const TriangleGap& near = found->gap;
    return Gap{near.distance,
               max_of(found->lower, of_hulls.lower),
               near.upper,
               near.point_a + origin,
               near.point_b + origin,
               near.normal,
               found->nearest.triangle_a,
               found->nearest.triangle_b};
}

}  // namespace clearance
