#pragma once

#include "bvh/tree.hpp"

namespace clearance {

// Boxes along the axes of the world of up to eight children, column by column, in units about the centre of the tree.
// Missing ones are empty.
struct alignas(64) RayNode {
    static constexpr std::int32_t kNone = INT32_MIN;

    float low[3][8], high[3][8];
    std::int32_t child[8];  // >= 0: a node, < 0: ~item, kNone: no child
};

// A ray as trees see it: in their units, about their centre, from the point that is nearest to the centre. Rounding moves
// points of the ray in the ball of radius one about the centre by less than `kRayRounding`.
struct TreeRay {
    float from[3], along[3];
    float first, last;  // between which points, in multiples of `along`, rounded outward
    float grow;         // of boxes, for rounding and for the radius of balls
};
constexpr float kRayRounding = 2e-6f;

// A place on a ray as a bound of such a search, rounded outward (1: up, -1: down). `offset` is where on the ray the line
// of the search begins.
inline float bound_on_ray(double at, double offset, double per_unit, double outward) {
    const double bound = per_unit * (at - offset), rounding = 4.0 * kEpsilon * per_unit * abs_of(offset);
    const double wide = bound + outward * (8.0 * kRayRounding + 1e-6 * abs_of(bound) + rounding);
    return static_cast<float>(max_of(-1e30, min_of(1e30, wide)));
}

// What to do with a leaf: bit by bit which of its triangles or balls may be hit. Gives the new `last`.
struct LeafVisitor {
    void* context;
    float (*visit)(void* context, const WideLeaf& leaf, unsigned candidates);
};

// The same for an item of a tree over the world.
struct ItemVisitor {
    void* context;
    float (*visit)(void* context, std::int32_t item);
};

struct RayCounts {
    std::int64_t nodes = 0, leaves = 0;
};

// A tree without its containers, which kernels must not touch.
struct TreeView {
    const Node<8>* nodes;
    const WideLeaf* leaves;
    std::int32_t root;
    bool of_balls;
};

// Everything that depends on the instruction set. What is found does not: boxes and leaves are left out only where nothing
// in them can be hit.
struct RayKernels {
    void (*through_mesh)(const TreeView& tree, const TreeRay& ray, const LeafVisitor& visitor, RayCounts& counts);
    void (*through_world)(const RayNode* nodes, std::int32_t root, const TreeRay& ray, const ItemVisitor& visitor,
                          RayCounts& counts);
};

const RayKernels& ray_kernels();

}  // namespace clearance
