#pragma once

#include <array>
#include <cmath>

// Robots, bodies and cells for the checks of core/robot and core/motion: all kinds of joints and parts, unpleasant on
// purpose.
#include <memory>

#include "mesh_samples.hpp"
#include "robot/checks.hpp"

namespace clearance::samples {

constexpr double kInf = std::numeric_limits<double>::infinity();

inline Pose inverse(const Pose& pose) {
    const Vec3d back = transposed_times(pose.rotation, pose.translation);
    return {transposed_times(pose.rotation, kNoTurn), -back};
}

// ---- Bodies.

// Lengths that are often ordinary, sometimes tiny, sometimes zero.
inline double length(Draw& draw, double size) {
    const int kind = draw.below(10);
    return kind == 0 ? 0.0 : kind <= 2 ? size * draw.power(-9, -1) : size * draw.uniform(0.1, 1.0);
}

inline Part drawn_element(Draw& draw, double size, const Pose& pose) {
    Element element{1 + draw.below(3), {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 0.0};
    for (int k = 0; k < element.count; ++k) element.vertex[k] = (draw.chance(0.1) ? 1e-6 * size : size) * draw.in_cube();
    for (int k = element.count; k < 3; ++k) element.vertex[k] = element.vertex[element.count - 1];
    element.radius = 0.5 * length(draw, size);
    return part_of(Convex{element, element.radius}, pose);
}

inline HullPointer drawn_hull(Draw& draw, double size) {
    const Vec3d stretch{length(draw, size), length(draw, size), size * draw.uniform(0.1, 1.0)};
    std::vector<Vec3d> points;
    const int count = 4 + draw.below(draw.chance(0.1) ? 400 : 20);
    for (int k = 0; k < count; ++k) points.push_back(scaled(stretch, draw.in_cube()));
    return std::make_shared<const Hull>(std::move(points));
}

inline Part drawn_mesh(Draw& draw, double size, const Pose& pose) {
    const int kind = draw.below(6);
    const Sample sample = kind == 0   ? bumpy(draw, 3, 4)
                          : kind == 1 ? grid(2)
                          : kind == 2 ? needles(draw, 5)
                          : kind == 3 ? dust(draw, 6)
                          : kind == 4 ? single(draw)
                                      : soup(draw, 12);
    const Mesh mesh = scaled(sample, 0.6 * size, {0, 0, 0}).built(draw.chance(0.3) ? VolumeKind::rss : VolumeKind::obb);
    return part_of(Surface{std::make_shared<const Mesh>(mesh), false}, pose);
}

// A part about `pose`, no longer than a few sizes.
inline Part drawn_part(Draw& draw, double size, const Pose& pose, bool with_meshes = true) {
    const double radius = draw.chance(0.3) ? 0.3 * length(draw, size) : 0.0;
    switch (draw.below(with_meshes ? 9 : 8)) {
        case 0:
            return part_of(Convex{Box{{length(draw, size), length(draw, size), length(draw, size)}}, radius}, pose);
        case 1:
            return part_of(Convex{Cylinder{length(draw, size), length(draw, size)}, radius}, pose);
        case 2:
            return part_of(Convex{Cone{size * draw.uniform(0.1, 1.0), size * draw.uniform(0.1, 1.0)}, radius}, pose);
        case 3: {
            const Ellipsoid core = worn_ellipsoid(
                {size * draw.uniform(0.1, 1.0), size * draw.uniform(0.1, 1.0), size * draw.uniform(0.1, 1.0)});
            return part_of(Convex{core, core.taken}, pose);
        }
        case 4:
            return part_of(Convex{drawn_hull(draw, size), radius}, pose);
        case 8:
            return drawn_mesh(draw, size, pose);
        default:
            return drawn_element(draw, size, pose);
    }
}

inline Pose drawn_pose(Draw& draw, double size) { return {draw.rotation_of_parts(), size * draw.in_cube()}; }

inline Body drawn_body(Draw& draw, double size, bool with_meshes = true) {
    std::vector<Part> parts;
    const int count = draw.chance(0.7) ? 1 : 2 + draw.below(4);
    for (int k = 0; k < count; ++k)
        parts.push_back(
            drawn_part(draw, size, draw.chance(0.3) ? Pose{} : drawn_pose(draw, draw.uniform(0, 2) * size), with_meshes));
    return Body(std::move(parts));
}

inline Body half_space(Draw& draw, double offset) {
    const Vec3d normal = draw.chance(0.5) ? Vec3d{0, 0, 1} : draw.direction();
    return Body({part_of(HalfSpace{normal, offset}, Pose{})});
}

// ---- Points of bodies, the slow and obvious way.

inline Vec3d farthest_point(const Part& part, const Vec3d& along) {
    const Vec3d seen = transposed_times(part.pose.rotation, along);
    const auto farthest_of = [&](const std::vector<Vec3d>& points) {
        Vec3d best = points.front();
        for (const Vec3d& point : points)
            if (dot(seen, point) > dot(seen, best)) best = point;
        return best;
    };
    if (const Surface* surface = surface_of(part)) {
        std::vector<Vec3d> corners;
        for (const Face& face : surface->mesh->faces)
            for (const std::int32_t corner : face) corners.push_back(surface->mesh->vertices[std::size_t(corner)]);
        return part.pose * farthest_of(corners);
    }
    const Convex& convex = std::get<Convex>(part.shape);
    const auto* hull = std::get_if<HullPointer>(&convex.core);
    const Vec3d on_core = hull != nullptr ? farthest_of((*hull)->points()) : support(convex.core, seen);
    return part.pose * on_core + (convex.radius / norm(along)) * along;
}

// Points of a body that stick out, about `count` of every part.
inline std::vector<Vec3d> outermost_points(const Body& body, Draw& draw, int count) {
    std::vector<Vec3d> points;
    for (const Part& part : body.parts())
        for (int k = 0; k < count; ++k) points.push_back(farthest_point(part, draw.direction()));
    return points;
}

// ---- Trees.

struct DrawnTree {
    std::shared_ptr<const KinematicTree> tree;
    std::vector<double> unit;  // of every value: what makes a difference to it
    std::vector<Joint> joints;
};

struct TreeOptions {
    int links = 6;
    double size = 1.0;
    bool mimics = true;
    bool floats = true;
    double fixed = 0.15;  // probability
};

inline DrawnTree drawn_tree_of(Draw& draw, const TreeOptions& options) {
    DrawnTree drawn;
    std::int32_t values = 0, velocities = 0;
    for (std::int32_t child = 1; child < options.links; ++child) {
        Joint joint{JointKind::fixed, draw.chance(0.7) ? child - 1 : draw.below(child), child, {}, {0, 0, 1}};
        joint.origin = {draw.rotation_of_parts(), options.size * draw.in_cube()};
        if (draw.chance(0.1)) joint.origin = {};
        const int axis = draw.below(5);
        joint.axis = axis == 0   ? Vec3d{1, 0, 0}
                     : axis == 1 ? Vec3d{0, 0, 1}
                     : axis == 2 ? Vec3d{0, 0, -1}
                                 : draw.direction();
        const int kind = draw.below(10);
        joint.kind = draw.chance(options.fixed)    ? JointKind::fixed
                     : kind < 5                    ? JointKind::revolute
                     : kind < 8                    ? JointKind::prismatic
                     : kind < 9 || !options.floats ? JointKind::planar
                                                   : JointKind::floating;
        joint.value = values, joint.velocity = velocities;
        std::vector<const Joint*> leaders;
        for (const Joint& other : drawn.joints)
            if (values_of(other.kind) == 1 && other.multiplier == 1.0) leaders.push_back(&other);
        const bool is_simple = values_of(joint.kind) == 1;
        if (options.mimics && is_simple && !leaders.empty() && draw.chance(0.2)) {
            const Joint& leader = *leaders[std::size_t(draw.below(int(leaders.size())))];
            joint.value = leader.value, joint.velocity = leader.velocity;
            const double own = joint.kind == JointKind::revolute ? 1.0 : options.size;
            joint.multiplier =
                (draw.chance(0.5) ? -1.0 : 1.0) * draw.power(-1, 0.5) * own / drawn.unit[std::size_t(leader.value)];
            joint.offset = own * draw.uniform(-1, 1);
        } else {
            for (int k = 0; k < values_of(joint.kind); ++k) {
                const bool turns = joint.kind == JointKind::revolute || (joint.kind == JointKind::planar && k == 2) || k > 2;
                drawn.unit.push_back(turns ? 1.0 : options.size);
            }
            values += values_of(joint.kind), velocities += velocities_of(joint.kind);
        }
        drawn.joints.push_back(joint);
    }
    drawn.tree = std::make_shared<const KinematicTree>(std::size_t(options.links), drawn.joints);
    return drawn;
}

inline std::vector<double> drawn_configuration(Draw& draw, const DrawnTree& drawn) {
    std::vector<double> q(drawn.unit.size());
    for (std::size_t k = 0; k < q.size(); ++k) q[k] = drawn.unit[k] * draw.uniform(-1.5, 1.5);
    return q;
}

// ---- Cells.

struct CellOptions {
    int obstacles = 6;
    double body = 0.3, room = 3.0;  // sizes of bodies and of where the obstacles are, in units of the size of the robot
    bool with_meshes = true, with_half_spaces = true;
    double far = 0.0;  // from the origin of the world
    double checked = 0.8;
};

inline std::unique_ptr<Cell> drawn_cell(Draw& draw, const DrawnTree& drawn, double size, const CellOptions& options) {
    const Vec3d far = options.far * draw.direction();
    const Pose base{draw.rotation_of_parts(), far};
    std::vector<CellBody> bodies;
    for (std::size_t link = 0; link < drawn.tree->links(); ++link) {
        if (draw.chance(0.1)) continue;
        const Body shape = drawn_body(draw, options.body * size * draw.uniform(0.2, 1.0), options.with_meshes);
        std::vector<Part> parts;
        for (const Part& part : shape.parts()) parts.push_back(moved(part, drawn.tree->frame_from_link(link)));
        Body body(std::move(parts));
        const OrientedBox box = box_around(body);
        bodies.push_back({std::move(body), drawn.tree->frame_of(link), base, box});
    }
    const std::size_t links = bodies.size();
    for (int k = 0; k < options.obstacles; ++k) {
        const bool is_half_space = options.with_half_spaces && draw.chance(0.05);
        Body body = is_half_space ? half_space(draw, -options.room * size * draw.uniform(0, 1))
                                  : drawn_body(draw, options.body * size * draw.power(-2, 0.2), options.with_meshes);
        const OrientedBox box = box_around(body);
        bodies.push_back({std::move(body), 0, {draw.rotation_of_parts(), far + options.room * size * draw.in_cube()}, box});
    }
    std::vector<CellPair> pairs;
    for (std::size_t a = 0; a < links; ++a)
        for (std::size_t b = a + 1; b < bodies.size(); ++b) {
            if (!bodies[a].body.is_finite() && !bodies[b].body.is_finite()) continue;
            if (bodies[a].frame > 0 && bodies[a].frame == bodies[b].frame) continue;
            if (!draw.chance(options.checked)) continue;
            CellPair pair{std::int32_t(a), std::int32_t(b), draw.chance(0.6) ? 0.0 : size * draw.power(-3, -1)};
            if (draw.chance(0.3)) std::swap(pair.a, pair.b);
            pairs.push_back(pair);
        }
    return std::make_unique<Cell>(drawn.tree, base, std::move(bodies), std::move(pairs));
}

// The gap of a pair with nothing left out, where the posture says the bodies are.
inline Gap exact_gap(const Cell& cell, const Posture& posture, std::int32_t pair) {
    const CellPair& of = cell.pairs()[std::size_t(pair)];
    const auto& bodies = cell.bodies();
    Work work;
    return distance(bodies[std::size_t(of.a)].body, posture.pose(of.a), bodies[std::size_t(of.b)].body, posture.pose(of.b),
                    {}, work);
}

// Rotations as quaternions x, y, z, w.
using Quaternion = std::array<double, 4>;

inline Quaternion product(const Quaternion& p, const Quaternion& q) {
    return {p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1], p[3] * q[1] - p[0] * q[2] + p[1] * q[3] + p[2] * q[0],
            p[3] * q[2] + p[0] * q[1] - p[1] * q[0] + p[2] * q[3], p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2]};
}

inline Quaternion turn_about(const Vec3d& axis, double angle) {
    const double s = std::sin(0.5 * angle);
    return {s * axis.x, s * axis.y, s * axis.z, std::cos(0.5 * angle)};
}

// Of the shortest turn from one to the other, whatever their lengths.
inline double angle_between(const double* a, const double* b) {
    double length_a = 0.0, length_b = 0.0;
    for (int k = 0; k < 4; ++k) length_a += a[k] * a[k], length_b += b[k] * b[k];
    length_a = std::sqrt(length_a), length_b = std::sqrt(length_b);
    double sum_sq = 0.0, difference_sq = 0.0;
    for (int k = 0; k < 4; ++k) {
        const double sum = a[k] / length_a + b[k] / length_b, difference = a[k] / length_a - b[k] / length_b;
        sum_sq += sum * sum, difference_sq += difference * difference;
    }
    return 4.0 * std::atan2(std::sqrt(min_of(sum_sq, difference_sq)), std::sqrt(max_of(sum_sq, difference_sq)));
}

}  // namespace clearance::samples
