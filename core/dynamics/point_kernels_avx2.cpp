#include "dynamics/point_kernel.inl"

namespace clearance {

extern const PointKernels kAvx2PointKernels;
const PointKernels kAvx2PointKernels = point_kernels_of<Double4, Double4>();

}  // namespace clearance
