#include "robot/standing_tree.hpp"

#include <algorithm>
#include <cmath>

namespace clearance {
namespace {

constexpr double kRounding = 1e-6;  // of a bound, compared with the lengths it is made of

struct Bounds {
    Vec3d low, high;

    void add(const OrientedBox& box) {
        const auto reach = [&](const auto& at) {
            return abs_of(at(box.axis[0])) * box.half.x + abs_of(at(box.axis[1])) * box.half.y +
                   abs_of(at(box.axis[2])) * box.half.z;
        };
        const Vec3d half{reach([](const Vec3d& v) { return v.x; }), reach([](const Vec3d& v) { return v.y; }),
                         reach([](const Vec3d& v) { return v.z; })};
        const Vec3d from = box.centre - half, to = box.centre + half;
        low = {min_of(low.x, from.x), min_of(low.y, from.y), min_of(low.z, from.z)};
        high = {max_of(high.x, to.x), max_of(high.y, to.y), max_of(high.z, to.z)};
    }
};

Bounds bounds_of(const StandingTree::Box* begin, const StandingTree::Box* end) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    Bounds bounds{{inf, inf, inf}, {-inf, -inf, -inf}};
    for (const StandingTree::Box* box = begin; box != end; ++box) bounds.add(box->box);
    return bounds;
}

OrientedBox box_of(const Bounds& bounds) {
    return {0.5 * (bounds.low + bounds.high), 0.5 * (bounds.high - bounds.low), {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}

Vec3<float> to_float(const Vec3d& v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }

void set_column(float (*column)[8], int k, const Vec3<float>& v) {
    column[0][k] = v.x, column[1][k] = v.y, column[2][k] = v.z;
}

// In the middle of the longest side of the box around the centres.
StandingTree::Box* split(StandingTree::Box* begin, StandingTree::Box* end) {
    Vec3d low = begin->box.centre, high = low;
    for (const StandingTree::Box* box = begin; box != end; ++box) {
        const Vec3d& c = box->box.centre;
        low = {min_of(low.x, c.x), min_of(low.y, c.y), min_of(low.z, c.z)};
        high = {max_of(high.x, c.x), max_of(high.y, c.y), max_of(high.z, c.z)};
    }
    const Vec3d side = high - low;
    const int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
    const auto along = [axis](const StandingTree::Box& box) {
        const Vec3d& c = box.box.centre;
        return axis == 0 ? c.x : axis == 1 ? c.y : c.z;
    };
    StandingTree::Box* middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, [&](const auto& one, const auto& other) {
        return along(one) < along(other) || (along(one) == along(other) && one.number < other.number);
    });
    return middle;
}

}  // namespace

StandingTree::StandingTree(std::vector<Box> boxes) {
    if (boxes.empty()) return;
    const OrientedBox all = box_of(bounds_of(boxes.data(), boxes.data() + boxes.size()));
    centre_ = all.centre, size_ = norm(all.half);
    unit_ = std::ldexp(1.0, std::ilogb(max_of(size_, 1e-30)) + 1);
    build(boxes.data(), boxes.data() + boxes.size());
}

void StandingTree::set_child(Node<8>& node, int k, const OrientedBox& box, std::int32_t child) const {
    set_column(node.centre, k, in_units(box.centre - centre_));
    set_column(node.half, k, in_units(box.half));
    for (int axis = 0; axis < 3; ++axis) set_column(node.axis + 3 * axis, k, to_float(box.axis[axis]));
    node.size[k] = static_cast<float>(norm(box.half) / unit_);
    node.child[k] = child;
}

// Halves are halved until there are eight of them.
std::int32_t StandingTree::build(Box* begin, Box* end) {
    const auto number = static_cast<std::int32_t>(nodes_.size());
    nodes_.emplace_back();
    std::vector<std::pair<Box*, Box*>> groups{{begin, end}};
    const auto is_smaller = [](const auto& one, const auto& other) {
        return one.second - one.first < other.second - other.first;
    };
    while (groups.size() < 8) {
        const auto largest = std::max_element(groups.begin(), groups.end(), is_smaller);
        if (largest->second - largest->first < 2) break;
        Box* const middle = split(largest->first, largest->second);
        groups.emplace_back(middle, largest->second);
        std::max_element(groups.begin(), groups.end() - 1, is_smaller)->second = middle;
    }
    Node<8> node{};
    node.parent = kRoot, node.count = static_cast<std::int32_t>(groups.size());
    for (int k = 0; k < 8; ++k) node.child[k] = Node<8>::kNone;
    for (int k = 0; k < node.count; ++k) {
        const auto& [from, to] = groups[static_cast<std::size_t>(k)];
        if (to - from == 1)
            set_child(node, k, from->box, ~from->number);
        else
            set_child(node, k, box_of(bounds_of(from, to)), build(from, to));
    }
    nodes_[static_cast<std::size_t>(number)] = node;
    return number;
}

Vec3<float> StandingTree::in_units(const Vec3d& v) const { return to_float((1.0 / unit_) * v); }

double StandingTree::rounding(const Ball& ball, const Vec3d& apart) const {
    return kRounding * (largest(apart) + ball.radius + size_) + 16.0 * kEpsilon * (largest(ball.centre) + largest(centre_));
}

}  // namespace clearance
