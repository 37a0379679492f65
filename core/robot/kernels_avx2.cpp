#include "robot/kernel.inl"

namespace clearance {

extern const RobotKernels kAvx2RobotKernels;
const RobotKernels kAvx2RobotKernels = robot_kernels_of<Double4, Float8>();

}  // namespace clearance
