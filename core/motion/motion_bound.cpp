#include "motion/motion_bound.hpp"

#include <algorithm>
#include <cmath>

namespace clearance {
namespace {

// How far a box reaches from an axis: one of its corners is farthest. The ball around the body may know better.
double radius_about(const Vec3d& axis, const Vec3d& origin, const Ball& ball, const Posture::BoxAt& box) {
    const Vec3d from = cross(axis, box.centre - origin);
    const Vec3d x = cross(axis, box.side[0]), y = cross(axis, box.side[1]), z = cross(axis, box.side[2]);
    double farthest_sq = 0.0;
    for (const Vec3d& corner : {x + y + z, x + y - z, x - y + z, x - y - z})
        farthest_sq = max_of(farthest_sq, max_of(norm_sq(from + corner), norm_sq(from - corner)));
    const double by_ball = norm(cross(axis, ball.centre - origin)) + ball.radius;
    return by_ball < std::numeric_limits<double>::infinity() ? min_of(by_ball, std::sqrt(farthest_sq) * (1.0 + 1e-6))
                                                             : by_ball;
}

// How far one joint can move what hangs on it.
double motion_by(const Frame& joint, const Pose& world_from_child, const Ball& ball, const Posture::BoxAt& box,
                 const double* steps) {
    const double* step = steps + joint.velocity;
    const auto turned_by = [&](double angle) {
        if (angle == 0.0) return 0.0;
        return abs_of(angle) * radius_about(world_from_child.rotation * joint.axis, world_from_child.translation, ball, box);
    };
    if (joint.kind == JointKind::revolute) return turned_by(joint.multiplier * step[0]);
    if (joint.kind == JointKind::prismatic) return abs_of(joint.multiplier * step[0]);
    if (joint.kind == JointKind::planar) return std::sqrt(step[0] * step[0] + step[1] * step[1]) + turned_by(step[2]);
    const double arm = norm(ball.centre - world_from_child.translation) + ball.radius;
    const double* turn = step + values_before_quaternion(joint.kind);
    const double angle = norm(Vec3d{turn[0], turn[1], turn[2]}), turned = angle > 0.0 ? arm * angle : 0.0;
    return joint.kind == JointKind::ball ? turned : norm(Vec3d{step[0], step[1], step[2]}) + turned;
}

}  // namespace

MotionBound::MotionBound(const Cell& cell) : cell_(&cell), is_known_(cell.bodies().size()) {
    for (const Frame& frame : cell.tree().frames()) stride_ = std::max(stride_, static_cast<std::size_t>(frame.depth) + 1);
    sums_.resize(stride_ * cell.bodies().size());
}

void MotionBound::add_up(std::int32_t body) {
    const std::span<const Frame> frames = cell_->tree().frames();
    double* sums = sums_.data() + static_cast<std::size_t>(body) * stride_;
    const std::int32_t last = cell_->bodies()[static_cast<std::size_t>(body)].frame;
    sums[0] = 0.0;
    if (last == 0) return;
    const Ball ball = posture_->ball(body);
    const Posture::BoxAt box = posture_->box(body);
    for (std::int32_t k = last; k > 0; k = frames[static_cast<std::size_t>(k)].parent) {
        const Frame& joint = frames[static_cast<std::size_t>(k)];
        sums[joint.depth] = motion_by(joint, posture_->frames()[k], ball, box, steps_);
    }
    for (std::int32_t depth = 1; depth <= frames[static_cast<std::size_t>(last)].depth; ++depth)
        sums[depth] += sums[depth - 1];
}

}  // namespace clearance
