#include "bvh/ray_tree.hpp"

#include <cmath>

namespace clearance {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kLargestGrowth = 2.0;  // of the area of a tree that is refitted
constexpr double kFarthest = 2.0;       // in units, that boxes may move from the centre

RayNode empty_node() {
    RayNode node;
    for (int k = 0; k < 8; ++k) {
        for (int axis = 0; axis < 3; ++axis) node.bound[axis][k] = kInfinity, node.bound[axis + 3][k] = -kInfinity;
        node.child[k] = RayNode::kNone;
    }
    return node;
}

void set(RayNode& node, int k, const TriangleBox& box) {
    for (int axis = 0; axis < 3; ++axis) node.bound[axis][k] = box.low[axis], node.bound[axis + 3][k] = box.high[axis];
}

TriangleBox around(std::span<const TriangleBox> boxes) {
    TriangleBox all = boxes.front();
    for (const TriangleBox& box : boxes)
        for (int axis = 0; axis < 3; ++axis) {
            all.low[axis] = min_of(all.low[axis], box.low[axis]);
            all.high[axis] = max_of(all.high[axis], box.high[axis]);
        }
    return all;
}

TriangleBox around(const RayNode& node) {
    TriangleBox all;
    for (int axis = 0; axis < 3; ++axis) {
        all.low[axis] = kInfinity, all.high[axis] = -kInfinity;
        for (int k = 0; k < 8; ++k) {
            all.low[axis] = min_of(all.low[axis], node.bound[axis][k]);
            all.high[axis] = max_of(all.high[axis], node.bound[axis + 3][k]);
        }
    }
    return all;
}

// Always the group of the largest area is split, until there are eight.
class Builder {
public:
    Builder(std::size_t leaf_size, const std::function<std::int32_t(std::span<const TriangleBox>)>& leaf)
        : leaf_size_(leaf_size), leaf_(leaf) {}

    void build(std::span<TriangleBox> boxes) {
        const std::size_t number = nodes.size();
        nodes.push_back(empty_node());
        std::span<TriangleBox> group[8] = {boxes};
        float area[8] = {half_area_of(boxes)};
        int count = 1;
        while (count < 8) {
            int largest = -1;
            for (int k = 0; k < count; ++k)
                if (group[k].size() > leaf_size_ && (largest < 0 || area[k] > area[largest])) largest = k;
            if (largest < 0) break;
            const std::size_t rest = split(group[largest], static_cast<int>(leaf_size_));
            group[count] = group[largest].subspan(rest), group[largest] = group[largest].first(rest);
            area[count] = half_area_of(group[count]), area[largest] = half_area_of(group[largest]);
            ++count;
        }
        for (int k = 0; k < count; ++k) {
            set(nodes[number], k, around(group[k]));
            if (group[k].size() <= leaf_size_) {
                nodes[number].child[k] = ~leaf_(group[k]);
            } else {
                nodes[number].child[k] = static_cast<std::int32_t>(nodes.size());
                build(group[k]);
            }
        }
    }

    std::vector<RayNode> nodes;

private:
    std::size_t leaf_size_;
    const std::function<std::int32_t(std::span<const TriangleBox>)>& leaf_;
};

}  // namespace

std::vector<RayNode> ray_nodes(std::span<TriangleBox> boxes, std::size_t leaf_size,
                               const std::function<std::int32_t(std::span<const TriangleBox>)>& leaf) {
    Builder builder(leaf_size, leaf);
    builder.build(boxes);
    return std::move(builder.nodes);
}

TriangleBox RayTree::in_units(const RayBox& box, std::int32_t item) const {
    const Vec3d low = per_unit_ * (box.low - centre_), high = per_unit_ * (box.high - centre_);
    const auto down = [](double x) { return static_cast<float>(x) - kRayMargin; };
    const auto up = [](double x) { return static_cast<float>(x) + kRayMargin; };
    return {{down(low.x), down(low.y), down(low.z)}, {up(high.x), up(high.y), up(high.z)}, item};
}

RayTree::RayTree(std::span<const RayBox> boxes, std::vector<std::int32_t> items) : items_(std::move(items)) {
    RayBox all = boxes[static_cast<std::size_t>(items_.front())];
    for (const std::int32_t item : items_) {
        const auto& [low, high] = boxes[static_cast<std::size_t>(item)];
        all.low = {min_of(all.low.x, low.x), min_of(all.low.y, low.y), min_of(all.low.z, low.z)};
        all.high = {max_of(all.high.x, high.x), max_of(all.high.y, high.y), max_of(all.high.z, high.z)};
    }
    centre_ = all.low + 0.5 * (all.high - all.low);
    const double reach = largest(all.high - all.low);
    per_unit_ = reach > 1e-300 ? std::ldexp(1.0, -std::ilogb(reach)) : 1.0;  // coordinates stay below 1
    std::vector<TriangleBox> leaves;
    for (const std::int32_t item : items_) leaves.push_back(in_units(boxes[static_cast<std::size_t>(item)], item));
    nodes_ = ray_nodes(leaves, 1, [](std::span<const TriangleBox> one) { return one.front().triangle; });
    area_when_built_ = area();
}

bool RayTree::refit(std::span<const RayBox> boxes) {
    for (const std::int32_t item : items_) {
        const auto& [low, high] = boxes[static_cast<std::size_t>(item)];
        if (!(per_unit_ * max_of(largest(low - centre_), largest(high - centre_)) <= kFarthest)) return false;
    }
    for (std::size_t number = nodes_.size(); number-- > 0;) {
        RayNode& node = nodes_[number];
        for (int k = 0; k < 8 && node.child[k] != RayNode::kNone; ++k) {
            const std::int32_t child = node.child[k];
            set(node, k,
                child >= 0 ? around(nodes_[static_cast<std::size_t>(child)])
                           : in_units(boxes[static_cast<std::size_t>(~child)], ~child));
        }
    }
    return area() <= kLargestGrowth * area_when_built_;
}

// Of all boxes: what decides how many of them a ray meets.
double RayTree::area() const {
    double sum = 0.0;
    for (const RayNode& node : nodes_)
        for (int k = 0; k < 8; ++k) {
            const double x = node.bound[3][k] - node.bound[0][k], y = node.bound[4][k] - node.bound[1][k];
            if (x >= 0.0) sum += x * y + (x + y) * (node.bound[5][k] - node.bound[2][k]);
        }
    return sum;
}

}  // namespace clearance
