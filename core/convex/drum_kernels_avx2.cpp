#include "convex/drum_touches.inl"

namespace clearance {

extern const DrumKernels kAvx2DrumKernels;
const DrumKernels kAvx2DrumKernels = {touch_many<Double4>};

}  // namespace clearance
