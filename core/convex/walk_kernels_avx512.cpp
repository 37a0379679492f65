#include "convex/polytope_walk.inl"

namespace clearance {

extern const WalkKernels kAvx512WalkKernels;
const WalkKernels kAvx512WalkKernels = walk_kernels_of<Double8, Double8>();

}  // namespace clearance
