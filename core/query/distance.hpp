#pragma once

#include <span>

#include "query/body.hpp"
#include "query/gap.hpp"
#include "query/surfaces.hpp"

namespace clearance {

// Signed distance of two placed bodies: the least over all pairs of their parts. A pair that is proved farther apart than
// `at_most` is not looked at any closer.
Gap distance(const PlacedBody& a, const PlacedBody& b, const Question& question, Work& work);

// Whether two placed bodies are no farther apart than a limit: the first two parts that are decide it.
bool within(const PlacedBody& a, const PlacedBody& b, double limit, Work& work);

// The distance of two bodies at two poses. Bodies of one part need no placed body in between.
Gap distance(const Body& a, const Pose& pose_a, const Body& b, const Pose& pose_b, const Question& question, Work& work);

// The same for many pairs of bodies. Single polytopes are walked over side by side, and single cylinders brought to touch
// side by side; nothing else changes, not a bit.
struct AskedPair {
    const Body* a;
    const Pose* pose_a;
    const Body* b;
    const Pose* pose_b;
    const Question* question;
};
void distances(std::span<const AskedPair> pairs, Gap* gaps, Work& work);

// The same for placed bodies of several parts, which need not be convex.
struct AskedUnions {
    const PlacedBody* a;
    const PlacedBody* b;
    const Question* question;
};
void distances(std::span<const AskedUnions> pairs, Gap* gaps, Work& work);

// The least over pairs of parts of which neither is a surface, with points about the origin of a. Pairs with a surface that
// may matter are appended to `surfaces`.
Gap distance_of_solids(const PlacedBody& a, const PlacedBody& b, const Question& question, std::vector<PlacedPair>& surfaces,
                       Work& work);

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
