#include "motion/joint_box.hpp"

#include <cmath>
#include <numbers>

namespace clearance {
namespace {

constexpr double kPi = std::numbers::pi;

struct Range {
    double middle, half;
};

// An infinite end stands for a full turn. Rounding of the middle is made up for by `doubt`.
Range range_of(double from, double to) {
    const double low = min_of(from, to), high = max_of(from, to);
    if (!(high - low < 2.0 * kPi)) return {std::isfinite(low + high) ? 0.5 * low + 0.5 * high : 0.0, kPi};
    return {0.5 * low + 0.5 * high, 0.5 * (high - low)};
}

void set_angle(JointSweep& sweep, double angle) {
    sweep.angle = angle;
    sweep.sine = std::sin(angle), sweep.cosine = std::cos(angle), sweep.half_sine = std::sin(0.5 * angle);
}

void set_turn(JointSweep& sweep, const Frame& frame, double from, double to) {
    const Range range = range_of(from, to);
    sweep.turn = turned_by(frame, range.middle);
    sweep.axis = frame.origin.rotation * frame.axis;
    set_angle(sweep, range.half);
    sweep.doubt += kEpsilon * abs_of(range.middle);
}

void set_patch(JointSweep& sweep, const Frame& frame, const double* quaternion, double angle) {
    sweep.turn = frame.origin.rotation * rotation_from_quaternion(quaternion);
    sweep.is_patch = true;
    set_angle(sweep, min_of(angle, kPi));
}

void add_slide(JointSweep& sweep, const Vec3d& direction, double from, double to) {
    sweep.shift = sweep.shift + (0.5 * from + 0.5 * to) * direction;
    sweep.slide[sweep.slides++] = (0.5 * (to - from)) * direction;
    double diagonal_sq = 0.0;
    for (int k = 0; k < sweep.slides; ++k) diagonal_sq += norm_sq(sweep.slide[k]);
    sweep.slide_radius = std::sqrt(diagonal_sq);
}

}  // namespace

JointSweep joint_sweep(const Frame& frame, const JointBox& box) {
    const double *low = box.low.data() + frame.value, *high = box.high.data() + frame.value;
    JointSweep sweep{.turn = frame.origin.rotation, .shift = frame.origin.translation, .axis = {0, 0, 1}};
    sweep.doubt = 8.0 * kEpsilon;
    const auto value = [&](double q) { return frame.multiplier * q + frame.offset; };
    switch (frame.kind) {
        case JointKind::revolute:
            set_turn(sweep, frame, value(low[0]), value(high[0]));
            break;
        case JointKind::prismatic:
            add_slide(sweep, frame.origin.rotation * frame.axis, value(low[0]), value(high[0]));
            break;
        case JointKind::planar:
            set_turn(sweep, frame, low[2], high[2]);
            for (int k = 0; k < 2; ++k) add_slide(sweep, frame.origin.rotation * frame.across[k], low[k], high[k]);
            break;
        case JointKind::floating:
            set_patch(sweep, frame, low + 3, high[3]);
            for (int k = 0; k < 3; ++k) add_slide(sweep, frame.origin.rotation * kNoTurn.row[k], low[k], high[k]);
            break;
        case JointKind::ball:
            set_patch(sweep, frame, low, high[0]);
            break;
        case JointKind::fixed:
            break;
    }
    return sweep;
}

double middle_turn(const double* from, const double* to, double* middle) {
    const auto length = [](const double* q) { return std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]); };
    const double from_length = length(from), to_length = length(to);
    double cosine = 0.0;
    for (int k = 0; k < 4; ++k) cosine += (from[k] / from_length) * (to[k] / to_length);
    const double sign = cosine < 0.0 ? -1.0 : 1.0;  // a quaternion and its opposite are the same rotation
    double apart = 0.0;
    for (int k = 0; k < 4; ++k) {
        const double a = from[k] / from_length, b = sign * to[k] / to_length;
        middle[k] = a + b;
        apart += (a - b) * (a - b);
    }
    // Half of the chord between the two on the unit sphere is the sine of half of the angle there, a quarter of the turn.
    return 2.0 * std::asin(min_of(0.5 * std::sqrt(apart), 1.0));
}

}  // namespace clearance
