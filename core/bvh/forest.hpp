#pragma once

#include <span>

#include "bvh/kernels.hpp"
#include "bvh/mesh.hpp"
#include "math/pose.hpp"

namespace clearance {

// The gap of a triangle or ball from another or from a solid, in the axes of the world. Meeting is a distance of zero or
// less.
struct TriangleGap {
    double distance, lower, upper;
    Vec3d point_a, point_b, normal;
    bool converged = true;  // the bracket is as narrow as was asked
};

// Something without a tree on the other side: one volume, in its own frame, and a distance from triangles and balls (given
// in the axes of the world) that may stop as soon as it is known to exceed `at_most`.
struct Solid {
    Volume<float> volume;
    Vec3d centre;
    double unit;
    const void* context;
    TriangleGap (*gap)(const void* context, const Element& element, double at_most);
    double (*highest)(const void* context, const Vec3d& along);  // of all its points, along a unit vector of the world
};

// Where a body stands: turned into the axes of the world, about a point that the whole forest has in common.
struct Stand {
    Mat3 rotation;
    Vec3d origin;
};

// How distances of a pair differ from those of the triangles in its trees.
struct SurfaceDepth {
    double sweep = 0.0;       // radii of clouds, which are taken off
    double least = 0.0;       // surfaces are met and no more; balls may lie in each other or in solids
    bool into_solid = false;  // points are deep where they are inside
};

// A mesh, and a mesh or a solid: the root of a tree of pairs of volumes.
struct SurfacePair {
    const Mesh* a;
    const Mesh* b;  // null: a solid
    const Solid* solid;
    Stand at_a, at_b;
    float lower = 0.0f;  // after a search: no two of their triangles are nearer than this

    SurfaceDepth depth() const {
        constexpr double kAnything = -std::numeric_limits<double>::infinity();
        const bool is_surface = !a->is_cloud() || (b != nullptr && !b->is_cloud());
        return {a->radius + (b == nullptr ? 0.0 : b->radius), is_surface ? 0.0 : kAnything, !is_surface && b == nullptr};
    }
};

struct ForestQuestion {
    double at_most;      // farther than this need not be known any closer
    double near_enough;  // nor nearer than that
};

struct SearchWork {
    std::int64_t volume_tests = 0, triangle_tests = 0, queue_operations = 0;
};

struct TrianglePair {
    std::int32_t pair, triangle_a, triangle_b;
};

// The nearest two triangles of the forest, the first of equals unless there are ties; the pair is negative where none is as
// near as asked.
struct ForestAnswer {
    TrianglePair nearest{-1, -1, -1};
    TriangleGap gap{};
    double lower = std::numeric_limits<double>::infinity();  // no two triangles are nearer than this
    std::int64_t ties = 0;  // pairs that are no nearer as far as doubles can tell, and stayed closed
};

// The gap of two triangles, or of a triangle from the solid, in doubles.
TriangleGap measured(const SurfacePair& pair, const TrianglePair& triangles, double at_most);

// The same for up to eight pairs of triangles of a forest at once; solids are not allowed.
constexpr std::size_t kMostMeasured = 8;
void measure(std::span<const SurfacePair> forest, std::span<const TrianglePair> triangles, TriangleGap* gaps);

// A solid as a tree of one leaf.
WideTree tree_of(const Solid& solid);

}  // namespace clearance
