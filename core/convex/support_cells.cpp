#include "convex/support_cells.hpp"

#include <algorithm>

namespace clearance {
namespace {

// Squares are taken to be so much wider than they are, which is more than rounding makes of a direction.
constexpr double kWider = 1e-9;

// A cap of the unit sphere around a square: no unit vector of the square is farther from the axis than `radius`.
struct Cap {
    Vec3d axis;
    double radius;
};

Vec3d on_cube(int face, double u, double v) {
    double c[5] = {0, 0, 0, 0, 0};
    const int axis = face / 2;
    c[axis] = face % 2 == 0 ? 1.0 : -1.0, c[axis + 1] = u, c[axis + 2] = v;
    return {c[0] + c[3], c[1] + c[4], c[2]};
}

Vec3d unit(const Vec3d& v) { return (1.0 / norm(v)) * v; }

Cap cap_of(const SupportCells::Square& square) {
    constexpr double cell = 2.0 / SupportCells::kSide;
    const double u = cell * square.u - 1.0, v = cell * square.v - 1.0, width = cell * square.across;
    const int face = square.face;
    Cap cap{unit(on_cube(face, u + 0.5 * width, v + 0.5 * width)), 0.0};
    for (const double du : {0.0, width})
        for (const double dv : {0.0, width})
            cap.radius = max_of(cap.radius, norm(unit(on_cube(face, u + du, v + dv)) - cap.axis));
    cap.radius += kWider;
    return cap;
}

// Whether p is higher than q along all directions of a cap.
bool exceeds(const Vec3d& p, const Vec3d& q, const Cap& cap) {
    const Vec3d apart = p - q;
    const double rise = dot(cap.axis, apart);
    return rise > 0.0 && rise * rise > cap.radius * cap.radius * norm_sq(apart);
}

}  // namespace

std::vector<std::size_t> SupportCells::points_for(const Square& square, const std::vector<Vec3d>& points) {
    const Cap cap = cap_of(square);
    std::size_t highest = 0;
    for (std::size_t k = 1; k < points.size(); ++k)
        if (dot(cap.axis, points[k]) > dot(cap.axis, points[highest])) highest = k;
    std::vector<std::size_t> left, found;
    for (std::size_t k = 0; k < points.size(); ++k)
        if (!exceeds(points[highest], points[k], cap)) left.push_back(k);
    for (const std::size_t k : left)
        if (std::none_of(left.begin(), left.end(),
                         [&](std::size_t other) { return exceeds(points[other], points[k], cap); }))
            found.push_back(k);
    return found;
}

}  // namespace clearance
