#include "convex/drum_kernels.hpp"

#include "closest/kernels.hpp"

namespace clearance {

extern const DrumKernels kBaseDrumKernels;
extern const DrumKernels kAvx2DrumKernels;
extern const DrumKernels kAvx512DrumKernels;

const DrumKernels& drum_kernels() {
#if defined(CLEARANCE_X86)
    const Simd simd = kernels().simd;
    if (simd == Simd::avx512) return kAvx512DrumKernels;
    if (simd == Simd::avx2) return kAvx2DrumKernels;
#endif
    return kBaseDrumKernels;
}

}  // namespace clearance
