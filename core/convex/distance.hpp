#pragma once

#include <optional>

#include "closest/certificate.hpp"
#include "convex/gjk.hpp"
#include "convex/polytope_growth.hpp"

namespace clearance {

// What a query wants to know of two cores. Lengths are those of the cores: radii are added by the caller.
struct CoreQuestion {
    double width_apart, width_inside, width_touching;                 // of the bracket, by sign of the answer
    double relative_width;                                            // of the bracket of cores that are apart
    double lower_above = std::numeric_limits<double>::infinity();     // enough to know that they are farther than this
    double upper_at_most = -std::numeric_limits<double>::infinity();  // or nearer than that
    Vec3d towards_b{0, 0, 0};                                         // where to begin, if that is known
    bool by_portal = false;                                           // depth by MPR, not by EPA
    bool has_shortcuts = true;                                        // closed forms where there are any

    StopRule stop() const { return {width_apart, relative_width, lower_above, upper_at_most}; }
};

// Whether a walk over two polytopes comes first: nothing shorter is known of them.
bool begins_with_walk(const CorePair& pair, const CoreQuestion& question);

// How a polytope has to grow between two others that a walk has found meeting, if it has to.
inline std::optional<GrowthRule> growth_after(const PolytopeWalk& walked, const CorePair& pair,
                                              const CoreQuestion& question) {
    if (walked.end != PolytopeWalk::End::meeting || question.upper_at_most >= 0.0) return std::nullopt;
    if (!question.has_shortcuts || question.by_portal) return std::nullopt;
    return GrowthRule{pair.size, question.width_inside, question.lower_above};
}

// The rounding of farthest points moves a bound by no more than this.
inline double rounding_of(const CorePair& pair) { return 16.0 * kEpsilon * pair.reach; }

// The gap that a walk over two polytopes has proved.
inline CoreGap<double> proved_gap(const PolytopeWalk& walked, const CorePair& pair) {
    const double rounding = rounding_of(pair);
    return {walked.point_a, walked.normal, walked.upper, walked.lower - rounding, walked.upper + rounding};
}

// What was done for a pair beside others: two polytopes were walked over, and one grew between them; or two cylinders were
// brought to touch.
struct FoundTouch;
struct DoneBeside {
    const PolytopeWalk* walk = nullptr;
    const PolytopeGrowth* growth = nullptr;
    const FoundTouch* touch = nullptr;
};

// The gap of two cores in the frame of a: GJK, and EPA where they meet or nearly touch.
CoreGap<double> core_gap(const CorePair& pair, const CoreQuestion& question, int& iterations, const DoneBeside& done = {});

}  // namespace clearance
