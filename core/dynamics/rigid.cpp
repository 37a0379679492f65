#include "dynamics/rigid.hpp"

namespace clearance {

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

void Rigid::place(const Pose& pose) {
    centre = pose * centre_in_body;
    set_turn(turn_of(pose.rotation));
}

void Rigid::set_turn(const Turn& to) {
    turn = to;
    rotation = rotation_of(turn);
    inverse_inertia = turned(inverse_inertia_in_body, rotation);
}

void Rigid::advance(double step, const Vec3d& by_velocity, const Vec3d& by_spin) {
    centre = centre + step * by_velocity;
    if (inverse_mass == 0.0) {
        set_turn(normalised(turn_by(step * by_spin) * turn));
        return;
    }
    // The midpoint rule for dR/dt = [I^-1 L] R with a constant momentum L: it neither gains nor loses energy in the long
    // run.
    const auto momentum_of = [&](const Vec3d& s) { return rotation * (inertia * transposed_times(rotation, s)); };
    const Vec3d driving = momentum_of(by_spin), kept = momentum_of(spin);
    Vec3d middle_spin = by_spin;
    for (int k = 0; k < 3; ++k) {
        const Mat3 middle = rotation_of(turn_by((0.5 * step) * middle_spin) * turn);
        middle_spin = middle * (inverse_inertia_in_body * transposed_times(middle, driving));
    }
    set_turn(normalised(turn_by(step * middle_spin) * turn));
    spin = inverse_inertia * kept;
}

}  // namespace clearance
