#pragma once

#include "convex/feature.hpp"

namespace clearance {

// Where two surfaces meet along a normal: a few points, each with the height of the upper side of a and of the lower side
// of b along the normal. Between them lies the overlap.
struct Manifold {
    static constexpr int kMostPoints = 4;

    struct Point {
        Vec3d place;  // height along the normal is of no meaning
        double height_a, height_b;
    };
    Point point[kMostPoints];
    int count = 0;
};

// Clip the face or edge of a that looks along the unit vector n against that of b which looks back, seen along n. Both are
// given in one frame. Of more than four points the four that span most are kept, the deepest among them. Points less deep
// than `least_depth` are left out.
Manifold meeting(const Feature& a, const Feature& b, const Vec3d& n, double least_depth);

}  // namespace clearance
