#include "convex/polytope_walk.hpp"

#include "closest/kernels.hpp"

namespace clearance {

extern const WalkKernels kBaseWalkKernels;
extern const WalkKernels kAvx2WalkKernels;
extern const WalkKernels kAvx512WalkKernels;

const WalkKernels& walk_kernels() {
#if defined(CLEARANCE_X86)
    const Simd simd = kernels().simd;
    if (simd == Simd::avx512) return kAvx512WalkKernels;
    if (simd == Simd::avx2) return kAvx2WalkKernels;
#endif
    return kBaseWalkKernels;
}

}  // namespace clearance
