#include "query/plane_contact.hpp"

#include <algorithm>
#include <vector>

#include "convex/curvature.hpp"
#include "convex/feature.hpp"

namespace clearance {
namespace {

std::vector<Vec3d> corners_of(const ConvexCore& core) {
    if (const Element* e = std::get_if<Element>(&core)) return {e->vertex, e->vertex + e->count};
    if (const HullPointer* hull = std::get_if<HullPointer>(&core)) return (*hull)->points();
    std::vector<Vec3d> corners;
    if (const Box* box = std::get_if<Box>(&core))
        for (int k = 0; k < 8; ++k)
            corners.push_back(scaled(box->half, {k & 1 ? 1.0 : -1.0, k & 2 ? 1.0 : -1.0, k & 4 ? 1.0 : -1.0}));
    return corners;
}

Vec3d deepest_point(const ConvexCore& core, const Vec3d& normal, double tolerance) {
    const Feature feature = feature_facing(core, -normal);
    double lowest = std::numeric_limits<double>::infinity();
    for (int k = 0; k < feature.count; ++k) lowest = min_of(lowest, dot(normal, feature.point[k]));
    Vec3d sum{0, 0, 0};
    int count = 0;
    for (int k = 0; k < feature.count; ++k)
        if (dot(normal, feature.point[k]) <= lowest + tolerance) sum = sum + feature.point[k], ++count;
    return (1.0 / count) * sum;
}

Vec3d weighted_corners(const ConvexCore& core, const Vec3d& normal, double offset) {
    Vec3d sum{0, 0, 0};
    double weight = 0.0;
    for (const Vec3d& corner : corners_of(core)) {
        const double depth = max_of(0.0, offset - dot(normal, corner));
        sum = sum + depth * corner, weight += depth;
    }
    return weight > 0.0 ? (1.0 / weight) * sum : deepest_point(core, normal, 0.0);
}

// Where the plane cuts the edges of a box, in order around the normal.
std::vector<Vec3d> section_of(const Box& box, const Vec3d& normal, double offset) {
    const std::vector<Vec3d> corner = corners_of(ConvexCore{box});
    std::vector<Vec3d> cut;
    for (int i = 0; i < 8; ++i)
        for (const int axis : {1, 2, 4}) {
            if (i & axis) continue;
            const double from = dot(normal, corner[i]) - offset, to = dot(normal, corner[i | axis]) - offset;
            if ((from < 0.0) == (to < 0.0)) continue;
            cut.push_back(corner[i] + (from / (from - to)) * (corner[i | axis] - corner[i]));
        }
    if (cut.empty()) return cut;
    Vec3d middle{0, 0, 0};
    for (const Vec3d& p : cut) middle = middle + (1.0 / static_cast<double>(cut.size())) * p;
    const Tangents across = tangents_of(normal);
    const auto angle = [&](const Vec3d& p) { return std::atan2(dot(across.f, p - middle), dot(across.e, p - middle)); };
    std::sort(cut.begin(), cut.end(), [&](const Vec3d& p, const Vec3d& q) { return angle(p) < angle(q); });
    return cut;
}

Vec3d centroid_of(const std::vector<Vec3d>& polygon, const Vec3d& normal) {
    Vec3d sum{0, 0, 0};
    double area = 0.0;
    for (std::size_t k = 1; k + 1 < polygon.size(); ++k) {
        const double part = dot(normal, cross(polygon[k] - polygon[0], polygon[k + 1] - polygon[0]));
        sum = sum + part * (polygon[0] + polygon[k] + polygon[k + 1]);
        area += part;
    }
    return area > 0.0 ? (1.0 / (3.0 * area)) * sum : polygon.front();
}

// Down along the normal from a point inside a box to its surface.
Vec3d surface_below(const Box& box, const Vec3d& from, const Vec3d& normal) {
    double way = std::numeric_limits<double>::infinity();
    const double p[3] = {from.x, from.y, from.z}, n[3] = {normal.x, normal.y, normal.z};
    const double h[3] = {box.half.x, box.half.y, box.half.z};
    for (int axis = 0; axis < 3; ++axis)
        if (n[axis] != 0.0) way = min_of(way, (h[axis] + (n[axis] > 0.0 ? p[axis] : -p[axis])) / abs_of(n[axis]));
    return from - way * normal;
}

Vec3d section_point(const ConvexCore& core, const Vec3d& normal, double offset) {
    const Box& box = std::get<Box>(core);
    const std::vector<Vec3d> section = section_of(box, normal, offset);
    if (section.size() < 3) return deepest_point(core, normal, 0.0);
    return surface_below(box, centroid_of(section, normal), normal);
}

}  // namespace

bool has_plane_rule(const ConvexCore& core, PlaneRule rule) {
    if (rule == PlaneRule::corners) return !corners_of(core).empty();
    return rule != PlaneRule::section || std::holds_alternative<Box>(core);
}

PlaneContact plane_contact(const ConvexCore& core, PlaneRule rule, const Vec3d& normal, double offset) {
    const Vec3d point = rule == PlaneRule::corners   ? weighted_corners(core, normal, offset)
                        : rule == PlaneRule::section ? section_point(core, normal, offset)
                                                     : deepest_point(core, normal, 1e-9 * ball_around(core).radius);
    return {point, offset - dot(normal, point)};
}

}  // namespace clearance
