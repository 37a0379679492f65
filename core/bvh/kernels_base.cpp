#include "bvh/kernel.inl"

namespace clearance {

extern const BvhKernels kBaseBvhKernels;
const BvhKernels kBaseBvhKernels = bvh_kernels_of<Float8>();

}  // namespace clearance
