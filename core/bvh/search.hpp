#pragma once

#include "bvh/forest.hpp"

namespace clearance {

enum class SearchOrder { best, depth };

// The least distance between the two sides of a forest: one queue, one bound for all pairs. Trees of rectangle swept spheres
// are used where all meshes have them. A hint is a pair of triangles to begin with.
ForestAnswer search(std::span<SurfacePair> forest, const ForestQuestion& question, SearchOrder order,
                    const TrianglePair* hint, SearchWork& work);

}  // namespace clearance
