#include "convex/polytope_walk.inl"

namespace clearance {

extern const WalkKernels kBaseWalkKernels;
#if defined(__SSE2__)
const WalkKernels kBaseWalkKernels = walk_kernels_of<Double2, Double2>();
#else
const WalkKernels kBaseWalkKernels = walk_kernels_of<double, double>();
#endif

}  // namespace clearance
