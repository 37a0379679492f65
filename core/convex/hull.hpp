#pragma once

#include <cstdint>
#include <vector>

#include "closest/element.hpp"
#include "closest/kernels.hpp"
#include "convex/polytope_walk.hpp"
#include "convex/support_cells.hpp"

namespace clearance {

// A cloud of points that stands for its convex hull. Points inside of it or repeated do no harm: only farthest points are
// ever asked for.
//
// The points lie column by column in blocks of eight. A few blocks are searched from end to end. For more of them, those
// points that can be farthest along a direction are listed once for every cell of directions, in blocks of their own. Many
// are searched from the top of a tree of boxes and cones over near ones, leaving out what cannot reach beyond what was
// found.
class Hull {
public:
    // Points about `centre`, which is theirs to choose: coordinates far from zero would cost digits.
    explicit Hull(std::vector<Vec3d> points);

    Vec3d support(const Vec3d& along) const {
        if (!nodes_.empty()) return farthest_in_tree(along);
        if (cells_.empty()) return farthest_of(0, blocks_.size(), along);
        const SupportCells::Blocks& blocks = cells_[SupportCells::cell_of(along)];
        return farthest_of(blocks.first, blocks.count, along);
    }
    const std::vector<Vec3d>& points() const { return points_; }
    Ball ball() const { return ball_; }
    PolytopeCorners corners() const {
        if (!nodes_.empty()) return {.tree = this};
        return {.blocks = blocks_.front().x, .cells = cells_.empty() ? nullptr : cells_.data(), .count = blocks_.size()};
    }

private:
    friend Vec3d farthest_in_tree(const Hull& hull, const Vec3d& along);

    static constexpr std::size_t kSearchedWhole = 6;     // blocks
    static constexpr std::size_t kSearchedByCell = 256;  // blocks at most
    static constexpr std::size_t kLeaf = 4;              // blocks at most

    struct Block {
        double x[kPointBlock], y[kPointBlock], z[kPointBlock];
        Vec3d point(std::size_t k) const { return {x[k], y[k], z[k]}; }
    };
    struct Node {
        Vec3d centre, half;           // a box around its points,
        Vec3d axis;                   // and a cone from the centre of the hull,
        double cosine, sine, length;  // of this angle and length
        std::int32_t left, right;     // children, or ~block and the number of blocks from there
    };

    Vec3d farthest_of(std::size_t first, std::size_t count, const Vec3d& along) const;
    Vec3d farthest_in_tree(const Vec3d& along) const;
    double highest(const Node& node, const Vec3d& along, double steepness) const;
    void fit_cone(Node& node, const Vec3d* begin, const Vec3d* end) const;
    std::int32_t build(std::vector<Vec3d>& points, std::size_t begin, std::size_t end);
    void add_blocks(const std::vector<Vec3d>& points, std::size_t begin, std::size_t end);
    void build_cells(const std::vector<Vec3d>& points);
    void build_cells(const SupportCells::Square& square, const std::vector<Vec3d>& points);

    std::vector<Vec3d> points_;
    std::vector<Block> blocks_;
    std::vector<Node> nodes_;
    std::vector<SupportCells::Blocks> cells_;
    Ball ball_;
};

}  // namespace clearance
