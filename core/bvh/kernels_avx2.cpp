#include "bvh/kernel.inl"

namespace clearance {

extern const BvhKernels kAvx2BvhKernels;
const BvhKernels kAvx2BvhKernels = bvh_kernels_of<Float8>();

}  // namespace clearance
