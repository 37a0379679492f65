#pragma once

#include "bvh/mesh.hpp"
#include "convex/ray.hpp"

namespace clearance {

// A triangle or ball that a ray meets: where, in multiples of the direction, its number, and the unit normal there, of a
// triangle the one that is turned against the ray.
struct FeatureHit {
    double at;
    std::int32_t feature;
    Vec3d normal;

    bool is_after(double other_at, std::int32_t other) const { return other_at < at || (other_at == at && other < feature); }
};

struct RayWork : RayCounts {
    std::int64_t triangles = 0;  // and balls
};

// A packet of rays about the centre of the tree of boxes of a mesh: lines from the points nearest to it, which are at
// `offset` on the rays; the rays themselves begin at zero.
struct MeshRays {
    Line line[kPacket];
    double offset[kPacket] = {};
    FeatureHit best[kPacket];
    bool any;  // any hit will do
};

// Look for something before `best`, and of equals for a lower number; tell bit by bit for which rays there is something.
// Triangles are closed and have two sides.
unsigned meet(const Mesh& mesh, const RayMesh& tree, unsigned active, MeshRays& rays, RayWork& work);

// The same for one ray, and one triangle or ball.
bool meet_feature(const Mesh& mesh, std::int32_t feature, int ray, MeshRays& rays);

}  // namespace clearance
