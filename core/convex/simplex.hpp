#pragma once

#include <span>

#include "convex/minkowski.hpp"
#include "convex/polytope_walk.hpp"

namespace clearance {

// One to four points of the Minkowski difference, and the point of their hull nearest to the origin.
class Simplex {
public:
    Simplex() {}  // room for vertices is left as it is: clearing it would take as long as a step of GJK

    // Become that of a walk: up to three corners with the weights that make their nearest point, or four around the origin.
    void take(const PolytopeWalk& walked);

    // Try one more vertex: keep it, and of the others what the nearest point needs, if that brings it nearer to the
    // origin than `distance` was. Returns whether it did.
    bool extend(const Difference& by);

    // The same vertices elsewhere: those that the nearest point does not need any more are left out.
    template <class Moved>
    void renew(const Moved& moved) {
        const Simplex before = *this;
        count_ = 0, distance_ = std::numeric_limits<double>::infinity();
        for (const Difference& vertex : before.vertices()) {
            const Difference at = moved(vertex);
            if (!holds_origin() && !has(at.w)) extend(at);
        }
    }

    bool has(const Vec3d& w) const;
    bool holds_origin() const { return count_ == 4; }
    std::span<const Difference> vertices() const { return {vertex_, static_cast<std::size_t>(count_)}; }
    const Vec3d& nearest() const { return nearest_; }
    double distance() const { return distance_; }  // of the nearest point; infinite before the first vertex
    Vec3d point_a() const;

    // Unit vector from the nearest point to the origin. It is perpendicular to the simplex: near the origin this says more
    // than a difference of two points that almost coincide.
    Vec3d direction() const;

private:
    struct Nearby;
    Nearby nearby_on_segment() const;
    Nearby nearby_on_triangle(int i, int j, int k) const;
    Nearby nearby_on_tetrahedron() const;

    Difference vertex_[4];
    double weight_[4];
    int count_ = 0;
    Vec3d nearest_{0, 0, 0};
    double distance_ = std::numeric_limits<double>::infinity();
};

}  // namespace clearance
