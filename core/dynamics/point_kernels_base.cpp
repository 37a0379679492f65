#include "dynamics/point_kernel.inl"

namespace clearance {

extern const PointKernels kBasePointKernels;
#if defined(__SSE2__)
const PointKernels kBasePointKernels = point_kernels_of<Double2, Double2>();
#else
const PointKernels kBasePointKernels = point_kernels_of<double, double>();
#endif

}  // namespace clearance
