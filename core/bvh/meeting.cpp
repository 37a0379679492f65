#include "bvh/meeting.hpp"

#include "bvh/pair_tree.hpp"

namespace clearance {
namespace {

// Call visit(slot_a, slot_b) for all pairs of leaves whose volumes may touch.
template <class Visit>
void for_touching_leaves(const PairTree<WideTree>& tree, SearchWork& work, const Visit& visit) {
    struct Slots {
        std::int32_t a, b;
    };
    std::vector<Slots> stack;
    if (tree.key(kRoot, kRoot) <= 0.0f) stack.push_back({kRoot, kRoot});
    while (!stack.empty()) {
        const Slots next = stack.back();
        stack.pop_back();
        if (tree.is_leaf(next.a, next.b)) {
            visit(next.a, next.b);
            continue;
        }
        PairTree<WideTree>::Children children;
        tree.open(next.a, next.b, 0.0f, std::numeric_limits<float>::min(), children);
        work.volume_tests += children.count;
        for (unsigned near = children.opened.near; near != 0; near &= near - 1) {
            const std::int32_t slot = children.first + __builtin_ctz(near);
            stack.push_back(children.of_a ? Slots{slot, next.b} : Slots{next.a, slot});
        }
    }
}

// Call visit(triangle) for all triangles that may touch the solid.
template <class Visit>
void for_triangles_near(const PairTree<WideTree>& tree, SearchWork& work, const Visit& visit) {
    for_touching_leaves(tree, work, [&](std::int32_t slot, std::int32_t) {
        const WideLeaf& leaf = tree.a().leaf(slot);
        float key[kLeafTriangles];
        tree.keys_of_triangles(leaf, key);
        for (int k = 0; k < leaf.count; ++k)
            if (key[k] <= 0.0f) visit(leaf.triangle[k]);
    });
}

}  // namespace

void meeting_triangles(const SurfacePair& pair, std::vector<TrianglePair>& found, SearchWork& work) {
    const auto keep_if_meeting = [&](const TrianglePair& triangles) {
        ++work.triangle_tests;
        if (measured(pair, triangles, 0.0).distance <= 0.0) found.push_back(triangles);
    };
    if (pair.b == nullptr) {
        const WideTree solid = tree_of(*pair.solid);
        const PairTree<WideTree> tree(pair.a->boxes, solid, pair.at_a, pair.at_b, pair.depth());
        for_triangles_near(tree, work, [&](std::int32_t triangle) { keep_if_meeting({0, triangle, -1}); });
        return;
    }
    const PairTree<WideTree> tree(pair.a->boxes, pair.b->boxes, pair.at_a, pair.at_b, pair.depth());
    for_touching_leaves(tree, work, [&](std::int32_t slot_a, std::int32_t slot_b) {
        const WideLeaf &a = tree.a().leaf(slot_a), &b = tree.b().leaf(slot_b);
        NearTriangles near;
        tree.near_triangles(slot_a, slot_b, 0.0f, near);
        for (int k = 0; k < near.count; ++k) keep_if_meeting({0, a.triangle[near.i[k]], b.triangle[near.j[k]]});
    });
}

void triangles_near(const SurfacePair& pair, std::vector<std::int32_t>& found, SearchWork& work) {
    const WideTree solid = tree_of(*pair.solid);
    const PairTree<WideTree> tree(pair.a->boxes, solid, pair.at_a, pair.at_b, pair.depth());
    for_triangles_near(tree, work, [&](std::int32_t triangle) { found.push_back(triangle); });
}

}  // namespace clearance
