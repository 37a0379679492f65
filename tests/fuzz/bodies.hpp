#pragma once

// Bodies out of bytes: all kinds of parts, degenerate ones as often as sound ones.
#include <memory>
#include <vector>

#include "bytes.hpp"
#include "query/body.hpp"

namespace clearance::fuzz {

// Half a length: ordinary, tiny or huge compared with the size.
inline double half_length(Bytes& bytes, double size) {
    return size * bytes.power(-6, 3) * (0.5 + 0.5 * std::fabs(bytes.unit()));
}

inline double radius(Bytes& bytes, double size) { return bytes.flag() ? half_length(bytes, size) : 0.0; }

// A point of a cloud, often one that is there already, or on the way between two.
inline Vec3d point(Bytes& bytes, double size, const std::vector<Vec3d>& others) {
    const int kind = bytes.below(8);
    if (kind >= 2 || others.empty()) return size * bytes.in_cube();
    const auto any = [&] { return others[bytes.byte() % others.size()]; };
    const Vec3d one = any();
    return kind == 0 ? one : one + bytes.unit() * (any() - one);
}

// Sometimes flat, or as thin as a needle.
inline std::vector<Vec3d> points(Bytes& bytes, double size, int count) {
    const double y = bytes.power(-12, 0), z = bytes.flag() ? bytes.power(-12, 0) : 1.0;
    std::vector<Vec3d> found;
    for (int k = 0; k < count; ++k) {
        const Vec3d p = point(bytes, size, found);
        found.push_back({p.x, y * p.y, z * p.z});
    }
    return found;
}

inline Part element(Bytes& bytes, double size, const Pose& pose) {
    Element element{1 + bytes.below(3), {}, radius(bytes, size)};
    const std::vector<Vec3d> corners = points(bytes, size, element.count);
    for (std::size_t k = 0; k < 3; ++k) element.vertex[k] = corners[std::min(k, corners.size() - 1)];
    return part_of(Convex{element, element.radius}, pose);
}

inline Part hull(Bytes& bytes, double size, const Pose& pose) {
    const int count = 4 + (bytes.flag() ? bytes.below(200) : bytes.below(12));
    return part_of(Convex{std::make_shared<const Hull>(points(bytes, size, count)), radius(bytes, size)}, pose);
}

inline Part ellipsoid(Bytes& bytes, double size, const Pose& pose) {
    const double x = half_length(bytes, size), y = half_length(bytes, size);
    const Ellipsoid core = worn_ellipsoid({x, y, half_length(bytes, size)});
    return part_of(Convex{core, core.taken}, pose);
}

inline Mesh mesh(Bytes& bytes, double size) {
    std::vector<Vec3d> vertices = points(bytes, size, 3 + bytes.below(24));
    std::vector<Face> faces(1 + std::size_t(bytes.below(32)));
    for (Face& face : faces)
        for (std::int32_t& corner : face) corner = std::int32_t(bytes.byte() % vertices.size());
    return build_mesh(std::move(vertices), std::move(faces), {bytes.flag() ? VolumeKind::rss : VolumeKind::obb, 1, {}});
}

inline Part surface(Mesh mesh, bool solid_below, const Pose& pose) {
    return part_of(Surface{std::make_shared<const Mesh>(std::move(mesh)), solid_below}, pose);
}

inline Part cloud(Bytes& bytes, double size, const Pose& pose) {
    const double ball = half_length(bytes, 0.1 * size);
    return surface(build_cloud(points(bytes, size, 1 + bytes.below(20)), ball), false, pose);
}

// Ground over a grid of cells, solid below.
inline Part height_field(Bytes& bytes, double size, const Pose& pose) {
    const int rows = 2 + bytes.below(4), columns = 2 + bytes.below(4);
    const double cell = half_length(bytes, size), high = half_length(bytes, size);
    std::vector<Vec3d> vertices;
    std::vector<Face> faces;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            vertices.push_back({(i - 0.5 * (rows - 1)) * cell, (j - 0.5 * (columns - 1)) * cell, high * bytes.unit()});
    for (int i = 0; i + 1 < rows; ++i)
        for (int j = 0; j + 1 < columns; ++j) {
            const int p = i * columns + j, q = p + columns;
            faces.push_back({p, q, q + 1});
            faces.push_back({p, q + 1, p + 1});
        }
    return surface(build_mesh(std::move(vertices), std::move(faces), {VolumeKind::obb, 1, {}}), true, pose);
}

inline Part half_space(Bytes& bytes, double size, const Pose& pose) {
    const Vec3d normal = bytes.direction();
    return part_of(HalfSpace{normal, size * bytes.unit()}, pose);
}

enum class Parts { convex, finite, all };

inline Part part(Bytes& bytes, double size, const Pose& pose, Parts which) {
    const int kind = bytes.below(which == Parts::convex ? 8 : which == Parts::finite ? 11 : 12);
    const auto half = [&] { return half_length(bytes, size); };
    switch (kind) {
        case 0:
        case 1: {
            const double x = half(), y = half();
            const Vec3d halves{x, y, half()};
            return part_of(Convex{Box{halves}, bytes.flag() ? radius(bytes, size) : 0.0}, pose);
        }
        case 2: {
            const double across = half();
            return part_of(Convex{Cylinder{across, half()}, 0.0}, pose);
        }
        case 3: {
            const double across = half();
            return part_of(Convex{Cone{across, half()}, 0.0}, pose);
        }
        case 4:
            return ellipsoid(bytes, size, pose);
        case 5:
            return hull(bytes, size, pose);
        case 8:
            return surface(mesh(bytes, size), false, pose);
        case 9:
            return cloud(bytes, size, pose);
        case 10:
            return height_field(bytes, size, pose);
        case 11:
            return half_space(bytes, size, pose);
        default:
            return element(bytes, size, pose);
    }
}

inline Body body(Bytes& bytes, double size, Parts which) {
    const int kind = bytes.below(8);
    const int count = kind < 5 ? 1 : kind - 3;
    std::vector<Part> parts;
    for (int k = 0; k < count; ++k)
        parts.push_back(part(bytes, size, bytes.flag() ? bytes.pose(size) : Pose{},
                             which == Parts::all && count > 1 ? Parts::finite : which));
    return Body(std::move(parts));
}

inline std::shared_ptr<const Body> shared(Body body) { return std::make_shared<const Body>(std::move(body)); }

// ---- What is known of a body without asking a query.

inline double size_of(const Body& body) { return body.is_finite() ? body.ball().radius : 0.0; }

inline bool is_convex(const Body& body) {
    return body.parts().size() == 1 && std::holds_alternative<Convex>(body.parts().front().shape);
}

inline bool is_curved(const Body& body) {
    for (const Part& part : body.parts())
        if (const auto* convex = std::get_if<Convex>(&part.shape); convex != nullptr && clearance::is_curved(convex->core))
            return true;
    return false;
}

// The farthest point of a convex part along a unit vector, in the frame of the body.
inline Vec3d farthest(const Part& part, const Vec3d& along) {
    const auto& [core, radius] = std::get<Convex>(part.shape);
    return part.pose * support(core, transposed_times(part.pose.rotation, along)) + radius * along;
}

// How far a plane keeps b beyond a, for convex bodies: no direction exceeds the signed distance.
inline double separation(const Body& a, const Pose& at_a, const Body& b, const Pose& at_b, const Vec3d& normal) {
    const Vec3d highest = at_a.rotation * farthest(a.parts().front(), transposed_times(at_a.rotation, normal));
    const Vec3d lowest = at_b.rotation * farthest(b.parts().front(), transposed_times(at_b.rotation, -normal));
    return dot(normal, lowest - highest + (at_b.translation - at_a.translation));
}

}  // namespace clearance::fuzz
