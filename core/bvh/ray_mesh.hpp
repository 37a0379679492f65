#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "bvh/ray_kernels.hpp"

namespace clearance {

struct Mesh;

// A mesh or cloud as rays see it: boxes along the axes of its frame, and exact corners in the order of the leaves, so that
// a ray that hits reads few lines of memory. The tree of oriented boxes would need fewer boxes, but twice the memory.
struct RayMesh {
    std::vector<RayNode> nodes;
    std::vector<RayTriangles> triangles;
    std::vector<RayBalls> balls;

    explicit RayMesh(const Mesh& mesh);

    std::size_t bytes() const {
        return nodes.size() * sizeof(RayNode) + triangles.size() * sizeof(RayTriangles) + balls.size() * sizeof(RayBalls);
    }
};

// Leaves of up to four triangles or balls with these numbers.
RayTriangles leaf_of_triangles(const Mesh& mesh, const std::int32_t* numbers, int count);
RayBalls leaf_of_balls(const Mesh& mesh, const std::int32_t* numbers, int count);

// Made when it is first asked for.
class LazyRayMesh {
public:
    const RayMesh& of(const Mesh& mesh);
    std::size_t bytes() const;

private:
    mutable std::mutex mutex_;
    std::unique_ptr<const RayMesh> made_;
};

}  // namespace clearance
