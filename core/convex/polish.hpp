#pragma once

#include "convex/depth.hpp"
#include "convex/minkowski.hpp"

namespace clearance {

// Part the cores along the normal by a little more than their depth: the distance of cores that are apart is found exactly,
// with points that lie on them. Its direction is nearer to the best normal than the one they were parted along; repeated,
// this finds that of curved cores, to which a polytope comes near, but not very. Sets the point on a.
void polish(const CorePair& pair, Depth& depth);

}  // namespace clearance
