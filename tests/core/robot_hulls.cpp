// Gaps of meshes from those of their hulls are the ones that all pairs of triangles give, whichever way they were found.
//
//     robot_hulls [effort = 1] [seed = 1]
#include "bvh/nearest_triangle.hpp"
#include "closest/certificate.hpp"
#include "closest/point_triangle.hpp"
#include "robot_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

Mesh drawn(Draw& draw) {
    const int kind = draw.below(6);
    const Sample sample = kind == 0   ? bumpy(draw, 12, 16)
                          : kind == 1 ? grid(6)
                          : kind == 2 ? steps(8)
                          : kind == 3 ? soup(draw, 40)
                          : kind == 4 ? needles(draw, 20)
                                      : bumpy(draw, 3, 4);
    return scaled(sample, draw.power(-2, 0), draw.chance(0.3) ? 3.0 * draw.in_cube() : Vec3d{0, 0, 0})
        .built(draw.chance(0.3) ? VolumeKind::rss : VolumeKind::obb);
}

Body body_of(Mesh mesh, const Pose& pose) {
    return Body({part_of(Surface{std::make_shared<const Mesh>(std::move(mesh)), false}, pose)});
}

double distance_from(const Mesh& mesh, std::int32_t triangle, const Vec3d& point) {
    const Core<double, 1> alone{{point}};
    const Core<double, 3> corners = mesh.triangle(triangle);
    return norm(between(alone, corners, closest(alone, corners)));
}

struct Ways {
    long same = 0, facing = 0, searched = 0;
};

void check_gap(const Gap& found, const Gap& truth, double size, double reach) {
    const double rounding = 64.0 * kEpsilon * reach, unsure = rounding + 1e-12 * size;
    tally.expect(std::fabs(found.distance - truth.distance) <= unsure, "a gap is that of all triangles", "%.17g, not %.17g",
                 found.distance, truth.distance);
    tally.expect(found.lower <= truth.upper + rounding && truth.lower <= found.upper + rounding,
                 "brackets have something in common", "[%.17g, %.17g] and [%.17g, %.17g]", found.lower, found.upper,
                 truth.lower, truth.upper);
    tally.expect(found.lower <= found.distance && found.distance <= found.upper, "a bracket holds its distance");
    tally.expect(found.upper - found.lower <= 1e-9 * size + rounding, "a bracket is narrow", "%.3g of %.3g",
                 found.upper - found.lower, size);
    tally.expect(std::fabs(norm(found.normal) - 1.0) <= 1e-14, "a normal has length one");
    const Vec3d apart = found.point_b - found.point_a;
    tally.expect(norm(apart - found.distance * found.normal) <= 1e-12 * size + rounding, "points are a distance apart");
}

// The points lie on the triangles that are named.
void check_witness(const Body& body, const Pose& pose, const Vec3d& point, std::int32_t triangle, double reach) {
    const Part& part = body.parts().front();
    const Mesh& mesh = *surface_of(part)->mesh;
    const bool is_named = triangle >= 0 && std::size_t(triangle) < mesh.faces.size();
    tally.expect(is_named, "a triangle is named");
    if (!is_named) return;
    const Vec3d in_part = transposed_times(
        part.pose.rotation, transposed_times(pose.rotation, point - pose.translation) - part.pose.translation);
    const double off = distance_from(mesh, triangle, in_part);
    tally.expect(off <= 64.0 * kEpsilon * reach, "witnesses lie on their triangles", "%.3g off, reach %.3g", off, reach);
}

void check_pair(Draw& draw, Ways& ways) {
    const double away = draw.chance(0.1) ? 1e6 : draw.chance(0.5) ? 1.0 : 0.0;
    const Body a = body_of(drawn(draw), draw.chance(0.5) ? Pose{} : drawn_pose(draw, 0.3));
    const bool is_solid = draw.chance(0.2);
    const Body b = is_solid ? Body({part_of(Convex{Box{{draw.power(-1, 0), 0.2, 0.1}}, 0.0}, Pose{})})
                            : body_of(drawn(draw), draw.chance(0.5) ? Pose{} : drawn_pose(draw, 0.3));
    std::vector<CellBody> bodies{{a, 1, Pose{}, box_around(a)}, {b, 0, Pose{}, box_around(b)}};
    const Hulls hulls;
    const auto made = hulls.of(bodies);
    tally.expect(made[0].has_value() && made[1].has_value() != is_solid, "single meshes have hulls");
    const Body &hull_a = *made[0], &hull_b = is_solid ? b : *made[1];
    for (int k = 0; k < 8; ++k) {
        const Pose pose_a{draw.rotation_of_parts(), away * draw.in_cube()};
        Pose pose_b{draw.rotation_of_parts(), pose_a.translation + draw.power(-1, 0.5) * draw.in_cube()};
        Work work;
        const Gap of_hulls = distance(hull_a, pose_a, hull_b, pose_b, {.near_enough = 0.0}, work);
        const Gap truth = distance(a, pose_a, b, pose_b, {}, work);
        const double reach = largest(pose_a.translation) + largest(pose_b.translation) + norm(a.ball().centre) +
                             norm(b.ball().centre) + a.ball().radius + b.ball().radius;
        const double size = a.ball().radius + b.ball().radius;
        const auto found = gap_by_hulls({a, pose_a, true}, {b, pose_b, !is_solid}, of_hulls, work);
        if (!found) {
            ++ways.searched;
            continue;
        }
        (found->distance == of_hulls.distance ? ways.same : ways.facing) += 1;
        check_gap(*found, truth, size, reach);
        check_witness(a, pose_a, found->point_a, found->feature_a, reach);
        if (!is_solid) check_witness(b, pose_b, found->point_b, found->feature_b, reach);
    }
}

// The nearest triangle to a point is nearest of all.
void check_nearest_triangle(Draw& draw) {
    const Mesh mesh = drawn(draw);
    const Vec3d& corner = mesh.vertices[std::size_t(draw.below(int(mesh.vertices.size())))];
    const Vec3d point = draw.chance(0.3) ? corner : corner + mesh.ball.radius * draw.power(-6, 0) * draw.in_cube();
    double least = kInf;
    for (std::size_t k = 0; k < mesh.faces.size(); ++k) least = min_of(least, distance_from(mesh, int(k), point));
    const NearestTriangle found = nearest_triangle(mesh, point, 0.0);
    const double rounding = 16.0 * kEpsilon * (largest(point) + mesh.ball.radius + largest(mesh.ball.centre));
    tally.expect(found.triangle >= 0, "a triangle is found");
    tally.expect(std::fabs(found.distance - least) <= rounding, "no triangle is nearer", "%.17g, least %.17g",
                 found.distance, least);
    const double enough = least + 0.1 * mesh.ball.radius;
    tally.expect(nearest_triangle(mesh, point, enough).distance <= enough, "one that is near enough is found");
}

}  // namespace

int main(int count, char** words) {
    const int effort = count > 1 ? std::atoi(words[1]) : 1;
    Draw draw(count > 2 ? unsigned(std::atoi(words[2])) : 1u);
    Ways ways;
    for (int k = 0; k < 1500 * effort; ++k) check_pair(draw, ways);
    for (int k = 0; k < 200 * effort; ++k) check_nearest_triangle(draw);
    const long all = ways.same + ways.facing + ways.searched;
    std::printf("as the hulls: %ld, facing: %ld, left to the search: %ld\n", ways.same, ways.facing, ways.searched);
    tally.expect(10 * ways.same > all && 10 * ways.facing > all && 10 * ways.searched > all, "all ways are gone");
    return tally.finish();
}
