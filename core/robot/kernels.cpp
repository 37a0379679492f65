#include "robot/kernels.hpp"

#include "closest/kernels.hpp"

namespace clearance {

extern const RobotKernels kBaseRobotKernels;
extern const RobotKernels kAvx2RobotKernels;

const RobotKernels& robot_kernels() {
#if defined(CLEARANCE_X86)
    const Simd simd = kernels().simd;
    if (simd == Simd::avx2 || simd == Simd::avx512) return kAvx2RobotKernels;
#endif
    return kBaseRobotKernels;
}

}  // namespace clearance
