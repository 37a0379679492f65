#include "motion/tangent_sweep.hpp"

#include <algorithm>
#include <cmath>

namespace clearance {

double TangentSweep::reach_of_joint(std::int32_t joint) const {
    for (std::int32_t k = plan_->first_volume(body_) + 1;; ++k)
        if (plan_->volumes()[static_cast<std::size_t>(k)].joint == joint) return sweep_->reach(k);
}

bool TangentSweep::set_up(std::int32_t body, std::int32_t ancestor, const double* q, const Pose* frames,
                          const JointBox& box) {
    body_ = body;
    steps_.clear();
    const Pose& to = frames[ancestor];
    const std::int32_t own = plan_->bodies()[static_cast<std::size_t>(body)].frame;
    ancestor_from_body_ = inverse_times(to, frames[own]);
    for (std::int32_t k = own; k != ancestor;) {
        const Frame& joint = plan_->tree().frames()[static_cast<std::size_t>(k)];
        if (has_quaternion(joint.kind)) return false;
        const Pose child = inverse_times(to, frames[k]);
        const auto add = [&](const Vec3d& axis, bool turns, std::int32_t value, double multiplier, double speed) {
            const auto at = static_cast<std::size_t>(value);
            const double one = multiplier * (box.low[at] - q[at]), other = multiplier * (box.high[at] - q[at]);
            if (one == 0.0 && other == 0.0) return;
            steps_.push_back({axis, child.translation, turns, value, multiplier, min_of(one, other), max_of(one, other),
                              one / multiplier, other / multiplier, speed});
        };
        if (joint.kind == JointKind::prismatic) add(child.rotation * joint.axis, false, joint.value, joint.multiplier, 1.0);
        if (joint.kind == JointKind::revolute)
            add(child.rotation * joint.axis, true, joint.value, joint.multiplier, reach_of_joint(k));
        if (joint.kind == JointKind::planar) {
            add(child.rotation * joint.axis, true, joint.value + 2, 1.0, reach_of_joint(k));
            const Mat3 turn = transposed_times(to.rotation, frames[joint.parent].rotation) * joint.origin.rotation;
            for (int c = 0; c < 2; ++c) add(turn * joint.across[c], false, joint.value + c, 1.0, 1.0);
        }
        k = joint.parent;
    }
    set_bends();
    // Joints that follow the same value move together, so they come one after the other.
    std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.value < b.value; });
    return true;
}

// Second derivatives by j and k are at most m = (j turns) speed of k, where j is nearer to the base: |d_j d_k| is no more
// than half of w d_j^2 + d_k^2 / w, and w = (width of k) / (width of j) makes that exact at the ends of both.
void TangentSweep::set_bends() {
    off_ = 0.0;
    const auto width = [](const Step& step) { return max_of(-step.low, step.high); };
    for (std::size_t k = 0; k < steps_.size(); ++k) {
        Step& one = steps_[k];
        const double widest = width(one);
        if (one.turns) one.bend += one.speed, off_ += 0.5 * one.speed * widest * widest;
        for (std::size_t j = k + 1; j < steps_.size(); ++j) {  // nearer to the base
            Step& other = steps_[j];
            const double other_widest = width(other);
            if (!other.turns) continue;
            off_ += one.speed * widest * other_widest;
            one.bend += one.speed * other_widest / widest, other.bend += one.speed * widest / other_widest;
        }
    }
}

// The tangents of joints that follow one value add up before the farther end is looked for.
Vec3d TangentSweep::advanced(const Vec3d& point, const Vec3d& along) const {
    Vec3d at = point, sum{0, 0, 0};
    for (std::size_t k = 0; k < steps_.size(); ++k) {
        const Step& step = steps_[k];
        sum = sum + step.multiplier * tangent(step, point);
        if (k + 1 < steps_.size() && steps_[k + 1].value == step.value) continue;
        const double up = dot(sum, along);
        at = at + (up * step.from > up * step.to ? step.from : step.to) * sum;
        sum = {0, 0, 0};
    }
    return at;
}

Vec3d TangentSweep::farthest(const Vec3d& along) const {
    Vec3d best{};
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < static_cast<std::size_t>(core().count); ++k) {
        const Vec3d at = advanced(ancestor_from_body_ * core().point(k), along);
        const double height = dot(along, at);
        if (height > highest) highest = height, best = at;
    }
    return best;
}

double TangentSweep::radius() const {
    return core().radius + off_ + 64.0 * kEpsilon * (core().extent + norm(ancestor_from_body_.translation) + off_);
}

bool TangentSweep::goes_one_way() const {
    return std::all_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.low == 0.0 || step.high == 0.0; });
}

double TangentSweep::height(const Vec3d& along) const {
    const Vec3d in_body = transposed_times(ancestor_from_body_.rotation, along);
    return dot(along, ancestor_from_body_ * core().point(core().farthest(in_body)));
}

bool TangentSweep::never_advances(const Vec3d& along) const {
    const double top = height(along);
    for (std::size_t k = 0; k < static_cast<std::size_t>(core().count); ++k) {
        const Vec3d at = ancestor_from_body_ * core().point(k);
        double advance = 0.0;
        for (const Step& step : steps_) {
            const double up = dot(tangent(step, at), along);
            const auto advance_to = [&](double d) { return up * d + 0.5 * step.bend * d * d; };
            advance += max_of(advance_to(step.low), advance_to(step.high));
        }
        if (dot(along, at) + advance > top) return false;
    }
    return true;
}

}  // namespace clearance
