#pragma once

#include <span>

#include "dynamics/rigid.hpp"
#include "dynamics/softness.hpp"

namespace clearance {

enum class BearingKind { hinge, ball, fixed, slide };

// What a motor does about a bearing: turn at a speed, or hold a value; never with more than `most` [N m, or N].
struct Motor {
    enum class Task { none, drive, hold };
    Task task = Task::none;
    double target = 0.0;
    double most = std::numeric_limits<double>::infinity();
    double fastest = std::numeric_limits<double>::infinity();  // at which what is held is approached
    Turn target_turn;                                          // of ball bearings: of b as seen from a
};

// Two bodies held together, but for a turn about an axis, a turn about a point, nothing, or a shift along an axis.
class Bearing {
public:
    // At a point and along an axis of the world, where the bodies are now.
    Bearing(BearingKind kind, std::int32_t a, std::int32_t b, const Vec3d& point, const Vec3d& axis,
            std::span<const Rigid> bodies);

    std::int32_t a, b;
    BearingKind kind;
    double lowest = -std::numeric_limits<double>::infinity(), highest = std::numeric_limits<double>::infinity();
    Motor motor;

    double value() const { return value_; }  // turned or shifted so far
    double speed(std::span<const Rigid> bodies) const;
    Vec3d point(std::span<const Rigid> bodies) const;
    Vec3d axis(std::span<const Rigid> bodies) const;

    void measure(std::span<const Rigid> bodies);  // the value, after bodies have moved
    void prepare(std::span<const Rigid> bodies, double step);
    void warm_start(std::span<Rigid> bodies) const;
    double solve(std::span<Rigid> bodies, bool is_relaxing);  // returns the largest change of a velocity

    // What the next step begins with.
    struct Memory {
        double value = 0.0;
        Vec3d linear{0, 0, 0}, angular{0, 0, 0};  // impulses
        double motor = 0.0, limit = 0.0;
        Vec3d motor_turn{0, 0, 0};
    };
    Memory memory() const { return {value_, linear_, angular_, motor_impulse_, limit_impulse_, motor_turn_impulse_}; }
    void remember(const Memory& memory);

    // Where it holds the bodies, in their frames: from the centres of mass, and across the axis.
    struct Anchors {
        Vec3d anchor_a, anchor_b, axis_a, axis_b, across_a, across_b;
        Turn turn;  // of b as seen from a, at the start
    };
    Anchors anchors;

private:
    double angle(const Rigid& a, const Rigid& b) const;
    Vec3d turned_by(const Rigid& a, const Rigid& b, const Turn& wanted) const;
    double relative_speed(const Rigid& a, const Rigid& b) const;
    double approach(double left, double inertia) const;
    double wanted_speed() const;
    void look_ahead(const Rigid& a, const Rigid& b);
    void push_along(Rigid& a, Rigid& b, double impulse) const;
    double solve_motor(Rigid& a, Rigid& b);
    double solve_limits(Rigid& a, Rigid& b, bool is_relaxing);
    double solve_angular(Rigid& a, Rigid& b, const Softness& soft);
    double solve_linear(Rigid& a, Rigid& b, const Softness& soft);

    double value_ = 0.0;

    // Of this step, in the world.
    double step_ = 0.0;
    Softness softness_;
    Vec3d r_a_, r_b_, along_, e_, f_, shift_error_, turn_error_;
    Vec3d shift_ahead_, turn_ahead_;  // by how much velocities differ half a step later, as bodies turn
    Mat3 linear_mass_, angular_mass_;
    double row_mass_ = 0.0, linear_response_ = 0.0, angular_response_ = 0.0;  // the latter of impulses of any direction
    Vec3d linear_{0, 0, 0}, angular_{0, 0, 0}, motor_turn_impulse_{0, 0, 0}, wanted_spin_{0, 0, 0};
    double motor_impulse_ = 0.0, limit_impulse_ = 0.0, wanted_ = 0.0;
};

}  // namespace clearance
