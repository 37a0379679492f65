#include "bvh/nearest_triangle.hpp"

#include "bvh/pair_tree.hpp"
#include "bvh/queue.hpp"
#include "closest/certificate.hpp"
#include "closest/point_triangle.hpp"

namespace clearance {
namespace {

constexpr double kMostAway = 64.0;  // units: farther away, searching from the corners up is no use

double distance_of(const Vec3d& point, const Core<double, 3>& triangle) {
    const Core<double, 1> alone{{point}};
    return norm(between(alone, triangle, closest(alone, triangle)));
}

}  // namespace

NearestTriangle nearest_triangle(const Mesh& mesh, const Vec3d& point, double near_enough) {
    const WideTree& tree = mesh.boxes;
    const Vec3d in_units = (1.0 / tree.unit) * (point - tree.centre);
    NearestTriangle best{-1, std::numeric_limits<double>::infinity()};
    if (!(largest(in_units) <= kMostAway)) return best;
    const Vec3<float> at{static_cast<float>(in_units.x), static_cast<float>(in_units.y), static_cast<float>(in_units.z)};
    const float slack = static_cast<float>(8.0 * kFloatSlack * (1.0 + largest(in_units)));
    const auto may_be_nearer = [&](float bound) {
        return static_cast<double>(bound - slack) * tree.unit < best.distance && !(best.distance <= near_enough);
    };
    thread_local std::vector<Waiting> room;
    Queue<Waiting> queue(room);
    float bounds[8];
    const Volume<float> nothing_but_point{at, {0, 0, 0}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 0.0f};
    for (Waiting next{0.0f, tree.root_child, 0, 0};; next = queue.pop()) {
        if (!may_be_nearer(next.key)) return best;
        if (next.a >= 0) {
            const Node<8>& node = tree.nodes[static_cast<std::size_t>(next.a)];
            bvh_kernels().point_distances(node, at, bounds);
            for (int k = 0; k < node.count; ++k)
                if (may_be_nearer(bounds[k])) queue.push({bounds[k], node.child[k], 0, 0});
        } else {
            const WideLeaf& leaf = tree.leaves[static_cast<std::size_t>(~next.a)];
            bvh_kernels().bounds(leaf, nothing_but_point, bounds);
            for (int left = leaf.count; left > 0; --left) {
                float* const least = std::min_element(bounds, bounds + leaf.count);
                if (!may_be_nearer(*least)) break;
                const std::int32_t triangle = leaf.triangle[least - bounds];
                const double distance = distance_of(point, mesh.triangle(triangle));
                if (distance < best.distance) best = {triangle, distance};
                *least = std::numeric_limits<float>::infinity();
            }
        }
        if (queue.empty()) return best;
    }
}

}  // namespace clearance
