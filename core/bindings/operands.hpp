#pragma once

#include "bindings/shapes.hpp"
#include "query/distance.hpp"

namespace clearance {

// What a query is asked of: a body at one pose. A shape stands at the identity. It refers to what Python holds.
struct Operand {
    const Body* body;
    const Pose* pose;
};

// One side of a batch: the poses of a placed batch, or one pose for all. It must not move while `poses` is in use.
struct OperandBatch {
    const Body* body;
    Pose one;
    PoseArray poses;
    const Pose& pose(std::size_t row) const { return poses.poses[row * poses.stride]; }
};

// Whether a value is one; asking is quicker than an error.
bool is_operand(nb::handle value, Operand& found);
Operand operand_of(nb::handle value, const char* name);
void fill(OperandBatch& batch, nb::handle value, const char* name);

// Two half-spaces have no distance.
inline bool are_half_spaces(const Body& a, const Body& b) { return !a.is_finite() && !b.is_finite(); }
void refuse_two_half_spaces(const Body& a, const Body& b);

}  // namespace clearance
