#pragma once

#include <cstdint>
#include <vector>

#include "bvh/volume.hpp"

namespace clearance {

// Volumes of up to W children, column by column, so that a bound is computed for all of them at once. Coordinates are about
// the centre of the tree, in units of the tree.
template <int W>
struct alignas(W == 8 ? 64 : 32) Node {
    static constexpr int width = W;
    static constexpr bool is_swept = W == 2;
    static constexpr int kNone = INT32_MIN;

    float centre[3][W], half[3][W], axis[9][W];
    float sweep[is_swept ? W : 1];  // oriented boxes have none
    float size[W];                  // half of the diagonal; never more than that of the parent
    std::int32_t child[W];          // >= 0: a node, < 0: ~leaf, kNone: no child
    std::int32_t parent;            // the slot that this node is the child of, or kRoot
    std::int32_t count;             // children that there are; the others lie far away
};

// Slots are volumes: number 8 k + j is that of child j of node k; the root has a volume of its own.
constexpr std::int32_t kRoot = -1;

constexpr int kLeafTriangles = 8;
constexpr float kFarAway = 1e16f;  // in units: where missing children are

// Up to eight triangles, column by column; the first stands for missing ones.
struct alignas(64) WideLeaf {
    float vertex[9][kLeafTriangles];  // x y z of the first corner, of the second, of the third
    float normal[3][kLeafTriangles];  // of length one, or zero
    float centre[3][kLeafTriangles], radius[kLeafTriangles];
    std::int32_t triangle[kLeafTriangles];
    std::int32_t count;
};

// A single triangle.
struct OneTriangle {
    std::int32_t triangle;
};

template <class NodeType, class LeafType>
struct Tree {
    using Leaf = LeafType;
    static constexpr int width = NodeType::width;

    Vec3d centre{0, 0, 0};
    double unit = 1.0;  // a power of two; coordinates in units stay below 1
    Volume<float> root{};
    float root_size = 0.0f;
    std::int32_t root_child = 0;
    std::vector<NodeType> nodes;
    std::vector<LeafType> leaves;

    const NodeType& node_of(std::int32_t slot) const { return nodes[static_cast<std::size_t>(slot / width)]; }
    std::int32_t child(std::int32_t slot) const { return slot == kRoot ? root_child : node_of(slot).child[slot % width]; }
    const LeafType& leaf(std::int32_t slot) const { return leaves[static_cast<std::size_t>(~child(slot))]; }
    float size(std::int32_t slot) const { return slot == kRoot ? root_size : node_of(slot).size[slot % width]; }
    std::int32_t parent(std::int32_t slot) const { return node_of(slot).parent; }
    Volume<float> volume(std::int32_t slot) const {
        if (slot == kRoot) return root;
        const NodeType& node = node_of(slot);
        const int k = slot % width;
        const auto at = [k](const float(*column)[width]) { return Vec3<float>{column[0][k], column[1][k], column[2][k]}; };
        return {at(node.centre),
                at(node.half),
                {at(node.axis), at(node.axis + 3), at(node.axis + 6)},
                NodeType::is_swept ? node.sweep[k] : 0.0f};
    }
    std::size_t bytes() const { return nodes.size() * sizeof(NodeType) + leaves.size() * sizeof(LeafType); }
};

using WideTree = Tree<Node<8>, WideLeaf>;    // oriented boxes
using RssTree = Tree<Node<2>, OneTriangle>;  // rectangle swept spheres

}  // namespace clearance
