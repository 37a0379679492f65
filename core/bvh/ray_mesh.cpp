#include "bvh/ray_mesh.hpp"

#include "bvh/mesh.hpp"
#include "bvh/ray_tree.hpp"

namespace clearance {
namespace {

// Corners in units of the tree of oriented boxes, about its centre: numbers that everything on rays begins with.
Vec3d in_units(const Mesh& mesh, const Vec3d& corner) { return (1.0 / mesh.boxes.unit) * (corner - mesh.boxes.centre); }

void set_column(double (*column)[kRayLeaf], int k, const Vec3d& v) {
    column[0][k] = v.x, column[1][k] = v.y, column[2][k] = v.z;
}

std::vector<TriangleBox> boxes_of(const Mesh& mesh) {
    const std::size_t count = mesh.is_cloud() ? mesh.vertices.size() : mesh.faces.size();
    const float margin = kRayMargin + static_cast<float>(min_of(1e30, mesh.radius / mesh.boxes.unit * (1.0 + 1e-5)));
    std::vector<TriangleBox> boxes(count);
    for (std::size_t k = 0; k < count; ++k) {
        const auto number = static_cast<std::int32_t>(k);
        const Vec3d first = mesh.vertices[mesh.is_cloud() ? k : static_cast<std::size_t>(mesh.faces[k][0])];
        const Core<double, 3> corners = mesh.is_cloud() ? Core<double, 3>{{first, first, first}} : mesh.triangle(number);
        const Vec3d a = in_units(mesh, corners.vertex[0]), b = in_units(mesh, corners.vertex[1]);
        const Vec3d c = in_units(mesh, corners.vertex[2]);
        const auto set = [&](int axis, double x, double y, double z) {
            boxes[k].low[axis] = static_cast<float>(min_of(x, min_of(y, z))) - margin;
            boxes[k].high[axis] = static_cast<float>(max_of(x, max_of(y, z))) + margin;
        };
        set(0, a.x, b.x, c.x), set(1, a.y, b.y, c.y), set(2, a.z, b.z, c.z);
        boxes[k].triangle = number;
    }
    return boxes;
}

}  // namespace

RayTriangles leaf_of_triangles(const Mesh& mesh, const std::int32_t* numbers, int count) {
    RayTriangles leaf;
    leaf.count = count;
    for (int k = 0; k < kRayLeaf; ++k) {
        leaf.number[k] = numbers[k < count ? k : 0];
        const auto [corner] = mesh.triangle(leaf.number[k]);
        for (int c = 0; c < 3; ++c) set_column(leaf.vertex + 3 * c, k, in_units(mesh, corner[c]));
    }
    return leaf;
}

RayBalls leaf_of_balls(const Mesh& mesh, const std::int32_t* numbers, int count) {
    RayBalls leaf;
    leaf.count = count;
    for (int k = 0; k < kRayLeaf; ++k) {
        leaf.number[k] = numbers[k < count ? k : 0];
        set_column(leaf.centre, k, in_units(mesh, mesh.vertices[static_cast<std::size_t>(leaf.number[k])]));
    }
    return leaf;
}

RayMesh::RayMesh(const Mesh& mesh) {
    std::vector<TriangleBox> boxes = boxes_of(mesh);
    nodes = ray_nodes(boxes, kRayLeaf, [&](std::span<const TriangleBox> group) {
        std::int32_t numbers[kRayLeaf];
        const int count = static_cast<int>(group.size());
        for (int k = 0; k < count; ++k) numbers[k] = group[static_cast<std::size_t>(k)].triangle;
        if (mesh.is_cloud())
            balls.push_back(leaf_of_balls(mesh, numbers, count));
        else
            triangles.push_back(leaf_of_triangles(mesh, numbers, count));
        return static_cast<std::int32_t>((mesh.is_cloud() ? balls.size() : triangles.size()) - 1);
    });
    nodes.shrink_to_fit(), triangles.shrink_to_fit(), balls.shrink_to_fit();
}

const RayMesh& LazyRayMesh::of(const Mesh& mesh) {
    const std::lock_guard<std::mutex> alone(mutex_);
    if (!made_) made_ = std::make_unique<const RayMesh>(mesh);
    return *made_;
}

std::size_t LazyRayMesh::bytes() const {
    const std::lock_guard<std::mutex> alone(mutex_);
    return made_ ? made_->bytes() : 0;
}

}  // namespace clearance
