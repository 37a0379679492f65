#pragma once

#include "convex/convex.hpp"

namespace clearance {

// The part of a core's surface that faces a direction: a corner, an edge, or a face. The corners of a face stand in order
// around it; a disc has sixteen of them, the first where the disc is farthest.
struct Feature {
    static constexpr int kMostPoints = 16;

    Vec3d point[kMostPoints];
    int count = 0;
    // The circle around a disc, whose corners are only some of its points; no radius: not a disc.
    Vec3d centre{0, 0, 0}, axis{0, 0, 0};
    double radius = 0.0;

    void add(const Vec3d& p) { point[count++] = p; }
};

// Faces and edges count as facing the unit vector n if they are within this angle (in radians) of being perpendicular to it.
constexpr double kFacingAngle = 0.1;

Feature feature_facing(const ConvexCore& core, const Vec3d& n);

}  // namespace clearance
