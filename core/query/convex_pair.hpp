#pragma once

#include "closest/swept.hpp"
#include "convex/distance.hpp"
#include "convex/drum_columns.hpp"
#include "query/pair.hpp"

namespace clearance {

// Two convex parts and what is asked of them, in the frame of a. The question has to stay where it is.
class ConvexPair {
public:
    ConvexPair(const Convex& a, const Convex& b, const PlacedPart& at_a, const PlacedPart& at_b, const Question& question);

    // Polytopes are walked over first, unless there is a shorter way. A walk may be done beside those of other pairs.
    bool begins_with_walk() const { return clearance::begins_with_walk(pair_, cores_); }

    // What that has to know.
    PolytopePair polytopes() const { return polytopes_of(pair_, cores_.towards_b, cores_.stop()); }

    // And a growth after that, if there is one.
    std::optional<GrowthRule> growth_after(const PolytopeWalk& walked) const {
        return clearance::growth_after(walked, pair_, cores_);
    }

    // Put down what has to be known to bring a to touch b, two cylinders, beside others.
    void write_drum(DrumColumns& drums, std::size_t row) const;

    // The answer, from what was done already.
    Gap gap(Work& work, const DoneBeside& done = {}) const;

private:
    Gap nearest(Work& work, const DoneBeside& done) const;
    Gap answer(const CoreGap<double>& found) const;
    bool has_converged(const Gap& gap) const;
    CoreQuestion question_for_cores() const;
    CoreGap<double> found_another_way(const CoreGap<double>& known, int way, int& iterations) const;

    Mat3 turn_;  // of a, and where it is
    Vec3d origin_;
    double radius_a_, radius_b_, size_;
    const Question& question_;
    CorePair pair_;
    CoreQuestion cores_;
};

// Cylinders are brought to touch first, which may be done beside others, too.
bool begins_with_touch(const Convex& a, const Convex& b, const Question& question);

Gap gap_of(const SweptGap<double>& swept);

}  // namespace clearance
