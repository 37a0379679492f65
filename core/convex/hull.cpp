#include "convex/hull.hpp"

#include <algorithm>

#include "convex/inner_points.hpp"

namespace clearance {
namespace {

struct Bounds {
    Vec3d low, high;
};

Bounds bounds_of(const Vec3d* begin, const Vec3d* end) {
    Bounds b{*begin, *begin};
    for (const Vec3d* p = begin; p != end; ++p) {
        b.low = {min_of(b.low.x, p->x), min_of(b.low.y, p->y), min_of(b.low.z, p->z)};
        b.high = {max_of(b.high.x, p->x), max_of(b.high.y, p->y), max_of(b.high.z, p->z)};
    }
    return b;
}

// What rounding can take from the bound of a cone.
constexpr double kSlack = 1e-14;

constexpr int kCoarse = 2;  // cells across squares that are tried first

template <class Call>
void for_cells(const SupportCells::Square& square, const Call& call) {
    for (int u = 0; u < square.across; ++u)
        for (int v = 0; v < square.across; ++v) call({square.face, square.u + u, square.v + v, 1});
}

double coordinate(const Vec3d& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

}  // namespace

Hull::Hull(std::vector<Vec3d> points) : points_(std::move(points)) {
    const Bounds all = bounds_of(points_.data(), points_.data() + points_.size());
    ball_ = {all.low + 0.5 * (all.high - all.low), 0.0};
    for (const Vec3d& p : points_) ball_.radius = max_of(ball_.radius, norm(p - ball_.centre));

    std::vector<Vec3d> sorted = without_inner_points(points_, ball_.centre);
    build(sorted, 0, sorted.size());
    if (blocks_.size() <= kSearchedByCell) nodes_.clear();
    if (blocks_.size() > kSearchedWhole && nodes_.empty()) build_cells(sorted);
}

void Hull::build_cells(const std::vector<Vec3d>& points) {
    blocks_.clear();
    cells_.resize(SupportCells::kCells);
    for (int face = 0; face < 6; ++face)
        for (int u = 0; u < SupportCells::kSide; u += kCoarse)
            for (int v = 0; v < SupportCells::kSide; v += kCoarse) build_cells({face, u, v, kCoarse}, points);
}

// Cells share their points if these are few, and have lists of their own if they are many.
void Hull::build_cells(const SupportCells::Square& square, const std::vector<Vec3d>& points) {
    std::vector<Vec3d> listed;
    for (const std::size_t k : SupportCells::points_for(square, points)) listed.push_back(points[k]);
    if (listed.size() <= kPointBlock || square.across == 1) {
        const auto first = static_cast<std::uint32_t>(blocks_.size());
        add_blocks(listed, 0, listed.size());
        const auto count = static_cast<std::uint32_t>(blocks_.size()) - first;
        for_cells(square, [&](const SupportCells::Square& cell) { cells_[cell.cell()] = {first, count}; });
    } else {
        for_cells(square, [&](const SupportCells::Square& cell) { build_cells(cell, listed); });
    }
}

void Hull::add_blocks(const std::vector<Vec3d>& points, std::size_t begin, std::size_t end) {
    for (std::size_t first = begin; first < end; first += kPointBlock) {
        Block& block = blocks_.emplace_back();
        for (std::size_t k = 0; k < kPointBlock; ++k) {
            const Vec3d& p = points[std::min(first + k, end - 1)];
            block.x[k] = p.x, block.y[k] = p.y, block.z[k] = p.z;
        }
    }
}

// Points on a round hull lie in thin shells, of which boxes make little; seen from the centre they lie in narrow cones.
void Hull::fit_cone(Node& node, const Vec3d* begin, const Vec3d* end) const {
    Vec3d sum{0, 0, 0};
    for (const Vec3d* p = begin; p != end; ++p) {
        const Vec3d from_centre = *p - ball_.centre;
        sum = sum + inverse_or_zero(norm(from_centre)) * from_centre;
        node.length = max_of(node.length, norm(from_centre));
    }
    node.axis = inverse_or_zero(norm(sum)) * sum;
    node.cosine = 1.0;
    for (const Vec3d* p = begin; p != end; ++p) {
        const Vec3d from_centre = *p - ball_.centre;
        node.cosine = min_of(node.cosine, dot(node.axis, inverse_or_zero(norm(from_centre)) * from_centre));
    }
    node.cosine = max_of(-1.0, node.cosine - 32.0 * kEpsilon);  // more than rounding can have made it too large
    node.sine = std::sqrt(max_of(0.0, 1.0 - node.cosine * node.cosine));
}

// No point of a node is higher than this along a direction, whose length is `steepness`.
double Hull::highest(const Node& node, const Vec3d& along, double steepness) const {
    const Vec3d steep{abs_of(along.x), abs_of(along.y), abs_of(along.z)};
    const double in_box = dot(along, node.centre) + dot(steep, node.half);
    const double cosine = dot(along, node.axis) / steepness;
    const double sine = std::sqrt(max_of(0.0, 1.0 - cosine * cosine));
    const double nearest = cosine >= node.cosine ? 1.0 : cosine * node.cosine + sine * node.sine;
    // A cone wider than a half-space bounds nothing.
    const double in_cone =
        dot(along, ball_.centre) + steepness * node.length * (node.cosine > 0.0 && nearest > 0.0 ? nearest : 1.0);
    return min_of(in_box, in_cone + kSlack * steepness * node.length);
}

// Split along the longest side, at a multiple of whole blocks, so that only the last block is not full.
std::int32_t Hull::build(std::vector<Vec3d>& points, std::size_t begin, std::size_t end) {
    const Bounds b = bounds_of(points.data() + begin, points.data() + end);
    const auto at = static_cast<std::int32_t>(nodes_.size());
    const Vec3d half = 0.5 * (b.high - b.low);
    nodes_.push_back({b.low + half, half, {}, -1.0, 0.0, 0.0, 0, 0});
    fit_cone(nodes_.back(), points.data() + begin, points.data() + end);
    const std::size_t blocks = (end - begin + kPointBlock - 1) / kPointBlock;
    if (blocks <= kLeaf) {
        nodes_[at].left = ~static_cast<std::int32_t>(blocks_.size());
        nodes_[at].right = static_cast<std::int32_t>(blocks);
        add_blocks(points, begin, end);
        return at;
    }
    const int axis = half.x >= half.y && half.x >= half.z ? 0 : half.y >= half.z ? 1 : 2;
    const std::size_t middle = begin + (blocks / 2) * kPointBlock;
    std::nth_element(points.begin() + begin, points.begin() + middle, points.begin() + end,
                     [axis](const Vec3d& p, const Vec3d& q) { return coordinate(p, axis) < coordinate(q, axis); });
    const std::int32_t left = build(points, begin, middle);
    const std::int32_t right = build(points, middle, end);
    nodes_[at].left = left, nodes_[at].right = right;
    return at;
}

Vec3d Hull::farthest_of(std::size_t first, std::size_t count, const Vec3d& along) const {
    const std::size_t found = kernels().farthest(blocks_[first].x, count, along.x, along.y, along.z);
    return blocks_[first + found / kPointBlock].point(found % kPointBlock);
}

Vec3d Hull::farthest_in_tree(const Vec3d& along) const {
    const double steepness = norm(along);
    const auto bound = [&](std::int32_t k) { return highest(nodes_[static_cast<std::size_t>(k)], along, steepness); };
    struct Waiting {
        double bound;
        std::int32_t node;
    };
    Waiting stack[64];  // one for each level of a tree that halves
    int size = 0;
    Vec3d best = points_.front();
    double height = dot(along, best);
    std::int32_t node = 0;
    for (;;) {
        while (nodes_[node].left >= 0) {
            std::int32_t near = nodes_[node].left, far = nodes_[node].right;
            double near_bound = bound(near), far_bound = bound(far);
            if (far_bound > near_bound) std::swap(near, far), std::swap(near_bound, far_bound);
            stack[size++] = {far_bound, far};
            node = near;
        }
        const Vec3d found =
            farthest_of(static_cast<std::size_t>(~nodes_[node].left), static_cast<std::size_t>(nodes_[node].right), along);
        const double found_height = dot(along, found);
        if (found_height > height) height = found_height, best = found;
        do {
            if (size == 0) return best;
            --size;
        } while (stack[size].bound <= height);
        node = stack[size].node;
    }
}

Vec3d farthest_in_tree(const Hull& hull, const Vec3d& along) { return hull.farthest_in_tree(along); }

}  // namespace clearance
