#include "dynamics/point_kernel.inl"

namespace clearance {

extern const PointKernels kAvx512PointKernels;
const PointKernels kAvx512PointKernels = point_kernels_of<Double4, Double8>();

}  // namespace clearance
