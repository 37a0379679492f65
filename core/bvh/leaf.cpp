#include "bvh/leaf.hpp"

namespace clearance {
namespace {

void set_column(float (*column)[kLeafTriangles], int k, const Vec3d& v) {
    column[0][k] = static_cast<float>(v.x), column[1][k] = static_cast<float>(v.y), column[2][k] = static_cast<float>(v.z);
}

}  // namespace

WideLeaf leaf_of(const WideTree*, std::span<const TriangleBox> triangles, const Corners& corners) {
    WideLeaf leaf{};
    for (int k = 0; k < kLeafTriangles; ++k) {
        const auto own = static_cast<std::size_t>(k);
        leaf.triangle[k] = triangles[own < triangles.size() ? own : 0].triangle;
        Vec3d corner[3];
        corners.get(leaf.triangle[k], corner);
        const Vec3d normal = cross(corner[1] - corner[0], corner[2] - corner[0]);
        const Vec3d centre = (1.0 / 3.0) * (corner[0] + corner[1] + corner[2]);
        double reach = 0.0;
        for (int c = 0; c < 3; ++c) {
            set_column(leaf.vertex + 3 * c, k, corner[c]);
            reach = max_of(reach, norm(corner[c] - centre));
        }
        set_column(leaf.normal, k, inverse_or_zero(norm(normal)) * normal);
        set_column(leaf.centre, k, centre);
        leaf.radius[k] = static_cast<float>(reach * (1.0 + 1e-7));
    }
    leaf.count = static_cast<std::int32_t>(triangles.size());
    return leaf;
}

}  // namespace clearance
