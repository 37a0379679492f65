#include "bvh/meeting.hpp"

#include "bvh/pair_tree.hpp"

namespace clearance {
namespace {

// Call visit(leaf_a, leaf_b) for all pairs of leaves whose volumes may touch.
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
            visit(~tree.a().child(next.a), ~tree.b().child(next.b));
            continue;
        }
        const bool of_a = tree.opens_a(next.a, next.b);
        float keys[WideTree::width];
        std::int32_t first;
        const int count = tree.child_keys(next.a, next.b, 0.0f, of_a, keys, first);
        work.volume_tests += count;
        for (int k = 0; k < count; ++k)
            if (keys[k] <= 0.0f) stack.push_back(of_a ? Slots{first + k, next.b} : Slots{next.a, first + k});
    }
}

// Call visit(leaf, k) for all triangles that may touch the solid.
template <class Visit>
void for_triangles_near(const PairTree<WideTree>& tree, SearchWork& work, const Visit& visit) {
    const Volume<float> solid = tree.b_root_in_a();
    const KeyRule rule{tree.unit_a(), tree.slack(), 0.0f};
    for_touching_leaves(tree, work, [&](std::int32_t number, std::int32_t) {
        const WideLeaf& leaf = tree.a().leaves[static_cast<std::size_t>(number)];
        float bounds[kLeafTriangles];
        bvh_kernels().bounds(leaf, solid, bounds);
        for (int k = 0; k < leaf.count; ++k)
            if (key_of(bounds[k], rule) <= 0.0f) visit(leaf.triangle[k]);
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
        const PairTree<WideTree> tree(pair.a->boxes, solid, pair.at_a, pair.at_b);
        for_triangles_near(tree, work, [&](std::int32_t triangle) { keep_if_meeting({0, triangle, -1}); });
        return;
    }
    const PairTree<WideTree> tree(pair.a->boxes, pair.b->boxes, pair.at_a, pair.at_b);
    for_touching_leaves(tree, work, [&](std::int32_t leaf_a, std::int32_t leaf_b) {
        const WideLeaf& a = tree.a().leaves[static_cast<std::size_t>(leaf_a)];
        const WideLeaf& b = tree.b().leaves[static_cast<std::size_t>(leaf_b)];
        NearTriangles near;
        bvh_kernels().near_triangles(a, b, tree.b_from_a(), 1.001f * tree.slack() / tree.unit_b(), near);
        for (int k = 0; k < near.count; ++k) keep_if_meeting({0, a.triangle[near.i[k]], b.triangle[near.j[k]]});
    });
}

void triangles_near(const SurfacePair& pair, std::vector<std::int32_t>& found, SearchWork& work) {
    const WideTree solid = tree_of(*pair.solid);
    const PairTree<WideTree> tree(pair.a->boxes, solid, pair.at_a, pair.at_b);
    for_triangles_near(tree, work, [&](std::int32_t triangle) { found.push_back(triangle); });
}

}  // namespace clearance
