#pragma once

#include <memory>

#include "dynamics/ball_tree.hpp"
#include "query/contacts.hpp"

namespace clearance {

// Trees of balls over the parts of bodies that have many, to find those near to another body.
class PartTrees {
public:
    void build(std::span<const std::shared_ptr<const Body>> bodies);

    // After a body has been placed; balls get some room.
    void refit(std::size_t body, const PlacedBody& placed, double room);

    bool has_tree(std::size_t body) const { return !trees_[body].nodes().empty(); }

    // Parts of two bodies whose balls overlap, in order; one of them at least has a tree. `of_a` and `of_b` are their balls
    // if they have none.
    struct Other {
        const PlacedBody& placed;
        double room;
    };
    void near(std::size_t a, const Other& of_a, std::size_t b, const Other& of_b, std::vector<PartPair>& pairs) const;

private:
    std::vector<BallTree> trees_;
    std::vector<std::vector<Ball>> balls_;  // of the parts, in the world
};

}  // namespace clearance
