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

// A ray as boxes see it: in units of the tree, about its centre, from the point that is nearest to it. Rounding moves
// points of the ray that are not much farther than one from the centre by less than `kRayRounding`.
struct BoxRay {
    float from[3], along[3];
    float first, last;  // between which points, in multiples of `along`, rounded outward
};
constexpr float kRayRounding = 2e-6f;

// A place on a ray as a bound of such a search, rounded outward (1: up, -1: down). `offset` is where on the ray the line
// of the search begins.
inline float bound_on_ray(double at, double offset, double per_unit, double outward) {
    const double bound = per_unit * (at - offset), rounding = 4.0 * kEpsilon * per_unit * abs_of(offset);
    const double wide = bound + outward * (8.0 * kRayRounding + 1e-6 * abs_of(bound) + rounding);
    return static_cast<float>(max_of(-1e30, min_of(1e30, wide)));
}

inline BoxRay box_ray(const Vec3d& from, const Vec3d& along, float first, float last) {
    const auto f = [](double x) { return static_cast<float>(x); };
    return {{f(from.x), f(from.y), f(from.z)}, {f(along.x), f(along.y), f(along.z)}, first, last};
}

// Rays go through trees in packets of up to eight: neighbours need the same boxes, and while one waits for memory the
// others do not. Everything about them is in columns; which rays are meant is told bit by bit.
constexpr int kPacket = 8;

struct BoxRays {
    BoxRay ray[kPacket];
    alignas(32) float last[kPacket];  // what is still of interest; it may shrink during a search

    void set(int k, const BoxRay& boxes) { ray[k] = boxes, last[k] = boxes.last; }
};

// What is done with triangles of a leaf that a ray meets no later than anything before, bit by bit, and where on the ray.
// It shrinks `last`, and `best`: where on the ray the first hit is.
struct LeafVisitor {
    void* context;
    void (*visit)(void* context, int ray, const RayTriangles& leaf, unsigned hit, const double* at);
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
};

const RayKernels& ray_kernels();

}  // namespace clearance
