#pragma once

#include <optional>

#include "bvh/forest.hpp"

namespace clearance {

// The convex hulls of two meshes that are apart: how far at least, along which unit vector from a to b, and a point of a's
// plane across it. All in the axes of the world, about the point that the pair has in common.
struct ParallelPlanes {
    Vec3d normal, point_a;
    double apart;
};

// The nearest triangles of two meshes with nothing of either between two parallel planes. `first` are two that are near;
// the less farther apart they are than the planes, the less has to be looked at: triangles as near as these are no deeper
// below the planes, and not farther aside of each other than distance and planes allow. Nothing, if there are too many.
std::optional<ForestAnswer> nearest_facing(const SurfacePair& pair, const ParallelPlanes& planes, const TrianglePair& first,
                                           SearchWork& work);

}  // namespace clearance
