#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "math/pose.hpp"

namespace clearance {

// A continuous joint is a revolute one. Planar joints have the values x, y and yaw, floating ones x, y, z and a quaternion
// with its real part last, ball joints only that.
enum class JointKind { fixed, revolute, prismatic, planar, floating, ball };

constexpr int values_of(JointKind kind) {
    switch (kind) {
        case JointKind::fixed:
            return 0;
        case JointKind::planar:
            return 3;
        case JointKind::floating:
            return 7;
        case JointKind::ball:
            return 4;
        default:
            return 1;
    }
}
// How many of the values come before a quaternion; of joints that have one.
constexpr bool has_quaternion(JointKind kind) { return kind == JointKind::floating || kind == JointKind::ball; }
constexpr int values_before_quaternion(JointKind kind) { return kind == JointKind::floating ? 3 : 0; }
constexpr int velocities_of(JointKind kind) { return values_of(kind) - (has_quaternion(kind) ? 1 : 0); }

// What connects a link with its parent. A joint that mimics another reads the value of that one.
struct Joint {
    JointKind kind;
    std::int32_t parent, child;  // numbers of links
    Pose origin;                 // parent_from_joint
    Vec3d axis;                  // of length one, in the frame of the joint
    std::int32_t value = 0;      // the first of its values in a configuration,
    std::int32_t velocity = 0;   // and of its velocities
    double multiplier = 1.0, offset = 0.0;
};

// A frame that moves: what hangs on a movable joint, fixed joints folded in. Frame 0 is the base and stands still.
struct Frame {
    JointKind kind = JointKind::fixed;
    std::int32_t parent = -1;
    std::int32_t depth = 0;  // movable joints between it and the base
    Pose origin;             // parent_from_joint
    Vec3d axis{0, 0, 1};     // in the frame of the joint, which is that of the child as well,
    Vec3d across[2]{};       // with two directions that make right angles with it: those of a planar joint
    Mat3 sine{}, versine{};  // rotation of a revolute joint: origin + sin(q) sine + (1 - cos(q)) versine
    std::int32_t value = 0, velocity = 0;
    double multiplier = 1.0, offset = 0.0;

    double value_in(const double* q) const { return multiplier * q[value] + offset; }
};

// The rotation from a frame to its parent, at an angle of a revolute or planar joint.
Mat3 turned_by(const Frame& frame, double angle);

// The rotation of a quaternion x, y, z, w of any length but zero.
Mat3 rotation_from_quaternion(const double* q);

// Links and joints without their shapes.
class KinematicTree {
public:
    // Joints in an order in which parents come first; every link but the first is the child of one.
    KinematicTree(std::size_t links, const std::vector<Joint>& joints);

    std::size_t links() const { return frame_of_.size(); }
    int dof() const { return dof_; }
    int velocities() const { return velocities_; }
    std::span<const Frame> frames() const { return frames_; }
    std::int32_t frame_of(std::size_t link) const { return frame_of_[link]; }
    const Pose& frame_from_link(std::size_t link) const { return frame_from_link_[link]; }

    // The last frame that two have in common on their ways from the base.
    std::int32_t common_ancestor(std::int32_t a, std::int32_t b) const;

    // world_from_frame of all frames, at a configuration with quaternions other than zero.
    void place(const double* q, const Pose& world_from_base, Pose* frames) const;

    // Velocity of a point (given in the world) that is fixed to a frame, by every joint: adds `sign` times the component
    // along `direction` to a row with a number per velocity.
    void add_velocity(const Pose* frames, std::int32_t frame, const Vec3d& point, const Vec3d& direction, double sign,
                      double* row) const;

private:
    std::vector<Frame> frames_;
    std::vector<std::int32_t> frame_of_;  // by link
    std::vector<Pose> frame_from_link_;
    int dof_ = 0, velocities_ = 0;
};

}  // namespace clearance
