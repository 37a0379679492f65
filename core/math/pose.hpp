#pragma once

#include "math/vec3.hpp"

namespace clearance {

struct Mat3 {
    Vec3d row[3];
};

CLEARANCE_INLINE Vec3d operator*(const Mat3& m, const Vec3d& v) {
    return {dot(m.row[0], v), dot(m.row[1], v), dot(m.row[2], v)};
}

CLEARANCE_INLINE Mat3 operator*(const Mat3& a, const Mat3& b) {
    const auto row = [&](const Vec3d& by) { return by.x * b.row[0] + by.y * b.row[1] + by.z * b.row[2]; };
    return {{row(a.row[0]), row(a.row[1]), row(a.row[2])}};
}

CLEARANCE_INLINE Vec3d transposed_times(const Mat3& m, const Vec3d& v) {
    return v.x * m.row[0] + v.y * m.row[1] + v.z * m.row[2];
}

// The rotation from the frame of b to that of a, where both are given in the world.
CLEARANCE_INLINE Mat3 transposed_times(const Mat3& a, const Mat3& b) {
    const auto row = [&](double x, double y, double z) { return x * b.row[0] + y * b.row[1] + z * b.row[2]; };
    return {{row(a.row[0].x, a.row[1].x, a.row[2].x), row(a.row[0].y, a.row[1].y, a.row[2].y),
             row(a.row[0].z, a.row[1].z, a.row[2].z)}};
}

constexpr Mat3 kNoTurn{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

// A rigid motion: x -> rotation * x + translation.
struct Pose {
    Mat3 rotation = kNoTurn;
    Vec3d translation{0, 0, 0};
};

CLEARANCE_INLINE Vec3d operator*(const Pose& pose, const Vec3d& point) { return pose.rotation * point + pose.translation; }

CLEARANCE_INLINE Pose operator*(const Pose& a, const Pose& b) { return {a.rotation * b.rotation, a * b.translation}; }

// The pose of b as seen from a.
CLEARANCE_INLINE Pose inverse_times(const Pose& a, const Pose& b) {
    return {transposed_times(a.rotation, b.rotation), transposed_times(a.rotation, b.translation - a.translation)};
}

inline bool operator==(const Pose& a, const Pose& b) {
    double difference = largest(a.translation - b.translation);
    for (int k = 0; k < 3; ++k) difference = max_of(difference, largest(a.rotation.row[k] - b.rotation.row[k]));
    return difference == 0.0;
}

// A pose from a homogeneous matrix (16 doubles, row after row). A rotation that is off by no more than 1e-6 is replaced by
// the nearest true one; anything else throws std::invalid_argument, which says what is wrong with it.
Pose pose_from_matrix(const double* matrix);

}  // namespace clearance
