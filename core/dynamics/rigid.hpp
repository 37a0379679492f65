#pragma once

#include <cmath>
#include <limits>

#include "dynamics/mass.hpp"

namespace clearance {

// A unit quaternion.
struct Turn {
    double w = 1.0, x = 0.0, y = 0.0, z = 0.0;
};

inline Turn operator*(const Turn& a, const Turn& b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

inline Turn normalised(const Turn& q) {
    const double scale = 1.0 / std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return {scale * q.w, scale * q.x, scale * q.y, scale * q.z};
}

inline Turn inverse(const Turn& q) { return {q.w, -q.x, -q.y, -q.z}; }

// The turn about a vector by as many radians as it is long. A series serves turns below a tenth, with all digits.
inline Turn turn_by(const Vec3d& v) {
    const double q = 0.25 * norm_sq(v);  // of half the angle, squared
    if (q < 0.0025) {
        const double cosine = 1.0 - q * (1.0 / 2 - q * (1.0 / 24 - q * (1.0 / 720 - q * (1.0 / 40320))));
        const double scale = 0.5 - q * (1.0 / 12 - q * (1.0 / 240 - q * (1.0 / 10080 - q * (1.0 / 725760))));
        return {cosine, scale * v.x, scale * v.y, scale * v.z};
    }
    const double half = std::sqrt(q), scale = 0.5 * std::sin(half) / half;
    return normalised({std::cos(half), scale * v.x, scale * v.y, scale * v.z});
}

// The other way round: along the axis, as long as the angle, the shorter way.
inline Vec3d vector_of(const Turn& q) {
    const double sine = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    const double side = q.w < 0.0 ? -1.0 : 1.0;
    const double scale = sine > 1e-12 ? 2.0 * std::atan2(sine, side * q.w) / sine : 2.0;
    return (side * scale) * Vec3d{q.x, q.y, q.z};
}

Turn turn_of(const Mat3& rotation);
Mat3 rotation_of(const Turn& q);

inline Mat3 operator+(const Mat3& a, const Mat3& b) {
    return {{a.row[0] + b.row[0], a.row[1] + b.row[1], a.row[2] + b.row[2]}};
}

inline Mat3 diagonal(double d) { return {{{d, 0, 0}, {0, d, 0}, {0, 0, d}}}; }

// Of a symmetric matrix that has one; zero otherwise.
Mat3 inverse(const Mat3& m);

// The rotation whose columns are the axes of a symmetric matrix, and its values along them.
struct PrincipalAxes {
    Mat3 axes;
    Vec3d values;
};
PrincipalAxes principal_axes(const Mat3& m);

// A tensor of the frame of a body, in the world.
inline Mat3 turned(const Mat3& tensor, const Mat3& rotation) {
    const Mat3 half = rotation * tensor;
    Mat3 result;
    for (int i = 0; i < 3; ++i)
        result.row[i] = {dot(half.row[i], rotation.row[0]), dot(half.row[i], rotation.row[1]),
                         dot(half.row[i], rotation.row[2])};
    return result;
}

// What a point at r from the centre of mass adds to the response of that point to an impulse: -[r] I [r].
inline Mat3 response(const Vec3d& r, const Mat3& inverse_inertia, double inverse_mass) {
    const Mat3 cross_r{{{0, -r.z, r.y}, {r.z, 0, -r.x}, {-r.y, r.x, 0}}};
    return diagonal(inverse_mass) + turned(inverse_inertia, cross_r);
}

// No less than the largest eigenvalue of a symmetric matrix, and that itself where all are equal.
inline double largest_response(const Mat3& m) {
    const auto sum = [](const Vec3d& row) { return abs_of(row.x) + abs_of(row.y) + abs_of(row.z); };
    return max_of(max_of(sum(m.row[0]), sum(m.row[1])), sum(m.row[2]));
}

enum class Motion { dynamic, kinematic, fixed };

// Where a body is and how it moves: about its centre of mass, in the world. What impulses read and write comes first.
struct alignas(64) Rigid {
    double inverse_mass = 0.0;  // zero: nothing moves it
    Vec3d velocity{0, 0, 0}, spin{0, 0, 0};
    Mat3 inverse_inertia = diagonal(0.0);

    Vec3d centre{0, 0, 0};
    Turn turn;
    Mat3 rotation = kNoTurn;  // of the turn
    Vec3d force{0, 0, 0}, torque{0, 0, 0};

    Motion motion = Motion::fixed;
    Vec3d centre_in_body{0, 0, 0};
    Mat3 inertia = diagonal(0.0), inverse_inertia_in_body = diagonal(0.0);  // in the frame of the body
    Turn principal;                                                         // to the axes of the inertia in that frame,
    Vec3d moments{0, 0, 0};                                                 // and the inertia about each

    Pose pose() const { return {rotation, centre - rotation * centre_in_body}; }
    bool is_round() const { return moments.x == moments.y && moments.y == moments.z; }  // as a ball or a cube turns
    void set_inertia(const Mat3& in_body);
    void place(const Pose& pose);
    void set_turn(const Turn& to);
    Vec3d velocity_at(const Vec3d& r) const { return velocity + cross(spin, r); }
    void push(const Vec3d& impulse, const Vec3d& r) {
        velocity = velocity + inverse_mass * impulse;
        spin = spin + inverse_inertia * cross(r, impulse);
    }
    void twist(const Vec3d& angular_impulse) { spin = spin + inverse_inertia * angular_impulse; }
    Vec3d angular_momentum() const { return rotation * (inertia * transposed_times(rotation, spin)); }
    double kinetic_energy() const {
        return inverse_mass > 0.0 ? 0.5 * (norm_sq(velocity) / inverse_mass + dot(spin, angular_momentum())) : 0.0;
    }

    // The turn after a while of free motion with this angular momentum.
    Turn turned_freely(double step, const Vec3d& momentum) const;

    // Go on for a while with a velocity and spin to go by, and keep those that it has, along with its angular momentum.
    void advance(double step, const Vec3d& by_velocity, const Vec3d& by_spin);
};

}  // namespace clearance
