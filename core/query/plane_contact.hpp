#pragma once

#include "query/part.hpp"

namespace clearance {

// What stands for the contact of a solid with a half-space: a manifold, or one point chosen as in K. Petersen, thesis (TU
// Darmstadt, 2007), section 5.4.6.
enum class PlaneRule {
    manifold,
    deepest,  // the middle of the deepest corner, edge or face
    corners,  // the mean of the corners under the plane, weighted with their depths
    section,  // the centroid of the section with the plane, moved on to the surface below it
};

// The point of a core that stands for its contact with the half-space normal.x <= offset, in the frame of the core, and how
// deep it lies. Corners are those of boxes, hulls, segments and triangles; sections are made of boxes only.
struct PlaneContact {
    Vec3d point;
    double depth;
};
bool has_plane_rule(const ConvexCore& core, PlaneRule rule);
PlaneContact plane_contact(const ConvexCore& core, PlaneRule rule, const Vec3d& normal, double offset);

}  // namespace clearance
