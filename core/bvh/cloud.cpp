#include <algorithm>

#include "bvh/mesh.hpp"

namespace clearance {
namespace {

// Every third bit of a number below 2^21.
std::uint64_t spread_out(std::uint64_t x) {
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

// The order of points along a curve that fills space; of equal points the first comes first.
std::vector<std::int32_t> order_along_curve(const std::vector<Vec3d>& points) {
    Vec3d low = points.front(), high = low;
    for (const Vec3d& p : points) {
        low = {min_of(low.x, p.x), min_of(low.y, p.y), min_of(low.z, p.z)};
        high = {max_of(high.x, p.x), max_of(high.y, p.y), max_of(high.z, p.z)};
    }
    const double cells = 2097151.0 * inverse_or_zero(largest(high - low));
    const auto cell = [&](double from_low) {
        return spread_out(static_cast<std::uint64_t>(min_of(cells * from_low, 2097151.0)));
    };
    struct Place {
        std::uint64_t code;
        std::int32_t point;
    };
    std::vector<Place> places(points.size());
    for (std::size_t k = 0; k < points.size(); ++k) {
        const Vec3d from_low = points[k] - low;
        places[k] = {cell(from_low.x) | cell(from_low.y) << 1 | cell(from_low.z) << 2, static_cast<std::int32_t>(k)};
    }
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.code != b.code ? a.code < b.code : a.point < b.point; });
    std::vector<std::int32_t> order;
    order.reserve(places.size());
    for (const Place& place : places) order.push_back(place.point);
    return order;
}

}  // namespace

// The tree is built over points in an order of their own, so that neighbours are next to each other in memory; in any other
// order most of the time goes into fetching them.
Mesh build_cloud(std::vector<Vec3d> points, double radius) {
    const std::vector<std::int32_t> order = order_along_curve(points);
    std::vector<Vec3d> sorted(points.size());
    std::vector<Face> faces(points.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        sorted[k] = points[static_cast<std::size_t>(order[k])];
        faces[k].fill(static_cast<std::int32_t>(k));
    }
    Mesh mesh = build_mesh(std::move(sorted), std::move(faces), {});
    for (WideLeaf& leaf : mesh.boxes.leaves)
        for (std::int32_t& point : leaf.triangle) point = order[static_cast<std::size_t>(point)];
    mesh.vertices = std::move(points);
    mesh.corners = 1, mesh.radius = radius;
    return mesh;
}

}  // namespace clearance
