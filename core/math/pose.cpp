#include "math/pose.hpp"

#include <cstdio>
#include <stdexcept>

namespace clearance {
namespace {

// How far a matrix may be from a rotation, as the largest entry of R'R - 1 (twice the error of R itself).
constexpr double kLargestSkew = 2e-6;
constexpr double kNegligibleSkew = 1e-15;  // what rounding leaves: a pose read back is taken as it is

Vec3d column(const Mat3& m, int k) {
    const auto entry = [k](const Vec3d& row) { return k == 0 ? row.x : k == 1 ? row.y : row.z; };
    return {entry(m.row[0]), entry(m.row[1]), entry(m.row[2])};
}

CLEARANCE_INLINE double skew_of(const Mat3& m) {
    const Vec3d &x = m.row[0], &y = m.row[1], &z = m.row[2];
    const double scale = max_of(max_of(abs_of(dot(x, x) - 1.0), abs_of(dot(y, y) - 1.0)), abs_of(dot(z, z) - 1.0));
    const double shear = max_of(max_of(abs_of(dot(x, y)), abs_of(dot(y, z))), abs_of(dot(z, x)));
    return max_of(scale, shear);
}

double turned_volume(const Mat3& m) { return dot(m.row[0], cross(m.row[1], m.row[2])); }

bool ends_as_poses_do(const double* m) { return m[12] == 0.0 && m[13] == 0.0 && m[14] == 0.0 && m[15] == 1.0; }

// Most poses are exact as far as rounding lets them, and can be taken as they are. A NaN does not get lost in the volume.
CLEARANCE_INLINE bool needs_nothing(const Pose& pose) {
    const Vec3d& t = pose.translation;
    const auto is_near = [](double at) { return abs_of(at) <= kLargestLength; };
    return (skew_of(pose.rotation) <= kNegligibleSkew) & (turned_volume(pose.rotation) > 0.0) & is_near(t.x) & is_near(t.y) &
           is_near(t.z);
}

// One step towards the orthogonal polar factor, R (3 - R'R) / 2, which squares the error.
Mat3 straightened(const Mat3& m) {
    Mat3 result;
    for (int i = 0; i < 3; ++i) {
        const Vec3d row = m.row[i];
        const auto corrected = [&](int j) {
            const Vec3d c = column(m, j);
            const Vec3d gram{dot(column(m, 0), c), dot(column(m, 1), c), dot(column(m, 2), c)};
            return 0.5 * (3.0 * dot(row, {j == 0 ? 1.0 : 0.0, j == 1 ? 1.0 : 0.0, j == 2 ? 1.0 : 0.0}) - dot(row, gram));
        };
        result.row[i] = {corrected(0), corrected(1), corrected(2)};
    }
    return result;
}

[[noreturn]] void refuse(const char* format, double value) {
    char text[256];
    std::snprintf(text, sizeof text, format, value);
    throw std::invalid_argument(text);
}

void refuse_what_is_too_large(const double* m) {
    for (int k = 0; k < 16; ++k)
        if (!(abs_of(m[k]) <= kLargestLength)) refuse("a pose must be finite and below 1e30, but it contains %g.", m[k]);
}

}  // namespace

Pose pose_from_matrix(const double* m) {
    Pose pose{{{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}}, {m[3], m[7], m[11]}};
    if (needs_nothing(pose) && ends_as_poses_do(m)) return pose;
    double sum = 0.0;  // a NaN or an infinity does not get lost in it
    for (int k = 0; k < 12; ++k) sum += m[k];
    double skew = skew_of(pose.rotation);
    if (sum * 0.0 != 0.0 || largest(pose.translation) > kLargestLength || skew > kLargestLength) refuse_what_is_too_large(m);
    if (!ends_as_poses_do(m)) throw std::invalid_argument("the last row of a pose must be 0 0 0 1.");
    if (!(skew <= kLargestSkew))
        refuse("the rotation of a pose must be orthonormal to 1e-6 (no scale, no shear), but it is off by %.6g.",
               0.5 * skew);
    if (turned_volume(pose.rotation) < 0.0)
        throw std::invalid_argument("the rotation of a pose must not mirror, but its determinant is -1.");
    for (int step = 0; step < 3 && skew > kNegligibleSkew; ++step) {
        pose.rotation = straightened(pose.rotation);
        skew = skew_of(pose.rotation);
    }
    return pose;
}

}  // namespace clearance
