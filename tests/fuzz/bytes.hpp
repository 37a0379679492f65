#pragma once

// Numbers, points and poses out of bytes that a fuzzer makes up. Bytes that have run out are zeros, so every sequence of
// bytes means something, and shorter ones mean something simpler.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "math/pose.hpp"

namespace clearance::fuzz {

class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

    bool are_left() const { return left_ > 0; }
    std::size_t left() const { return left_; }
    std::uint8_t byte() {
        if (left_ == 0) return 0;
        --left_;
        return *data_++;
    }
    int below(int count) { return byte() % count; }
    bool flag() { return (byte() & 1) != 0; }

    // From -1 to 1. Every other number is a round one, so that things coincide, touch, and lie in one plane.
    double unit() {
        const std::uint8_t first = byte();
        if (first % 2 == 0) return (first / 2 % 17 - 8) / 8.0;
        const int rest = byte() | byte() << 8;
        return ((first / 2) * 65536 + rest) / 4194303.5 - 1.0;
    }

    // Often one, sometimes any power of ten between two.
    double power(int low, int high) {
        const std::uint8_t first = byte();
        return first % 2 == 0 ? 1.0 : std::pow(10.0, low + first / 2 % (high - low + 1));
    }

    Vec3d in_cube() {
        const double x = unit(), y = unit();
        return {x, y, unit()};
    }

    // Of length one; along an axis where the numbers are all zero.
    Vec3d direction() {
        const Vec3d v = in_cube();
        const double length = norm(v);
        return length > 0.0 ? (1.0 / length) * v : Vec3d{0, 0, 1};
    }

    // None, a quarter turn, almost none, or any.
    Mat3 rotation() {
        const int kind = below(5);
        if (kind == 0) return kNoTurn;
        if (kind == 1) return {{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}};
        if (kind == 2) return {{{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}}};
        const double angle = kind == 3 ? std::pow(10.0, -1 - below(16)) : 3.2 * unit();
        return turn_about(direction(), angle);
    }

    Pose pose(double size) {
        const Mat3 turn = rotation();
        return {turn, size * in_cube()};
    }

private:
    // From a quaternion of length one, so that it is a rotation to the last digits.
    static Mat3 turn_about(const Vec3d& axis, double angle) {
        const double s = std::sin(0.5 * angle), w = std::cos(0.5 * angle);
        const double x = s * axis.x, y = s * axis.y, z = s * axis.z;
        return {{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                 {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                 {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
    }

    const std::uint8_t* data_;
    std::size_t left_;
};

}  // namespace clearance::fuzz
