#include "motion/direction_bound.hpp"

#include <algorithm>
#include <cmath>

namespace clearance {
double DirectionBound::reach_of_joint(std::int32_t joint) const {
    for (std::int32_t k = plan_->first_volume(body_) + 1;; ++k)
        if (plan_->volumes()[static_cast<std::size_t>(k)].joint == joint) return sweep_->reach(k);
}

bool DirectionBound::set_up(std::int32_t body, std::int32_t ancestor, const double* q, const Pose* frames,
                            const JointBox& box) {
    body_ = body;
    steps_.clear();
    const Pose& to = frames[ancestor];
    const std::int32_t own = plan_->bodies()[static_cast<std::size_t>(body)].frame;
    ancestor_from_body_ = inverse_times(to, frames[own]);
    for (std::int32_t k = own; k != ancestor;) {
        const Frame& joint = plan_->tree().frames()[static_cast<std::size_t>(k)];
        if (joint.kind == JointKind::floating) return false;
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
            range({parent.rotation * (joint.origin.rotation * joint.across[c]), {}, false, joint.value + c, 1.0, 0.0, 0.0, 1.0});
        k = joint.parent;
    }
    set_bends();
    return true;
}

// Second derivatives by j and k are at most m = (j turns) speed of k, where j is nearer to the base: |d_j d_k| is no more
// than half of w d_j^2 + d_k^2 / w, and w = (width of k) / (width of j) makes that exact at the ends of both.
void DirectionBound::set_bends() {
    remainder_ = 0.0;
    const auto width = [](const Step& step) { return max_of(-step.low, step.high); };
    for (std::size_t k = 0; k < steps_.size(); ++k) {
        Step& one = steps_[k];
        const double widest = width(one);
        if (one.turns) one.bend += one.speed, remainder_ += 0.5 * one.speed * widest * widest;
        for (std::size_t j = k + 1; j < steps_.size(); ++j) {  // nearer to the base
            Step& other = steps_[j];
            const double other_widest = width(other);
            if (!other.turns) continue;
            remainder_ += one.speed * widest * other_widest;
            one.bend += one.speed * other_widest / widest, other.bend += one.speed * widest / other_widest;
        }
    }
}

double DirectionBound::slope(const Step& step, const Vec3d& point, const Vec3d& along) const {
    return dot(step.turns ? cross(step.axis, point - step.origin) : step.axis, along);
}

double DirectionBound::highest(const Vec3d& along) {
    double highest = -std::numeric_limits<double>::infinity();
    const SweptHull& core = sweep_->hull(plan_->first_volume(body_));
    for (std::size_t k = 0; k < static_cast<std::size_t>(core.count); ++k) {
        const Vec3d at = ancestor_from_body_ * core.point(k);
        double rise = 0.0;
        // Joints that follow the same value move together: their slopes add up before the worst end is looked for.
        for (const Step& step : steps_) slopes_[static_cast<std::size_t>(step.value)] = 0.0;
        for (const Step& step : steps_)
            slopes_[static_cast<std::size_t>(step.value)] += step.multiplier * slope(step, at, along);
        for (const Step& step : steps_) {
            double& sum = slopes_[static_cast<std::size_t>(step.value)];
            rise += max_of(sum * (step.low / step.multiplier), sum * (step.high / step.multiplier));
            sum = 0.0;
        }
        highest = max_of(highest, dot(along, at) + rise);
    }
    return highest + remainder_;
}

bool DirectionBound::never_rises(const Vec3d& along) {
    const SweptHull& core = sweep_->hull(plan_->first_volume(body_));
    const Vec3d in_body = transposed_times(ancestor_from_body_.rotation, along);
    const double top = dot(along, ancestor_from_body_ * core.point(core.farthest(in_body)));
    for (std::size_t k = 0; k < static_cast<std::size_t>(core.count); ++k) {
        const Vec3d at = ancestor_from_body_ * core.point(k);
        double rise = 0.0;
        for (const Step& step : steps_) {
            const double up = slope(step, at, along);
            const auto rise_to = [&](double d) { return up * d + 0.5 * step.bend * d * d; };
            rise += max_of(rise_to(step.low), rise_to(step.high));
        }
        if (dot(along, at) + rise > top) return false;
    }
    return true;
}

std::int64_t DirectionBound::operations() const {
    return 100 + sweep_->hull(plan_->first_volume(body_)).count * (20 + 20 * static_cast<std::int64_t>(steps_.size()));
}

}  // namespace clearance
