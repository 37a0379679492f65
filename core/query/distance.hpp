#pragma once

#include "query/body.hpp"
#include "query/gap.hpp"

namespace clearance {

// Signed distance of two placed bodies: the least over all pairs of their elements. A pair that is proved farther apart
// than `at_most` is not looked at any closer.
Gap distance(const PlacedBody& a, const PlacedBody& b, double at_most, Work& work);

// The same for two single elements at two poses, without a placed body in between.
Gap distance(const Element& a, const Pose& pose_a, const Element& b, const Pose& pose_b);

// Pairs of two fixed elements at many poses; a stride of 0 repeats one pose. Writes rows begin to end of the arrays.
struct PoseArray {
    const Pose* poses;
    std::size_t stride;
};
struct GapColumns {
    double *distance, *lower, *upper, *point_a, *point_b, *normal;
};
void distances(const Element& a, const PoseArray& poses_a, const Element& b, const PoseArray& poses_b, const GapColumns& out,
               std::size_t begin, std::size_t end);

}  // namespace clearance
