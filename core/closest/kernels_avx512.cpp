#include "closest/kernel.inl"

namespace clearance {

extern const Kernels kAvx512Kernels;
const Kernels kAvx512Kernels = kernels_of<Double8>(Simd::avx512);

}  // namespace clearance
