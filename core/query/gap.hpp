#pragma once

#include <cstdint>
#include <limits>

#include "math/vec3.hpp"

namespace clearance {

// Counts of what a query did. They repeat on any machine, unlike times.
struct Work {
    std::int64_t pairs = 0;           // pairs of bodies evaluated
    std::int64_t volume_tests = 0;    // bounds between bounding volumes
    std::int64_t element_tests = 0;   // distances between parts of bodies
    std::int64_t triangle_tests = 0;  // exact distances between mesh triangles
    std::int64_t iterations = 0;      // steps of iterative solvers

    Work& operator+=(const Work& other) {
        pairs += other.pairs;
        volume_tests += other.volume_tests;
        element_tests += other.element_tests;
        triangle_tests += other.triangle_tests;
        iterations += other.iterations;
        return *this;
    }
};

// The answer to every distance query: lower <= true distance <= upper, point_b - point_a == distance * normal.
struct Gap {
    double distance, lower, upper;
    Vec3d point_a, point_b, normal;
    std::int32_t feature_a, feature_b;  // which part of either body is closest
    bool converged = true;              // the bracket is as narrow as was asked
};

// What is left of a pair that is proved farther than asked for.
inline Gap farther_than_asked(double lower) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const Vec3d nowhere{nan, nan, nan};
    return {inf, lower, inf, nowhere, nowhere, nowhere, -1, -1};
}

}  // namespace clearance
