#include "robot/tree.hpp"

#include <algorithm>
#include <cmath>

#include "robot/kernels.hpp"
#include "robot/turn.hpp"

namespace clearance {
namespace {

Mat3 cross_matrix(const Vec3d& a) { return {{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}}; }

Mat3 sum(const Mat3& a, double s, const Mat3& b, double t, const Mat3& c) {
    Mat3 m;
    for (int k = 0; k < 3; ++k) m.row[k] = a.row[k] + s * b.row[k] + t * c.row[k];
    return m;
}

// x and y, turned as z turns to the axis on the shortest way.
void set_across(Frame& frame) {
    const Vec3d& a = frame.axis;
    if (a.x == 0.0 && a.y == 0.0 && a.z < 0.0) {  // the other way round, by half a turn about x
        frame.across[0] = {1, 0, 0}, frame.across[1] = {0, -1, 0};
        return;
    }
    const double k = a.z > 0.0 ? 1.0 / (1.0 + a.z) : (1.0 - a.z) / (a.x * a.x + a.y * a.y);
    frame.across[0] = {1.0 - k * a.x * a.x, -k * a.x * a.y, -a.x};
    frame.across[1] = {-k * a.x * a.y, 1.0 - k * a.y * a.y, -a.y};
}

// Angles beyond those that turn_of knows are rare.
Turn<double> turn_by(double angle) {
    if (abs_of(angle) <= kLargestAngle) return turn_of(angle);
    const double half = std::sin(0.5 * angle);
    return {std::sin(angle), 2.0 * half * half};
}

Mat3 turned_by(const Frame& frame, const Turn<double>& turn) {
    return sum(frame.origin.rotation, turn.sine, frame.sine, turn.versine, frame.versine);
}

Pose parent_from_frame(const Frame& frame, const double* q, const Turn<double>& turn) {
    const double* at = q + frame.value;
    switch (frame.kind) {
        case JointKind::revolute:
            return {turned_by(frame, turn), frame.origin.translation};
        case JointKind::prismatic:
            return {frame.origin.rotation, frame.origin * (frame.value_in(q) * frame.axis)};
        case JointKind::planar:
            return {turned_by(frame, at[2]), frame.origin * (at[0] * frame.across[0] + at[1] * frame.across[1])};
        case JointKind::floating:
            return {frame.origin.rotation * rotation_from_quaternion(at + 3), frame.origin * Vec3d{at[0], at[1], at[2]}};
        case JointKind::ball:
            return {frame.origin.rotation * rotation_from_quaternion(at), frame.origin.translation};
        case JointKind::fixed:
            break;
    }
    return frame.origin;
}

double angle_in(const Frame& frame, const double* q) { return frame.kind == JointKind::revolute ? frame.value_in(q) : 0.0; }

Vec3d column(const Mat3& m, int k) {
    const auto at = [k](const Vec3d& row) { return k == 0 ? row.x : k == 1 ? row.y : row.z; };
    return {at(m.row[0]), at(m.row[1]), at(m.row[2])};
}

}  // namespace

Mat3 turned_by(const Frame& frame, double angle) { return turned_by(frame, turn_by(angle)); }

Mat3 rotation_from_quaternion(const double* q) {
    const double scale = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    return {{{1.0 - scale * (y * y + z * z), scale * (x * y - w * z), scale * (x * z + w * y)},
             {scale * (x * y + w * z), 1.0 - scale * (x * x + z * z), scale * (y * z - w * x)},
             {scale * (x * z - w * y), scale * (y * z + w * x), 1.0 - scale * (x * x + y * y)}}};
}

KinematicTree::KinematicTree(std::size_t links, const std::vector<Joint>& joints)
    : frames_(1), frame_of_(links, 0), frame_from_link_(links) {
    for (const Joint& joint : joints) {
        const auto parent = static_cast<std::size_t>(joint.parent), child = static_cast<std::size_t>(joint.child);
        const Pose origin = frame_from_link_[parent] * joint.origin;
        if (joint.kind == JointKind::fixed) {
            frame_of_[child] = frame_of_[parent], frame_from_link_[child] = origin;
            continue;
        }
        Frame frame{.kind = joint.kind, .parent = frame_of_[parent], .origin = origin, .axis = joint.axis};
        frame.depth = frames_[static_cast<std::size_t>(frame.parent)].depth + 1;
        const Mat3 turn = cross_matrix(joint.axis);
        frame.sine = origin.rotation * turn;
        frame.versine = frame.sine * turn;
        set_across(frame);
        frame.value = joint.value, frame.velocity = joint.velocity;
        frame.multiplier = joint.multiplier, frame.offset = joint.offset;
        dof_ = std::max(dof_, joint.value + values_of(joint.kind));
        velocities_ = std::max(velocities_, joint.velocity + velocities_of(joint.kind));
        frame_of_[child] = static_cast<std::int32_t>(frames_.size());
        frames_.push_back(frame);
    }
}

std::int32_t KinematicTree::common_ancestor(std::int32_t a, std::int32_t b) const {
    const auto& at = [this](std::int32_t frame) -> const Frame& { return frames_[static_cast<std::size_t>(frame)]; };
    while (a != b) {
        if (at(a).depth >= at(b).depth)
            a = at(a).parent;
        else
            b = at(b).parent;
    }
    return a;
}

void KinematicTree::place(const double* q, const Pose& world_from_base, Pose* frames) const {
    constexpr std::size_t kTogether = 32;  // frames whose turns are computed side by side
    frames[0] = world_from_base;
    double angles[kTogether], sines[kTogether], versines[kTogether];
    for (std::size_t begin = 1; begin < frames_.size(); begin += kTogether) {
        const std::size_t count = std::min(kTogether, frames_.size() - begin);
        for (std::size_t k = 0; k < kTogether; ++k) {
            const double angle = k < count ? angle_in(frames_[begin + k], q) : 0.0;
            angles[k] = abs_of(angle) <= kLargestAngle ? angle : 0.0;
        }
        robot_kernels().turns(angles, (count + 7) / 8 * 8, sines, versines);
        for (std::size_t k = 0; k < count; ++k) {
            const Frame& frame = frames_[begin + k];
            const double angle = angle_in(frame, q);
            const Turn<double> turn = angle == angles[k] ? Turn<double>{sines[k], versines[k]} : turn_by(angle);
            frames[begin + k] = frames[frame.parent] * parent_from_frame(frame, q, turn);
        }
    }
}

void KinematicTree::add_velocity(const Pose* frames, std::int32_t frame, const Vec3d& point, const Vec3d& direction,
                                 double sign, double* row) const {
    for (std::int32_t k = frame; k > 0; k = frames_[static_cast<std::size_t>(k)].parent) {
        const Frame& joint = frames_[static_cast<std::size_t>(k)];
        const Pose& world_from_child = frames[k];
        const Mat3& rotation = world_from_child.rotation;
        double* to = row + joint.velocity;
        const auto turning = [&](const Vec3d& axis) {
            return sign * dot(cross(axis, point - world_from_child.translation), direction);
        };
        const auto sliding = [&](const Vec3d& axis) { return sign * dot(axis, direction); };
        if (joint.kind == JointKind::revolute) {
            to[0] += joint.multiplier * turning(rotation * joint.axis);
        } else if (joint.kind == JointKind::prismatic) {
            to[0] += joint.multiplier * sliding(rotation * joint.axis);
        } else if (joint.kind == JointKind::planar) {
            const Mat3 world_from_joint = frames[joint.parent].rotation * joint.origin.rotation;
            for (int c = 0; c < 2; ++c) to[c] += sliding(world_from_joint * joint.across[c]);
            to[2] += turning(rotation * joint.axis);
        } else {
            const int first = values_before_quaternion(joint.kind);
            for (int c = 0; c < first; ++c) to[c] += sliding(column(rotation, c));
            for (int c = 0; c < 3; ++c) to[first + c] += turning(column(rotation, c));
        }
    }
}

}  // namespace clearance
