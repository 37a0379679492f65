#include "guard/braking.hpp"

#include <algorithm>
#include <cmath>

namespace clearance {
namespace {

// How far ahead of where it is a joint can get that moves with `speed`, until it brakes with at most this acceleration.
double way_ahead(double speed, double acceleration, double latency, double deceleration) {
    const double then = speed + acceleration * latency;
    if (then >= 0.0) return max_of(0.5 * (speed + then) * latency + then * then / (2.0 * deceleration), 0.0);
    return speed > 0.0 ? speed * speed / (-2.0 * acceleration) : 0.0;  // it turns back before
}

// The sum of a value and a way, or a little more; exactly the value where there is no way.
double rounded_up(double value, double way) {
    return way > 0.0 ? value + way + 4.0 * kEpsilon * (abs_of(value) + way) : value;
}

// The accelerations that a joint may have before it brakes.
struct Push {
    double least, most;
};

// It may also brake before it has to, and not as hard as a command asks for.
Push push_of(const Braking& braking, std::size_t k, const double* command) {
    if (command == nullptr) return {-braking.acceleration[k], braking.acceleration[k]};
    const double error = braking.command_error[k], brake = braking.deceleration[k];
    return {min_of(command[k] - error, brake), max_of(command[k] + error, -brake)};
}

double stopping_time(const Braking& braking, std::size_t k, double speed, const Push& push) {
    const double later =
        max_of(abs_of(speed + push.least * braking.latency[k]), abs_of(speed + push.most * braking.latency[k]));
    return braking.latency[k] + max_of(later, abs_of(speed)) / braking.deceleration[k];
}

// Of three velocities at right angles, which take what turns meanwhile as far as their length does, whichever way.
struct Worst {
    double latency = 0.0, acceleration = 0.0, deceleration = std::numeric_limits<double>::infinity(), uncertainty = 0.0;
};

Worst worst_of_three(const Braking& braking, std::size_t first, const double* command) {
    Worst worst;
    const auto length = [&](const auto& of) { return norm(Vec3d{of[first], of[first + 1], of[first + 2]}); };
    for (std::size_t k = first; k < first + 3; ++k) {
        worst.latency = max_of(worst.latency, braking.latency[k]);
        worst.deceleration = min_of(worst.deceleration, braking.deceleration[k]);
    }
    worst.acceleration = command == nullptr ? length(braking.acceleration) : length(command) + length(braking.command_error);
    worst.uncertainty = length(braking.uncertainty);
    return worst;
}

}  // namespace

double braking_box(const KinematicTree& tree, const Braking& braking, const double* lower, const double* upper,
                   const double* q, const double* qd, const double* command, JointBox& box) {
    double time = 0.0;
    const auto take = [&](std::size_t value, std::size_t velocity) {
        const Push push = push_of(braking, velocity, command);
        const double speed = qd[velocity], latency = braking.latency[velocity], brake = braking.deceleration[velocity];
        const double ahead = way_ahead(speed, push.most, latency, brake) + braking.uncertainty[velocity];
        const double back = way_ahead(-speed, -push.least, latency, brake) + braking.uncertainty[velocity];
        const double high = rounded_up(q[value], ahead), low = -rounded_up(-q[value], back);
        box.high[value] = q[value] < upper[value] ? min_of(high, upper[value]) : high;
        box.low[value] = q[value] > lower[value] ? max_of(low, lower[value]) : low;
        time = max_of(time, stopping_time(braking, velocity, speed, push));
    };
    const auto take_three = [&](std::size_t velocity) {
        const Worst worst = worst_of_three(braking, velocity, command);
        const double speed = norm(Vec3d{qd[velocity], qd[velocity + 1], qd[velocity + 2]});
        time = max_of(time, worst.latency + (speed + worst.acceleration * worst.latency) / worst.deceleration);
        return way_ahead(speed, worst.acceleration, worst.latency, worst.deceleration) + worst.uncertainty;
    };
    for (const Frame& frame : tree.frames()) {
        const auto value = static_cast<std::size_t>(frame.value), velocity = static_cast<std::size_t>(frame.velocity);
        if (!has_quaternion(frame.kind)) {
            for (std::size_t k = 0; k < static_cast<std::size_t>(values_of(frame.kind)); ++k) take(value + k, velocity + k);
            continue;
        }
        const auto slides = static_cast<std::size_t>(values_before_quaternion(frame.kind));
        const double way = slides > 0 ? take_three(velocity) : 0.0;
        for (std::size_t k = value; k < value + slides; ++k)
            box.low[k] = -rounded_up(-q[k], way), box.high[k] = rounded_up(q[k], way);
        std::copy_n(q + value + slides, 4, box.low.begin() + static_cast<std::ptrdiff_t>(value + slides));
        box.high[value + slides] = take_three(velocity + slides);
    }
    return time;
}

}  // namespace clearance
