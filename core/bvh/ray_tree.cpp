#include "bvh/ray_tree.hpp"

#include <cmath>

#include "bvh/split.hpp"

namespace clearance {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kMargin = 2.0f * kRayRounding;  // of every box, for what rounding does to rays
constexpr double kLargestGrowth = 2.0;          // of the area of a tree that is refitted
constexpr double kFarthest = 2.0;               // in units, that boxes may move from the centre

RayNode empty_node() {
    RayNode node;
    for (int axis = 0; axis < 3; ++axis)
        for (int k = 0; k < 8; ++k) node.low[axis][k] = kInfinity, node.high[axis][k] = -kInfinity;
    for (std::int32_t& child : node.child) child = RayNode::kNone;
    return node;
}

void set(RayNode& node, int k, const float* low, const float* high) {
    for (int axis = 0; axis < 3; ++axis) node.low[axis][k] = low[axis], node.high[axis][k] = high[axis];
}

void around_all(const RayNode& node, float* low, float* high) {
    for (int axis = 0; axis < 3; ++axis) {
        low[axis] = kInfinity, high[axis] = -kInfinity;
        for (int k = 0; k < 8; ++k) {
            low[axis] = min_of(low[axis], node.low[axis][k]);
            high[axis] = max_of(high[axis], node.high[axis][k]);
        }
    }
}

// Nodes below the slots of a node, always splitting the group of the largest area until there are eight.
class Builder {
public:
    explicit Builder(std::vector<RayNode>& nodes) : nodes_(nodes) {}

    std::int32_t build(std::span<TriangleBox> boxes) {
        const auto number = static_cast<std::int32_t>(nodes_.size());
        nodes_.push_back(empty_node());
        std::span<TriangleBox> group[8] = {boxes};
        int count = 1;
        while (count < 8) {
            int largest = -1;
            float area = -1.0f;
            for (int k = 0; k < count; ++k) {
                const float own = group[k].size() > 1 ? half_area_of(group[k]) : -1.0f;
                if (own > area) area = own, largest = k;
            }
            if (largest < 0) break;
            const std::size_t rest = split(group[largest], 1);
            group[count++] = group[largest].subspan(rest);
            group[largest] = group[largest].first(rest);
        }
        for (int k = 0; k < count; ++k) {
            const std::int32_t child = group[k].size() == 1 ? ~group[k].front().triangle : build(group[k]);
            nodes_[static_cast<std::size_t>(number)].child[k] = child;
        }
        return number;
    }

private:
    std::vector<RayNode>& nodes_;
};

}  // namespace

struct RayTree::Bounds {
    float low[3], high[3];
};

RayTree::Bounds RayTree::in_units(const RayBox& box) const {
    const Vec3d low = per_unit_ * (box.low - centre_), high = per_unit_ * (box.high - centre_);
    const auto down = [](double x) { return static_cast<float>(x) - kMargin; };
    const auto up = [](double x) { return static_cast<float>(x) + kMargin; };
    return {{down(low.x), down(low.y), down(low.z)}, {up(high.x), up(high.y), up(high.z)}};
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
    for (const std::int32_t item : items_) {
        const Bounds bounds = in_units(boxes[static_cast<std::size_t>(item)]);
        leaves.push_back(
            {{bounds.low[0], bounds.low[1], bounds.low[2]}, {bounds.high[0], bounds.high[1], bounds.high[2]}, item});
    }
    Builder(nodes_).build(leaves);
    area_when_built_ = std::numeric_limits<double>::infinity();
    refit(boxes);
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
            Bounds bounds;
            if (node.child[k] >= 0)
                around_all(nodes_[static_cast<std::size_t>(node.child[k])], bounds.low, bounds.high);
            else
                bounds = in_units(boxes[static_cast<std::size_t>(~node.child[k])]);
            set(node, k, bounds.low, bounds.high);
        }
    }
    return area() <= kLargestGrowth * area_when_built_;
}

// Of all boxes: what decides how many of them a ray meets.
double RayTree::area() const {
    double sum = 0.0;
    for (const RayNode& node : nodes_)
        for (int k = 0; k < 8; ++k) {
            const double x = node.high[0][k] - node.low[0][k], y = node.high[1][k] - node.low[1][k];
            if (x >= 0.0) sum += x * y + (x + y) * (node.high[2][k] - node.low[2][k]);
        }
    return sum;
}

}  // namespace clearance
