#pragma once

#include "convex/minkowski.hpp"

namespace clearance {

// One to four points of the Minkowski difference, and the point of their hull nearest to the origin.
struct Simplex {
    Difference vertex[4];
    double weight[4];
    int count = 0;
    bool holds_origin = false;

    Vec3d nearest() const { return sum(&Difference::w); }
    Vec3d point_a() const { return sum(&Difference::a); }
    Vec3d point_b() const { return sum(&Difference::b); }

private:
    Vec3d sum(Vec3d Difference::* of) const {
        Vec3d result{0, 0, 0};
        for (int k = 0; k < count; ++k) result = result + weight[k] * (vertex[k].*of);
        return result;
    }
};

// Add a vertex, and keep only the vertices that the point nearest to the origin needs.
void extend(Simplex& simplex, const Difference& vertex);

}  // namespace clearance
