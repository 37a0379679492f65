#pragma once

#include "convex/gjk.hpp"

namespace clearance {

// The steps of GJK for two polytopes, without the care that simplices need which are all but flat, or hold the origin on
// their surface: most pairs never need it. What it finds is proved all the same.
struct PolytopeWalk {
    GjkResult result;
    bool is_done;  // if not, rounding was in the way, and a careful walk has to go on from here
};
PolytopeWalk walk_of_polytopes(const CorePair& pair, const Vec3d& towards_b, const StopRule& stop);

}  // namespace clearance
