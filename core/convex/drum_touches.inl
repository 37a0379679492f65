// Where cylinders touch, side by side, as DrumTouch finds it for one: included by one file per instruction set, see
// closest/kernel.inl for what that asks for. First all are seen from the ends of their sides, which tells what they meet
// with; then those that meet with a rim, or with the side, take their steps; and at last their witnesses are placed.
#include "convex/cylinder_lanes.hpp"
#include "convex/drum_kernels.hpp"
#include "math/single_lane.hpp"

namespace clearance {
namespace {

using DrumColumn = DrumColumns::Column;

// What is known of drums while they are brought to touch.
struct DrumCourse {
    DrumColumn axis[3];                // turned over where they meet with the lower end
    DrumColumn low, high, at;          // tangents of latitudes; on the side, heights
    DrumColumn normal[3], distance;    // of what was seen last
    DrumColumn on_rim, on_side, over;  // 1 or 0
};

template <class Real>
CLEARANCE_INLINE Real load(const DrumColumn& from, std::size_t row) {
    return LaneTraits<Real>::load(from + row);
}
template <class Real>
CLEARANCE_INLINE Vec3<Real> load(const DrumColumn (&from)[3], std::size_t row) {
    return {load<Real>(from[0], row), load<Real>(from[1], row), load<Real>(from[2], row)};
}
template <class Real>
CLEARANCE_INLINE void store(DrumColumn& to, std::size_t row, Real value) {
    LaneTraits<Real>::store(to + row, value);
}
template <class Real>
CLEARANCE_INLINE void store(DrumColumn (&to)[3], std::size_t row, const Vec3<Real>& value) {
    store(to[0], row, value.x), store(to[1], row, value.y), store(to[2], row, value.z);
}
template <class Real, class Mask>
CLEARANCE_INLINE Real one_if(Mask holds) {
    return select(holds, Real(1.0), Real(0.0));
}

// Drums with the end up that is looked at.
template <class Real>
struct DrumLanes {
    Vec3<Real> axis, centre;
    Real radius, half_length, size;
    CylinderLanes<Real> solid;

    CLEARANCE_INLINE Vec3<Real> point(Real height) const { return centre + height * axis; }
    CLEARANCE_INLINE PointGapOf<Real> look(Real height) const { return point_gap(solid, point(height), axis); }
    CLEARANCE_INLINE void set(int lane, const DrumColumns& drums, std::size_t row, const Vec3d& axis_up) {
        set_lane(axis, lane, axis_up);
        set_lane(centre, lane, {drums.centre[0][row], drums.centre[1][row], drums.centre[2][row]});
        set_lane(radius, lane, drums.radius[row]), set_lane(half_length, lane, drums.half_length[row]);
        set_lane(solid.radius, lane, drums.solid_radius[row]);
        set_lane(solid.half_length, lane, drums.solid_half_length[row]);
        set_lane(size, lane, drums.size[row]);
    }
};

template <class Real>
CLEARANCE_INLINE DrumLanes<Real> load_drums(const DrumColumns& from, std::size_t row, const DrumColumn (&axis)[3]) {
    return {load<Real>(axis, row),
            load<Real>(from.centre, row),
            load<Real>(from.radius, row),
            load<Real>(from.half_length, row),
            load<Real>(from.size, row),
            {load<Real>(from.solid_radius, row), load<Real>(from.solid_half_length, row)}};
}

// A step of DrumTouch::on_rim.
template <class Real>
struct RimStep {
    using Mask = typename LaneTraits<Real>::Mask;
    Real tangent, low, high, steps;
    Mask is_settled, is_steep;  // the pole is near: that takes more care

    CLEARANCE_INLINE void advance(const DrumLanes<Real>& drum, const PointGapOf<Real>& at, unsigned active) {
        Real infinity(std::numeric_limits<double>::infinity()), most_looks(DrumSearch::kMostLooks);
        LatitudeOf<Real> here = latitude_of(tangent);
        Real rise = -dot(at.normal, drum.axis), level = norm(at.normal + rise * drum.axis);
        Real off = rise * here.level - level * here.rise, along = level * here.level + rise * here.rise;
        auto is_below = off > Real(0.0);
        low = select(is_below, tangent, low), high = select(is_below, high, tangent);
        is_settled = abs_of(off) * drum.radius <= Real(DrumSearch::kSettled) * drum.size * here.level;
        is_settled = either(is_settled, steps >= most_looks);
        Real next = turned(here, off, along, at.bend * drum.radius, here.level * here.level * level);
        auto is_inside = both(next > low, next < high);
        if ((active & ~bits_of(either(is_inside, is_settled))) != 0) next = select(is_inside, next, middle(low, high));
        next = select(level > Real(1.0 / DrumSearch::kSteep), next, infinity);
        is_steep = but_not(next > Real(DrumSearch::kSteep), is_settled);
        auto is_same = both(next <= tangent, next >= tangent);
        steps = select(is_same, most_looks, steps + Real(1.0));
        tangent = select(is_settled, tangent, next);
    }
};

// Rows that lanes go through, taking the next whenever they have come to an end.
struct RowList {
    std::size_t row[DrumColumns::kRoom], count = 0, next = 0;
    CLEARANCE_INLINE void add(std::size_t one) { row[count++] = one; }
};

template <class Real>
class RimLanes {
    static constexpr int kLanes = LaneTraits<Real>::count;

public:
    CLEARANCE_INLINE RimLanes(const DrumColumns& drums, DrumCourse& course, TouchColumns& found)
        : drums_(drums), course_(course), found_(found) {}

    CLEARANCE_INLINE void go_through(RowList& rows) {
        if (rows.count == 0) return;
        for (int lane = 0; lane < kLanes; ++lane) {
            set(lane, rows.row[rows.next < rows.count ? rows.next : 0]);
            if (rows.next < rows.count) active_ |= 1u << lane, ++rows.next;
        }
        while (active_ != 0) step(rows);
    }

private:
    CLEARANCE_INLINE void set(int lane, std::size_t row) {
        row_[lane] = row;
        drum_.set(lane, drums_, row, {course_.axis[0][row], course_.axis[1][row], course_.axis[2][row]});
        set_lane(step_.tangent, lane, course_.at[row]);
        set_lane(step_.low, lane, course_.low[row]), set_lane(step_.high, lane, course_.high[row]);
        set_lane(step_.steps, lane, 1.0);
        set_lane(looks_, lane, found_.looks[row]);
    }

    CLEARANCE_INLINE void step(RowList& rows) {
        PointGapOf<Real> at = drum_.look(drum_.half_length - drum_.radius * step_.tangent);
        looks_ = looks_ + Real(1.0);
        step_.advance(drum_, at, active_);
        const unsigned settled = bits_of(step_.is_settled), steep = bits_of(step_.is_steep);
        for_lanes((settled | steep) & active_, [&](int lane) {
            const std::size_t row = row_[lane];
            if (steep >> lane & 1u) found_.is_known[row] = false;
            course_.at[row] = lane_of(step_.tangent, lane), course_.distance[row] = lane_of(at.distance, lane);
            course_.normal[0][row] = lane_of(at.normal.x, lane);
            course_.normal[1][row] = lane_of(at.normal.y, lane);
            course_.normal[2][row] = lane_of(at.normal.z, lane);
            found_.looks[row] = lane_of(looks_, lane);
            if (rows.next < rows.count)
                set(lane, rows.row[rows.next++]);
            else
                active_ &= ~(1u << lane);
        });
    }

    const DrumColumns& drums_;
    DrumCourse& course_;
    TouchColumns& found_;
    DrumLanes<Real> drum_;
    RimStep<Real> step_;
    Real looks_;
    std::size_t row_[kLanes];
    unsigned active_ = 0;
};

// DrumTouch::on_side.
template <class Real>
class SideLanes {
    static constexpr int kLanes = LaneTraits<Real>::count;

public:
    CLEARANCE_INLINE SideLanes(const DrumColumns& drums, DrumCourse& course, TouchColumns& found)
        : drums_(drums), course_(course), found_(found) {}

    CLEARANCE_INLINE void go_through(RowList& rows) {
        if (rows.count == 0) return;
        for (int lane = 0; lane < kLanes; ++lane) {
            set(lane, rows.row[rows.next < rows.count ? rows.next : 0]);
            if (rows.next < rows.count) active_ |= 1u << lane, ++rows.next;
        }
        while (active_ != 0) step(rows);
    }

private:
    CLEARANCE_INLINE void set(int lane, std::size_t row) {
        row_[lane] = row;
        drum_.set(lane, drums_, row, {course_.axis[0][row], course_.axis[1][row], course_.axis[2][row]});
        set_lane(height_, lane, course_.at[row]);
        set_lane(low_, lane, -drums_.half_length[row]), set_lane(high_, lane, drums_.half_length[row]);
        set_lane(low_value_, lane, 0.0), set_lane(low_slope_, lane, 0.0), set_lane(low_known_, lane, 0.0);
        set_lane(high_value_, lane, 0.0), set_lane(high_slope_, lane, 0.0), set_lane(high_known_, lane, 0.0);
        set_lane(steps_, lane, 0.0);
        set_lane(looks_, lane, found_.looks[row]);
    }

    CLEARANCE_INLINE void step(RowList& rows) {
        PointGapOf<Real> at = drum_.look(height_);
        looks_ = looks_ + Real(1.0);
        const unsigned settled = advance(at) & active_;
        for_lanes(settled, [&](int lane) {
            const std::size_t row = row_[lane];
            course_.at[row] = lane_of(height_, lane), course_.distance[row] = lane_of(at.distance, lane);
            course_.normal[0][row] = lane_of(at.normal.x, lane);
            course_.normal[1][row] = lane_of(at.normal.y, lane);
            course_.normal[2][row] = lane_of(at.normal.z, lane);
            found_.looks[row] = lane_of(looks_, lane);
            if (rows.next < rows.count)
                set(lane, rows.row[rows.next++]);
            else
                active_ &= ~(1u << lane);
        });
    }

    // The lanes that have settled.
    CLEARANCE_INLINE unsigned advance(const PointGapOf<Real>& at) {
        Real zero(0.0), one(1.0);
        Real slope = dot(at.normal, drum_.axis) + zero, value = at.distance + zero * height_;
        auto is_low = slope < zero;
        low_ = select(is_low, height_, low_), high_ = select(is_low, high_, height_);
        low_value_ = select(is_low, value, low_value_), high_value_ = select(is_low, high_value_, value);
        low_slope_ = select(is_low, slope, low_slope_), high_slope_ = select(is_low, high_slope_, slope);
        low_known_ = select(is_low, one, low_known_), high_known_ = select(is_low, high_known_, one);
        auto is_level = abs_of(slope) <= Real(0.1 * DrumSearch::kSettled);
        auto is_closed = high_ - low_ <= Real(0.1 * DrumSearch::kSettled) * drum_.size;
        auto is_settled = either(either(is_level, is_closed), steps_ >= Real(DrumSearch::kMostLooks));
        auto is_bent = at.bend > zero;
        Real next = height_ - slope / select(is_bent, at.bend, one);
        auto moves = either(next < height_, next > height_);
        auto is_good = both(is_bent, both(moves, both(next >= low_, next <= high_)));
        if ((active_ & ~bits_of(either(is_good, is_settled))) != 0) next = select(is_good, next, where_tangents_meet());
        steps_ = steps_ + one;
        height_ = select(is_settled, height_, next);
        return bits_of(is_settled);
    }

    // Where the tangents at both ends meet, if both are known.
    CLEARANCE_INLINE Real where_tangents_meet() {
        Real zero(0.0), half_way = Real(0.5) * (low_ + high_), closing = high_slope_ - low_slope_;
        auto is_closing = either(closing < zero, closing > zero);
        Real over = (low_value_ - low_slope_ * low_) - (high_value_ - high_slope_ * high_);
        Real meet = over / select(is_closing, closing, Real(1.0));
        auto is_known = both(both(low_known_ > zero, high_known_ > zero), is_closing);
        return select(both(is_known, both(meet > low_, meet < high_)), meet, half_way);
    }

    const DrumColumns& drums_;
    DrumCourse& course_;
    TouchColumns& found_;
    DrumLanes<Real> drum_;
    Real height_, low_, high_, low_value_, low_slope_, low_known_, high_value_, high_slope_, high_known_, steps_, looks_;
    std::size_t row_[kLanes];
    unsigned active_ = 0;
};

template <class Real>
CLEARANCE_INLINE PointGapOf<Real> select(typename LaneTraits<Real>::Mask mask, const PointGapOf<Real>& a,
                                         const PointGapOf<Real>& b) {
    return {select(mask, a.distance, b.distance), select(mask, a.normal, b.normal), select(mask, a.bend, b.bend)};
}

// Whether drums stand with their upper discs on the solids, and where.
template <class Real>
struct Face {
    typename LaneTraits<Real>::Mask is_met;
    Vec3<Real> on_drum, on_solid;
};

template <class Real>
CLEARANCE_INLINE Face<Real> face_of(const DrumLanes<Real>& drum) {
    Vec3<Real> point = support(drum.solid, -drum.axis), from_disc = point - drum.point(drum.half_length);
    Real rise = dot(from_disc, drum.axis);
    return {norm_sq(from_disc - rise * drum.axis) <= drum.radius * drum.radius, point - rise * drum.axis, point};
}

// Look from both ends of the side, and take the first step on a rim. Rows that have to go on are listed.
template <class Real>
CLEARANCE_INLINE void begin(const DrumColumns& drums, std::size_t first, unsigned active, DrumCourse& course,
                            TouchColumns& found, RowList& rims, RowList& sides) {
    Real zero(0.0), one(1.0);
    DrumLanes<Real> drum = load_drums<Real>(drums, first, drums.axis);
    Vec3<Real> axis = drum.axis;
    Real along = dot(axis, drum.centre);
    auto is_up = along <= zero;
    drum.axis = select(is_up, axis, -axis);
    PointGapOf<Real> at = drum.look(drum.half_length);
    auto is_first = -dot(at.normal, drum.axis) > zero, is_end = is_first;
    drum.axis = -drum.axis;
    PointGapOf<Real> at_second = drum.look(drum.half_length);
    is_end = either(is_first, -dot(at_second.normal, drum.axis) > zero);
    drum.axis = select(is_first, -drum.axis, drum.axis);
    at = select(is_first, at, at_second);
    Face<Real> face = face_of(drum);
    RimStep<Real> step{zero, zero, Real(std::numeric_limits<double>::infinity()), zero, is_first, is_first};
    step.advance(drum, at, active);

    const unsigned ends = bits_of(is_end), faces = bits_of(face.is_met), settled = bits_of(step.is_settled);
    const unsigned steep = bits_of(step.is_steep);
    Real level = max_of(-drum.half_length, min_of(drum.half_length, -along));
    store(course.axis, first, select(is_end, drum.axis, axis));
    store(course.low, first, step.low), store(course.high, first, step.high);
    store(course.at, first, select(is_end, step.tangent, level));
    store(course.normal, first, at.normal), store(course.distance, first, at.distance);
    store(course.on_side, first, select(is_end, zero, one));
    store(course.on_rim, first, select(is_end, select(face.is_met, zero, one), zero));
    // The first end that was looked at is the upper one if `is_up`.
    store(course.over, first, select(is_first, select(is_up, zero, one), select(is_up, one, zero)));
    store(found.looks, first, select(is_first, one, Real(2.0)));
    for_lanes(active, [&](int lane) {
        const std::size_t row = first + static_cast<std::size_t>(lane);
        const unsigned bit = 1u << lane;
        found.is_known[row] = true;
        if ((ends & bit) == 0) return sides.add(row);
        if ((faces & bit) != 0 || (settled & bit) != 0) return;
        if ((steep & bit) != 0) return void(found.is_known[row] = false);
        rims.add(row);
    });
}

// Place the witnesses, and see how far the normal parts the bodies.
template <class Real>
CLEARANCE_INLINE void place(const DrumColumns& drums, std::size_t first, const DrumCourse& course, TouchColumns& found) {
    Real zero(0.0), one(1.0);
    DrumLanes<Real> drum = load_drums<Real>(drums, first, course.axis);
    auto is_side = load<Real>(course.on_side, first) > zero, is_rim = load<Real>(course.on_rim, first) > zero;
    auto is_face = but_not(load<Real>(course.on_side, first) <= zero, is_rim);
    auto is_over = load<Real>(course.over, first) > zero;
    Real tangent = load<Real>(course.at, first), distance = load<Real>(course.distance, first);
    Vec3<Real> seen = load<Real>(course.normal, first), normal = -seen;

    Real height = select(is_side, tangent, drum.half_length - drum.radius * tangent);
    Vec3<Real> across = normal - dot(normal, drum.axis) * drum.axis;
    Vec3<Real> out = (drum.radius * inverse_or_zero(norm(across))) * across;
    Vec3<Real> on_drum = drum.point(select(is_side, tangent + drum.radius * zero, drum.half_length)) +
                         select(is_side, out, out - dot(out, drum.axis) * drum.axis);
    Vec3<Real> on_solid = drum.point(height) - distance * seen;
    auto is_far = both(is_rim, tangent > Real(DrumSearch::kFarCentre));
    if (any_of(is_far)) {
        PointGapOf<Real> foot = point_gap(drum.solid, on_drum, drum.axis);
        Real turn = dot(foot.normal, seen);
        auto is_near = both(is_far, either(foot.distance >= zero, both(turn <= one, turn >= one)));
        on_solid = select(is_near, on_drum - foot.distance * foot.normal, on_solid);
    }
    if (any_of(is_face)) {
        Face<Real> face = face_of(drum);
        normal = select(is_face, drum.axis, normal);
        on_drum = select(is_face, face.on_drum, on_drum), on_solid = select(is_face, face.on_solid, on_solid);
        height = select(is_face, zero, height);
    }
    store(found.normal, first, normal), store(found.on_drum, first, on_drum), store(found.on_solid, first, on_solid);
    store(found.height, first, select(both(is_over, is_rim), -height, height));
    store(found.end, first, select(is_side, zero, select(is_over, -one, one)));
    store(found.pole, first, one_if<Real>(is_face));

    Vec3<Real> axis = load<Real>(drums.axis, first), back = -normal;
    Real rise = dot(normal, axis), level = norm(normal - rise * axis);
    Real upper = drum.half_length * rise + drum.radius * level, lower = -drum.half_length * rise + drum.radius * level;
    Real reach = dot(normal, drum.centre) + max_of(upper, lower);
    store(found.separation, first, -reach - dot(back, support(drum.solid, back)));
}

template <class Real>
void touch_many(DrumColumns& drums, std::size_t count, TouchColumns& found) {
    constexpr std::size_t kLanes = LaneTraits<Real>::count;
    DrumCourse course;
    RowList rims, sides;
    for (std::size_t row = count; row % kLanes != 0; ++row) drums.repeat_first(row);
    for (std::size_t row = 0; row < count; row += kLanes) {
        const std::size_t left = count - row;
        const unsigned active = left < kLanes ? (1u << left) - 1u : (1u << kLanes) - 1u;
        begin<Real>(drums, row, active, course, found, rims, sides);
    }
    RimLanes<Real>(drums, course, found).go_through(rims);
    SideLanes<Real>(drums, course, found).go_through(sides);
    for (std::size_t row = 0; row < count; row += kLanes) place<Real>(drums, row, course, found);
}

}  // namespace
}  // namespace clearance
