#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <optional>

#include "bvh/ray_mesh.hpp"
#include "bvh/tree.hpp"
#include "closest/core.hpp"
#include "closest/element.hpp"

namespace clearance {

using Face = std::array<std::int32_t, 3>;

enum class VolumeKind { obb, rss };

struct BuildOptions {
    VolumeKind volume = VolumeKind::obb;
    int threads = 0;  // all cores
    std::function<void(double fraction)> progress;
};

// A soup of triangles with its tree: an immutable value. With rectangle swept spheres there are two trees, since only two
// meshes that both have them are searched that way. A cloud of balls is one, too: its triangles have three equal corners.
struct Mesh {
    std::vector<Vec3d> vertices;
    std::vector<Face> faces;
    WideTree boxes;
    std::optional<RssTree> rss;
    Ball ball{};                          // around the corners
    int corners = 3;                      // that differ: 1 in a cloud
    double radius = 0.0;                  // of the balls of a cloud, which trees do not know of
    std::uint64_t number = new_number();  // no two meshes of a process have the same
    std::shared_ptr<LazyRayMesh> rays = std::make_shared<LazyRayMesh>();

    Core<double, 3> triangle(std::int32_t k) const {
        const Face& face = faces[static_cast<std::size_t>(k)];
        const auto at = [&](int corner) {
            return vertices[static_cast<std::size_t>(face[static_cast<std::size_t>(corner)])];
        };
        return {at(0), at(1), at(2)};
    }
    Element element(std::int32_t k) const {
        const auto [vertex] = triangle(k);
        return {corners, {vertex[0], vertex[1], vertex[2]}, radius};
    }
    bool is_cloud() const { return corners == 1; }
    static std::uint64_t new_number();
    VolumeKind volume() const { return rss ? VolumeKind::rss : VolumeKind::obb; }
    std::size_t bytes() const {
        return vertices.size() * sizeof(Vec3d) + faces.size() * sizeof(Face) + boxes.bytes() + (rss ? rss->bytes() : 0) +
               rays->bytes();
    }
};

inline std::uint64_t Mesh::new_number() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

// The tree of one of the two kinds; a null pointer tells which.
inline const WideTree& tree_of(const Mesh& mesh, const WideTree*) { return mesh.boxes; }
inline const RssTree& tree_of(const Mesh& mesh, const RssTree*) { return *mesh.rss; }

// Vertices must be finite, faces must refer to them, and there must be at least one of either.
Mesh build_mesh(std::vector<Vec3d> vertices, std::vector<Face> faces, const BuildOptions& options);

// The union of balls around points, at least one of them.
Mesh build_cloud(std::vector<Vec3d> points, double radius);

}  // namespace clearance
