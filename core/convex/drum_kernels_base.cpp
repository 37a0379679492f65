#include "convex/drum_touches.inl"

namespace clearance {

extern const DrumKernels kBaseDrumKernels;
#if defined(__SSE2__)
const DrumKernels kBaseDrumKernels = {touch_many<Double2>};
#else
const DrumKernels kBaseDrumKernels = {touch_many<double>};
#endif

}  // namespace clearance
