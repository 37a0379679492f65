#pragma once

#include <cstdint>

#include "convex/near_simplex.hpp"
#include "convex/stop_rule.hpp"
#include "convex/support_cells.hpp"
#include "math/pose.hpp"

namespace clearance {

class Hull;

// The corners of a polytope, as a walk asks for them: points in blocks, a few points, a box, or a tree of points.
struct PolytopeCorners {
    const double* blocks = nullptr;               // points, column by column in blocks of eight,
    const SupportCells::Blocks* cells = nullptr;  // and which of these for every cell of directions, if there are cells
    const Vec3d* points = nullptr;
    std::size_t count = 0;  // of blocks or of points
    const Hull* tree = nullptr;
    Vec3d half{0, 0, 0};  // of a box, if it is none of the others
};

Vec3d farthest_in_tree(const Hull& hull, const Vec3d& along);

// Two polytopes in the frame of a, and what is asked of them.
struct PolytopePair {
    PolytopeCorners a, b;
    const Mat3& a_from_b;
    const Vec3d& b_origin;
    Vec3d towards_b;  // where to begin, and
    double length;    // of that
    double touching;  // nearer than this, directions are noise
    StopRule stop;
};

// Where a walk ended, and what it has proved by then.
struct PolytopeWalk {
    enum class End { proved, settled, meeting, unclear };
    End end;
    int iterations;
    Vec3d normal;  // the unit vector that proves
    double lower;  // this

    // `proved`: the nearest point, so far away and there on a, is as near as that. Nothing is left to find.
    double upper;
    Vec3d point_a;

    // Where to go on, if something is; a walk that goes alone always tells.
    int count;         // of corners: four of them hold the origin; otherwise they have, with
    double weight[3];  // these weights, the nearest point
    Corner<double> corner[4];
};

}  // namespace clearance
