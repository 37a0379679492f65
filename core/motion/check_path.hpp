#pragma once

#include "motion/path.hpp"
#include "robot/cell.hpp"

namespace clearance {

struct PathQuestion {
    double margin;
    double tolerance;               // how closely the least clearance has to be known; infinite if only the verdict matters
    std::function<bool()> is_over;  // asked now and then whether anybody still wants to know
};

// Clearance here is the distance of a pair less the margin that the pair asks for.
struct PathReport {
    bool clear = false;   // proved for every moment
    double lower, upper;  // of the least clearance on the whole path
    std::int32_t pair = -1;
    double t_worst = 0.0;  // where it comes down to `upper`
    std::optional<std::pair<double, double>> first_violation;
    std::int64_t configurations = 0;
    Work work;
};

// Conservative advancement on intervals: what a pair is apart in the middle, less how far its bodies can move up to the
// ends, bounds its distance in between. Pairs that are proved are left out; with the others the interval is halved.
PathReport check_path(const Cell& cell, const Path& path, const PathQuestion& question);

}  // namespace clearance
