#include "bvh/ray_kernels.hpp"

#include "closest/kernels.hpp"

namespace clearance {

extern const RayKernels kBaseRayKernels;
extern const RayKernels kAvx2RayKernels;

const RayKernels& ray_kernels() {
#if defined(CLEARANCE_X86)
    const Simd simd = kernels().simd;
    if (simd == Simd::avx2 || simd == Simd::avx512) return kAvx2RayKernels;
#endif
    return kBaseRayKernels;
}

}  // namespace clearance
