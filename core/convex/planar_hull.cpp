#include "convex/planar_hull.hpp"

#include <algorithm>
#include <limits>

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

// The lower chain from left to right, then the upper one back (A. M. Andrew, Another efficient algorithm for convex hulls in
// two dimensions, 1979).
void hull_of(Corners& points, Corners& hull) {
    std::sort(points.begin(), points.end(),
              [](const Vec2& a, const Vec2& b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
    points.erase(std::unique(points.begin(), points.end()), points.end());
    hull.clear();
    const auto append = [&](const Vec2& point, std::size_t least) {
        while (hull.size() > least && cross(hull.back() - hull[hull.size() - 2], point - hull.back()) <= 0.0)
            hull.pop_back();
        hull.push_back(point);
    };
    for (const Vec2& point : points) append(point, 1);
    const std::size_t lower = hull.size();
    for (std::size_t k = points.size(); k-- > 1;) append(points[k - 1], lower);
    if (hull.size() > 1) hull.pop_back();
}

void append_sums(std::span<const Vec2> a, std::span<const Vec2> b, Corners& points) {
    for (const Vec2& of_a : a)
        for (const Vec2& of_b : b) points.push_back(of_a + of_b);
}

Vec2 nearest_on(const Vec2& a, const Vec2& b, const Vec2& point) {
    const Vec2 along = b - a;
    const double length_sq = norm_sq(along);
    if (!(length_sq > 0.0)) return a;
    return a + std::clamp(dot(point - a, along) / length_sq, 0.0, 1.0) * along;
}

void DiscSweptHull::set(std::span<const Vec2> corners, double radius) {
    corners_.assign(corners.begin(), corners.end());
    sides_.clear();
    radius_ = radius;
    Vec2 sum;
    for (const Vec2& corner : corners_) sum = sum + corner;
    centre_ = (1.0 / static_cast<double>(corners_.size())) * sum;
    double size_sq = 0.0, reach_sq = 0.0;
    for (std::size_t k = 0; k < corners_.size(); ++k) {
        size_sq = std::max(size_sq, norm_sq(corners_[k] - centre_));
        reach_sq = std::max(reach_sq, norm_sq(corners_[k]));
        const Vec2 along = corners_[(k + 1) % corners_.size()] - corners_[k];
        const double length = norm(along);
        if (!(length > 0.0)) continue;
        const Vec2 unit = (1.0 / length) * along;
        sides_.push_back({corners_[k], unit, {unit.y, -unit.x}, length, -kInfinity});
    }
    // No corner is beyond a side, however short and badly aimed rounding has left it: its line is moved out to the farthest.
    for (Side& side : sides_)
        for (const Vec2& corner : corners_) side.offset = std::max(side.offset, dot(side.normal, corner));
    size_ = (std::sqrt(size_sq) + radius_) * (1.0 + 1e-12);
    reach_ = (std::sqrt(reach_sq) + radius_) * (1.0 + 1e-12);
}

double DiscSweptHull::lower_to(const Vec2& point, double limit) const {
    double farthest = -kInfinity;
    for (const Side& side : sides_) farthest = std::max(farthest, dot(side.normal, point) - side.offset);
    return farthest - radius_ > limit ? farthest - radius_ : core_gap_to(point).distance - radius_;
}

PlanarGap DiscSweptHull::core_gap_to(const Vec2& point) const {
    double inside = -kInfinity, nearest_sq = norm_sq(point - corners_[0]);
    Vec2 outward{1.0, 0.0}, nearest = corners_[0];
    for (const Side& side : sides_) {
        const Vec2 from = point - side.from;
        const double beyond = dot(side.normal, point) - side.offset;
        if (beyond > inside) inside = beyond, outward = side.normal;
        const Vec2 on = side.from + std::clamp(dot(side.along, from), 0.0, side.length) * side.along;
        const double on_sq = norm_sq(point - on);
        if (on_sq < nearest_sq) nearest_sq = on_sq, nearest = on;
    }
    if (sides_.size() > 2 && inside <= 0.0) return {inside, point - inside * outward, point, outward};
    const double distance = std::sqrt(nearest_sq);
    return {distance, nearest, point, distance > 0.0 ? (1.0 / distance) * (point - nearest) : outward};
}

PlanarGap DiscSweptHull::swept(PlanarGap gap) const {
    gap.distance -= radius_;
    gap.point = gap.point + radius_ * gap.normal;
    return gap;
}

PlanarGap DiscSweptHull::gap_to(const Vec2& point) const { return swept(core_gap_to(point)); }

// The least of the overlaps along the normals of both; of a segment that is apart along one of them, the gap along it.
PlanarGap DiscSweptHull::overlap_with(const Vec2& a, const Vec2& b) const {
    PlanarGap best{-kInfinity, {}, {}, {1.0, 0.0}};
    for (const Side& side : sides_) {
        const double beyond_a = dot(side.normal, a) - side.offset, beyond_b = dot(side.normal, b) - side.offset;
        const double beyond = std::min(beyond_a, beyond_b);
        const Vec2& end = beyond_a < beyond_b ? a : b;
        if (beyond > best.distance) best = {beyond, end - beyond * side.normal, end, side.normal};
    }
    const Vec2 along = b - a;
    const double length = norm(along);
    if (!(length > 0.0)) return best;
    for (const double sign : {1.0, -1.0}) {
        const Vec2 normal = (sign / length) * Vec2{along.y, -along.x};
        double beyond = kInfinity;
        Vec2 deepest;
        for (const Vec2& corner : corners_)
            if (dot(normal, a - corner) < beyond) beyond = dot(normal, a - corner), deepest = corner;
        if (beyond > best.distance) best = {beyond, deepest, deepest + beyond * normal, normal};
    }
    return best;
}

PlanarGap DiscSweptHull::gap_to(const Vec2& a, const Vec2& b) const {
    const PlanarGap overlap = overlap_with(a, b);
    if (overlap.distance < 0.0) return swept(overlap);
    PlanarGap best = core_gap_to(a);
    const PlanarGap to_b = core_gap_to(b);
    if (to_b.distance < best.distance) best = to_b;
    for (const Vec2& corner : corners_) {
        const Vec2 on = nearest_on(a, b, corner);
        const double distance = norm(on - corner);
        if (distance < best.distance)
            best = {distance, corner, on, distance > 0.0 ? (1.0 / distance) * (on - corner) : overlap.normal};
    }
    return swept(best);
}

}  // namespace clearance
