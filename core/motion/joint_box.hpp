#pragma once

#include "robot/tree.hpp"

namespace clearance {

// Where joints may be, value by value: anything from `low` to `high`, all combinations of them. Floating and ball joints
// turn from the quaternion in `low` by any rotation of up to the angle that stands in the first of its four places in
// `high`.
struct JointBox {
    std::vector<double> low, high;

    explicit JointBox(const KinematicTree& tree)
        : low(static_cast<std::size_t>(tree.dof())), high(static_cast<std::size_t>(tree.dof())) {}
};

// What a joint does to everything that hangs on it while its values stay in a box: it turns about an axis through its
// origin, or every way about the origin, then slides; seen from the frame of the parent, about the middle of the box.
struct JointSweep {
    Mat3 turn;                        // by the middle,
    Vec3d shift;                      // and where that takes the origin of the child
    Vec3d axis;                       // of length one, in the frame of the parent
    double angle = 0.0;               // to either side, at most pi
    double sine = 0.0, cosine = 1.0;  // of that angle,
    double half_sine = 0.0;           // and of half of it
    bool is_patch = false;            // a turn by that angle about any axis
    int slides = 0;                   // directions in which it slides
    Vec3d slide[3]{};                 // half of the way each, at right angles to each other
    double slide_radius = 0.0;        // half of the diagonal
    double doubt = 0.0;               // how far rounding can turn it, in radians
};

// The box of one joint.
JointSweep joint_sweep(const Frame& frame, const JointBox& box);

// The mean of two quaternions, and half of the angle between them: every rotation on the shortest way from one to the other
// is within that angle of the mean.
double middle_turn(const double* from, const double* to, double* middle);

}  // namespace clearance
