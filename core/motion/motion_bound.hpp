#pragma once

#include "robot/posture.hpp"

namespace clearance {

// How far bodies can move, seen from each other, while joints leave a posture by no more than given steps.
//
// Let the joints move one after the other, from the base to the tip. When it is a joint's turn, those behind it are still as
// they were, so what hangs on it is at the distance r from its axis that the posture shows: a turn by d moves no point of it
// farther than r d. Joints that carry both bodies move neither towards the other.
class MotionBound {
public:
    explicit MotionBound(const Cell& cell);

    // Steps of all velocities; those of the turn of a floating joint make up a vector as long as the angle. They and the
    // posture must not change until this is called again.
    void set(const Posture& posture, const double* steps) {
        posture_ = &posture, steps_ = steps;
        std::fill(is_known_.begin(), is_known_.end(), false);
    }

    // It grows as fast as the steps do, or slower.
    double of(std::int32_t pair) {
        const CellPair& ends = cell_->pairs()[static_cast<std::size_t>(pair)];
        return sum(ends.a, ends.depth_a, ends.ancestor_depth) + sum(ends.b, ends.depth_b, ends.ancestor_depth);
    }

private:
    // Of the joints of a body beyond an ancestor, with room for rounding.
    double sum(std::int32_t body, std::int32_t depth, std::int32_t ancestor_depth) {
        const auto k = static_cast<std::size_t>(body);
        if (!is_known_[k]) add_up(body), is_known_[k] = true;
        const double* sums = sums_.data() + k * stride_;
        if (depth == ancestor_depth) return 0.0;
        if (sums[depth] == std::numeric_limits<double>::infinity()) return sums[depth];
        return sums[depth] - sums[ancestor_depth] + 1e-13 * sums[depth];
    }
    void add_up(std::int32_t body);

    const Cell* cell_;
    const Posture* posture_ = nullptr;
    const double* steps_ = nullptr;
    std::size_t stride_ = 1;
    std::vector<double> sums_;  // by body: of none of its joints, of the first, of the first two, ...
    std::vector<char> is_known_;
};

}  // namespace clearance
