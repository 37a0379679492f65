#include "convex/inner_points.hpp"

#include <cmath>

#include "convex/gjk.hpp"

namespace clearance {
namespace {

constexpr std::size_t kFew = 64, kMany = 20000;  // what it pays for
constexpr std::size_t kDirections = 200;
constexpr double kOutwards = 1.0 + 1e-6;  // points are moved this far out, so that rounding loses none on the surface

// Points spread evenly over the unit sphere, on a spiral.
Vec3d direction(std::size_t k, std::size_t count) {
    const double z = 1.0 - (2.0 * static_cast<double>(k) + 1.0) / static_cast<double>(count);
    const double angle = 2.39996322972865332 * static_cast<double>(k), across = std::sqrt(1.0 - z * z);
    return {across * std::cos(angle), across * std::sin(angle), z};
}

std::size_t farthest(const std::vector<Vec3d>& points, const Vec3d& along) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < points.size(); ++k)
        if (dot(along, points[k]) > dot(along, points[best])) best = k;
    return best;
}

// A hull of points that are farthest in some direction, and a question about it.
class InnerHull {
public:
    InnerHull(std::vector<Vec3d> corners, const Vec3d& centre)
        : centre_(centre), core_(std::make_shared<const Hull>(std::move(corners))) {}

    bool has_inside(const Vec3d& point) const {
        const Vec3d moved = centre_ + kOutwards * (point - centre_);
        const ConvexCore element = Element{1, {moved, moved, moved}, 0.0};
        const double size = std::get<HullPointer>(core_)->ball().radius, reach = size + largest(moved);
        const CorePair pair{core_, element, kNoTurn, {0, 0, 0}, size, reach, false};
        return gjk(pair, moved - centre_, {.width = 1e-12 * size, .lower_above = 0.0}).upper == 0.0;
    }

private:
    Vec3d centre_;
    ConvexCore core_;
};

}  // namespace

std::vector<Vec3d> without_inner_points(const std::vector<Vec3d>& points, const Vec3d& centre) {
    if (points.size() <= kFew || points.size() > kMany) return points;
    std::vector<char> is_corner(points.size(), false);
    for (std::size_t k = 0; k < kDirections; ++k) is_corner[farthest(points, direction(k, kDirections))] = true;
    std::vector<Vec3d> corners;
    for (std::size_t k = 0; k < points.size(); ++k)
        if (is_corner[k]) corners.push_back(points[k]);
    if (corners.size() == points.size()) return points;
    const InnerHull inner(corners, centre);
    for (std::size_t k = 0; k < points.size(); ++k)
        if (!is_corner[k] && !inner.has_inside(points[k])) corners.push_back(points[k]);
    return corners;
}

}  // namespace clearance
