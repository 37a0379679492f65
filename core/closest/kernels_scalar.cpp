#include "closest/kernel.inl"

namespace clearance {

extern const Kernels kScalarKernels;
const Kernels kScalarKernels = kernels_of<double>(Simd::scalar);

}  // namespace clearance
