#include "bvh/forest.hpp"

namespace clearance {
namespace {

// Written in place: this is a good part of what a pair of triangles takes besides its distance.
void place(Element& element, const Mesh& mesh, std::int32_t number, const Stand& at) {
    const Core<double, 3> triangle = mesh.triangle(number);
    for (int k = 0; k < 3; ++k) element.vertex[k] = at.rotation * triangle.vertex[k] + at.origin;
    element.count = mesh.corners, element.radius = mesh.radius;
}

TriangleGap gap_of_elements(const Element& a, const Element& b) {
    TriangleGap gap;
    gap_between(a.count, {&a.vertex[0].x, &a.radius, 9, 0}, b.count, {&b.vertex[0].x, &b.radius, 9, 0},
                {&gap.distance, &gap.lower, &gap.upper, &gap.point_a.x, &gap.point_b.x, &gap.normal.x});
    return gap;
}

}  // namespace

TriangleGap measured(const SurfacePair& pair, const TrianglePair& triangles, double at_most) {
    Element a, b;
    place(a, *pair.a, triangles.triangle_a, pair.at_a);
    if (pair.b == nullptr) return pair.solid->gap(pair.solid->context, a, at_most);
    place(b, *pair.b, triangles.triangle_b, pair.at_b);
    return gap_of_elements(a, b);
}

void measure(std::span<const SurfacePair> forest, std::span<const TrianglePair> triangles, TriangleGap* gaps) {
    constexpr std::size_t kStride = sizeof(Element) / sizeof(double);
    Element a[kMostMeasured], b[kMostMeasured];
    const std::size_t count = triangles.size();
    for (std::size_t k = 0; k < count; ++k) {
        const SurfacePair& pair = forest[static_cast<std::size_t>(triangles[k].pair)];
        place(a[k], *pair.a, triangles[k].triangle_a, pair.at_a);
        place(b[k], *pair.b, triangles[k].triangle_b, pair.at_b);
    }
    double distance[kMostMeasured], lower[kMostMeasured], upper[kMostMeasured];
    Vec3d point_a[kMostMeasured], point_b[kMostMeasured], normal[kMostMeasured];
    const GapArrays out{distance, lower, upper, &point_a[0].x, &point_b[0].x, &normal[0].x};
    const ElementArray all_a{&a[0].vertex[0].x, &a[0].radius, kStride, kStride};
    const ElementArray all_b{&b[0].vertex[0].x, &b[0].radius, kStride, kStride};
    // Triangles and balls may stand in one forest: those of a kind that follow each other share the lanes of a kernel.
    for (std::size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && a[end].count == a[begin].count && b[end].count == b[begin].count;) ++end;
        gaps_between(a[begin].count, all_a, b[begin].count, all_b, out, begin, end);
    }
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
