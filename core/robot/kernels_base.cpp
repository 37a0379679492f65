#include "robot/kernel.inl"

namespace clearance {

extern const RobotKernels kBaseRobotKernels;
#if defined(__SSE2__)
const RobotKernels kBaseRobotKernels = robot_kernels_of<Double2, Float8>();
#else
const RobotKernels kBaseRobotKernels = robot_kernels_of<double, Float8>();
#endif

}  // namespace clearance
