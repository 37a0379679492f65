#include "convex/polytope_growth.inl"

namespace clearance {

extern const PolytopeKernels kAvx2PolytopeKernels;
const PolytopeKernels kAvx2PolytopeKernels = polytope_kernels_of<Double4>();

}  // namespace clearance
