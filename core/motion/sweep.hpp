#pragma once

#include <span>

#include "motion/swept_hull.hpp"

namespace clearance {

// A convex piece of a link, in the frame that it moves with.
struct SweptBody {
    std::vector<Vec3d> points;
    double radius;
    std::int32_t frame;
};

// Which volumes a sweep consists of: every body in its own frame, and as each of its joints down to the base, or to a frame
// before that, sweeps it.
class SweepPlan {
public:
    struct Volume {
        std::int32_t body, frame;  // the frame it is seen from
        std::int32_t joint;        // frame of the joint that made it out of the volume before it, or -1
        std::int32_t points_of_one, count;
        std::size_t first;  // of its numbers
    };

    // How many points every joint makes of one, by body and frame; the last frame by body.
    using PointsOfOne = std::vector<std::vector<int>>;
    SweepPlan(const KinematicTree& tree, std::vector<SweptBody> bodies, const PointsOfOne& points_of_one,
              const std::vector<std::int32_t>& last_frame);

    const KinematicTree& tree() const { return *tree_; }
    std::span<const SweptBody> bodies() const { return bodies_; }
    std::span<const Volume> volumes() const { return volumes_; }
    // The volume of a body seen from a frame; those of a body are consecutive, its own frame first.
    std::int32_t volume(std::int32_t body, std::int32_t frame) const;
    std::int32_t first_volume(std::int32_t body) const { return first_volume_[static_cast<std::size_t>(body)]; }
    std::size_t numbers() const { return numbers_; }
    std::int32_t points() const { return points_; }  // of all volumes that joints make

private:
    const KinematicTree* tree_;
    std::vector<SweptBody> bodies_;
    std::vector<Volume> volumes_;
    std::vector<std::int32_t> first_volume_;
    std::size_t numbers_ = 0;
    std::int32_t points_ = 0;
};

// The volumes of a plan for one box of joint values. After construction nothing is allocated.
class Sweep {
public:
    explicit Sweep(const SweepPlan& plan);

    void take(const JointBox& box);

    // Put the points of a body elsewhere in its frame, with another radius, before the next box is taken.
    void place(std::int32_t body, const Pose& pose, double radius);
    const SweptHull& hull(std::int32_t volume) const { return hulls_[static_cast<std::size_t>(volume)]; }

    // How far the generating points of a body can be from the axis of the joint that made a volume; they move no faster.
    double reach(std::int32_t volume) const { return reach_[static_cast<std::size_t>(volume)]; }

    // No point of a volume is farther than this from where it was in another sweep of the same plan: at most as far as one
    // generating point moved, and as the radius grew.
    double change(std::int32_t volume, const Sweep& since) const;

private:
    const SweepPlan* plan_;
    std::vector<double> numbers_;
    std::vector<SweptHull> hulls_;
    std::vector<double> reach_;
    std::vector<JointSweep> joints_;
    std::vector<TurnedPoint> room_;
};

// How far what is true of all configurations of one box can be from true for another one, by body and frame, without any
// volume: a point that leaves the box leaves it by so much per joint, and no joint moves it faster than its reach allows.
class BoxChange {
public:
    BoxChange(const KinematicTree& tree, std::vector<SweptBody> bodies);

    // How far points of the body can get from their volume for `before` while the joints are anywhere in `now`, seen from a
    // frame on the way to the base.
    double of(std::int32_t body, std::int32_t frame, const JointBox& before, const JointBox& now) const;

private:
    const KinematicTree* tree_;
    std::vector<SweptBody> bodies_;
    std::vector<double> own_reach_;  // of every body from the origin of its frame
};

}  // namespace clearance
