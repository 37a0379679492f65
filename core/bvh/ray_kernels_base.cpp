#include "bvh/ray_kernel.inl"

namespace clearance {

#if defined(__SSE2__)
using WideDouble = Double2;
#else
using WideDouble = double;
#endif

extern const RayKernels kBaseRayKernels;
const RayKernels kBaseRayKernels = ray_kernels_of<Float8, WideDouble>();

}  // namespace clearance
