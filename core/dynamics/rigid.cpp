#include "dynamics/rigid.hpp"

#include <utility>

namespace clearance {
namespace {

constexpr double kLargestTurn = 0.1;  // radians: fast spins are followed in parts of this size,
constexpr double kMostParts = 100.0;  // no more of them

}  // namespace

Turn turn_of(const Mat3& m) {
    // The largest of the four squares is not near zero.
    const double xx = m.row[0].x, yy = m.row[1].y, zz = m.row[2].z;
    const Vec3d skew{m.row[2].y - m.row[1].z, m.row[0].z - m.row[2].x, m.row[1].x - m.row[0].y};
    const double xy = m.row[0].y + m.row[1].x, xz = m.row[0].z + m.row[2].x, yz = m.row[1].z + m.row[2].y;
    if (xx + yy + zz > 0.0) return normalised({1.0 + xx + yy + zz, skew.x, skew.y, skew.z});
    if (xx >= yy && xx >= zz) return normalised({skew.x, 1.0 + xx - yy - zz, xy, xz});
    if (yy >= zz) return normalised({skew.y, xy, 1.0 - xx + yy - zz, yz});
    return normalised({skew.z, xz, yz, 1.0 - xx - yy + zz});
}

Mat3 rotation_of(const Turn& q) {
    const double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    return {{{1.0 - 2.0 * (yy + zz), 2.0 * (q.x * q.y - q.w * q.z), 2.0 * (q.x * q.z + q.w * q.y)},
             {2.0 * (q.x * q.y + q.w * q.z), 1.0 - 2.0 * (xx + zz), 2.0 * (q.y * q.z - q.w * q.x)},
             {2.0 * (q.x * q.z - q.w * q.y), 2.0 * (q.y * q.z + q.w * q.x), 1.0 - 2.0 * (xx + yy)}}};
}

Mat3 inverse(const Mat3& m) {
    const Vec3d a = cross(m.row[1], m.row[2]), b = cross(m.row[2], m.row[0]), c = cross(m.row[0], m.row[1]);
    const double determinant = dot(m.row[0], a);
    if (!(abs_of(determinant) > 0.0)) return diagonal(0.0);
    const double scale = 1.0 / determinant;
    return {{{scale * a.x, scale * b.x, scale * c.x},
             {scale * a.y, scale * b.y, scale * c.y},
             {scale * a.z, scale * b.z, scale * c.z}}};
}

// By the method of Jacobi: turn after turn the largest entry off the diagonal is made zero.
PrincipalAxes principal_axes(const Mat3& m) {
    double a[3][3] = {
        {m.row[0].x, m.row[0].y, m.row[0].z}, {m.row[1].x, m.row[1].y, m.row[1].z}, {m.row[2].x, m.row[2].y, m.row[2].z}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < 30; ++sweep)
        for (const auto& [p, q] : {std::pair{0, 1}, {0, 2}, {1, 2}}) {
            if (a[p][q] == 0.0) continue;
            const double theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
            const double t = std::copysign(1.0, theta) / (abs_of(theta) + std::sqrt(theta * theta + 1.0));
            const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
            for (int k = 0; k < 3; ++k) {
                const double kp = a[k][p], kq = a[k][q];
                a[k][p] = c * kp - s * kq, a[k][q] = s * kp + c * kq;
            }
            for (int k = 0; k < 3; ++k) {
                const double pk = a[p][k], qk = a[q][k];
                a[p][k] = c * pk - s * qk, a[q][k] = s * pk + c * qk;
            }
            a[p][q] = a[q][p] = 0.0;
            for (int k = 0; k < 3; ++k) {
                const double kp = v[k][p], kq = v[k][q];
                v[k][p] = c * kp - s * kq, v[k][q] = s * kp + c * kq;
            }
        }
    return {{{{v[0][0], v[0][1], v[0][2]}, {v[1][0], v[1][1], v[1][2]}, {v[2][0], v[2][1], v[2][2]}}},
            {a[0][0], a[1][1], a[2][2]}};
}

void Rigid::set_inertia(const Mat3& in_body) {
    inertia = in_body;
    inverse_inertia_in_body = inverse(in_body);
    const PrincipalAxes found = principal_axes(in_body);
    principal = turn_of(found.axes), moments = found.values;
}

void Rigid::place(const Pose& pose) {
    centre = pose * centre_in_body;
    set_turn(turn_of(pose.rotation));
}

void Rigid::set_turn(const Turn& to) {
    turn = to;
    rotation = rotation_of(turn);
    inverse_inertia = is_round() ? inverse_inertia_in_body : turned(inverse_inertia_in_body, rotation);
}

void Rigid::advance(double step, const Vec3d& by_velocity, const Vec3d& by_spin) {
    centre = centre + step * by_velocity;
    if (inverse_mass == 0.0) {
        set_turn(normalised(turn_by(step * by_spin) * turn));
        return;
    }
    if (is_round()) {  // it turns about its spin, which stays
        set_turn(normalised(turn_by(step * by_spin) * turn));
        return;
    }
    const auto momentum_of = [&](const Vec3d& s) { return rotation * (inertia * transposed_times(rotation, s)); };
    const Vec3d kept = momentum_of(spin);
    set_turn(turned_freely(step, momentum_of(by_spin)));
    spin = inverse_inertia * kept;
}

// The free motion of a rigid body, split into turns about its principal axes one after the other and back again (McLachlan,
// "Explicit Lie-Poisson integration and the Euler equations", 1993). Each of them is exact, so the momentum is kept, and the
// energy does not drift, however long and thin the body is.
Turn Rigid::turned_freely(double step, const Vec3d& momentum) const {
    Turn axes = turn * principal;
    Vec3d own = transposed_times(rotation_of(axes), momentum);
    const auto turn_about = [&](const Vec3d& axis, double share) {
        const Turn by = turn_by((share * step * dot(axis, own) / dot(axis, moments)) * axis);
        axes = axes * by;
        own = transposed_times(rotation_of(by), own);
    };
    constexpr Vec3d x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
    const double angle = step * norm(inverse_inertia * momentum);
    const int parts = static_cast<int>(min_of(1.0 + angle / kLargestTurn, kMostParts));
    const double whole = 1.0 / parts, half = 0.5 * whole;
    for (int k = 0; k < parts; ++k)
        turn_about(x, half), turn_about(y, half), turn_about(z, whole), turn_about(y, half), turn_about(x, half);
    return normalised(axes * inverse(principal));
}

}  // namespace clearance
