#pragma once

#include <cmath>
#include <random>

#include "math/pose.hpp"

namespace clearance {

class Draw {
public:
    explicit Draw(unsigned long seed) : engine_(seed) {}
    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
    int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine_); }
    double sign() { return below(2) == 0 ? 1.0 : -1.0; }
    // A length between two others, all magnitudes as likely.
    double length(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
    Vec3d direction() {
        for (;;) {
            const Vec3d v{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
            if (norm(v) > 0.1 && norm(v) <= 1.0) return (1.0 / norm(v)) * v;
        }
    }
    Mat3 rotation() {
        const Vec3d x = direction(), across = cross(x, direction()), y = (1.0 / norm(across)) * across;
        return {{x, y, cross(x, y)}};
    }

private:
    std::mt19937_64 engine_;
};

// The relative rotation: any, or one that lays axes and faces parallel or perpendicular, exactly or almost.
inline Mat3 drawn_turn(Draw& draw) {
    const Mat3 quarter{{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
    const int kind = draw.below(6);
    if (kind >= 3) return draw.rotation();
    const double angle = draw.uniform(-3.2, 3.2), c = std::cos(angle), s = std::sin(angle);
    const Mat3 about_z{{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
    const Mat3 exact = kind == 0 ? about_z : quarter * about_z;
    if (draw.below(2) == 0) return exact;
    const double tilt = draw.length(1e-15, 1e-2), ct = std::cos(tilt), st = std::sin(tilt);
    return Mat3{{{1, 0, 0}, {0, ct, -st}, {0, st, ct}}} * exact;
}

}  // namespace clearance
