#include "closest/kernel.inl"

namespace clearance {

extern const Kernels kSse2Kernels;
const Kernels kSse2Kernels = kernels_of<Double2>(Simd::sse2);

}  // namespace clearance
