#include "bvh/kernels.hpp"

namespace clearance {

extern const BvhKernels kBaseBvhKernels;
extern const BvhKernels kAvx2BvhKernels;

const BvhKernels& bvh_kernels() {
#if defined(CLEARANCE_X86)
    const Simd simd = kernels().simd;
    if (simd == Simd::avx2 || simd == Simd::avx512) return kAvx2BvhKernels;
#endif
    return kBaseBvhKernels;
}

}  // namespace clearance
