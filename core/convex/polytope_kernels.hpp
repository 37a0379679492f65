#pragma once

#include <cstddef>

#include "convex/polytope_growth.hpp"

namespace clearance {

// GJK and EPA for pairs of polytopes, without the care that simplices and faces need which are all but flat, or hold the
// origin on their surface: most pairs never need it.
struct PolytopeKernels {
    // One pair at a time, or as many side by side as there are lanes, with the same bits.
    void (*walk_one)(const PolytopePair& pair, PolytopeWalk& found);
    void (*walk_many)(const PolytopePair* pairs, PolytopeWalk* found, std::size_t count);

    // How deep polytopes are in each other, likewise.
    void (*grow_one)(const PolytopeMeeting& of, PolytopeGrowth& found);
    void (*grow_many)(const PolytopeMeeting* of, PolytopeGrowth* found, std::size_t count);
};

// Those of the instruction set that is in use: see closest/kernels.hpp.
const PolytopeKernels& polytope_kernels();

}  // namespace clearance
