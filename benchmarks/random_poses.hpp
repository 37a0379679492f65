// Seeded numbers, directions and rotations for the drivers that callgrind counts.
#pragma once

#include <random>

#include "math/pose.hpp"

namespace clearance {

inline std::mt19937_64 engine(1);

inline double uniform(double low, double high) { return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53; }

inline Vec3d direction() {
    for (;;) {
        const Vec3d v{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        if (norm(v) > 0.1 && norm(v) <= 1.0) return (1.0 / norm(v)) * v;
    }
}

inline Mat3 rotation() {
    const Vec3d x = direction(), across = cross(x, direction());
    const Vec3d y = (1.0 / norm(across)) * across;
    return {{x, y, cross(x, y)}};
}

}  // namespace clearance
