#include "bvh/extreme.hpp"

#include "bvh/pair_tree.hpp"
#include "bvh/queue.hpp"

namespace clearance {
namespace {

// How deep a volume reaches at most, in units of the tree.
float lowest(const Volume<float>& volume, const Vec3<float>& up) {
    return dot(up, volume.centre) - dot(abs_of(in_axes(volume.axis, up)), volume.half) - static_cast<float>(kFloatSlack);
}

}  // namespace

LowestCorner lowest_corner(const Mesh& mesh, const Vec3d& up) {
    const WideTree& tree = mesh.boxes;
    const Vec3<float> direction{static_cast<float>(up.x), static_cast<float>(up.y), static_cast<float>(up.z)};
    LowestCorner best{-1, {0, 0, 0}, 0};
    double best_height = std::numeric_limits<double>::infinity();  // about the centre of the tree
    const auto look_at = [&](std::int32_t triangle) {
        for (const Vec3d& corner : mesh.triangle(triangle).vertex) {
            const double height = dot(up, corner - tree.centre);
            if (height < best_height) best_height = height, best.triangle = triangle, best.point = corner;
        }
    };
    thread_local std::vector<Waiting> room;
    Queue<Waiting> queue(room);
    queue.push({lowest(tree.root, direction), kRoot, kRoot, 0});
    while (!queue.empty() && queue.top().key * tree.unit < best_height) {
        const std::int32_t child = tree.child(queue.pop().a);
        if (child < 0) {
            const WideLeaf& leaf = tree.leaves[static_cast<std::size_t>(~child)];
            for (int k = 0; k < leaf.count; ++k) look_at(leaf.triangle[k]);
            continue;
        }
        const int count = tree.nodes[static_cast<std::size_t>(child)].count;
        best.volume_tests += count;
        for (int k = 0; k < count; ++k) {
            const std::int32_t slot = child * WideTree::width + k;
            queue.push({lowest(tree.volume(slot), direction), slot, kRoot, 0});
        }
    }
    return best;
}

std::vector<std::int32_t> triangles_below(const Mesh& mesh, const Vec3d& up, double height) {
    const WideTree& tree = mesh.boxes;
    const Vec3<float> direction{static_cast<float>(up.x), static_cast<float>(up.y), static_cast<float>(up.z)};
    const double above_centre = (height - dot(up, tree.centre)) / tree.unit + kFloatSlack;
    std::vector<std::int32_t> found, stack{kRoot};
    while (!stack.empty()) {
        const std::int32_t slot = stack.back();
        stack.pop_back();
        if (lowest(tree.volume(slot), direction) > above_centre) continue;
        const std::int32_t child = tree.child(slot);
        if (child >= 0) {
            for (int k = 0; k < tree.nodes[static_cast<std::size_t>(child)].count; ++k)
                stack.push_back(child * WideTree::width + k);
            continue;
        }
        const WideLeaf& leaf = tree.leaves[static_cast<std::size_t>(~child)];
        for (int k = 0; k < leaf.count; ++k) {
            double least = std::numeric_limits<double>::infinity();
            for (const Vec3d& corner : mesh.triangle(leaf.triangle[k]).vertex)
                least = min_of(least, dot(up, corner - tree.centre) / tree.unit);
            if (least <= above_centre) found.push_back(leaf.triangle[k]);
        }
    }
    return found;
}

}  // namespace clearance
