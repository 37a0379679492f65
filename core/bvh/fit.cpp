#include "bvh/fit.hpp"

#include <cmath>

namespace clearance {
namespace {

// Slivers and points have no area but count a little all the same.
constexpr double kLeastArea = 1e-14;

// One Jacobi rotation of the symmetric matrix m, and of the axes with it, that makes m[p][q] vanish.
void rotate(double (&m)[3][3], Axes& axes, int p, int q) {
    if (m[p][q] == 0.0) return;
    const double theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
    const double t = (theta >= 0.0 ? 1.0 : -1.0) / (std::fabs(theta) + std::sqrt(theta * theta + 1.0));
    const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
    for (auto& row : m) {
        const double x = row[p], y = row[q];
        row[p] = c * x - s * y, row[q] = s * x + c * y;
    }
    for (int k = 0; k < 3; ++k) {
        const double x = m[p][k], y = m[q][k];
        m[p][k] = c * x - s * y, m[q][k] = s * x + c * y;
    }
    const Vec3d x = axes.axis[p], y = axes.axis[q];
    axes.axis[p] = c * x - s * y, axes.axis[q] = s * x + c * y;
}

Vec3d unit(const Vec3d& v) { return inverse_or_zero(norm(v)) * v; }

}  // namespace

Axes principal_axes(const Moments& moments) {
    const double per_area = 1.0 / moments.area;
    const Vec3d mean = per_area * moments.first;
    const double* s = moments.second;
    const double xy = s[3] * per_area - mean.x * mean.y, xz = s[4] * per_area - mean.x * mean.z;
    const double yz = s[5] * per_area - mean.y * mean.z;
    double m[3][3] = {{s[0] * per_area - mean.x * mean.x, xy, xz},
                      {xy, s[1] * per_area - mean.y * mean.y, yz},
                      {xz, yz, s[2] * per_area - mean.z * mean.z}};
    Axes axes = kFrame;
    for (int sweep = 0; sweep < 8; ++sweep) rotate(m, axes, 0, 1), rotate(m, axes, 0, 2), rotate(m, axes, 1, 2);
    int first = 0, last = 0;
    for (int k = 1; k < 3; ++k) {
        if (m[k][k] > m[first][first]) first = k;
        if (m[k][k] <= m[last][last]) last = k;
    }
    if (first == last) return kFrame;
    const Vec3d e = unit(axes.axis[first]), g = unit(axes.axis[last] - dot(axes.axis[last], e) * e);
    return {{e, cross(g, e), g}};
}

namespace {

Vec3<float> rounded(const Vec3d& v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }
Vec3d widened(const Vec3<float>& v) { return {v.x, v.y, v.z}; }

float rounded_up(double length) {
    const float near = static_cast<float>(length);
    return near < length ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}

struct Extent {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    void add(double x) { low = min_of(low, x), high = max_of(high, x); }
    double middle() const { return 0.5 * (low + high); }
};

template <class Visit>
void for_corners(std::span<const TriangleBox> triangles, const Corners& corners, const Visit& visit) {
    Vec3d corner[3];
    for (const TriangleBox& box : triangles) {
        corners.get(box.triangle, corner);
        for (const Vec3d& point : corner) visit(point);
    }
}

// The box is what lies between three pairs of planes; those are exact for the axes and the centre as they are rounded.
Volume<float> box_along(const Axes& axes, const Extent* extent) {
    Volume<float> box;
    Vec3d centre{0, 0, 0};
    for (int k = 0; k < 3; ++k) centre = centre + extent[k].middle() * widened(box.axis[k] = rounded(axes.axis[k]));
    box.centre = rounded(centre);
    float* const half[3] = {&box.half.x, &box.half.y, &box.half.z};
    for (int k = 0; k < 3; ++k) {
        const double at = dot(widened(box.axis[k]), widened(box.centre));
        *half[k] = rounded_up(max_of(extent[k].high - at, at - extent[k].low));
    }
    box.sweep = 0.0f;
    return box;
}

float half_area(const Volume<float>& box) {
    return box.half.x * box.half.y + box.half.y * box.half.z + box.half.z * box.half.x;
}

}  // namespace

void Moments::add(const Vec3d* corner) {
    const Vec3d u = corner[1] - corner[0], v = corner[2] - corner[0];
    const double weight = 0.5 * norm(cross(u, v)) + kLeastArea;
    const Vec3d sum = corner[0] + corner[1] + corner[2];
    area += weight;
    first = first + (weight / 3.0) * sum;
    const auto product = [&](auto get_p, auto get_q) {
        double total = get_p(sum) * get_q(sum);
        for (int k = 0; k < 3; ++k) total += get_p(corner[k]) * get_q(corner[k]);
        return weight / 12.0 * total;
    };
    const auto x = [](const Vec3d& p) { return p.x; };
    const auto y = [](const Vec3d& p) { return p.y; };
    const auto z = [](const Vec3d& p) { return p.z; };
    second[0] += product(x, x), second[1] += product(y, y), second[2] += product(z, z);
    second[3] += product(x, y), second[4] += product(x, z), second[5] += product(y, z);
}

Moments& Moments::operator+=(const Moments& other) {
    area += other.area;
    first = first + other.first;
    for (int k = 0; k < 6; ++k) second[k] += other.second[k];
    return *this;
}

Volume<float> fitted_box(std::span<const TriangleBox> triangles, const Moments& moments, const Corners& corners) {
    const Axes axes = principal_axes(moments);
    Vec3d rounded_axis[3];
    for (int k = 0; k < 3; ++k) rounded_axis[k] = widened(rounded(axes.axis[k]));
    Extent principal[3], frame[3];
    for_corners(triangles, corners, [&](const Vec3d& point) {
        for (int k = 0; k < 3; ++k) principal[k].add(dot(rounded_axis[k], point));
        frame[0].add(point.x), frame[1].add(point.y), frame[2].add(point.z);
    });
    const Volume<float> along_principal = box_along(axes, principal), along_frame = box_along(kFrame, frame);
    return half_area(along_frame) <= half_area(along_principal) ? along_frame : along_principal;
}

Volume<float> fitted_rss(std::span<const TriangleBox> triangles, const Moments& moments, const Corners& corners) {
    const Axes axes = principal_axes(moments);
    Extent along[3];
    for_corners(triangles, corners, [&](const Vec3d& point) {
        for (int k = 0; k < 3; ++k) along[k].add(dot(axes.axis[k], point));
    });
    const double radius = 0.5 * (along[2].high - along[2].low), radius_sq = radius * radius;
    // The rectangle ends where the sphere alone still reaches the outermost points.
    Extent rectangle[3];
    for_corners(triangles, corners, [&](const Vec3d& point) {
        const double z = dot(axes.axis[2], point) - along[2].middle();
        const double reach = std::sqrt(max_of(0.0, radius_sq - z * z));
        for (int k = 0; k < 2; ++k) {
            const double x = dot(axes.axis[k], point);
            rectangle[k].low = min_of(rectangle[k].low, x + reach), rectangle[k].high = max_of(rectangle[k].high, x - reach);
        }
    });
    rectangle[2].add(along[2].middle());
    for (Extent& side : rectangle)
        if (side.low > side.high) side.low = side.high = side.middle();
    Volume<float> volume = box_along(axes, rectangle);
    volume.half.z = 0.0f;
    // What sticks out at the corners is left to a slightly larger sphere.
    double sweep = 0.0;
    for_corners(triangles, corners, [&](const Vec3d& point) {
        const Vec3d from = point - widened(volume.centre);
        const double x = abs_of(dot(widened(volume.axis[0]), from)) - volume.half.x;
        const double y = abs_of(dot(widened(volume.axis[1]), from)) - volume.half.y;
        const double z = dot(widened(volume.axis[2]), from);
        sweep = max_of(sweep, norm(Vec3d{max_of(x, 0.0), max_of(y, 0.0), z}));
    });
    volume.sweep = rounded_up(sweep);
    return volume;
}

}  // namespace clearance
