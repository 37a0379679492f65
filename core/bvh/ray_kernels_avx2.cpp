#include "bvh/ray_kernel.inl"

namespace clearance {

extern const RayKernels kAvx2RayKernels;
const RayKernels kAvx2RayKernels = ray_kernels_of<Float8, Double4>();

}  // namespace clearance
