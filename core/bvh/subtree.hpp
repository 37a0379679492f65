#pragma once

#include "bvh/duplicates.hpp"
#include "bvh/leaf.hpp"

namespace clearance {

using Triangles = std::span<TriangleBox>;

// Half of the diagonal, rounded up.
inline float size_of(const Volume<float>& volume) {
    const double diagonal = norm(Vec3d{volume.half.x, volume.half.y, volume.half.z}) + volume.sweep;
    return static_cast<float>(diagonal * (1.0 + 1e-7));
}

template <int W>
Node<W> empty_node(std::int32_t parent) {
    Node<W> node{};
    for (int k = 0; k < W; ++k) {
        for (auto& row : node.centre) row[k] = kFarAway;
        node.axis[0][k] = node.axis[4][k] = node.axis[8][k] = 1.0f;
        node.child[k] = Node<W>::kNone;
    }
    node.parent = parent;
    return node;
}

template <int W>
void set_volume(Node<W>& node, int k, const Volume<float>& volume) {
    const auto set = [k](float(*column)[W], const Vec3<float>& v) {
        column[0][k] = v.x, column[1][k] = v.y, column[2][k] = v.z;
    };
    set(node.centre, volume.centre);
    set(node.half, volume.half);
    for (int axis = 0; axis < 3; ++axis) set(node.axis + 3 * axis, volume.axis[axis]);
    if constexpr (Node<W>::is_swept) node.sweep[k] = volume.sweep;
    node.size[k] = size_of(volume);
}

// The children of a node: the triangles are split, always the largest group, until there are enough groups.
template <int W>
struct Groups {
    Triangles group[W];
    int count = 1;

    Groups(Triangles all, std::size_t leaf, const Corners& corners) {
        group[0] = without_duplicates(all, corners);
        float area[W] = {half_area_of(group[0])};
        while (count < W) {
            int largest = -1;
            for (int k = 0; k < count; ++k)
                if (group[k].size() > leaf && (largest < 0 || area[k] > area[largest])) largest = k;
            if (largest < 0) return;
            const std::size_t rest = split(group[largest], static_cast<int>(leaf));
            group[count] = group[largest].subspan(rest), group[largest] = group[largest].first(rest);
            area[largest] = half_area_of(group[largest]), area[count] = half_area_of(group[count]);
            ++count;
        }
    }
};

// Nodes and leaves of one part of the tree, numbered from zero.
template <class TreeType>
class Subtree {
public:
    using NodeType = typename decltype(TreeType::nodes)::value_type;
    static constexpr int W = TreeType::width;
    static constexpr const TreeType* kKind = nullptr;

    explicit Subtree(const Corners& corners) : corners_(corners) {}

    // Build below `parent`; gives the number of the child, and adds what the triangles weigh.
    std::int32_t build(Triangles triangles, std::int32_t parent, Moments& moments) {
        if (triangles.size() <= leaf_size(kKind)) return add_leaf(triangles, moments);
        const auto number = static_cast<std::int32_t>(nodes.size());
        nodes.push_back(empty_node<W>(parent));
        const Groups<W> groups(triangles, leaf_size(kKind), corners_);
        for (int k = 0; k < groups.count; ++k) {
            Moments own;
            const std::int32_t child = build(groups.group[k], number * W + k, own);
            NodeType& node = nodes[static_cast<std::size_t>(number)];
            set_volume(node, k, fitted(kKind, groups.group[k], own, corners_));
            node.child[k] = child;
            node.count = k + 1;
            moments += own;
        }
        return number;
    }

    std::vector<NodeType> nodes;
    std::vector<typename TreeType::Leaf> leaves;

private:
    std::int32_t add_leaf(Triangles triangles, Moments& moments) {
        Vec3d corner[3];
        for (const TriangleBox& box : triangles) {
            corners_.get(box.triangle, corner);
            moments.add(corner);
        }
        leaves.push_back(leaf_of(kKind, triangles, corners_));
        return ~static_cast<std::int32_t>(leaves.size() - 1);
    }

    const Corners& corners_;
};

}  // namespace clearance
