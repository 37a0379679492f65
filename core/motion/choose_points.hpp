#pragma once

#include "motion/sweep.hpp"

namespace clearance {

// Operators by body and joint that make volumes as narrow as they get, on the mean over directions, for a box of joint
// values: the step that gains most per point comes first, as long as all volumes together keep to a number of points.
SweepPlan::PointsOfOne choose_points(const KinematicTree& tree, const std::vector<SweptBody>& bodies,
                                     const std::vector<std::int32_t>& last_frame, const JointBox& box,
                                     std::int32_t most_points);

// As given, but one point of one wherever the volumes of all bodies would go beyond a number of points otherwise: joints
// near the base, where volumes have most points, give way first.
void limit_points(const KinematicTree& tree, const std::vector<SweptBody>& bodies,
                  const std::vector<std::int32_t>& last_frame, std::int32_t most_points,
                  SweepPlan::PointsOfOne& points_of_one);

}  // namespace clearance
