#include "motion/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace clearance {
namespace {

double extent_of(const std::vector<Vec3d>& points) {
    double largest_sq = 0.0;
    for (const Vec3d& p : points) largest_sq = max_of(largest_sq, norm_sq(p));
    return std::sqrt(largest_sq) * (1.0 + 4.0 * kEpsilon);
}

// By how much a range sticks out of another.
double growth(double low_before, double high_before, double low, double high) {
    return max_of(max_of(low_before - low, high - high_before), 0.0);
}

// By how much a turn sticks out of the turns of another box, and how far from the origin of the joint it slides.
struct JointChange {
    double turn, slide, farthest_slide;
};

// The same for rotations around a quaternion, which begins there.
double turn_change(const JointBox& before, const JointBox& now, std::size_t at) {
    double middle[4];
    const double apart = 2.0 * middle_turn(&before.low[at], &now.low[at], middle);
    return max_of(apart + now.high[at] - before.high[at], 0.0);
}

JointChange change_of(const Frame& frame, const JointBox& before, const JointBox& now) {
    const auto at = static_cast<std::size_t>(frame.value);
    const auto range = [&](std::size_t k) { return growth(before.low[k], before.high[k], now.low[k], now.high[k]); };
    const auto farthest = [&](std::size_t k) {
        return max_of(max_of(abs_of(before.low[k]), abs_of(before.high[k])),
                      max_of(abs_of(now.low[k]), abs_of(now.high[k])));
    };
    const double factor = abs_of(frame.multiplier);
    const auto turn = [&](std::size_t k) {
        const bool was_everywhere = factor * (before.high[k] - before.low[k]) >= 2.0 * std::numbers::pi;
        return was_everywhere ? 0.0 : factor * range(k);
    };
    switch (frame.kind) {
        case JointKind::revolute:
            return {turn(at), 0.0, 0.0};
        case JointKind::prismatic:
            return {0.0, factor * range(at), factor * farthest(at) + abs_of(frame.offset)};
        case JointKind::planar:
            return {turn(at + 2), std::hypot(range(at), range(at + 1)), std::hypot(farthest(at), farthest(at + 1))};
        case JointKind::floating:
            return {turn_change(before, now, at + 3), norm(Vec3d{range(at), range(at + 1), range(at + 2)}),
                    norm(Vec3d{farthest(at), farthest(at + 1), farthest(at + 2)})};
        case JointKind::ball:
            return {turn_change(before, now, at), 0.0, 0.0};
        case JointKind::fixed:
            break;
    }
    return {};
}

}  // namespace

SweepPlan::SweepPlan(const KinematicTree& tree, std::vector<SweptBody> bodies, const PointsOfOne& points_of_one,
                     const std::vector<std::int32_t>& last_frame)
    : tree_(&tree), bodies_(std::move(bodies)) {
    const auto add = [&](Volume volume) {
        volume.first = numbers_;
        numbers_ += SweptHull::room_for(volume.count);
        volumes_.push_back(volume);
    };
    for (std::size_t body = 0; body < bodies_.size(); ++body) {
        first_volume_.push_back(static_cast<std::int32_t>(volumes_.size()));
        auto count = static_cast<std::int32_t>(bodies_[body].points.size());
        add({static_cast<std::int32_t>(body), bodies_[body].frame, -1, 1, count, 0});
        for (std::int32_t joint = bodies_[body].frame; joint != last_frame[body];) {
            const auto at = static_cast<std::size_t>(joint);
            const int of_one = points_of_one[body][at];
            count *= of_one, points_ += count;
            add({static_cast<std::int32_t>(body), tree.frames()[at].parent, joint, of_one, count, 0});
            joint = tree.frames()[at].parent;
        }
    }
    first_volume_.push_back(static_cast<std::int32_t>(volumes_.size()));
}

std::int32_t SweepPlan::volume(std::int32_t body, std::int32_t frame) const {
    const auto at = static_cast<std::size_t>(body);
    for (std::int32_t k = first_volume_[at]; k < first_volume_[at + 1]; ++k)
        if (volumes_[static_cast<std::size_t>(k)].frame == frame) return k;
    return -1;
}

Sweep::Sweep(const SweepPlan& plan)
    : plan_(&plan), numbers_(plan.numbers()), reach_(plan.volumes().size()), joints_(plan.tree().frames().size()) {
    for (const SweepPlan::Volume& volume : plan.volumes()) {
        const SweptBody& body = plan.bodies()[static_cast<std::size_t>(volume.body)];
        hulls_.push_back({numbers_.data() + volume.first, volume.count, body.radius, 0.0});
        room_.resize(std::max(room_.size(), static_cast<std::size_t>(volume.count)));
    }
    for (std::size_t k = 0; k < plan.bodies().size(); ++k)
        place(static_cast<std::int32_t>(k), Pose{}, plan.bodies()[k].radius);
}

void Sweep::place(std::int32_t body, const Pose& pose, double radius) {
    SweptHull& hull = hulls_[static_cast<std::size_t>(plan_->first_volume(body))];
    const std::vector<Vec3d>& points = plan_->bodies()[static_cast<std::size_t>(body)].points;
    double largest_sq = 0.0;
    for (std::size_t k = 0; k < points.size(); ++k) {
        const Vec3d at = pose * points[k];
        hull.set_point(k, at);
        largest_sq = max_of(largest_sq, norm_sq(at));
    }
    hull.fill_up();
    hull.extent = std::sqrt(largest_sq) * (1.0 + 4.0 * kEpsilon);
    hull.radius = radius + 8.0 * kEpsilon * hull.extent;
}

void Sweep::take(const JointBox& box) {
    const std::span<const Frame> frames = plan_->tree().frames();
    for (std::size_t k = 1; k < frames.size(); ++k) joints_[k] = joint_sweep(frames[k], box);
    for (std::size_t k = 0; k < hulls_.size(); ++k) {
        const SweepPlan::Volume& volume = plan_->volumes()[k];
        if (volume.joint < 0) continue;
        const SweptHull& from = hulls_[k - 1];
        const double own = hulls_[static_cast<std::size_t>(plan_->first_volume(volume.body))].radius;
        reach_[k] = sweep_hull(joints_[static_cast<std::size_t>(volume.joint)], volume.points_of_one, from, hulls_[k],
                               room_.data()) +
                    (from.radius - own);
    }
}

double Sweep::change(std::int32_t volume, const Sweep& since) const {
    const SweptHull &now = hull(volume), &before = since.hull(volume);
    double largest_sq = 0.0;
    for (std::size_t block = 0; block < now.block_count(); ++block) {
        const double *p = now.blocks + 3 * kPointBlock * block, *q = before.blocks + 3 * kPointBlock * block;
        double apart_sq[kPointBlock];
        for (std::size_t k = 0; k < kPointBlock; ++k) {
            const double x = p[k] - q[k], y = p[kPointBlock + k] - q[kPointBlock + k],
                         z = p[2 * kPointBlock + k] - q[2 * kPointBlock + k];
            apart_sq[k] = x * x + y * y + z * z;
        }
        for (const double one : apart_sq) largest_sq = max_of(largest_sq, one);
    }
    return max_of(std::sqrt(largest_sq) * (1.0 + 4.0 * kEpsilon) + (now.radius - before.radius), 0.0);
}

BoxChange::BoxChange(const KinematicTree& tree, std::vector<SweptBody> bodies) : tree_(&tree), bodies_(std::move(bodies)) {
    for (const SweptBody& body : bodies_) own_reach_.push_back(extent_of(body.points) + body.radius);
}

double BoxChange::of(std::int32_t body, std::int32_t frame, const JointBox& before, const JointBox& now) const {
    double reach = own_reach_[static_cast<std::size_t>(body)], change = 0.0;
    for (std::int32_t k = bodies_[static_cast<std::size_t>(body)].frame; k != frame;) {
        const Frame& joint = tree_->frames()[static_cast<std::size_t>(k)];
        const JointChange by = change_of(joint, before, now);
        change += min_of(by.turn, 2.0) * reach + by.slide;  // no chord is longer than twice the radius
        reach += norm(joint.origin.translation) + by.farthest_slide;
        k = joint.parent;
    }
    return change * (1.0 + 64.0 * kEpsilon);
}

}  // namespace clearance
