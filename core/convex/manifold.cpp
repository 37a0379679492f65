#include "convex/manifold.hpp"

#include <algorithm>

#include "closest/pairs.hpp"
#include "convex/curvature.hpp"

namespace clearance {
namespace {

// Edges within this angle of each other run side by side; others cross.
constexpr double kParallelEdges = 1e-3;

// Points as near to each other as this, compared with the features, are one.
constexpr double kSamePoint = 1e-9;

struct Flat {
    double x, y;
};
Flat operator-(const Flat& p, const Flat& q) { return {p.x - q.x, p.y - q.y}; }
double turn(const Flat& p, const Flat& q) { return p.x * q.y - p.y * q.x; }
double apart_sq(const Flat& p, const Flat& q) { return (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y); }

// A feature seen along n: flat corners, and its height above the plane through the origin, which is that of a plane.
class Shadow {
public:
    static constexpr int kMostPoints = 2 * Feature::kMostPoints;

    Shadow(const Feature& feature, const Vec3d& n, const Tangents& across) : count(feature.count) {
        for (int k = 0; k < count; ++k)
            corner[k] = {dot(across.e, feature.point[k]), dot(across.f, feature.point[k])},
            height_[k] = dot(n, feature.point[k]);
        if (count > 2 && area() < 0.0) std::reverse(corner, corner + count), std::reverse(height_, height_ + count);
        fit_plane();
    }

    double extent() const {
        double farthest_sq = 0.0;
        for (int k = 1; k < count; ++k) farthest_sq = max_of(farthest_sq, apart_sq(corner[0], corner[k]));
        return std::sqrt(farthest_sq);
    }

    double height(const Flat& p) const {
        return height_[0] + slope_.x * (p.x - corner[0].x) + slope_.y * (p.y - corner[0].y);
    }

    Flat corner[kMostPoints];
    int count;

private:
    double area() const {
        double sum = 0.0;
        for (int k = 1; k + 1 < count; ++k) sum += turn(corner[k] - corner[0], corner[k + 1] - corner[0]);
        return sum;
    }
    void fit_plane() {
        if (count == 2) {
            const Flat u = corner[1] - corner[0];
            const double scale = (height_[1] - height_[0]) * inverse_or_zero(u.x * u.x + u.y * u.y);
            slope_ = {scale * u.x, scale * u.y};
        } else if (count > 2) {
            const int second = count / 3, third = 2 * count / 3;
            const Flat u = corner[second] - corner[0], v = corner[third] - corner[0];
            const double det = turn(u, v), hu = height_[second] - height_[0], hv = height_[third] - height_[0];
            if (det != 0.0) slope_ = {(hu * v.y - hv * u.y) / det, (hv * u.x - hu * v.x) / det};
        }
    }

    double height_[Feature::kMostPoints];
    Flat slope_{0, 0};
};

struct Outline {
    Flat corner[Shadow::kMostPoints];
    int count = 0;
    void add(const Flat& p) {
        if (count < Shadow::kMostPoints) corner[count++] = p;
    }
    // Faces that only just meet have an overlap without area, whose corners coincide.
    void add_new(const Flat& p, double same) {
        for (int k = 0; k < count; ++k)
            if (apart_sq(p, corner[k]) <= same * same) return;
        add(p);
    }
};

// Keep what lies to the left of the line from p to q (Sutherland and Hodgman 1974).
Outline left_of(const Outline& outline, const Flat& p, const Flat& q) {
    Outline kept;
    const bool ring = outline.count > 2;
    for (int k = 0; k < outline.count; ++k) {
        const Flat &here = outline.corner[k], &next = outline.corner[k + 1 == outline.count ? 0 : k + 1];
        const double side = turn(q - p, here - p), other = turn(q - p, next - p);
        if (side >= 0.0) kept.add(here);
        if ((side < 0.0) != (other < 0.0) && (ring || k == 0)) {
            const double s = side / (side - other);
            kept.add({here.x + s * (next.x - here.x), here.y + s * (next.y - here.y)});
        }
    }
    return kept;
}

Outline clipped(const Shadow& by, const Shadow& what) {
    Outline outline;
    for (int k = 0; k < what.count; ++k) outline.add(what.corner[k]);
    for (int k = 0; k < by.count && outline.count > 0; ++k)
        outline = left_of(outline, by.corner[k], by.corner[k + 1 == by.count ? 0 : k + 1]);
    return outline;
}

// Two edges: where they run side by side, or cross.
Outline common_of_edges(const Shadow& a, const Shadow& b) {
    const Flat u = a.corner[1] - a.corner[0], v = b.corner[1] - b.corner[0], w = b.corner[0] - a.corner[0];
    const double uu = u.x * u.x + u.y * u.y, vv = v.x * v.x + v.y * v.y, uv = turn(u, v);
    Outline outline;
    const auto on_a = [&](double s) { outline.add({a.corner[0].x + s * u.x, a.corner[0].y + s * u.y}); };
    if (uv * uv > kParallelEdges * kParallelEdges * uu * vv) {
        on_a(clamp_unit(turn(w, v) / uv));
        return outline;
    }
    if (!(uu > 0.0)) return outline.add(a.corner[0]), outline;
    const double from = (w.x * u.x + w.y * u.y) / uu, to = from + (v.x * u.x + v.y * u.y) / uu;
    const double low = clamp_unit(min_of(from, to)), high = clamp_unit(max_of(from, to));
    on_a(low);
    if (high > low) on_a(high);
    return outline;
}

// An edge over a disc ends at the circle, not at the sides between the corners of the disc.
Outline edge_over_disc(const Feature& edge, const Feature& disc, const Vec3d& n, const Tangents& across) {
    const auto dropped = [&](const Vec3d& p) {  // along n onto the plane of the disc, about its centre
        const Vec3d from = p - disc.centre;
        return from - (dot(disc.axis, from) / dot(disc.axis, n)) * n;
    };
    const Vec3d start = dropped(edge.point[0]), u = dropped(edge.point[1]) - start;
    const double uu = norm_sq(u), us = dot(u, start), room = us * us - uu * (norm_sq(start) - disc.radius * disc.radius);
    Outline outline;
    if (!(uu > 0.0) || room < 0.0) return outline;
    const double low = max_of(0.0, (-us - std::sqrt(room)) / uu), high = min_of(1.0, (-us + std::sqrt(room)) / uu);
    if (low > high) return outline;
    for (const double s : {low, high}) {
        const Vec3d p = edge.point[0] + s * (edge.point[1] - edge.point[0]);
        outline.add({dot(across.e, p), dot(across.f, p)});
    }
    return outline;
}

Outline common(const Shadow& a, const Shadow& b) {
    if (a.count > 2) return clipped(a, b);
    if (b.count > 2) return clipped(b, a);
    if (a.count == 2 && b.count == 2) return common_of_edges(a, b);
    Outline point;
    point.add(a.count == 1 ? a.corner[0] : b.corner[0]);
    return point;
}

// Of many points the deepest, the one farthest from it, and the two that stand farthest to either side of both.
template <class Depth>
void thin_out(Outline& outline, const Depth& depth) {
    if (outline.count <= Manifold::kMostPoints) return;
    Flat* const p = outline.corner;
    const auto pick = [&](int slot, const auto& worth) {
        int best = slot;
        for (int k = slot + 1; k < outline.count; ++k)
            if (worth(p[k]) > worth(p[best])) best = k;
        std::swap(p[slot], p[best]);
    };
    pick(0, depth);
    pick(1, [&](const Flat& q) { return apart_sq(q, p[0]); });
    pick(2, [&](const Flat& q) { return turn(p[1] - p[0], q - p[0]); });
    pick(3, [&](const Flat& q) { return -turn(p[1] - p[0], q - p[0]); });
    outline.count = Manifold::kMostPoints;
}

}  // namespace

Manifold meeting(const Feature& a, const Feature& b, const Vec3d& n, double least_depth) {
    const Tangents across = tangents_of(n);
    const Shadow shadow_a(a, n, across), shadow_b(b, n, across);
    const auto depth = [&](const Flat& p) { return shadow_a.height(p) - shadow_b.height(p); };
    const bool a_over_b = a.count == 2 && b.radius > 0.0, b_over_a = b.count == 2 && a.radius > 0.0;
    const Outline outline = a_over_b   ? edge_over_disc(a, b, n, across)
                            : b_over_a ? edge_over_disc(b, a, n, across)
                                       : common(shadow_a, shadow_b);
    Outline deep;
    const double same = kSamePoint * max_of(shadow_a.extent(), shadow_b.extent());
    for (int k = 0; k < outline.count; ++k)
        if (depth(outline.corner[k]) >= least_depth) deep.add_new(outline.corner[k], same);
    thin_out(deep, depth);
    Manifold manifold;
    for (int k = 0; k < deep.count; ++k) {
        const Flat& p = deep.corner[k];
        manifold.point[manifold.count++] = {p.x * across.e + p.y * across.f, shadow_a.height(p), shadow_b.height(p)};
    }
    return manifold;
}

}  // namespace clearance
