#pragma once

// DrumTouch::on_side in lanes.
#include "convex/drum_lanes.inl"

namespace clearance {
namespace {

// A height on the axis, and the tangent there to the distance less the radius, if it was looked at.
template <class Real>
struct SideEnd {
    Real height, value, slope, is_known;

    CLEARANCE_INLINE void set(int lane, double at) {
        set_lane(height, lane, at), set_lane(value, lane, 0.0), set_lane(slope, lane, 0.0), set_lane(is_known, lane, 0.0);
    }
    template <class Mask>
    CLEARANCE_INLINE void move(Mask moves, Real to, Real seen_value, Real seen_slope) {
        height = select(moves, to, height), value = select(moves, seen_value, value);
        slope = select(moves, seen_slope, slope), is_known = select(moves, Real(1.0), is_known);
    }
    CLEARANCE_INLINE Real at_zero() const { return value - slope * height; }
};

template <class Real>
class SideSteps {
    using Mask = typename LaneTraits<Real>::Mask;

public:
    CLEARANCE_INLINE SideSteps(const DrumColumns& drums, DrumCourse& course, TouchColumns& found)
        : drums_(drums), course_(course), found_(found) {}

    CLEARANCE_INLINE void begin(int lane, std::size_t row) {
        drum_.set(drums_, course_.axis, row, lane);
        low_.set(lane, -drums_.half_length[row]), high_.set(lane, drums_.half_length[row]);
        set_lane(height_, lane, course_.at[row]), set_lane(steps_, lane, 0.0);
        set_lane(looks_.count, lane, found_.looks[row]);
    }

    CLEARANCE_INLINE unsigned step(unsigned active) {
        looks_.add(drum_.look(height_));
        PointGapOf<Real> at = looks_.at;
        Real zero(0.0), rise(0.0), closed(0.1 * DrumSearch::kSettled);  // normals of the side do not rise
        Real slope = dot(at.normal, drum_.axis) + rise, value = at.distance + rise * height_;
        Mask is_falling = slope < zero, is_rising = slope >= zero;
        low_.move(is_falling, height_, value, slope), high_.move(is_rising, height_, value, slope);
        Mask is_settled = either(abs_of(slope) <= closed, high_.height - low_.height <= closed * drum_.size);
        is_settled = either(is_settled, steps_ >= Real(DrumSearch::kMostLooks));
        Mask is_bent = at.bend > zero;
        Real next = height_ - slope / select(is_bent, at.bend, Real(1.0));
        Mask is_between = both(next >= low_.height, next <= high_.height);
        Mask is_good = both(both(is_bent, is_between), either(next < height_, height_ < next));
        if ((active & ~bits_of(either(is_good, is_settled))) != 0) next = select(is_good, next, where_tangents_meet());
        steps_ = steps_ + Real(1.0), height_ = select(is_settled, height_, next);
        return bits_of(is_settled);
    }

    CLEARANCE_INLINE void leave(int lane, std::size_t row) {
        looks_.leave(lane, row, course_, found_);
        course_.at[row] = lane_of(height_, lane);
    }

private:
    // Where the tangents at both ends meet, if both are known, or else half-way.
    CLEARANCE_INLINE Real where_tangents_meet() const {
        Real zero(0.0), closing = high_.slope - low_.slope;
        Mask is_known = both(both(low_.is_known > zero, high_.is_known > zero), closing > zero);
        Real meet = (low_.at_zero() - high_.at_zero()) / select(is_known, closing, Real(1.0));
        is_known = both(is_known, both(meet > low_.height, meet < high_.height));
        return select(is_known, meet, Real(0.5) * (low_.height + high_.height));
    }

    const DrumColumns& drums_;
    DrumCourse& course_;
    TouchColumns& found_;
    DrumLanes<Real> drum_;
    SideEnd<Real> low_, high_;
    DrumLooks<Real> looks_;
    Real height_, steps_;
};

}  // namespace
}  // namespace clearance
