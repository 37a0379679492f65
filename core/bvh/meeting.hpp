#pragma once

#include <vector>

#include "bvh/forest.hpp"

namespace clearance {

// All triangles of a that meet triangles of b, or the solid: appended to `found`, with pair number 0.
void meeting_triangles(const SurfacePair& pair, std::vector<TrianglePair>& found, SearchWork& work);

// All triangles of a whose volumes come within the volume of the solid. Some of them may be apart from it.
void triangles_near(const SurfacePair& pair, std::vector<std::int32_t>& found, SearchWork& work);

}  // namespace clearance
