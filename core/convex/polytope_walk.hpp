#pragma once

#include "convex/gjk.hpp"

namespace clearance {

// The steps of GJK for two polytopes, without the care that simplices need which are all but flat, or hold the origin on
// their surface: most pairs never need it. Begins along the normal of `result`, and leaves there what it found, which is
// proved all the same. False if rounding was in the way, and a careful walk has to go on from there.
bool walk_over_polytopes(const CorePair& pair, const StopRule& stop, GjkResult& result);

}  // namespace clearance
