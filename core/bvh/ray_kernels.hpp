#pragma once

#include <cstdint>

#include "bvh/ray_triangle.hpp"
#include "math/float_lanes.hpp"

namespace clearance {

// Boxes along the axes of a frame of up to eight children, column by column, in units about the centre of a tree. Missing
// ones are empty.
struct alignas(64) RayNode {
    static constexpr std::int32_t kNone = INT32_MIN;

    float bound[6][8];      // lower ones along x, y, z, then upper ones
    std::int32_t child[8];  // >= 0: a node, < 0: ~leaf or ~item, kNone: no child
};

constexpr int kRayLeaf = 4;

// Up to four triangles or centres of balls, column by column, about the centre of the tree, in its units; the first stands
// for missing ones.
struct alignas(64) RayTriangles {
    double vertex[9][kRayLeaf];  // x y z of the first corner, of the second, of the third
    std::int32_t number[kRayLeaf];
    std::int32_t count;
};
struct alignas(64) RayBalls {
    double centre[3][kRayLeaf];
    std::int32_t number[kRayLeaf];
    std::int32_t count;
};

// Rays go through trees in packets of up to eight: neighbours need the same boxes, and while one waits for memory the
// others do not. Everything about them is in columns; which of them are meant is told bit by bit.
constexpr int kPacket = 8;

struct alignas(64) RayPacket {
    double origin[3][kPacket], along[3][kPacket];  // directions have a largest coordinate between one and two,
    double length[kPacket], per_length_sq[kPacket];
    double at[kPacket];  // and everything on the rays is in multiples of them: here, where the first hit so far is

    Vec3d origin_of(int k) const { return {origin[0][k], origin[1][k], origin[2][k]}; }
    Vec3d along_of(int k) const { return {along[0][k], along[1][k], along[2][k]}; }
};

// The rays as boxes see them: in units of a tree, about its centre, from the points that are nearest to it. Rounding moves
// points of a ray that are not much farther than one from the centre by less than `kRayRounding`.
struct alignas(64) BoxRays {
    float from[3][kPacket], inverse[3][kPacket];  // inverse slopes
    float first[kPacket], last[kPacket];          // what is of interest, rounded outward; `last` may shrink during a search
};
constexpr float kRayRounding = 2e-6f;

// A place on a ray as a bound of such a search, rounded outward (1: up, -1: down). `offset` is where on the ray the line
// of the search begins.
CLEARANCE_INLINE float bound_on_ray(double at, double offset, double per_unit, double outward) {
    const double bound = per_unit * (at - offset), rounding = 4.0 * kEpsilon * per_unit * abs_of(offset);
    const double wide = bound + outward * (8.0 * kRayRounding + 1e-6 * abs_of(bound) + rounding);
    return static_cast<float>(max_of(-1e30, min_of(1e30, wide)));
}

// What is done with triangles of a leaf that a ray meets, bit by bit. It shrinks `last`, and `best`: where on the ray the
// first hit is.
struct LeafVisitor {
    void* context;
    void (*visit)(void* context, int ray, const RayTriangles& leaf, unsigned met);
};
struct TriangleRays {
    const TriangleRay* ray[kPacket];
    double best[kPacket];
};

// The same for a leaf of balls, of which some may be hit, and for an item of a tree over the world.
struct BallVisitor {
    void* context;
    void (*visit)(void* context, unsigned rays, const RayBalls& leaf);
};
struct ItemVisitor {
    void* context;
    void (*visit)(void* context, unsigned rays, std::int32_t item);
};

// A box in the world, and where the lines of rays enter and leave it: about the points `offset` on the rays, through the
// faces across the axis `piece`.
struct PlacedBox {
    Vec3d row[3];  // of the rotation from its frame to the world
    Vec3d centre, half;
};
struct alignas(64) BoxChords {
    double offset[kPacket], first[kPacket], last[kPacket], piece[kPacket];
};

struct RayCounts {
    std::int64_t nodes = 0, leaves = 0;
};

// Everything that depends on the instruction set. What is found does not: boxes are left out only where nothing in them can
// be hit, and triangles are met with the same operations everywhere.
struct RayKernels {
    void (*through_triangles)(const RayNode* nodes, const RayTriangles* leaves, unsigned active, BoxRays& boxes,
                              TriangleRays& rays, const LeafVisitor& visitor, RayCounts& counts);
    void (*through_balls)(const RayNode* nodes, const RayBalls* leaves, unsigned active, BoxRays& boxes,
                          const BallVisitor& visitor, RayCounts& counts);
    void (*through_world)(const RayNode* nodes, unsigned active, BoxRays& boxes, const ItemVisitor& visitor,
                          RayCounts& counts);

    // Rays about the centre of a tree: where on the rays they are nearest to it, and which of them are near enough to meet
    // anything that is not farther from it than two units.
    unsigned (*approach)(const RayPacket& rays, const Vec3d& centre, double per_unit, double* offset, BoxRays& boxes);

    // The same for rays that have been turned into the frame of a mesh already.
    void (*look_through)(const double (*from)[kPacket], const double (*along)[kPacket], const double* offset,
                         const double* at, double per_unit, BoxRays& boxes);

    void (*meet_box)(const RayPacket& rays, const PlacedBox& box, BoxChords& chords);
};

const RayKernels& ray_kernels();

}  // namespace clearance
