#include "convex/mpr.hpp"

#include "convex/curvature.hpp"

namespace clearance {
namespace {

constexpr int kMostIterations = 256;

// Three points of the boundary of A - B that the ray from the inner point through the origin passes between.
class Portal {
public:
    Portal(const CorePair& pair, const Vec3d& inner) : pair_(pair), inner_(inner) {}

    // False if the ray lies in a flat A - B, or leaves it before the origin.
    bool find() {
        corner_[0] = pair_.farthest(unit_or({1, 0, 0}, -inner_));
        const Vec3d aside = cross(inner_, corner_[0].w);
        corner_[1] = pair_.farthest(unit_or(tangents_of(unit_or({1, 0, 0}, inner_)).e, aside));
        for (int k = 0; k < kMostIterations; ++k) {
            Vec3d out = cross(corner_[0].w - inner_, corner_[1].w - inner_);
            if (!(norm(out) > 0.0)) return false;
            if (dot(out, inner_) > 0.0) std::swap(corner_[0], corner_[1]), out = -out;
            corner_[2] = pair_.farthest(unit_or(out, out));
            if (leaves_beside(0, 2))
                corner_[1] = corner_[2];
            else if (leaves_beside(2, 1))
                corner_[0] = corner_[2];
            else
                return true;
        }
        return false;
    }

    Vec3d normal() const {
        const Vec3d n = unit_or({1, 0, 0}, cross(corner_[1].w - corner_[0].w, corner_[2].w - corner_[0].w));
        return dot(n, corner_[0].w - inner_) < 0.0 ? -n : n;
    }

    // Replace the corner that leaves the ray between the others and the new one.
    void refine(const Difference& by) {
        const Vec3d aside = cross(by.w - inner_, inner_);
        const bool left_of_0 = dot(corner_[0].w - inner_, aside) >= 0.0,
                   left_of_1 = dot(corner_[1].w - inner_, aside) >= 0.0,
                   left_of_2 = dot(corner_[2].w - inner_, aside) >= 0.0;
        if (left_of_0 && !left_of_1)
            corner_[2] = by;
        else if (left_of_1 && !left_of_2)
            corner_[0] = by;
        else
            corner_[left_of_2 && !left_of_0 ? 1 : 2] = by;
    }

    const Difference& corner(int k) const { return corner_[k]; }

private:
    bool leaves_beside(int i, int j) const { return dot(cross(corner_[i].w - inner_, corner_[j].w - inner_), inner_) < 0.0; }

    const CorePair& pair_;
    Vec3d inner_;
    Difference corner_[3];
};

}  // namespace

Depth mpr(const CorePair& pair, const Vec3d& inner, double width) {
    Portal portal(pair, inner);
    const Vec3d straight = unit_or({1, 0, 0}, -inner);
    const Difference first = pair.farthest(straight);
    Depth best{straight, -dot(straight, first.w), 0.0, 1};
    if (!portal.find()) return best;
    while (best.iterations < kMostIterations) {
        ++best.iterations;
        const Vec3d n = portal.normal();
        const Difference farthest = pair.farthest(n);
        const double separation = -dot(n, farthest.w);
        best.normal = n, best.lower = separation;
        if (dot(n, farthest.w - portal.corner(0).w) <= width) break;
        portal.refine(farthest);
    }
    return best;
}

}  // namespace clearance
