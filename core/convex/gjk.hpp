#pragma once

#include "convex/polytope_walk.hpp"
#include "convex/simplex.hpp"
#include "convex/stop_rule.hpp"

namespace clearance {

// What is known of the signed distance of two cores.
struct GjkResult {
    Simplex simplex;
    Vec3d normal;         // from a to b: the unit vector that proves `lower`
    double lower, upper;  // upper is zero where the cores meet
    int iterations;
};

// Gilbert, Johnson and Keerthi (1988): walk over simplices of A - B towards the origin. Every farthest point proves a lower
// bound, every simplex an upper one. Curved cores take a step of Newton's method whenever the last direction was an
// improvement, so that both bounds meet quadratically instead of linearly.
GjkResult gjk(const CorePair& pair, const Vec3d& towards_b, const StopRule& stop);

// Two polytopes as a walk over them wants them: as long as the pair lives.
PolytopePair polytopes_of(const CorePair& pair, const Vec3d& towards_b, const StopRule& stop);

// The same from where a walk over two polytopes has ended.
GjkResult gjk(const CorePair& pair, const PolytopeWalk& walked, const StopRule& stop);

}  // namespace clearance
