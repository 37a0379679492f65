#include "convex/drum_touches.inl"

namespace clearance {

extern const DrumKernels kAvx512DrumKernels;
const DrumKernels kAvx512DrumKernels = {touch_many<Double8>};

}  // namespace clearance
