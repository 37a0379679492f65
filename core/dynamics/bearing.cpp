#include "dynamics/bearing.hpp"

#include <algorithm>
#include <cmath>

#include "convex/curvature.hpp"

namespace clearance {
namespace {

constexpr double kFrequency = 0.25;    // of the rate of steps
constexpr double kDamping = 2.0;       // ratio
constexpr double kServoRate = 20.0;    // per second: how fast what is held is approached, if steps can follow
constexpr double kServoShare = 0.1;    // of the error in a step at most
constexpr double kBrakingShare = 0.8;  // of what a motor has, to stop where it should
constexpr double kFastestTurn = 0.5;   // radians in a step that arms can be followed through

// The inverse of a response that acts across some directions only, as a matrix of the world; zero along the others.
Mat3 inverse_across(const Mat3& answer, const Vec3d& e, const Vec3d& f) {
    const Vec3d to_e = answer * e, to_f = answer * f;
    const double ee = dot(e, to_e), ef = dot(e, to_f), ff = dot(f, to_f), scale = 1.0 / (ee * ff - ef * ef);
    const Vec3d p = scale * (ff * e - ef * f), q = scale * (ee * f - ef * e);
    const auto row = [&](double of_e, double of_f) { return of_e * p + of_f * q; };
    return {{row(e.x, f.x), row(e.y, f.y), row(e.z, f.z)}};
}

double clamped(double value, double most) { return min_of(max_of(value, -most), most); }

}  // namespace

Bearing::Bearing(BearingKind kind, std::int32_t a, std::int32_t b, const Vec3d& point, const Vec3d& axis,
                 std::span<const Rigid> bodies)
    : a(a), b(b), kind(kind) {
    const Rigid &body_a = bodies[static_cast<std::size_t>(a)], &body_b = bodies[static_cast<std::size_t>(b)];
    anchors.anchor_a = transposed_times(body_a.rotation, point - body_a.centre);
    anchors.anchor_b = transposed_times(body_b.rotation, point - body_b.centre);
    const Vec3d across = tangents_of(axis).e;
    anchors.axis_a = transposed_times(body_a.rotation, axis), anchors.across_a = transposed_times(body_a.rotation, across);
    anchors.axis_b = transposed_times(body_b.rotation, axis), anchors.across_b = transposed_times(body_b.rotation, across);
    anchors.turn = inverse(body_a.turn) * body_b.turn;
}

Vec3d Bearing::point(std::span<const Rigid> bodies) const {
    const Rigid& body = bodies[static_cast<std::size_t>(b)];
    return body.centre + body.rotation * anchors.anchor_b;
}

Vec3d Bearing::axis(std::span<const Rigid> bodies) const {
    return bodies[static_cast<std::size_t>(a)].rotation * anchors.axis_a;
}

double Bearing::angle(const Rigid& body_a, const Rigid& body_b) const {
    const Vec3d axis = body_a.rotation * anchors.axis_a, from = body_a.rotation * anchors.across_a,
                to = body_b.rotation * anchors.across_b;
    const double now = std::atan2(dot(axis, cross(from, to)), dot(from, to));
    // The angle goes on beyond half a turn.
    return value_ + std::remainder(now - value_, 2.0 * std::numbers::pi);
}

void Bearing::measure(std::span<const Rigid> bodies) {
    const Rigid &body_a = bodies[static_cast<std::size_t>(a)], &body_b = bodies[static_cast<std::size_t>(b)];
    if (kind == BearingKind::hinge) value_ = angle(body_a, body_b);
    if (kind == BearingKind::slide) {
        const Vec3d shift =
            body_b.centre + body_b.rotation * anchors.anchor_b - body_a.centre - body_a.rotation * anchors.anchor_a;
        value_ = dot(body_a.rotation * anchors.axis_a, shift);
    }
}

double Bearing::speed(std::span<const Rigid> bodies) const {
    const Rigid &body_a = bodies[static_cast<std::size_t>(a)], &body_b = bodies[static_cast<std::size_t>(b)];
    const Vec3d axis = body_a.rotation * anchors.axis_a;
    if (kind == BearingKind::hinge) return dot(axis, body_b.spin - body_a.spin);
    if (kind != BearingKind::slide) return 0.0;
    const Vec3d r_b = body_b.rotation * anchors.anchor_b, place = body_b.centre + r_b;
    return dot(axis, body_b.velocity_at(r_b) - body_a.velocity_at(place - body_a.centre));
}

// The rotation from where b should be, as seen from a, to where it is, in the world.
Vec3d Bearing::turned_by(const Rigid& body_a, const Rigid& body_b, const Turn& wanted) const {
    return vector_of(body_b.turn * inverse(body_a.turn * wanted));
}

void Bearing::prepare(std::span<const Rigid> bodies, double step) {
    const Rigid &body_a = bodies[static_cast<std::size_t>(a)], &body_b = bodies[static_cast<std::size_t>(b)];
    step_ = step;
    softness_ = softness_of(kFrequency / step, kDamping, step);
    along_ = body_a.rotation * anchors.axis_a;
    e_ = body_a.rotation * anchors.across_a, f_ = cross(along_, e_);
    const Vec3d at_a = body_a.centre + body_a.rotation * anchors.anchor_a,
                at_b = body_b.centre + body_b.rotation * anchors.anchor_b;
    shift_error_ = at_b - at_a;
    // One point for both bodies, so that impulses change no angular momentum of the two together.
    const Vec3d place = kind == BearingKind::slide ? at_b : 0.5 * (at_a + at_b);
    r_a_ = place - body_a.centre, r_b_ = place - body_b.centre;
    const Mat3 linear = response(r_a_, body_a.inverse_inertia, body_a.inverse_mass) +
                        response(r_b_, body_b.inverse_inertia, body_b.inverse_mass);
    const Mat3 angular = body_a.inverse_inertia + body_b.inverse_inertia;
    linear_mass_ = kind == BearingKind::slide ? inverse_across(linear, e_, f_) : inverse(linear);
    angular_mass_ = kind == BearingKind::hinge ? inverse_across(angular, e_, f_) : inverse(angular);
    linear_response_ = largest_response(linear), angular_response_ = largest_response(angular);
    if (kind == BearingKind::hinge) {
        row_mass_ = 1.0 / dot(along_, angular * along_);
        turn_error_ = cross(along_, body_b.rotation * anchors.axis_b);
    } else {
        row_mass_ = 1.0 / dot(along_, linear * along_);
        turn_error_ = turned_by(body_a, body_b, anchors.turn);
    }
    look_ahead(body_a, body_b);
    wanted_ = wanted_speed();
    if (kind == BearingKind::ball) {
        const Vec3d error = turned_by(body_a, body_b, motor.target_turn);
        const double left = norm(error);
        const double speed = min_of(approach(left, 1.0 / angular_response_), kFastestTurn / step);
        wanted_spin_ = -speed * inverse_or_zero(left) * error;
    }
    if (motor.task == Motor::Task::none) motor_impulse_ = 0.0, motor_turn_impulse_ = {0, 0, 0};
    motor_impulse_ = clamped(motor_impulse_, motor.most * step);
}

// Velocities are those of the middle of a step. Arms and axes turn until then: without this, what swings about a bearing
// would be slowed down a little in every step.
void Bearing::look_ahead(const Rigid& body_a, const Rigid& body_b) {
    shift_ahead_ = turn_ahead_ = {0, 0, 0};
    if (kind == BearingKind::slide || step_ * max_of(norm(body_a.spin), norm(body_b.spin)) > kFastestTurn) return;
    const auto towards_centre = [](const Vec3d& spin, const Vec3d& r) { return cross(spin, cross(spin, r)); };
    const Vec3d turning_a = step_ * towards_centre(body_a.spin, r_a_), turning_b = step_ * towards_centre(body_b.spin, r_b_);
    // Where rows were not met in the last step, spins are no guide to the next.
    const double parting = norm(body_b.velocity_at(r_b_) - body_a.velocity_at(r_a_));
    if (parting > norm(turning_a) + norm(turning_b)) return;
    shift_ahead_ = 0.5 * (turning_b - turning_a);
    if (kind != BearingKind::hinge) return;
    const double speed = dot(along_, body_b.spin - body_a.spin);
    turn_ahead_ = (-0.5 * step_ * speed) * cross(body_a.spin, along_);
}

void Bearing::push_along(Rigid& body_a, Rigid& body_b, double impulse) const {
    if (kind == BearingKind::hinge)
        body_a.twist(-impulse * along_), body_b.twist(impulse * along_);
    else
        body_a.push(-impulse * along_, r_a_), body_b.push(impulse * along_, r_b_);
}

double Bearing::relative_speed(const Rigid& body_a, const Rigid& body_b) const {
    return kind == BearingKind::hinge ? dot(along_, body_b.spin - body_a.spin)
                                      : dot(along_, body_b.velocity_at(r_b_) - body_a.velocity_at(r_a_));
}

void Bearing::warm_start(std::span<Rigid> bodies) const {
    Rigid &body_a = bodies[static_cast<std::size_t>(a)], &body_b = bodies[static_cast<std::size_t>(b)];
    body_a.push(-linear_, r_a_), body_b.push(linear_, r_b_);
    const Vec3d twist = angular_ + motor_turn_impulse_;
    body_a.twist(-twist), body_b.twist(twist);
    if (kind == BearingKind::hinge || kind == BearingKind::slide)
        push_along(body_a, body_b, motor_impulse_ + limit_impulse_);
}

double Bearing::solve(std::span<Rigid> bodies, bool is_relaxing) {
    Rigid &body_a = bodies[static_cast<std::size_t>(a)], &body_b = bodies[static_cast<std::size_t>(b)];
    const Softness soft = is_relaxing ? Softness{} : softness_;
    double largest = 0.0;
    if (motor.task != Motor::Task::none) largest = solve_motor(body_a, body_b);
    if (lowest > -std::numeric_limits<double>::infinity() || highest < std::numeric_limits<double>::infinity())
        largest = max_of(largest, solve_limits(body_a, body_b, is_relaxing));
    if (kind != BearingKind::ball) largest = max_of(largest, solve_angular(body_a, body_b, soft));
    return max_of(largest, solve_linear(body_a, body_b, soft));
}

// How fast to go on when so much is left to turn or to shift, with a motor that can still brake in time.
double Bearing::approach(double left, double inertia) const {
    if (left == 0.0) return 0.0;
    const double rate = min_of(kServoRate, kServoShare / step_);
    const double braking = std::sqrt(2.0 * kBrakingShare * motor.most / inertia * left);
    return min_of(min_of(rate * left, braking), motor.fastest);
}

// The speed that a motor aims at, within the limits.
double Bearing::wanted_speed() const {
    const double target = min_of(max_of(motor.target, lowest), highest), left = target - value_;
    double speed = motor.task == Motor::Task::drive ? motor.target : std::copysign(approach(abs_of(left), row_mass_), left);
    if (kind == BearingKind::hinge) speed = clamped(speed, kFastestTurn / step_);
    return min_of(max_of(speed, min_of(0.0, (lowest - value_) / step_)), max_of(0.0, (highest - value_) / step_));
}

// Motors act at real velocities, also while errors are undone.
double Bearing::solve_motor(Rigid& body_a, Rigid& body_b) {
    const double most = motor.most * step_;
    if (kind == BearingKind::ball) {
        Vec3d impulse = motor_turn_impulse_ - angular_mass_ * (body_b.spin - body_a.spin - wanted_spin_);
        if (const double size = norm(impulse); size > most) impulse = (most / size) * impulse;
        const Vec3d change = impulse - motor_turn_impulse_;
        motor_turn_impulse_ = impulse;
        body_a.twist(-change), body_b.twist(change);
        return angular_response_ * norm(change);
    }
    const double impulse = clamped(motor_impulse_ - row_mass_ * (relative_speed(body_a, body_b) - wanted_), most);
    const double change = impulse - motor_impulse_;
    motor_impulse_ = impulse;
    push_along(body_a, body_b, change);
    return abs_of(change) / row_mass_;
}

// The nearer of the two limits pushes back, once it would be passed within the step.
double Bearing::solve_limits(Rigid& body_a, Rigid& body_b, bool is_relaxing) {
    const bool is_low = value_ - lowest < highest - value_;
    const double side = is_low ? 1.0 : -1.0, room = is_low ? value_ - lowest : highest - value_;
    const Softness soft = is_relaxing || room > 0.0 ? Softness{} : softness_;
    const double bias = room > 0.0 ? room / step_ : soft.bias_rate * room;
    const double before = max_of(0.0, side * limit_impulse_), speed = side * relative_speed(body_a, body_b);
    const double impulse = max_of(0.0, before - soft.mass_scale * row_mass_ * (speed + bias) - soft.impulse_scale * before);
    const double change = side * impulse - limit_impulse_;
    push_along(body_a, body_b, change);
    limit_impulse_ = side * impulse;
    return abs_of(change) / row_mass_;
}

double Bearing::solve_angular(Rigid& body_a, Rigid& body_b, const Softness& soft) {
    const Vec3d velocity = body_b.spin - body_a.spin + turn_ahead_ + soft.bias_rate * turn_error_;
    const Vec3d change = -(soft.mass_scale * (angular_mass_ * velocity)) - soft.impulse_scale * angular_;
    angular_ = angular_ + change;
    body_a.twist(-change), body_b.twist(change);
    return angular_response_ * norm(change);
}

double Bearing::solve_linear(Rigid& body_a, Rigid& body_b, const Softness& soft) {
    const Vec3d velocity =
        body_b.velocity_at(r_b_) - body_a.velocity_at(r_a_) + shift_ahead_ + soft.bias_rate * shift_error_;
    const Vec3d change = -(soft.mass_scale * (linear_mass_ * velocity)) - soft.impulse_scale * linear_;
    linear_ = linear_ + change;
    body_a.push(-change, r_a_), body_b.push(change, r_b_);
    return linear_response_ * norm(change);
}

void Bearing::remember(const Memory& memory) {
    value_ = memory.value, linear_ = memory.linear, angular_ = memory.angular;
    motor_impulse_ = memory.motor, limit_impulse_ = memory.limit, motor_turn_impulse_ = memory.motor_turn;
}

}  // namespace clearance
