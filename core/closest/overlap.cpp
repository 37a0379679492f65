#include "closest/overlap.hpp"

namespace clearance {
namespace {

// A convex polygon of at most six corners: a triangle cut by three lines. A segment is a polygon of two.
struct Polygon {
    Vec3d corner[9];
    int count = 0;
    void add(const Vec3d& point) { corner[count++] = point; }
};

// Keep what lies on the inner side of one edge; `inward` is perpendicular to the edge and to the viewing direction.
Polygon clipped(const Polygon& polygon, const Vec3d& on_edge, const Vec3d& inward) {
    Polygon kept;
    for (int k = 0; k < polygon.count; ++k) {
        const Vec3d& here = polygon.corner[k];
        const Vec3d& next = polygon.corner[(k + 1) % polygon.count];
        const double height_here = dot(inward, here - on_edge), height_next = dot(inward, next - on_edge);
        if (height_here >= 0.0) kept.add(here);
        if ((height_here > 0.0 && height_next < 0.0) || (height_here < 0.0 && height_next > 0.0))
            kept.add(here + (height_here / (height_here - height_next)) * (next - here));
    }
    return kept;
}

// A clipped segment comes back with a corner or two repeated; its middle lies between the outermost ones.
Vec3d middle_of_line(const Polygon& line, const Vec3d& along) {
    Vec3d first = line.corner[0], last = line.corner[0];
    for (int k = 1; k < line.count; ++k) {
        if (dot(along, line.corner[k] - first) < 0.0) first = line.corner[k];
        if (dot(along, line.corner[k] - last) > 0.0) last = line.corner[k];
    }
    return first + 0.5 * (last - first);
}

Vec3d mean_of_corners(const Polygon& polygon) {
    Vec3d sum{0, 0, 0};
    for (int k = 0; k < polygon.count; ++k) sum = sum + (polygon.corner[k] - polygon.corner[0]);
    return polygon.corner[0] + (1.0 / polygon.count) * sum;
}

Vec3d centroid(const Polygon& polygon, const Vec3d& normal) {
    double area = 0.0;
    Vec3d moment{0, 0, 0};
    for (int k = 1; k + 1 < polygon.count; ++k) {
        const Vec3d u = polygon.corner[k] - polygon.corner[0], v = polygon.corner[k + 1] - polygon.corner[0];
        const double part = dot(normal, cross(u, v));
        area += part;
        moment = moment + part * (u + v);
    }
    // A sliver without area is no polygon any more; its corners are the overlap.
    if (area == 0.0) return mean_of_corners(polygon);
    return polygon.corner[0] + (1.0 / (3.0 * area)) * moment;
}

}  // namespace

template <int NA>
bool middle_of_overlap(const Core<double, NA>& a, const Core<double, 3>& b, const Vec3d& normal, Vec3d& middle) {
    Polygon overlap;
    for (const Vec3d& vertex : a.vertex) overlap.add(vertex);
    const double turn = dot(normal, cross(b.vertex[1] - b.vertex[0], b.vertex[2] - b.vertex[0]));
    if (turn == 0.0) return false;
    for (int k = 0; k < 3 && overlap.count > 0; ++k) {
        const Vec3d inward = cross(normal, b.vertex[(k + 1) % 3] - b.vertex[k]);
        overlap = clipped(overlap, b.vertex[k], turn > 0.0 ? inward : -inward);
    }
    if (overlap.count == 0) return false;
    middle = NA == 2 ? middle_of_line(overlap, a.vertex[1] - a.vertex[0]) : centroid(overlap, normal);
    return true;
}

template bool middle_of_overlap(const Core<double, 2>&, const Core<double, 3>&, const Vec3d&, Vec3d&);
template bool middle_of_overlap(const Core<double, 3>&, const Core<double, 3>&, const Vec3d&, Vec3d&);

}  // namespace clearance
