#pragma once

#include "bvh/mesh.hpp"
#include "bvh/ray_mesh.hpp"
#include "convex/ray.hpp"

namespace clearance {

// A triangle or ball that a ray meets: where, in multiples of the direction, and its number.
struct FeatureHit {
    double at;
    std::int32_t feature;

    bool is_after(double other_at, std::int32_t other) const {
        return other_at < at || (other_at == at && other < feature);
    }
};

struct RayWork : RayCounts {
    std::int64_t triangles = 0;  // and balls, in doubles
};

// A ray about the centre of the tree of boxes of a mesh: a line from the point nearest to it, which is at `offset` on the
// ray; the ray itself begins at zero. Any hit will do where that is said.
struct MeshRay {
    const Mesh& mesh;
    Line line;
    double offset;
    bool any;
};

// Look for something before `best`, and of equals for a lower number; tell whether there is something. Triangles are closed
// and have two sides.
bool meet(const MeshRay& ray, const RayMesh& tree, FeatureHit& best, RayWork& work);

// The same for one triangle or ball.
bool meet_feature(const MeshRay& ray, std::int32_t feature, FeatureHit& best);

// The unit normal of a triangle, turned against the ray, or of a ball where the ray enters.
Vec3d normal_of(const MeshRay& ray, const FeatureHit& hit);

}  // namespace clearance
