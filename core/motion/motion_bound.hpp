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

    // Steps of all velocities; those of the turn of a floating joint make up a vector as long as the angle.
    void set(const Posture& posture, const double* steps);

    // It grows as fast as the steps do, or slower.
    double of(std::int32_t pair) const {
        const Ends& ends = ends_[static_cast<std::size_t>(pair)];
        return sum(ends.a, ends.depth_a, ends.ancestor_depth) + sum(ends.b, ends.depth_b, ends.ancestor_depth);
    }

private:
    struct Ends {
        std::int32_t a, b, depth_a, depth_b, ancestor_depth;
    };

    // Of the joints of a body beyond an ancestor, with room for rounding.
    double sum(std::int32_t body, std::int32_t depth, std::int32_t ancestor_depth) const {
        const double* sums = sums_.data() + static_cast<std::size_t>(body) * stride_;
        return sums[depth] - sums[ancestor_depth] + 1e-13 * sums[depth];
    }

    const Cell* cell_;
    std::vector<Ends> ends_;
    std::size_t stride_;
    std::vector<double> sums_;  // by body: of none of its joints, of the first, of the first two, ...
};

}  // namespace clearance
