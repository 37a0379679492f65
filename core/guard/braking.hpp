#pragma once

#include "motion/joint_box.hpp"

namespace clearance {

// What is known of how joints brake, by velocity.
struct Braking {
    std::vector<double> latency;        // until they begin to brake, in seconds
    std::vector<double> acceleration;   // the worst until then,
    std::vector<double> deceleration;   // and the least from then on
    std::vector<double> uncertainty;    // of positions
    std::vector<double> command_error;  // of accelerations that are known by command
};

// Where joints may get until they stand still if they are told to brake in the next cycle. After Taeubig, Baeuml and Frese
// (2011), equations 35 to 37. `command` holds accelerations, or is null where nothing is known but the worst. Values stay
// within limits, but for joints that are at a limit or beyond it already: these may go on.
//
// Returns the time until the last joint stands still.
double braking_box(const KinematicTree& tree, const Braking& braking, const double* lower, const double* upper,
                   const double* q, const double* qd, const double* command, JointBox& box);

}  // namespace clearance
