#pragma once

#include <span>
#include <vector>

#include "math/vec2.hpp"

namespace clearance {

// Corners of a convex polygon, counterclockwise; two are a segment, one is a point.
using Corners = std::vector<Vec2>;

// The convex hull, up to rounding; the points are left sorted. Allocates nothing if the hull has room for all of them.
void hull_of(Corners& points, Corners& hull);

// Appends all sums a + b; those of two polygons have the hull {a + b}.
void append_sums(std::span<const Vec2> a, std::span<const Vec2> b, Corners& points);

// How far something is from a hull: negative inside. The normal points away from the hull, at `other`.
struct PlanarGap {
    double distance;
    Vec2 point, other, normal;
};

// A convex polygon swept by a disc.
class DiscSweptHull {
public:
    void reserve(std::size_t corners) { corners_.reserve(corners), sides_.reserve(corners); }
    void set(std::span<const Vec2> corners, double radius);

    std::span<const Vec2> corners() const { return corners_; }
    double radius() const { return radius_; }
    // A disc around the hull, and how far the hull reaches from the origin.
    const Vec2& centre() const { return centre_; }
    double size() const { return size_; }
    double reach() const { return reach_; }

    // No more than the distance of a point, and the distance itself unless it is beyond the limit.
    double lower_to(const Vec2& point, double limit) const;
    PlanarGap gap_to(const Vec2& point) const;
    PlanarGap gap_to(const Vec2& a, const Vec2& b) const;

private:
    struct Side {
        Vec2 from, along, normal;
        double length, offset;  // the hull has normal . x <= offset
    };
    PlanarGap core_gap_to(const Vec2& point) const;
    PlanarGap overlap_with(const Vec2& a, const Vec2& b) const;
    PlanarGap swept(PlanarGap gap) const;

    Corners corners_;
    std::vector<Side> sides_;
    double radius_ = 0.0, size_ = 0.0, reach_ = 0.0;
    Vec2 centre_;
};

// Where a segment is nearest to a point.
Vec2 nearest_on(const Vec2& a, const Vec2& b, const Vec2& point);

}  // namespace clearance
