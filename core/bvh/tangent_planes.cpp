#include "bvh/tangent_planes.hpp"

namespace clearance {
namespace {

template <class Vec>
Vec3d widened(const Vec& v) {
    return {v.x, v.y, v.z};
}

}  // namespace

void TangentPlanes::add(const PairTree<WideTree>& tree, const SurfacePair& seen, std::int32_t pair, const Vec3d& normal) {
    if (!(abs_of(norm_sq(normal) - 1.0) <= 1e-9)) return;
    const Vec3d centre = seen.at_a.rotation * tree.a().centre + seen.at_a.origin;
    const double height = seen.solid->highest(seen.solid->context, -normal) + dot(normal, centre);
    planes_[next_] = {pair, -transposed_times(seen.at_a.rotation, normal), height / tree.a().unit};
    next_ = (next_ + 1) % kMost;
    count_ = count_ < kMost ? count_ + 1 : kMost;
}

template <class Lowest>
float TangentPlanes::raised(const PairTree<WideTree>& tree, std::int32_t pair, float key, const Lowest& lowest) const {
    double best = -std::numeric_limits<double>::infinity();
    for (int k = 0; k < count_; ++k)
        if (planes_[k].pair == pair) best = max_of(best, lowest(planes_[k].up) - planes_[k].height);
    return max_of(static_cast<float>(best * tree.a().unit - tree.slack_below()), key);
}

float TangentPlanes::raised(const PairTree<WideTree>& tree, std::int32_t pair, std::int32_t slot, float key) const {
    const Volume<float> volume = tree.a().volume(slot);
    const Vec3d centre = widened(volume.centre), half = widened(volume.half);
    const Vec3d axis[3] = {widened(volume.axis[0]), widened(volume.axis[1]), widened(volume.axis[2])};
    return raised(tree, pair, key, [&](const Vec3d& up) { return dot(up, centre) - dot(abs_of(in_axes(axis, up)), half); });
}

float TangentPlanes::raised(const PairTree<WideTree>& tree, std::int32_t pair, const WideLeaf& leaf, int k,
                            float key) const {
    const auto corner = [&](int c) {
        return Vec3d{leaf.vertex[3 * c][k], leaf.vertex[3 * c + 1][k], leaf.vertex[3 * c + 2][k]};
    };
    const Vec3d p = corner(0), q = corner(1), r = corner(2);
    return raised(tree, pair, key, [&](const Vec3d& up) { return min_of(dot(up, p), min_of(dot(up, q), dot(up, r))); });
}

}  // namespace clearance
