#pragma once

#include <functional>
#include <span>
#include <vector>

#include "bvh/ray_kernels.hpp"
#include "bvh/split.hpp"

namespace clearance {

// What every box of a tree is grown by in units, for what rounding does to rays.
constexpr float kRayMargin = 2.0f * kRayRounding;

// Nodes over boxes in units about the centre of the tree, top down; the root comes first, and children after their parents.
// A group of at most `leaf_size` becomes what `leaf` makes of it, a number.
std::vector<RayNode> ray_nodes(std::span<TriangleBox> boxes, std::size_t leaf_size,
                               const std::function<std::int32_t(std::span<const TriangleBox>)>& leaf);

struct RayBox {
    Vec3d low, high;
};

// A tree over boxes in the world, for rays. Numbers of items are those of their boxes.
class RayTree {
public:
    RayTree(std::span<const RayBox> boxes, std::vector<std::int32_t> items);

    // The same tree around boxes that have moved. It stays right, but what was near each other may be no longer: returns
    // false where it has become so much larger, or is so far from where it was, that a new one is called for.
    bool refit(std::span<const RayBox> boxes);

    const Vec3d& centre() const { return centre_; }
    double per_unit() const { return per_unit_; }
    const RayNode* nodes() const { return nodes_.data(); }

private:
    TriangleBox in_units(const RayBox& box, std::int32_t item) const;
    double area() const;

    std::vector<std::int32_t> items_;
    std::vector<RayNode> nodes_;
    Vec3d centre_;
    double per_unit_, area_when_built_;
};

}  // namespace clearance
