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

    // Calls visit(number) for all boxes that may be as near as `within` to a ball.
    template <class Visit>
    void for_near(const Ball& ball, double within, std::int64_t& volume_tests, const Visit& visit) const {
        if (nodes_.empty()) return;
        const Vec3d apart = ball.centre - centre_;
        const Vec3<float> point = in_units(apart);
        const float reach = static_cast<float>((ball.radius + max_of(within, 0.0) + rounding(ball, apart)) / unit_);
        std::int32_t stack[kMostDepth * 8];
        int waiting = 0;
        stack[waiting++] = 0;
        while (waiting > 0) {
            const Node<8>& node = nodes_[static_cast<std::size_t>(stack[--waiting])];
            float away[8];
            bvh_kernels().point_distances(node, point, away);
            volume_tests += node.count;
            for (int k = 0; k < node.count; ++k) {
                // What is too far away for a float may be anywhere.
                if (away[k] > reach && away[k] < std::numeric_limits<float>::infinity()) continue;
                if (node.child[k] >= 0)
                    stack[waiting++] = node.child[k];
                else
                    visit(~node.child[k]);
            }
        }
    }

private:
    static constexpr int kMostDepth = 24;

    std::int32_t build(Box* begin, Box* end);
    void set_child(Node<8>& node, int k, const OrientedBox& box, std::int32_t child) const;
    Vec3<float> in_units(const Vec3d& v) const;
    double rounding(const Ball& ball, const Vec3d& apart) const;

    Vec3d centre_{0, 0, 0};
    double unit_ = 1.0, size_ = 0.0;
    std::vector<Node<8>> nodes_;
};

}  // namespace clearance
