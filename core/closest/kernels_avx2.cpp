#include "closest/kernel.inl"

namespace clearance {

extern const Kernels kAvx2Kernels;
const Kernels kAvx2Kernels = kernels_of<Double4>(Simd::avx2);

}  // namespace clearance
