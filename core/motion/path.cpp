#include "motion/path.hpp"

#include <algorithm>
#include <cmath>

namespace clearance {
namespace {

// Quaternions x, y, z, w of any length but zero.
struct Turn {
    double unit_a[4], unit_b[4];
    double half_angle;  // between them, on the shorter way
};

Turn turn_between(const double* a, const double* b) {
    Turn turn;
    double length_a = 0.0, length_b = 0.0, along = 0.0;
    for (int k = 0; k < 4; ++k) length_a += a[k] * a[k], length_b += b[k] * b[k], along += a[k] * b[k];
    const double scale_a = 1.0 / std::sqrt(length_a), scale_b = (along < 0.0 ? -1.0 : 1.0) / std::sqrt(length_b);
    double sum_sq = 0.0, difference_sq = 0.0;
    for (int k = 0; k < 4; ++k) {
        turn.unit_a[k] = scale_a * a[k], turn.unit_b[k] = scale_b * b[k];
        const double sum = turn.unit_a[k] + turn.unit_b[k], difference = turn.unit_b[k] - turn.unit_a[k];
        sum_sq += sum * sum, difference_sq += difference * difference;
    }
    turn.half_angle = 2.0 * std::atan2(std::sqrt(difference_sq), std::sqrt(sum_sq));
    return turn;
}

void turned(const Turn& turn, double fraction, double* q) {
    const double sine = std::sin(turn.half_angle);
    const bool is_small = sine < 1e-9;
    const double a = is_small ? 1.0 - fraction : std::sin((1.0 - fraction) * turn.half_angle) / sine;
    const double b = is_small ? fraction : std::sin(fraction * turn.half_angle) / sine;
    for (int k = 0; k < 4; ++k) q[k] = a * turn.unit_a[k] + b * turn.unit_b[k];
}

}  // namespace

Waypoints::Waypoints(const KinematicTree& tree, const double* rows, std::size_t count)
    : dof_(static_cast<std::size_t>(tree.dof())), count_(count), rows_(rows, rows + count * dof_) {
    for (const Frame& frame : tree.frames()) {
        const auto same = [&](const Frame& known) { return known.value == frame.value; };
        if (frame.kind != JointKind::fixed && std::none_of(joints_.begin(), joints_.end(), same)) joints_.push_back(frame);
    }
    for (std::size_t k = 0; k < count; ++k) breaks.push_back(static_cast<double>(k));
    if (count == 1) breaks.push_back(0.0);
}

std::size_t Waypoints::segment_of(double t) const {
    return std::min(static_cast<std::size_t>(t), count_ > 1 ? count_ - 2 : 0);
}

void Waypoints::at(double t, double* q) const {
    const std::size_t k = segment_of(t), next = std::min(k + 1, count_ - 1);
    const double fraction = t - static_cast<double>(k);
    const double *from = row(k), *to = row(next);
    for (std::size_t j = 0; j < dof_; ++j) q[j] = (1.0 - fraction) * from[j] + fraction * to[j];
    for (const Frame& joint : joints_) {
        if (!has_quaternion(joint.kind)) continue;
        const int first = joint.value + values_before_quaternion(joint.kind);
        turned(turn_between(from + first, to + first), fraction, q + first);
    }
}

void Waypoints::steps(double begin, double end, double* steps) const {
    const std::size_t k = segment_of(0.5 * (begin + end)), next = std::min(k + 1, count_ - 1);
    const double half = 0.5 * (end - begin) * (1.0 + 1e-14);
    const double *from = row(k), *to = row(next);
    for (const Frame& joint : joints_) {
        const double *a = from + joint.value, *b = to + joint.value;
        double* step = steps + joint.velocity;
        const bool turns = has_quaternion(joint.kind);
        const int moved = turns ? values_before_quaternion(joint.kind) : values_of(joint.kind);
        // What rounding makes of values is a step as well.
        for (int c = 0; c < moved; ++c)
            step[c] = half * std::fabs(b[c] - a[c]) + 4.0 * kEpsilon * (std::fabs(a[c]) + std::fabs(b[c]));
        if (!turns) continue;
        step[moved] = half * 2.0 * turn_between(a + moved, b + moved).half_angle + 16.0 * kEpsilon;
        step[moved + 1] = step[moved + 2] = 0.0;
    }
}

FreePath::FreePath(Function function, std::vector<double> rates) : function_(std::move(function)), rates_(std::move(rates)) {
    breaks = {0.0, 1.0};
}

void FreePath::steps(double begin, double end, double* steps) const {
    for (std::size_t k = 0; k < rates_.size(); ++k) steps[k] = 0.5 * (end - begin) * (1.0 + 1e-14) * rates_[k];
}

}  // namespace clearance
