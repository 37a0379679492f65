#pragma once

// What the lanes have in common in which cylinders are brought to touch.
#include "convex/cylinder_lanes.hpp"
#include "convex/drum_columns.hpp"
#include "math/single_lane.hpp"

namespace clearance {
namespace {

using DrumColumn = DrumColumns::Column;

// What is known of drums on the way to their touch.
struct DrumCourse {
    DrumColumn axis[3];              // towards the end that was looked at
    DrumColumn at, low, high;        // tangents of latitudes, on the side heights: of the last look, and of others about it
    DrumColumn distance, normal[3];  // seen by the last look
    DrumColumn on_side, on_rim;      // 1 or 0
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
CLEARANCE_INLINE Vec3d at_row(const DrumColumn (&from)[3], std::size_t row) {
    return {from[0][row], from[1][row], from[2][row]};
}

// Drums with one end up.
template <class Real>
struct DrumLanes {
    Vec3<Real> axis, centre;
    Real radius, half_length, size;
    CylinderLanes<Real> solid;

    CLEARANCE_INLINE void set(const DrumColumns& drums, const DrumColumn (&axis_up)[3], std::size_t row, int lane) {
        set_lane(axis, lane, at_row(axis_up, row)), set_lane(centre, lane, at_row(drums.centre, row));
        set_lane(radius, lane, drums.radius[row]), set_lane(half_length, lane, drums.half_length[row]);
        set_lane(size, lane, drums.size[row]), set_lane(solid.radius, lane, drums.solid_radius[row]);
        set_lane(solid.half_length, lane, drums.solid_half_length[row]);
    }
    CLEARANCE_INLINE Vec3<Real> point(Real height) const { return centre + height * axis; }
    CLEARANCE_INLINE PointGapOf<Real> look(Real height) const { return point_gap(solid, point(height), axis); }
};

template <class Real>
CLEARANCE_INLINE DrumLanes<Real> load_drums(const DrumColumns& from, const DrumColumn (&axis)[3], std::size_t row) {
    return {load<Real>(axis, row),        load<Real>(from.centre, row),
            load<Real>(from.radius, row), load<Real>(from.half_length, row),
            load<Real>(from.size, row),   {load<Real>(from.solid_radius, row), load<Real>(from.solid_half_length, row)}};
}

// Looks at the solid until it has settled what it looks for.
template <class Real>
struct DrumLooks {
    PointGapOf<Real> at;
    Real count;

    CLEARANCE_INLINE void add(const PointGapOf<Real>& seen) { at = seen, count = count + Real(1.0); }
    CLEARANCE_INLINE void leave(int lane, std::size_t row, DrumCourse& course, TouchColumns& found) {
        course.distance[row] = lane_of(at.distance, lane);
        course.normal[0][row] = lane_of(at.normal.x, lane);
        course.normal[1][row] = lane_of(at.normal.y, lane);
        course.normal[2][row] = lane_of(at.normal.z, lane);
        found.looks[row] = lane_of(count, lane);
    }
};

// Rows that have to take steps.
struct RowList {
    std::size_t row[DrumColumns::kRoom], count = 0;
    CLEARANCE_INLINE void add(std::size_t one) { row[count++] = one; }
};

// Take the steps of as many rows at a time as there are lanes. A lane whose row has come to an end takes the next; when
// there is none, it goes on where it is, which is harmless.
template <class Real, class Steps>
CLEARANCE_INLINE void go_through(const RowList& rows, Steps& steps) {
    constexpr int kLanes = LaneTraits<Real>::count;
    std::size_t row[kLanes], next = 0;
    unsigned active = 0;
    if (rows.count == 0) return;
    for (int lane = 0; lane < kLanes; ++lane) {
        const bool is_left = next < rows.count;
        row[lane] = rows.row[is_left ? next : 0];
        steps.begin(lane, row[lane]);
        if (is_left) active |= 1u << lane, ++next;
    }
    while (active != 0) {
        for_lanes(steps.step(active) & active, [&](int lane) {
            steps.leave(lane, row[lane]);
            if (next == rows.count) return void(active &= ~(1u << lane));
            row[lane] = rows.row[next++];
            steps.begin(lane, row[lane]);
        });
    }
}

}  // namespace
}  // namespace clearance
