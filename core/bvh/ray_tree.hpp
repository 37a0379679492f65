#pragma once

#include <span>
#include <vector>

#include "bvh/ray_kernels.hpp"
#include "math/vec3.hpp"

namespace clearance {

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
    std::size_t bytes() const { return nodes_.size() * sizeof(RayNode) + items_.size() * sizeof(std::int32_t); }

private:
    struct Bounds;
    Bounds in_units(const RayBox& box) const;
    double area() const;

    std::vector<std::int32_t> items_;
    std::vector<RayNode> nodes_;  // the root first, children after their parents
    Vec3d centre_;
    double per_unit_, area_when_built_;
};

}  // namespace clearance
