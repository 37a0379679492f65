#pragma once

#include <vector>

#include "bvh/kernels.hpp"
#include "query/box_around.hpp"

namespace clearance {

// Boxes that stand still, under a tree with eight children per node.
class StandingTree {
public:
    struct Box {
        OrientedBox box;  // in the world
        std::int32_t number;
    };

    StandingTree() = default;
    explicit StandingTree(std::vector<Box> boxes);

    // A box in the axes of the world, as the tree sees it.
    struct Seen {
        Volume<float> volume;
        KeyRule rule;
    };
    Seen seen(const Vec3d& centre, const float* half, const float* axis, double size) const;

    // Calls visit(number, lower) for all boxes that may be as near as `within` to another, with a bound of the distance.
    template <class Visit>
    void for_near(const Seen& box, double within, std::int64_t& volume_tests, const Visit& visit) const {
        if (nodes_.empty()) return;
        // Boxes that meet say nothing about depth.
        const float bound = std::nextafter(static_cast<float>(max_of(within, 0.0)), std::numeric_limits<float>::infinity());
        std::int32_t stack[kMostDepth * 8];
        int waiting = 0;
        stack[waiting++] = 0;
        while (waiting > 0) {
            const Node<8>& node = nodes_[static_cast<std::size_t>(stack[--waiting])];
            float keys[8];
            const unsigned near = bvh_kernels().keys(node, box.volume, box.rule, bound, keys).near;
            volume_tests += node.count;
            for (unsigned left = near & ((1u << node.count) - 1u); left != 0; left &= left - 1) {
                const int k = __builtin_ctz(left);
                if (node.child[k] >= 0)
                    stack[waiting++] = node.child[k];
                else
                    visit(~node.child[k], static_cast<double>(keys[k]));
            }
        }
    }

private:
    static constexpr int kMostDepth = 24;

    std::int32_t build(Box* begin, Box* end);
    void set_child(Node<8>& node, int k, const OrientedBox& box, std::int32_t child) const;

    Vec3d centre_{0, 0, 0};
    double unit_ = 1.0, size_ = 0.0;
    std::vector<Node<8>> nodes_;
};

}  // namespace clearance
