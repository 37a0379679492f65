#include "dynamics/part_trees.hpp"

#include <algorithm>

namespace clearance {
namespace {

constexpr std::size_t kManyParts = 8;

Ball ball_of_part(const PlacedBody& placed, std::size_t k, double room) {
    const BallColumns& balls = placed.balls();
    return {placed.origin() + Vec3d{balls.x[k], balls.y[k], balls.z[k]}, balls.radius[k] + room};
}

// Ground goes down without end, and half-spaces have no ball.
bool is_bounded(const Part& part) {
    const Surface* surface = surface_of(part);
    return !std::holds_alternative<HalfSpace>(part.shape) && (surface == nullptr || !surface->solid_below);
}

}  // namespace

void PartTrees::build(std::span<const std::shared_ptr<const Body>> bodies) {
    trees_.assign(bodies.size(), {});
    balls_.assign(bodies.size(), {});
    for (std::size_t body = 0; body < bodies.size(); ++body) {
        const std::vector<Part>& parts = bodies[body]->parts();
        if (parts.size() < kManyParts || !std::all_of(parts.begin(), parts.end(), is_bounded)) continue;
        std::vector<std::int32_t> members;
        for (std::size_t k = 0; k < parts.size(); ++k) {
            members.push_back(static_cast<std::int32_t>(k));
            balls_[body].push_back(parts[k].ball);
        }
        trees_[body] = BallTree(members, balls_[body]);
    }
}

void PartTrees::refit(std::size_t body, const PlacedBody& placed, double room) {
    for (std::size_t k = 0; k < balls_[body].size(); ++k) balls_[body][k] = ball_of_part(placed, k, room);
    if (has_tree(body)) trees_[body].refit(balls_[body]);
}

void PartTrees::near(std::size_t a, const Other& of_a, std::size_t b, const Other& of_b,
                     std::vector<PartPair>& pairs) const {
    pairs.clear();
    std::vector<PartPair> stack;
    if (has_tree(a) && has_tree(b)) {
        for_meeting_leaves(trees_[a], trees_[b], stack, [&](std::int32_t i, std::int32_t j) { pairs.emplace_back(i, j); });
    } else {
        const bool is_a = has_tree(a);
        const Other& other = is_a ? of_b : of_a;
        for (std::size_t k = 0; k < other.placed.size(); ++k) {
            const Ball ball = ball_of_part(other.placed, k, other.room);
            const bool is_everywhere = !is_bounded(other.placed.part(k, {0, 0, 0}).part);
            const auto meets = [&](const Ball& one) {
                const double reach = one.radius + ball.radius;
                return is_everywhere || norm_sq(one.centre - ball.centre) <= reach * reach;
            };
            const auto number = static_cast<std::int32_t>(k);
            for_passing_leaves(trees_[is_a ? a : b], stack, meets, [&](std::int32_t member) {
                pairs.push_back(is_a ? PartPair{member, number} : PartPair{number, member});
            });
        }
    }
    std::sort(pairs.begin(), pairs.end());
}

}  // namespace clearance
