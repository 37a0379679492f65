// Where cylinders touch, side by side, as DrumTouch finds it for one: included by one file per instruction set, see
// closest/kernel.inl for what that asks for. All are seen from the ends of their sides first, which tells what they meet
// with. Then those that meet with a rim take their steps, and those that meet with the side; and at last all witnesses are
// placed.
#include "convex/drum_kernels.hpp"
#include "convex/drum_rims.inl"
#include "convex/drum_sides.inl"

namespace clearance {
namespace {

// Whether drums stand with the disc that is up on the solid, and where.
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

template <class Real>
CLEARANCE_INLINE typename LaneTraits<Real>::Mask is_above_side(const DrumLanes<Real>& drum, const PointGapOf<Real>& at) {
    return -dot(at.normal, drum.axis) > Real(0.0);
}

// What has to take steps yet.
struct DrumLists {
    RowList rims, sides;

    static CLEARANCE_INLINE void add(std::size_t first, unsigned lanes, RowList& to) {
        for_lanes(lanes, [&](int lane) { to.add(first + static_cast<unsigned>(lane)); });
    }
};

template <class Real>
CLEARANCE_INLINE void look_from_ends(const DrumColumns& drums, std::size_t first, unsigned active, DrumCourse& course,
                                     TouchColumns& found, DrumLists& lists) {
    Real zero(0.0), one(1.0), two(2.0), infinity(std::numeric_limits<double>::infinity());
    DrumLanes<Real> drum = load_drums<Real>(drums, drums.axis, first);
    Vec3<Real> axis = drum.axis;
    Real along = dot(axis, drum.centre);
    auto is_up = along <= zero;
    drum.axis = select(is_up, axis, -axis);
    PointGapOf<Real> at = drum.look(drum.half_length);
    auto is_first = is_above_side(drum, at);
    drum.axis = -drum.axis;
    PointGapOf<Real> other = drum.look(drum.half_length);
    auto is_disc = either(is_first, is_above_side(drum, other));
    drum.axis = select(is_first, -drum.axis, drum.axis);
    at = {select(is_first, at.distance, other.distance), select(is_first, at.normal, other.normal),
          select(is_first, at.bend, other.bend)};
    auto is_on_face = both(is_disc, face_of(drum).is_met), is_on_rim = but_not(is_disc, is_on_face);
    RimSearch<Real> search{zero, zero, infinity, zero};
    const unsigned rims = bits_of(is_on_rim) & active;
    const auto ends = search.advance(drum, at, rims);

    // On the side, begin at the foot of the middle of the solid.
    Real height = max_of(-drum.half_length, min_of(drum.half_length, -along));
    store(course.axis, first, select(is_disc, drum.axis, axis));
    store(course.at, first, select(is_disc, search.tangent, height));
    store(course.low, first, search.low), store(course.high, first, search.high);
    store(course.distance, first, at.distance), store(course.normal, first, at.normal);
    store(course.on_side, first, select(is_disc, zero, one)), store(course.on_rim, first, select(is_on_rim, one, zero));
    Real end = select(is_first, one, -one);
    store(found.end, first, select(is_disc, select(is_up, end, -end), zero));
    store(found.looks, first, select(is_first, one, two));

    const unsigned steep = rims & bits_of(ends.is_steep);
    for_lanes(active, [&](int lane) { found.is_known[first + static_cast<unsigned>(lane)] = (steep >> lane & 1u) == 0; });
    DrumLists::add(first, rims & ~bits_of(ends.is_settled) & ~steep, lists.rims);
    DrumLists::add(first, active & ~bits_of(is_disc), lists.sides);
}

// How far normals part the bodies, as DrumTouch::separation says.
template <class Real>
CLEARANCE_INLINE Real separation_along(const Vec3<Real>& normal, const DrumLanes<Real>& drum) {
    Vec3<Real> back = -normal;
    Real rise = dot(normal, drum.axis), side = drum.radius * norm(normal - rise * drum.axis);
    Real reach = dot(normal, drum.centre) + max_of(drum.half_length * rise + side, -drum.half_length * rise + side);
    return -reach - dot(back, support(drum.solid, back));
}

// Place the witnesses, and see how far the normals part the bodies.
template <class Real>
CLEARANCE_INLINE void place(const DrumColumns& drums, std::size_t first, const DrumCourse& course, TouchColumns& found) {
    Real zero(0.0), one(1.0);
    DrumLanes<Real> drum = load_drums<Real>(drums, course.axis, first);
    auto is_side = load<Real>(course.on_side, first) > zero, is_rim = load<Real>(course.on_rim, first) > zero;
    auto is_disc = load<Real>(course.on_side, first) <= zero, is_face = but_not(is_disc, is_rim);
    Real seen_from = load<Real>(course.at, first), distance = load<Real>(course.distance, first);
    Vec3<Real> seen = load<Real>(course.normal, first), normal = -seen;

    // The side reaches as far as a ball of its radius on the axis, which the rim of a disc does as well.
    Real height = select(is_side, seen_from, drum.half_length - drum.radius * seen_from);
    Vec3<Real> across = normal - dot(normal, drum.axis) * drum.axis;
    Vec3<Real> out = (drum.radius * inverse_or_zero(norm(across))) * across;
    Real level = select(is_side, seen_from + drum.radius * zero, drum.half_length);
    Vec3<Real> on_drum = drum.point(level) + select(is_side, out, out - dot(out, drum.axis) * drum.axis);
    Vec3<Real> on_solid = drum.point(height) - distance * seen;
    auto is_far = both(is_rim, seen_from > Real(DrumSearch::kFarCentre));
    if (any_of(is_far)) {
        PointGapOf<Real> foot = point_gap(drum.solid, on_drum, drum.axis);
        Real turn = dot(foot.normal, seen);
        auto is_same = both(turn <= one, turn >= one), is_better = both(is_far, either(foot.distance >= zero, is_same));
        on_solid = select(is_better, on_drum - foot.distance * foot.normal, on_solid);
    }
    if (any_of(is_face)) {
        Face<Real> face = face_of(drum);
        normal = select(is_face, drum.axis, normal), height = select(is_face, zero, height);
        on_drum = select(is_face, face.on_drum, on_drum), on_solid = select(is_face, face.on_solid, on_solid);
    }
    store(found.normal, first, normal), store(found.on_drum, first, on_drum), store(found.on_solid, first, on_solid);
    auto is_turned_over = both(is_rim, load<Real>(found.end, first) < zero);
    store(found.height, first, select(is_turned_over, -height, height));
    store(found.at_pole, first, select(is_face, one, zero));

    drum.axis = load<Real>(drums.axis, first);
    store(found.separation, first, separation_along(normal, drum));
}

template <class Real>
void touch_many(DrumColumns& drums, std::size_t count, TouchColumns& found) {
    constexpr std::size_t kLanes = LaneTraits<Real>::count;
    DrumCourse course;
    DrumLists lists;
    for (std::size_t row = count; row % kLanes != 0; ++row) drums.repeat_first(row);
    for (std::size_t row = 0; row < count; row += kLanes) {
        const std::size_t left = count - row;
        const unsigned active = left < kLanes ? (1u << left) - 1u : (1u << kLanes) - 1u;
        look_from_ends<Real>(drums, row, active, course, found, lists);
    }
    RimSteps<Real> rims(drums, course, found);
    go_through<Real>(lists.rims, rims);
    SideSteps<Real> sides(drums, course, found);
    go_through<Real>(lists.sides, sides);
    for (std::size_t row = 0; row < count; row += kLanes) place<Real>(drums, row, course, found);
}

}  // namespace
}  // namespace clearance
