#pragma once

#include "math/lanes.hpp"

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

}  // namespace clearance
