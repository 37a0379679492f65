#pragma once

#include <cstdint>
#include <vector>

#include "closest/element.hpp"

namespace clearance {

// A cloud of points that stands for its convex hull. Points inside of it or repeated do no harm: only farthest points are
// ever asked for.
//
// The points lie column by column in blocks of eight, near ones together, under a tree of boxes. A few blocks are searched
// from end to end; more of them from the top of the tree, leaving out every box that cannot reach beyond what was found.
class Hull {
public:
    // Points about `centre`, which is theirs to choose: coordinates far from zero would cost digits.
    explicit Hull(std::vector<Vec3d> points);

    Vec3d support(const Vec3d& along) const { return nodes_.empty() ? farthest_of_all(along) : farthest_in_tree(along); }
    const std::vector<Vec3d>& points() const { return points_; }
    Ball ball() const { return ball_; }

private:
    static constexpr std::size_t kBlock = 8;
    static constexpr std::size_t kSearchedWhole = 32;  // blocks

    struct Block {
        double x[kBlock], y[kBlock], z[kBlock];
    };
    struct Node {
        Vec3d centre, half;
        std::int32_t left, right;  // children, or ~block and the number of blocks from there
    };
    struct Farthest {
        double height;
        Vec3d point;
    };

    Vec3d farthest_of_all(const Vec3d& along) const;
    Vec3d farthest_in_tree(const Vec3d& along) const;
    void search(const Block& block, const Vec3d& along, Farthest& best) const;
    std::int32_t build(std::vector<Vec3d>& points, std::size_t begin, std::size_t end);

    std::vector<Vec3d> points_;
    std::vector<Block> blocks_;
    std::vector<Node> nodes_;
    Ball ball_;
};

}  // namespace clearance
