#pragma once

// DrumTouch::on_rim in lanes.
#include "convex/drum_lanes.inl"

namespace clearance {
namespace {

// The latitudes between which the touch is, and that which is looked at.
template <class Real>
struct RimSearch {
    using Mask = typename LaneTraits<Real>::Mask;
    Real tangent, low, high, steps;

    struct Ends {
        Mask is_settled, is_steep;  // steep: near the pole, which takes more care
    };

    CLEARANCE_INLINE Ends advance(const DrumLanes<Real>& drum, const PointGapOf<Real>& at, unsigned active) {
        Real zero(0.0), most_looks(DrumSearch::kMostLooks), infinity(std::numeric_limits<double>::infinity());
        LatitudeOf<Real> here = latitude_of(tangent);
        Real rise = -dot(at.normal, drum.axis), level = norm(at.normal + rise * drum.axis);
        Real off = rise * here.level - level * here.rise, along = level * here.level + rise * here.rise;
        Mask is_below = off > zero;
        low = select(is_below, tangent, low), high = select(is_below, high, tangent);
        Mask is_settled = abs_of(off) * drum.radius <= Real(DrumSearch::kSettled) * drum.size * here.level;
        is_settled = either(is_settled, steps >= most_looks);
        Real next = turned(here, off, along, at.bend * drum.radius, here.level * here.level * level);
        Mask is_inside = both(next > low, next < high);
        if ((active & ~bits_of(either(is_inside, is_settled))) != 0) next = select(is_inside, next, middle(low, high));
        next = select(level > Real(1.0 / DrumSearch::kSteep), next, infinity);
        Mask is_steep = but_not(next > Real(DrumSearch::kSteep), is_settled);
        Mask is_same = both(next <= tangent, next >= tangent);
        steps = select(is_same, most_looks, steps + Real(1.0));
        tangent = select(is_settled, tangent, next);
        return {is_settled, is_steep};
    }
};

// The first step was taken when the rows were listed.
template <class Real>
class RimSteps {
public:
    CLEARANCE_INLINE RimSteps(const DrumColumns& drums, DrumCourse& course, TouchColumns& found)
        : drums_(drums), course_(course), found_(found) {}

    CLEARANCE_INLINE void begin(int lane, std::size_t row) {
        drum_.set(drums_, course_.axis, row, lane);
        set_lane(search_.tangent, lane, course_.at[row]), set_lane(search_.steps, lane, 1.0);
        set_lane(search_.low, lane, course_.low[row]), set_lane(search_.high, lane, course_.high[row]);
        set_lane(looks_.count, lane, found_.looks[row]);
    }

    CLEARANCE_INLINE unsigned step(unsigned active) {
        looks_.add(drum_.look(drum_.half_length - drum_.radius * search_.tangent));
        const auto ends = search_.advance(drum_, looks_.at, active);
        steep_ = bits_of(ends.is_steep);
        return bits_of(ends.is_settled) | steep_;
    }

    CLEARANCE_INLINE void leave(int lane, std::size_t row) {
        looks_.leave(lane, row, course_, found_);
        course_.at[row] = lane_of(search_.tangent, lane);
        found_.is_known[row] = (steep_ >> lane & 1u) == 0;
    }

private:
    const DrumColumns& drums_;
    DrumCourse& course_;
    TouchColumns& found_;
    DrumLanes<Real> drum_;
    RimSearch<Real> search_;
    DrumLooks<Real> looks_;
    unsigned steep_ = 0;
};

}  // namespace
}  // namespace clearance
