#pragma once

#include <span>

#include "bvh/split.hpp"
#include "bvh/volume.hpp"

namespace clearance {

// Zeroth, first and second moments of the area of triangles: what their principal axes follow from. They add up.
struct Moments {
    double area = 0.0;
    Vec3d first{0, 0, 0};
    double second[6] = {0, 0, 0, 0, 0, 0};  // xx yy zz xy xz yz

    void add(const Vec3d* corner);
    Moments& operator+=(const Moments& other);
};

// Axes at right angles.
struct Axes {
    Vec3d axis[3];
};

constexpr Axes kFrame{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

// Longest first; those of the frame where they are all alike.
Axes principal_axes(const Moments& moments);

// Corners of a triangle, in units of the tree.
struct Corners {
    const double* vertices;     // three per vertex
    const std::int32_t* faces;  // three per triangle
    Vec3d centre;
    double per_unit;

    void get(std::int32_t triangle, Vec3d* corner) const {
        for (int k = 0; k < 3; ++k) {
            const double* v =
                vertices +
                3 * static_cast<std::size_t>(faces[3 * static_cast<std::size_t>(triangle) + static_cast<std::size_t>(k)]);
            corner[k] = per_unit * (Vec3d{v[0], v[1], v[2]} - centre);
        }
    }
};

// The box along the principal axes, or along those of the frame where that is smaller.
Volume<float> fitted_box(std::span<const TriangleBox> triangles, const Moments& moments, const Corners& corners);

// A rectangle along the two larger principal axes, swept as far as needed.
Volume<float> fitted_rss(std::span<const TriangleBox> triangles, const Moments& moments, const Corners& corners);

}  // namespace clearance
