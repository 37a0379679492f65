#include "closest/kernels.hpp"
#include "dynamics/point_groups.hpp"

namespace clearance {

extern const PointKernels kBasePointKernels;
extern const PointKernels kAvx2PointKernels;
extern const PointKernels kAvx512PointKernels;

const PointKernels& point_kernels() {
#if defined(CLEARANCE_X86)
    const Simd simd = kernels().simd;
    if (simd == Simd::avx512) return kAvx512PointKernels;
    if (simd == Simd::avx2) return kAvx2PointKernels;
#endif
    return kBasePointKernels;
}

}  // namespace clearance
