#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "closest/element.hpp"

namespace clearance {

// The smallest ball around two.
Ball ball_around(const Ball& a, const Ball& b);

// Balls around more and more of a set of balls: a binary tree, split where half of the centres are on either side of a plane
// across the axis along which they are spread most. The split is kept when the set moves; only the balls are fitted anew.
class BallTree {
public:
    struct Node {
        Ball ball;
        std::int32_t left, right;  // children; of a leaf: its member, and -1
        bool is_leaf() const { return right < 0; }
    };

    BallTree() = default;
    BallTree(std::span<const std::int32_t> members, std::span<const Ball> balls);

    void refit(std::span<const Ball> balls);
    const std::vector<Node>& nodes() const { return nodes_; }
    const Node& root() const { return nodes_.back(); }  // children come before their parents
    const Node& node(std::int32_t k) const { return nodes_[static_cast<std::size_t>(k)]; }

private:
    std::int32_t build(std::span<std::int32_t> members, std::span<const Ball> balls);

    std::vector<Node> nodes_;
};

// Every pair of leaves that overlap, by going down in the larger of two balls. Returns how many pairs of balls were tested.
template <class Action>
std::int64_t for_meeting_leaves(const BallTree& a, const BallTree& b,
                                std::vector<std::pair<std::int32_t, std::int32_t>>& stack, const Action& action) {
    std::int64_t tests = 0;
    stack.assign(1, {static_cast<std::int32_t>(a.nodes().size()) - 1, static_cast<std::int32_t>(b.nodes().size()) - 1});
    while (!stack.empty()) {
        const auto [i, j] = stack.back();
        stack.pop_back();
        const BallTree::Node &x = a.node(i), &y = b.node(j);
        ++tests;
        const double reach = x.ball.radius + y.ball.radius;
        if (norm_sq(x.ball.centre - y.ball.centre) > reach * reach) continue;
        if (x.is_leaf() && y.is_leaf())
            action(x.left, y.left);
        else if (y.is_leaf() || (!x.is_leaf() && x.ball.radius >= y.ball.radius))
            stack.push_back({x.right, j}), stack.push_back({x.left, j});
        else
            stack.push_back({i, y.right}), stack.push_back({i, y.left});
    }
    return tests;
}

// Every leaf that a test of balls lets pass, as well as all balls above it. Returns how many balls were tested.
template <class Test, class Action>
std::int64_t for_passing_leaves(const BallTree& tree, std::vector<std::pair<std::int32_t, std::int32_t>>& stack,
                                const Test& test, const Action& action) {
    std::int64_t tests = 0;
    stack.assign(1, {static_cast<std::int32_t>(tree.nodes().size()) - 1, 0});
    while (!stack.empty()) {
        const BallTree::Node& node = tree.node(stack.back().first);
        stack.pop_back();
        ++tests;
        if (!test(node.ball)) continue;
        if (node.is_leaf())
            action(node.left);
        else
            stack.push_back({node.right, 0}), stack.push_back({node.left, 0});
    }
    return tests;
}

}  // namespace clearance
