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
        const Pose child = inverse_times(to, frames[k]), parent = inverse_times(to, frames[joint.parent]);
        const auto range = [&](Step step) {
            const auto at = static_cast<std::size_t>(step.value);
            const double one = step.multiplier * (box.low[at] - q[at]), other = step.multiplier * (box.high[at] - q[at]);
            step.low = min_of(one, other), step.high = max_of(one, other);
            if (step.low < 0.0 || step.high > 0.0) steps_.push_back(step);
        };
        const bool is_planar = joint.kind == JointKind::planar;
        if (joint.kind == JointKind::revolute || is_planar)
            range({child.rotation * joint.axis, child.translation, true, joint.value + (is_planar ? 2 : 0),
                   is_planar ? 1.0 : joint.multiplier, 0.0, 0.0, reach_of_joint(k)});
        if (joint.kind == JointKind::prismatic)
            range({child.rotation * joint.axis, {}, false, joint.value, joint.multiplier, 0.0, 0.0, 1.0});
        for (int c = 0; c < (is_planar ? 2 : 0); ++c)
            range({parent.rotation * (joint.origin.rotation * joint.across[c]),
                   {},
                   false,
                   joint.value + c,
                   1.0,
                   0.0,
                   0.0,
                   1.0});
        k = joint.parent;
    }
    set_bends();
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

// Joints that follow the same value move together: their tangents add up before the farther end is looked for.
Vec3d TangentSweep::advanced(const Vec3d& point, const Vec3d& along) {
    for (const Step& step : steps_) tangents_[static_cast<std::size_t>(step.value)] = {0, 0, 0};
    for (const Step& step : steps_) {
        Vec3d& sum = tangents_[static_cast<std::size_t>(step.value)];
        sum = sum + step.multiplier * tangent(step, point);
    }
    Vec3d at = point;
    for (const Step& step : steps_) {
        Vec3d& sum = tangents_[static_cast<std::size_t>(step.value)];
        const double one = step.low / step.multiplier, other = step.high / step.multiplier, up = dot(sum, along);
        at = at + (up * one > up * other ? one : other) * sum;
        sum = {0, 0, 0};  // the others that follow it are done
    }
    return at;
}

Vec3d TangentSweep::farthest(const Vec3d& along) {
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

bool TangentSweep::never_advances(const Vec3d& along) const {
    const Vec3d in_body = transposed_times(ancestor_from_body_.rotation, along);
    const double top = dot(along, ancestor_from_body_ * core().point(core().farthest(in_body)));
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
