#pragma once

#include "convex/depth.hpp"
#include "convex/gjk.hpp"

namespace clearance {

// How wide the bracket may be where the cores overlap for certain, and where they may as well just touch; and what it is
// enough to have proved.
struct DepthWidths {
    double inside, touching;
    double lower_above = std::numeric_limits<double>::infinity();
};

// The expanding polytope of van den Bergen (2001), from where GJK ended. It also serves cores that just touch: the
// normal of a face does not depend on how small the gap is, as the direction between two points does.
Depth epa(const CorePair& pair, const GjkResult& start, const DepthWidths& widths);

}  // namespace clearance
