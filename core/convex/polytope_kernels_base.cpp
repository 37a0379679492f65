#include "convex/polytope_growth.inl"

namespace clearance {

extern const PolytopeKernels kBasePolytopeKernels;
#if defined(__SSE2__)
const PolytopeKernels kBasePolytopeKernels = polytope_kernels_of<Double2>();
#else
const PolytopeKernels kBasePolytopeKernels = polytope_kernels_of<double>();
#endif

}  // namespace clearance
