#include "dynamics/ball_tree.hpp"

#include <algorithm>
#include <limits>

namespace clearance {

Ball ball_around(const Ball& a, const Ball& b) {
    const Vec3d to_b = b.centre - a.centre;
    const double distance = norm(to_b);
    if (distance + b.radius <= a.radius) return a;
    if (distance + a.radius <= b.radius) return b;
    const double radius = 0.5 * (distance + a.radius + b.radius);
    // Rounding must not leave a part of them outside.
    return {a.centre + ((radius - a.radius) / distance) * to_b, radius * (1.0 + 1e-12)};
}

BallTree::BallTree(std::span<const std::int32_t> members, std::span<const Ball> balls) {
    std::vector<std::int32_t> order(members.begin(), members.end());
    nodes_.reserve(2 * order.size());
    build(order, balls);
    refit(balls);
}

std::int32_t BallTree::build(std::span<std::int32_t> members, std::span<const Ball> balls) {
    if (members.size() == 1) {
        nodes_.push_back({{}, members.front(), -1});
        return static_cast<std::int32_t>(nodes_.size()) - 1;
    }
    const auto centre = [&](std::int32_t k) { return balls[static_cast<std::size_t>(k)].centre; };
    constexpr double inf = std::numeric_limits<double>::infinity();
    Vec3d low{inf, inf, inf}, high{-inf, -inf, -inf};
    for (const std::int32_t k : members) {
        const Vec3d c = centre(k);
        low = {min_of(low.x, c.x), min_of(low.y, c.y), min_of(low.z, c.z)};
        high = {max_of(high.x, c.x), max_of(high.y, c.y), max_of(high.z, c.z)};
    }
    const Vec3d spread = high - low;
    const auto along = [&](std::int32_t k) {
        const Vec3d c = centre(k);
        return spread.x >= spread.y && spread.x >= spread.z ? c.x : spread.y >= spread.z ? c.y : c.z;
    };
    std::sort(members.begin(), members.end(), [&](std::int32_t i, std::int32_t j) {
        const double a = along(i), b = along(j);
        return a < b || (a == b && i < j);
    });
    const std::size_t half = members.size() / 2;
    const std::int32_t left = build(members.first(half), balls), right = build(members.subspan(half), balls);
    nodes_.push_back({{}, left, right});
    return static_cast<std::int32_t>(nodes_.size()) - 1;
}

void BallTree::refit(std::span<const Ball> balls) {
    for (Node& node : nodes_)
        node.ball = node.is_leaf() ? balls[static_cast<std::size_t>(node.left)]
                                   : ball_around(this->node(node.left).ball, this->node(node.right).ball);
}

}  // namespace clearance
