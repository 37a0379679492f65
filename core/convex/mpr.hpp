#pragma once

#include "convex/epa.hpp"

namespace clearance {

// Minkowski portal refinement (Snethen 2008): the face of A - B that the ray from an inner point through the origin
// leaves by. Quick, and good where that face is the nearest one, as it is for shallow contacts; in general its depth is
// not the least. `lower` is proved as everywhere; `upper` is just zero.
Depth mpr(const CorePair& pair, const Vec3d& inner, double width);

}  // namespace clearance
