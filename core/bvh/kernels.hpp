#pragma once

#include "bvh/tree.hpp"
#include "closest/kernels.hpp"

namespace clearance {

// From the frame of one tree, in its units, to that of another, in the units of that: x -> rotation * (scale * x) + shift.
struct TreeMotion {
    Vec3<float> row[3];
    Vec3<float> shift;
    float scale;
};

template <class Real>
CLEARANCE_INLINE Vec3<Real> turned(const TreeMotion& motion, const Vec3<Real>& v) {
    const auto by = [&](const Vec3<float>& row) { return Real(row.x) * v.x + Real(row.y) * v.y + Real(row.z) * v.z; };
    return {by(motion.row[0]), by(motion.row[1]), by(motion.row[2])};
}

template <class Real>
CLEARANCE_INLINE Vec3<Real> moved(const TreeMotion& motion, const Vec3<Real>& point) {
    const Vec3<float>& shift = motion.shift;
    return turned(motion, Real(motion.scale) * point) + Vec3<Real>{Real(shift.x), Real(shift.y), Real(shift.z)};
}

inline Volume<float> moved(const TreeMotion& motion, const Volume<float>& volume) {
    return {moved(motion, volume.centre),
            motion.scale * volume.half,
            {turned(motion, volume.axis[0]), turned(motion, volume.axis[1]), turned(motion, volume.axis[2])},
            motion.scale * volume.sweep};
}

// How bounds become keys: lower bounds in metres that hold in spite of rounding, and are no less than that of the parent.
struct KeyRule {
    float unit, slack;  // metres
    float least;
};

CLEARANCE_INLINE constexpr float rounded_down_by() { return 1.0f - 0x1p-22f; }

template <class Real>
CLEARANCE_INLINE Real key_of(Real bound, const KeyRule& rule) {
    const Real held = (bound * Real(rule.unit) - Real(rule.slack)) * Real(rounded_down_by());
    return max_of(held, Real(rule.least));  // in this order NaN becomes `least`
}

// Which children of a node may matter: bit by bit those with a key below the bound, and the least key of the others.
struct Opened {
    unsigned near;
    float least_pruned;
};

// The triangles of a leaf, seen from the frame of another.
struct MovedLeaf {
    float vertex[9][kLeafTriangles], normal[3][kLeafTriangles];
    float centre[3][kLeafTriangles], radius[kLeafTriangles];
};

// Pairs of triangles of two leaves that may be near: i of a, j of b; and a distance that one of them does not exceed.
struct NearTriangles {
    MovedLeaf a;
    int count;
    std::uint8_t i[64], j[64];
    float upper;
};

// Eight pairs of triangles side by side, each in a frame and in units of its own.
struct Octet {
    float a[9][8], b[9][8];
};

// Everything that depends on the instruction set. All of them give the same bits.
struct BvhKernels {
    // Keys of the children of a node against one volume in the frame of the node.
    Opened (*keys)(const Node<8>& node, const Volume<float>& volume, const KeyRule& rule, float bound, float* keys);

    // The same where depths count, too: the volume is that of a solid, and the node is one of points.
    Opened (*signed_keys)(const Node<8>& node, const Volume<float>& volume, const KeyRule& rule, float bound, float* keys);

    // Triangles of a and b that may be no farther apart than `within`, in units of b. All of b lies in `volume_b`.
    void (*near_triangles)(const WideLeaf& a, const WideLeaf& b, const Volume<float>& volume_b, const TreeMotion& b_from_a,
                           float within, NearTriangles& found);

    // Distances of eight pairs: lower and upper bounds but for rounding.
    void (*look_closely)(const Octet& octet, float* lower, float* upper);

    // Lower bounds of the distances of eight triangles from one volume in their frame.
    void (*bounds)(const WideLeaf& leaf, const Volume<float>& volume, float* bounds);

    // The same for eight points, of which some may be inside the volume.
    void (*signed_bounds)(const WideLeaf& leaf, const Volume<float>& volume, float* bounds);

    // Distances of a point from the boxes of eight children, but for rounding; zero inside.
    void (*point_distances)(const Node<8>& node, const Vec3<float>& point, float* distances);
};

const BvhKernels& bvh_kernels();

}  // namespace clearance
