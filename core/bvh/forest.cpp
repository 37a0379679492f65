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

WideTree tree_of(const Solid& solid) {
    WideTree tree;
    tree.centre = solid.centre, tree.unit = solid.unit, tree.root = solid.volume;
    tree.root_size = norm(solid.volume.half) + solid.volume.sweep;
    tree.root_child = ~0;
    return tree;
}

}  // namespace clearance
