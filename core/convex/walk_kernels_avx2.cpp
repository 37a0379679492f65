#include "convex/polytope_walk.inl"

namespace clearance {

extern const WalkKernels kAvx2WalkKernels;
const WalkKernels kAvx2WalkKernels = walk_kernels_of<Double4, Double4>();

}  // namespace clearance
