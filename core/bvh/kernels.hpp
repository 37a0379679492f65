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

// Pairs of triangles of two leaves that may be near: i of a, j of b, and bounds of their distance but for rounding.
struct NearTriangles {
    int count = 0;
    std::uint8_t i[64], j[64];
    float lower[64], upper[64];
    int tests = 0;  // pairs that were looked at in full
};

// Everything that depends on the instruction set. All of them give the same bits.
struct BvhKernels {
    // Keys of the children of a node against one volume in the frame of the node.
    void (*keys)(const Node<8>& node, const Volume<float>& volume, const KeyRule& rule, float* keys);

    // Triangles of a and b that may be no farther apart than `within`, in units of b.
    void (*near_triangles)(const WideLeaf& a, const WideLeaf& b, const TreeMotion& b_from_a, float within,
                           NearTriangles& found);

    // Lower bounds of the distances of eight triangles from one volume in their frame.
    void (*bounds)(const WideLeaf& leaf, const Volume<float>& volume, float* bounds);
};

const BvhKernels& bvh_kernels();

}  // namespace clearance
