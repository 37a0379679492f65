#pragma once

#include "convex/epa.hpp"

namespace clearance {

// How deep two boxes are in each other, by the fifteen directions that can separate them best: the normals of their faces
// and the products of their edges.
Depth box_box_depth(const Box& a, const Box& b, const CorePair& pair);

}  // namespace clearance
