#include "convex/polytope_growth.inl"

namespace clearance {

extern const PolytopeKernels kAvx512PolytopeKernels;
const PolytopeKernels kAvx512PolytopeKernels = polytope_kernels_of<Double8>();

}  // namespace clearance
