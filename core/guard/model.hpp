#pragma once

#include "motion/choose_points.hpp"
#include "robot/cell.hpp"

namespace clearance {

// A convex part of a link or an obstacle, or a half-space.
struct GuardPart {
    Body body;
    std::int32_t cell_body;
    std::int32_t frame;
    Pose stand;               // frame_from_body; links stand at the identity
    std::int32_t swept = -1;  // number among the bodies of the plan, none for a half-space
    HalfSpace plane{};        // seen from the base
    bool is_exact = true;     // not something larger around a part
};

// Two parts that are compared, as seen from the last frame that carries both. A half-space is the second.
struct GuardPair {
    std::int32_t pair;  // of the cell
    std::int32_t part_a, part_b;
    std::int32_t frame;
    std::int32_t volume_a, volume_b;  // the second is -1 for a half-space
    bool is_mirrored;                 // a comes second in the pair of the cell
    double margin;
};

// A cell as the guard sees it: convex parts, the volumes that their joints sweep, and what is compared with what.
class GuardModel {
public:
    struct Options {
        SweepPlan::PointsOfOne
            points_of_one;  // by number of the cell's body and frame; chosen for `typical` if there are none
        std::int32_t most_points;
        JointBox typical;                       // a box as it is to be expected
        std::size_t links;                      // how many of the cell's bodies are, which come first
        std::vector<std::int32_t> movers = {};  // obstacles that may move, by number of the cell's body
    };
    GuardModel(const Cell& cell, const Options& options);

    std::span<GuardPart> parts() { return parts_; }
    std::span<const GuardPart> parts() const { return parts_; }
    std::span<const GuardPair> pairs() const { return pairs_; }
    const SweepPlan& plan() const { return *plan_; }
    // Whether a body of the cell is an obstacle that may move; false of what is no body.
    bool may_move(std::int32_t body) const {
        return body >= 0 && static_cast<std::size_t>(body) < may_move_.size() && may_move_[static_cast<std::size_t>(body)];
    }
    bool may_move(const GuardPart& part) const { return may_move(part.cell_body); }

private:
    std::vector<SweptBody> add_parts(const Cell& cell, const Options& options);
    void add_pairs(const Cell& cell);
    std::vector<std::int32_t> last_frames(const Cell& cell, std::size_t bodies) const;

    std::vector<bool> may_move_;  // by number of the cell's body, and so is
    std::vector<std::size_t> first_part_;
    std::vector<GuardPart> parts_;
    std::vector<GuardPair> pairs_;
    std::unique_ptr<const SweepPlan> plan_;
};

}  // namespace clearance
