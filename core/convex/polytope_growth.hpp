#pragma once

#include "convex/polytope_walk.hpp"

namespace clearance {

// What a polytope that grows inside A - B has to know of the two, and when it has grown enough.
struct GrowthRule {
    double size;  // sum of the bounding radii
    double width;
    double lower_above;  // proved less deep than anyone asks
};

// Two polytopes that a walk has found meeting.
struct PolytopeMeeting {
    const PolytopePair* pair;
    const PolytopeWalk* walked;
    GrowthRule rule;
};

// The signed distance of two polytopes that are in each other, as far as it was proved; nothing if that needs care.
struct PolytopeGrowth {
    Vec3d normal;
    double lower, upper;
    int iterations;
    bool is_done, has_point_a;
    Vec3d point_a;
};

}  // namespace clearance
