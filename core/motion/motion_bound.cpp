#include "motion/motion_bound.hpp"

#include <algorithm>
#include <cmath>

namespace clearance {
namespace {

double chord(double radius, double angle) {
    constexpr double kHalfTurn = 3.14159265358979312;
    return 2.0 * radius * (angle < kHalfTurn ? std::sin(0.5 * angle) : 1.0);
}

// How far one joint can move a ball that hangs on it.
double motion_by(const Frame& joint, const Pose& world_from_child, const Ball& ball, const double* steps) {
    const double* step = steps + joint.velocity;
    if (joint.kind == JointKind::prismatic) return abs_of(joint.multiplier * step[0]);
    const Vec3d arm = ball.centre - world_from_child.translation;
    if (joint.kind == JointKind::floating)
        return norm(Vec3d{step[0], step[1], step[2]}) + chord(norm(arm) + ball.radius, abs_of(step[3]));
    const double radius = norm(cross(world_from_child.rotation * joint.axis, arm)) + ball.radius;
    if (joint.kind == JointKind::planar)
        return std::sqrt(step[0] * step[0] + step[1] * step[1]) + chord(radius, abs_of(step[2]));
    return chord(radius, abs_of(joint.multiplier * step[0]));
}

}  // namespace

MotionBound::MotionBound(const Cell& cell) : cell_(&cell), stride_(1) {
    const KinematicTree& tree = cell.tree();
    for (const Frame& frame : tree.frames()) stride_ = std::max(stride_, static_cast<std::size_t>(frame.depth) + 1);
    sums_.resize(stride_ * cell.bodies().size());
    for (const CellPair& pair : cell.pairs()) {
        const auto frame = [&](std::int32_t body) { return cell.bodies()[static_cast<std::size_t>(body)].frame; };
        const auto depth = [&](std::int32_t of) { return tree.frames()[static_cast<std::size_t>(of)].depth; };
        const std::int32_t a = frame(pair.a), b = frame(pair.b);
        ends_.push_back({pair.a, pair.b, depth(a), depth(b), depth(tree.common_ancestor(a, b))});
    }
}

void MotionBound::set(const Posture& posture, const double* steps) {
    const std::span<const Frame> frames = cell_->tree().frames();
    for (std::size_t body = 0; body < cell_->bodies().size(); ++body) {
        double* sums = sums_.data() + body * stride_;
        const std::int32_t last = cell_->bodies()[body].frame;
        const Ball ball = posture.ball(static_cast<std::int32_t>(body));
        for (std::int32_t k = last; k > 0; k = frames[static_cast<std::size_t>(k)].parent) {
            const Frame& joint = frames[static_cast<std::size_t>(k)];
            sums[joint.depth] = motion_by(joint, posture.frames()[k], ball, steps);
        }
        sums[0] = 0.0;
        for (std::int32_t depth = 1; depth <= frames[static_cast<std::size_t>(last)].depth; ++depth)
            sums[depth] += sums[depth - 1];
    }
}

}  // namespace clearance
