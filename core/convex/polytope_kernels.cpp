#include "convex/polytope_kernels.hpp"

#include "closest/kernels.hpp"

namespace clearance {

extern const PolytopeKernels kBasePolytopeKernels;
extern const PolytopeKernels kAvx2PolytopeKernels;
extern const PolytopeKernels kAvx512PolytopeKernels;

const PolytopeKernels& polytope_kernels() {
#if defined(CLEARANCE_X86)
    const Simd simd = kernels().simd;
    if (simd == Simd::avx512) return kAvx512PolytopeKernels;
    if (simd == Simd::avx2) return kAvx2PolytopeKernels;
#endif
    return kBasePolytopeKernels;
}

}  // namespace clearance
