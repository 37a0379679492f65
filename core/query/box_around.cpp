#include "query/box_around.hpp"

#include "bvh/extreme.hpp"
#include "bvh/fit.hpp"

namespace clearance {
namespace {

constexpr std::size_t kMostAxes = 16;  // of parts that are tried

Vec3d farthest(const Part& part, const Vec3d& along) {
    const Vec3d seen = transposed_times(part.pose.rotation, along);
    if (const auto* convex = std::get_if<Convex>(&part.shape))
        return part.pose * support(convex->core, seen) + convex->radius * along;
    const Mesh& mesh = *surface_of(part)->mesh;
    return part.pose * lowest_corner(mesh, -seen).point + mesh.radius * along;
}

double highest(const Body& body, const Vec3d& along) {
    double height = -std::numeric_limits<double>::infinity();
    for (const Part& part : body.parts()) height = max_of(height, dot(along, farthest(part, along)));
    return height;
}

OrientedBox box_along(const Body& body, const Axes& axes) {
    OrientedBox box{{0, 0, 0}, {}, {axes.axis[0], axes.axis[1], axes.axis[2]}};
    double half[3];
    for (int k = 0; k < 3; ++k) {
        const double high = highest(body, axes.axis[k]), low = -highest(body, -axes.axis[k]);
        box.centre = box.centre + (0.5 * (low + high)) * axes.axis[k];
        half[k] = 0.5 * (high - low) + 16.0 * kEpsilon * (abs_of(high) + abs_of(low));
    }
    box.half = {half[0], half[1], half[2]};
    return box;
}

double area_of(const OrientedBox& box) {
    const Vec3d& h = box.half;
    return h.x * h.y + h.y * h.z + h.z * h.x;
}

// Corners of a body that stick out in many directions, as triangles, give its principal axes.
Axes principal_axes_of(const Body& body) {
    Moments moments;
    for (const double x : {-1.0, 0.0, 1.0})
        for (const double y : {-1.0, 0.0, 1.0})
            for (const double z : {-1.0, 0.0, 1.0}) {
                if (x == 0.0 && y == 0.0 && z == 0.0) continue;
                const double scale = 1.0 / std::sqrt(x * x + y * y + z * z);
                const Vec3d u{scale * x, scale * y, scale * z}, v{scale * y, scale * z, scale * x};
                const Vec3d out[3] = {u, v, {scale * z, scale * x, scale * y}};
                Vec3d corner[3];
                for (int k = 0; k < 3; ++k) {
                    double height = -std::numeric_limits<double>::infinity();
                    for (const Part& part : body.parts()) {
                        const Vec3d point = farthest(part, out[k]);
                        if (dot(out[k], point) > height) height = dot(out[k], point), corner[k] = point;
                    }
                }
                moments.add(corner);
            }
    return principal_axes(moments);
}

Axes axes_of(const Part& part) {
    const Mat3& r = part.pose.rotation;
    const auto turned = [&](const Vec3<float>& v) { return r * Vec3d{v.x, v.y, v.z}; };
    if (const Surface* surface = surface_of(part)) {
        const Volume<float>& root = surface->mesh->boxes.root;
        const Vec3d z = turned(root.axis[2]), x = turned(root.axis[0]) - dot(turned(root.axis[0]), z) * z;
        const Vec3d e = inverse_or_zero(norm(x)) * x, g = inverse_or_zero(norm(z)) * z;
        return {{e, cross(g, e), g}};
    }
    return {
        {{r.row[0].x, r.row[1].x, r.row[2].x}, {r.row[0].y, r.row[1].y, r.row[2].y}, {r.row[0].z, r.row[1].z, r.row[2].z}}};
}

}  // namespace

OrientedBox box_around(const Body& body) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    if (!body.is_finite()) return {{0, 0, 0}, {inf, inf, inf}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    OrientedBox best = box_along(body, kFrame);
    const auto consider = [&](const Axes& axes) {
        for (const Vec3d& axis : axes.axis)
            if (!(abs_of(norm_sq(axis) - 1.0) < 1e-9)) return;
        const OrientedBox box = box_along(body, axes);
        if (area_of(box) < area_of(best)) best = box;
    };
    consider(principal_axes_of(body));
    for (std::size_t k = 0; k < body.parts().size() && k < kMostAxes; ++k) consider(axes_of(body.parts()[k]));
    return best;
}

}  // namespace clearance
