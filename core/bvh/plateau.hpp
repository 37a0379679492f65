#pragma once

#include <vector>

#include "bvh/pair_tree.hpp"

namespace clearance {

// Between parallel faces everything is as near as the nearest, and floats cannot tell that nothing is nearer: all of it
// would have to be opened. A plane across the best pair can: how far it keeps two volumes apart is known in doubles from the
// outermost corners below them, which are looked for once.
class Plateau {
public:
    explicit Plateau(std::span<const SurfacePair> forest) : forest_(forest) {}

    // How far the plane with this unit normal, in the axes of the world, keeps the triangles or balls of slot b above those
    // of slot a.
    template <class TreeType>
    double separation(const PairTree<TreeType>& tree, std::int32_t pair, std::int32_t a, std::int32_t b,
                      const Vec3d& normal);

private:
    // The outermost corners of the slots of one pair along the normal, about the centres of the trees; NaN: not known yet.
    struct Heights {
        std::int32_t pair;
        Vec3d along_a, along_b;  // outwards, in the frames of the meshes
        std::vector<double> a, b;
    };
    template <class TreeType>
    Heights& heights_of(const PairTree<TreeType>& tree, std::int32_t pair);

    std::span<const SurfacePair> forest_;
    Vec3d normal_{0, 0, 0};
    std::vector<Heights> known_;
};

}  // namespace clearance
