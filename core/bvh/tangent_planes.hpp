#pragma once

#include "bvh/pair_tree.hpp"

namespace clearance {

// Planes that touch a solid, with all of it below. What lies above such a plane is at least that far from the solid, and
// what lies below it no deeper inside than that. A box around a cone or a hull says little of how near it is; the planes
// across the gaps that were measured last say much, for volumes as a whole.
class TangentPlanes {
public:
    bool empty() const { return count_ == 0; }

    // The plane across a unit normal from a triangle to the solid, in the axes of the world.
    void add(const PairTree<WideTree>& tree, const SurfacePair& seen, std::int32_t pair, const Vec3d& normal);

    // Keys, as high as the planes raise them: of all that is below a slot of a, and of a triangle of a leaf.
    float raised(const PairTree<WideTree>& tree, std::int32_t pair, std::int32_t slot, float key) const;
    float raised(const PairTree<WideTree>& tree, std::int32_t pair, const WideLeaf& leaf, int k, float key) const;

private:
    static constexpr int kMost = 8;  // the latest

    // In the frame of tree a, in its units.
    struct Plane {
        std::int32_t pair;
        Vec3d up;
        double height;
    };
    template <class Lowest>
    float raised(const PairTree<WideTree>& tree, std::int32_t pair, float key, const Lowest& lowest) const;

    Plane planes_[kMost];
    int count_ = 0, next_ = 0;
};

}  // namespace clearance
