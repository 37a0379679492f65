#include "bvh/ray_kernel.inl"

namespace clearance {

extern const RayKernels kBaseRayKernels;
const RayKernels kBaseRayKernels = ray_kernels_of<Float8>();

}  // namespace clearance
