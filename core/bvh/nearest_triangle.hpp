#pragma once

#include "bvh/mesh.hpp"

namespace clearance {

// The triangle of a mesh that is nearest to a point in the frame of the mesh, and its distance; or one that is no farther
// than `near_enough`. The number is negative for points so far away that floats say nothing.
struct NearestTriangle {
    std::int32_t triangle;
    double distance;
};
NearestTriangle nearest_triangle(const Mesh& mesh, const Vec3d& point, double near_enough);

}  // namespace clearance
