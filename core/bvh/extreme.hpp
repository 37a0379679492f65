#pragma once

#include "bvh/mesh.hpp"

namespace clearance {

// The lowest corner of a mesh along a unit vector, both in the frame of the mesh, and how many volumes were looked at.
struct LowestCorner {
    std::int32_t triangle;
    Vec3d point;
    std::int64_t volume_tests;
};
LowestCorner lowest_corner(const Mesh& mesh, const Vec3d& up);

// All triangles with a corner no higher than this, but for rounding; some of them may lie a little higher.
std::vector<std::int32_t> triangles_below(const Mesh& mesh, const Vec3d& up, double height);

}  // namespace clearance
