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
    std::int64_t triangle_tests = 0;  // distances of triangles of meshes
    std::int64_t iterations = 0;      // steps of iterative solvers
    std::int64_t queue_operations = 0;
    std::int64_t front_size = 0;  // of the front that a search leaves behind, and the bytes that it takes
    std::int64_t front_bytes = 0;

    Work& operator+=(const Work& other) {
        pairs += other.pairs;
        volume_tests += other.volume_tests;
        element_tests += other.element_tests;
        triangle_tests += other.triangle_tests;
        iterations += other.iterations;
        queue_operations += other.queue_operations;
        front_size += other.front_size;
        front_bytes += other.front_bytes;
        return *this;
    }
};

// The answer to every distance query: lower <= true distance <= upper, point_b - point_a == distance * normal.
struct Gap {
    double distance, lower, upper;
    Vec3d point_a, point_b, normal;
    std::int32_t feature_a, feature_b;    // the closest triangle of a surface, or else the part itself
    bool converged = true;                // the bracket is as narrow as was asked
    std::int32_t part_a = 0, part_b = 0;  // which part of either body is closest
};

// What is left of a pair that is proved farther than asked for.
inline Gap farther_than_asked(double lower) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const Vec3d nowhere{nan, nan, nan};
    return {inf, lower, inf, nowhere, nowhere, nowhere, -1, -1, true, -1, -1};
}

// The least distance of a union, with a bracket that holds for the union.
inline void keep_nearer(Gap& best, const Gap& found) {
    const double lower = min_of(best.lower, found.lower), upper = min_of(best.upper, found.upper);
    const bool converged = best.converged && found.converged;
    if (found.distance < best.distance) best = found;
    best.lower = lower, best.upper = upper, best.converged = converged;
}

inline void name_parts(Gap& gap, std::size_t i, std::size_t j) {
    gap.feature_a = gap.part_a = static_cast<std::int32_t>(i);
    gap.feature_b = gap.part_b = static_cast<std::int32_t>(j);
}

inline Gap mirrored(const Gap& gap) {
    return {gap.distance,  gap.lower,     gap.upper,     gap.point_b, gap.point_a, -gap.normal,
            gap.feature_b, gap.feature_a, gap.converged, gap.part_b,  gap.part_a};
}

}  // namespace clearance
