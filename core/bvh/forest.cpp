#include "bvh/forest.hpp"

namespace clearance {
namespace {

Core<double, 3> placed(const Core<double, 3>& triangle, const Stand& at) {
    Core<double, 3> result;
    for (int k = 0; k < 3; ++k) result.vertex[k] = at.rotation * triangle.vertex[k] + at.origin;
    return result;
}

TriangleGap gap_of_triangles(const Core<double, 3>& a, const Core<double, 3>& b) {
    const double no_radius = 0.0;
    TriangleGap gap;
    gap_between(3, {&a.vertex[0].x, &no_radius, 9, 0}, 3, {&b.vertex[0].x, &no_radius, 9, 0},
                {&gap.distance, &gap.lower, &gap.upper, &gap.point_a.x, &gap.point_b.x, &gap.normal.x});
    return gap;
}

}  // namespace

TriangleGap measured(const SurfacePair& pair, const TrianglePair& triangles, double at_most) {
    const Core<double, 3> a = placed(pair.a->triangle(triangles.triangle_a), pair.at_a);
    if (pair.b == nullptr) return pair.solid->gap(pair.solid->context, a, at_most);
    return gap_of_triangles(a, placed(pair.b->triangle(triangles.triangle_b), pair.at_b));
}

void measure(std::span<const SurfacePair> forest, std::span<const TrianglePair> triangles, TriangleGap* gaps) {
    Core<double, 3> a[kMostMeasured], b[kMostMeasured];
    const std::size_t count = triangles.size();
    for (std::size_t k = 0; k < count; ++k) {
        const SurfacePair& pair = forest[static_cast<std::size_t>(triangles[k].pair)];
        a[k] = placed(pair.a->triangle(triangles[k].triangle_a), pair.at_a);
        b[k] = placed(pair.b->triangle(triangles[k].triangle_b), pair.at_b);
    }
    const double no_radius = 0.0;
    double distance[kMostMeasured], lower[kMostMeasured], upper[kMostMeasured];
    Vec3d point_a[kMostMeasured], point_b[kMostMeasured], normal[kMostMeasured];
    gaps_between(3, {&a[0].vertex[0].x, &no_radius, 9, 0}, 3, {&b[0].vertex[0].x, &no_radius, 9, 0},
                 {distance, lower, upper, &point_a[0].x, &point_b[0].x, &normal[0].x}, 0, count);
    for (std::size_t k = 0; k < count; ++k) gaps[k] = {distance[k], lower[k], upper[k], point_a[k], point_b[k], normal[k]};
}

WideTree tree_of(const Solid& solid) {
    WideTree tree;
    tree.centre = solid.centre, tree.unit = solid.unit, tree.root = solid.volume;
    tree.root_size = norm(solid.volume.half) + solid.volume.sweep;
    tree.root_child = ~0;
    return tree;
}

}  // namespace clearance
