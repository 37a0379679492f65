#pragma once

#include <unordered_map>

#include "bvh/pair_tree.hpp"

namespace clearance {

// Nodes of the trees of pairs of volumes, in two ways: made when needed and forgotten at once, or kept with their parents.
// Both count how many children of a node are in the front that is being raised.

struct PairNode {
    std::int32_t pair, a, b;
    bool operator==(const PairNode&) const = default;
};

class ImplicitNodes {
public:
    using Ref = PairNode;

    Ref root(std::int32_t pair) { return {pair, kRoot, kRoot}; }
    Ref child(const Ref&, const PairNode& node) { return node; }
    const PairNode& at(const Ref& node) const { return node; }

    template <class TreeType>
    bool parent(const Ref& node, const PairTree<TreeType>& tree, Ref& parent) const {
        if (node.a == kRoot && node.b == kRoot) return false;
        parent = node;
        tree.to_parent(parent.a, parent.b);
        return true;
    }
    void start_counting() { counts_.clear(); }
    int& count(const Ref& node) { return counts_[node]; }
    void drop(const Ref&) {}
    void clear() { counts_.clear(); }
    std::size_t bytes(std::size_t front) const { return front * sizeof(Ref); }

private:
    struct Hash {
        std::size_t operator()(const PairNode& node) const {
            const auto mix = [](std::uint64_t x) { return (x ^ x >> 29) * 0xbf58476d1ce4e5b9u; };
            return mix(mix(static_cast<std::uint32_t>(node.a)) ^ mix(static_cast<std::uint64_t>(node.b) << 20) ^
                       static_cast<std::uint32_t>(node.pair));
        }
    };
    std::unordered_map<PairNode, int, Hash> counts_;
};

class ExplicitNodes {
public:
    using Ref = std::int32_t;

    Ref root(std::int32_t pair) { return add({pair, kRoot, kRoot}, kNoParent); }
    Ref child(Ref parent, const PairNode& node) { return add(node, parent); }
    const PairNode& at(Ref node) const { return nodes_[static_cast<std::size_t>(node)].slots; }

    template <class TreeType>
    bool parent(Ref node, const PairTree<TreeType>&, Ref& parent) const {
        parent = nodes_[static_cast<std::size_t>(node)].parent;
        return parent != kNoParent;
    }
    void start_counting() { ++stamp_; }
    int& count(Ref node) {
        Node& counted = nodes_[static_cast<std::size_t>(node)];
        if (counted.stamp != stamp_) counted.stamp = stamp_, counted.count = 0;
        return counted.count;
    }
    void drop(Ref node) { free_.push_back(node); }
    void clear() { nodes_.clear(), free_.clear(); }
    std::size_t bytes(std::size_t) const { return (nodes_.size() - free_.size()) * sizeof(Node); }

private:
    static constexpr Ref kNoParent = -1;
    struct Node {
        PairNode slots;
        Ref parent;
        unsigned stamp;
        int count;
    };
    Ref add(const PairNode& slots, Ref parent) {
        if (free_.empty()) {
            nodes_.push_back({slots, parent, 0, 0});
            return static_cast<Ref>(nodes_.size() - 1);
        }
        const Ref node = free_.back();
        free_.pop_back();
        nodes_[static_cast<std::size_t>(node)] = {slots, parent, 0, 0};
        return node;
    }
    std::vector<Node> nodes_;
    std::vector<Ref> free_;
    unsigned stamp_ = 0;
};

}  // namespace clearance
