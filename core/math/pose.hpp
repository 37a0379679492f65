#pragma once

#include "math/vec3.hpp"

namespace clearance {

struct Mat3 {
    Vec3d row[3];
};

CLEARANCE_INLINE Vec3d operator*(const Mat3& m, const Vec3d& v) {
    return {dot(m.row[0], v), dot(m.row[1], v), dot(m.row[2], v)};
}

// Lengths and coordinates beyond this would overflow when they are multiplied; nothing real is that large.
constexpr double kLargestLength = 1e30;

// A rigid motion: x -> rotation * x + translation.
struct Pose {
    Mat3 rotation{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    Vec3d translation{0, 0, 0};
};

CLEARANCE_INLINE Vec3d operator*(const Pose& pose, const Vec3d& point) { return pose.rotation * point + pose.translation; }

inline bool operator==(const Pose& a, const Pose& b) {
    double difference = largest(a.translation - b.translation);
    for (int k = 0; k < 3; ++k) difference = max_of(difference, largest(a.rotation.row[k] - b.rotation.row[k]));
    return difference == 0.0;
}

// A pose from a homogeneous matrix (16 doubles, row after row). A rotation that is off by no more than 1e-6 is replaced by
// the nearest true one; anything else throws std::invalid_argument, which says what is wrong with it.
Pose pose_from_matrix(const double* matrix);

}  // namespace clearance
