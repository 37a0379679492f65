#pragma once

#include "convex/simplex.hpp"

namespace clearance {

// When an iteration may stop: as soon as the bracket is narrow enough, or the question is decided already.
struct StopRule {
    double width;                                                     // of the bracket,
    double relative_width = std::numeric_limits<double>::infinity();  // also compared with upper
    double lower_above = std::numeric_limits<double>::infinity();     // proved farther than anyone asks
    double upper_at_most = -std::numeric_limits<double>::infinity();  // proved as near as was asked

    bool holds(double lower, double upper) const {
        return upper - lower <= min_of(width, relative_width * upper) || lower > lower_above || upper <= upper_at_most;
    }
};

// What is known of the signed distance of two cores.
struct GjkResult {
    Simplex simplex;
    Vec3d normal;         // from a to b: the unit vector that proves `lower`
    double lower, upper;  // upper is zero where the cores meet
    int iterations;
};

// Gilbert, Johnson and Keerthi (1988): walk over simplices of A - B towards the origin. Every farthest point proves a lower
// bound, every simplex an upper one. Curved cores take a step of Newton's method whenever the last direction was an
// improvement, so that both bounds meet quadratically instead of linearly.
GjkResult gjk(const CorePair& pair, const Vec3d& towards_b, const StopRule& stop);

}  // namespace clearance
