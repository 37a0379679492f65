#include "bvh/plateau.hpp"

#include <cmath>

namespace clearance {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

template <class Visit>
void for_triangles(const WideLeaf& leaf, const Visit& visit) {
    for (int k = 0; k < leaf.count; ++k) visit(leaf.triangle[k]);
}
template <class Visit>
void for_triangles(const OneTriangle& leaf, const Visit& visit) {
    visit(leaf.triangle);
}

template <class TreeType>
double highest(const TreeType& tree, const Mesh& mesh, std::int32_t slot, const Vec3d& along, std::vector<double>& known) {
    double& height = known[static_cast<std::size_t>(slot + 1)];
    if (height == height) return height;
    const std::int32_t child = tree.child(slot);
    double found = -std::numeric_limits<double>::infinity();
    if (child < 0)
        for_triangles(tree.leaf(slot), [&](std::int32_t triangle) {
            for (const Vec3d& corner : mesh.triangle(triangle).vertex)
                found = max_of(found, dot(along, corner - tree.centre));
        });
    else
        for (int k = 0; k < tree.nodes[static_cast<std::size_t>(child)].count; ++k)
            found = max_of(found, highest(tree, mesh, child * TreeType::width + k, along, known));
    return height = found;
}

}  // namespace

template <class TreeType>
Plateau::Heights& Plateau::heights_of(const PairTree<TreeType>& tree, std::int32_t pair) {
    for (Heights& heights : known_)
        if (heights.pair == pair) return heights;
    const SurfacePair& seen = forest_[static_cast<std::size_t>(pair)];
    const auto unknown = [](const TreeType& one) {
        return std::vector<double>(one.nodes.size() * TreeType::width + 1, kUnknown);
    };
    known_.push_back({pair, transposed_times(seen.at_a.rotation, normal_), -transposed_times(seen.at_b.rotation, normal_),
                      unknown(tree.a()), unknown(tree.b())});
    return known_.back();
}

template <class TreeType>
double Plateau::separation(const PairTree<TreeType>& tree, std::int32_t pair, std::int32_t a, std::int32_t b,
                           const Vec3d& normal) {
    if (norm_sq(normal - normal_) != 0.0) known_.clear(), normal_ = normal;
    const SurfacePair& seen = forest_[static_cast<std::size_t>(pair)];
    Heights& heights = heights_of(tree, pair);
    const Vec3d centre_a = seen.at_a.rotation * tree.a().centre + seen.at_a.origin;
    const double top_of_a = highest(tree.a(), *seen.a, a, heights.along_a, heights.a);
    const double sweep = seen.depth().sweep;
    if (seen.b == nullptr)
        return -seen.solid->highest(seen.solid->context, -normal_) - dot(normal_, centre_a) - top_of_a - sweep;
    const Vec3d centre_b = seen.at_b.rotation * tree.b().centre + seen.at_b.origin;
    const double top_of_b = highest(tree.b(), *seen.b, b, heights.along_b, heights.b);
    return dot(normal_, centre_b - centre_a) - top_of_a - top_of_b - sweep;
}

template double Plateau::separation(const PairTree<WideTree>&, std::int32_t, std::int32_t, std::int32_t, const Vec3d&);
template double Plateau::separation(const PairTree<RssTree>&, std::int32_t, std::int32_t, std::int32_t, const Vec3d&);

}  // namespace clearance
