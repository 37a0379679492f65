#pragma once

#include "convex/polytope_growth.hpp"
#include "convex/polytope_walk.hpp"

namespace clearance {

// GJK and EPA for pairs of polytopes, without the care that simplices and faces need which are all but flat, or hold the
// origin on their surface: most pairs never need it.
struct PolytopeKernels {
    // One pair at a time, or as many side by side as there are lanes, with the same bits.
    void (*walk_one)(const PolytopePair& pair, PolytopeWalk& found);
    void (*walk_many)(const PolytopePair* pairs, PolytopeWalk* found, std::size_t count);

    // How deep two polytopes are in each other that a walk has found meeting. False if that needs care.
    bool (*grow)(const PolytopePair& pair, const PolytopeWalk& walked, const GrowthRule& rule, PolytopeGrowth& found);
};

// Those of the instruction set that is in use: see closest/kernels.hpp.
const PolytopeKernels& polytope_kernels();

}  // namespace clearance
