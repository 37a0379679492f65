// Walks over polytopes, included by one file per instruction set: see closest/kernel.inl for what that asks for.
#include "closest/farthest.hpp"
#include "convex/polytope_walk.hpp"
#include "convex/support_cells.hpp"
#include "math/single_lane.hpp"

namespace clearance {
namespace {

// What lanes walk over that have nothing to do: two points.
constexpr Vec3d kAside{-1, 0, 0};
constexpr PolytopePair kNothing{{}, {}, kNoTurn, kAside, {1, 0, 0}, 1.0, 0.0, {0.0}};

constexpr int kMostSteps = 64;  // beyond this a walk goes in circles

CLEARANCE_INLINE Vec3d farthest_of_few(const Vec3d* points, std::size_t count, const Vec3d& along) {
    std::size_t best = 0;
    double height = dot(along, points[0]);
    for (std::size_t k = 1; k < count; ++k) {
        const double other = dot(along, points[k]);
        if (other > height) height = other, best = k;
    }
    return points[best];
}

CLEARANCE_INLINE Vec3d corner_of_box(const Vec3d& half, const Vec3d& along) {
    return {__builtin_copysign(half.x, along.x), __builtin_copysign(half.y, along.y), __builtin_copysign(half.z, along.z)};
}

// The corner farthest along a direction, and the cell of that if it is asked for. Points in blocks are compared in lanes of
// their own.
template <class Points, class Cell>
CLEARANCE_INLINE Vec3d farthest_corner(const PolytopeCorners& of, const Vec3d& along, const Cell& cell_of) {
    if (of.blocks == nullptr) {
        if (of.points != nullptr) return farthest_of_few(of.points, of.count, along);
        return of.tree != nullptr ? farthest_in_tree(*of.tree, along) : corner_of_box(of.half, along);
    }
    const double* blocks = of.blocks;
    std::size_t count = of.count;
    if (of.cells != nullptr) {
        const SupportCells::Blocks& cell = of.cells[cell_of()];
        blocks += 3 * kPointBlock * cell.first, count = cell.count;
    }
    const std::size_t found = farthest_in<Points>(blocks, count, along);
    const double* point = blocks + 3 * kPointBlock * (found / kPointBlock) + found % kPointBlock;
    return {point[0], point[kPointBlock], point[2 * kPointBlock]};
}

template <class Points>
CLEARANCE_INLINE Vec3d farthest_corner(const PolytopeCorners& of, const Vec3d& along) {
    return farthest_corner<Points>(of, along, [&] { return SupportCells::cell_of(along); });
}

// As many walks as there are lanes.
template <class Real, class Points>
class Walks {
    using Traits = LaneTraits<Real>;
    using Mask = typename Traits::Mask;
    static constexpr int kLanes = Traits::count;

public:
    // What a lane leaves behind is not cleared away: a walk that begins does not look at it. It only has to be numbers.
    CLEARANCE_INLINE Walks() {
        for (int k = 0; k < 3; ++k) {
            near_.corner[k].w = near_.corner[k].a = Vec3<Real>{Real(0.0), Real(0.0), Real(0.0)};
            near_.weight[k] = Real(0.0);
        }
        for (int lane = 0; lane < kLanes; ++lane) rest(lane);
    }

    CLEARANCE_INLINE void begin(int lane, const PolytopePair& pair, PolytopeWalk* found) {
        pair_[lane] = &pair, found_[lane] = found;
        active_ |= 1u << lane;
        const unsigned has_cells = pair.a.cells != nullptr || pair.b.cells != nullptr ? 1u : 0u;
        with_cells_ = (with_cells_ & ~(1u << lane)) | has_cells << lane;
        set_lane(near_.corners, lane, 0.0), set_lane(near_.distance, lane, std::numeric_limits<double>::infinity());
        set_lane(near_.normal, lane, pair.towards_b), set_lane(near_.length, lane, pair.length);
        set_lane(lower_, lane, -std::numeric_limits<double>::infinity()), set_lane(normal_, lane, pair.towards_b);
        set_lane(steps_, lane, 0.0), set_lane(touching_, lane, pair.touching);
        for (int k = 0; k < 3; ++k) set_lane(a_from_b_[k], lane, pair.a_from_b.row[k]);
        set_lane(b_origin_, lane, pair.b_origin);
        set_lane(width_, lane, pair.stop.width), set_lane(relative_width_, lane, pair.stop.relative_width);
        set_lane(lower_above_, lane, pair.stop.lower_above), set_lane(upper_at_most_, lane, pair.stop.upper_at_most);
    }

    // Lanes that have nothing to do stay at one point, which is harmless.
    CLEARANCE_INLINE void rest(int lane) {
        begin(lane, kNothing, nullptr);
        active_ &= ~(1u << lane);
        for (int k = 0; k < 3; ++k) on_a_[k][lane] = on_b_[k][lane] = 0.0;
    }

    CLEARANCE_INLINE unsigned active() const { return active_; }

    // One step in all lanes, in three stages; those that have ended are returned. First, in which directions to look, and
    // into which cells?
    CLEARANCE_INLINE void aim() {
        Vec3<Real> along = near_.normal;
        store(along_a_, along), store(along_b_, -(along.x * a_from_b_[0] + along.y * a_from_b_[1] + along.z * a_from_b_[2]));
        if (kLanes == 1 || with_cells_ == 0) return;
        Traits::store(cells_a_, SupportCells::cells_of(load(along_a_)));
        Traits::store(cells_b_, SupportCells::cells_of(load(along_b_)));
    }

    // Which points are farthest there.
    CLEARANCE_INLINE void look() {
        for_lanes(active_, [&](int lane) {
            const Vec3d a = farthest_at(pair_[lane]->a, along_a_, cells_a_, lane);
            const Vec3d b = farthest_at(pair_[lane]->b, along_b_, cells_b_, lane);
            on_a_[0][lane] = a.x, on_a_[1][lane] = a.y, on_a_[2][lane] = a.z;
            on_b_[0][lane] = b.x, on_b_[1][lane] = b.y, on_b_[2][lane] = b.z;
        });
    }

    // What they prove, and where to go from there.
    CLEARANCE_INLINE unsigned judge() {
        Vec3<Real> a = load(on_a_), b = load(on_b_);
        Vec3<Real> turned{dot(a_from_b_[0], b), dot(a_from_b_[1], b), dot(a_from_b_[2], b)};
        Corner<Real> newest{a - (turned + b_origin_), a};
        steps_ = steps_ + Real(1.0);
        Real inverse = Real(1.0) / near_.length, separation = -dot(near_.normal, newest.w) * inverse;
        Mask is_higher = separation > lower_;
        lower_ = select(is_higher, separation, lower_);
        normal_ = select(is_higher, inverse * near_.normal, normal_);
        const unsigned settled = bits_of(both(near_.corners > Real(0.0), stops())) & active_;
        if (settled != 0) settle(settled, is_higher);

        auto growth = near_.grow(newest);
        const unsigned meeting = bits_of(growth.holds_origin) & active_ & ~settled;
        for_lanes(meeting, [&](int lane) { leave_meeting(lane, newest); });
        Mask is_lost = either(growth.is_unclear, near_.distance <= touching_);
        is_lost = either(is_lost, steps_ >= Real(static_cast<double>(kMostSteps)));
        const unsigned lost = bits_of(is_lost) & active_ & ~settled & ~meeting;
        for_lanes(lost, [&](int lane) {
            leave(lane, PolytopeWalk::End::unclear);
            leave_corners(lane);
        });
        return settled | meeting | lost;
    }

private:
    static CLEARANCE_INLINE Corner<double> get(Corner<Real>& lanes, int lane) {
        return {get_lane(lanes.w, lane), get_lane(lanes.a, lane)};
    }
    static CLEARANCE_INLINE void store(double (&to)[3][kLanes], const Vec3<Real>& from) {
        Traits::store(to[0], from.x), Traits::store(to[1], from.y), Traits::store(to[2], from.z);
    }
    static CLEARANCE_INLINE Vec3<Real> load(const double (&from)[3][kLanes]) {
        return {Traits::load(from[0]), Traits::load(from[1]), Traits::load(from[2])};
    }

    CLEARANCE_INLINE Mask stops() const {
        Real upper = near_.distance;
        Mask is_narrow = upper - lower_ <= min_of(width_, relative_width_ * upper);
        return either(is_narrow, either(lower_ > lower_above_, upper <= upper_at_most_));
    }

    // Cells of many lanes are known, if there are any; that of a single one is computed when it is needed.
    static CLEARANCE_INLINE Vec3d farthest_at(const PolytopeCorners& of, const double (&along)[3][kLanes],
                                              const double (&cells)[kLanes], int lane) {
        const Vec3d direction{along[0][lane], along[1][lane], along[2][lane]};
        if (kLanes == 1) return farthest_corner<Points>(of, direction);
        return farthest_corner<Points>(of, direction, [&] { return static_cast<int>(cells[lane]); });
    }

    // Most walks end with the very direction that proves how far the polytopes are apart: then that is the answer.
    CLEARANCE_INLINE void settle(unsigned lanes, Mask last_is_best) {
        Vec3<Real> nearest = near_.weight[0] * near_.corner[0].w, point_a = near_.weight[0] * near_.corner[0].a;
        for (int k = 1; k < 3; ++k) {
            nearest = nearest + near_.weight[k] * near_.corner[k].w;
            point_a = point_a + near_.weight[k] * near_.corner[k].a;
        }
        Real upper = norm(nearest);
        Mask is_narrow = upper - lower_ <= min_of(width_, relative_width_ * upper);
        const unsigned proved = bits_of(both(last_is_best, both(is_narrow, upper > touching_))) & lanes;
        for_lanes(proved, [&](int lane) {
            PolytopeWalk& found = leave(lane, PolytopeWalk::End::proved);
            found.upper = lane_of(upper, lane), found.point_a = get_lane(point_a, lane);
            if (kLanes == 1) leave_corners(lane);
        });
        for_lanes(lanes & ~proved, [&](int lane) {
            leave(lane, PolytopeWalk::End::settled);
            leave_corners(lane);
        });
    }

    CLEARANCE_INLINE PolytopeWalk& leave(int lane, PolytopeWalk::End end) {
        PolytopeWalk& found = *found_[lane];
        found.end = end;
        found.iterations = static_cast<int>(lane_of(steps_, lane));
        found.normal = get_lane(normal_, lane), found.lower = lane_of(lower_, lane);
        return found;
    }

    CLEARANCE_INLINE void leave_corners(int lane) {
        PolytopeWalk& found = *found_[lane];
        found.count = static_cast<int>(lane_of(near_.corners, lane));
        for (int k = 0; k < 3; ++k) {
            found.corner[k] = get(near_.corner[k], lane);
            found.weight[k] = lane_of(near_.weight[k], lane);
        }
    }

    CLEARANCE_INLINE void leave_meeting(int lane, Corner<Real>& newest) {
        PolytopeWalk& found = leave(lane, PolytopeWalk::End::meeting);
        found.count = 4;
        for (int k = 0; k < 3; ++k) found.corner[k] = get(near_.held[k], lane);
        found.corner[3] = get(newest, lane);
    }

    NearSimplex<Real> near_;
    Vec3<Real> normal_, a_from_b_[3], b_origin_;
    Real lower_, steps_, touching_, width_, relative_width_, lower_above_, upper_at_most_;
    double along_a_[3][kLanes], along_b_[3][kLanes], cells_a_[kLanes], cells_b_[kLanes];
    double on_a_[3][kLanes], on_b_[3][kLanes];
    const PolytopePair* pair_[kLanes];
    PolytopeWalk* found_[kLanes];
    unsigned active_ = 0, with_cells_ = 0;
};

template <class Points>
void walk_one(const PolytopePair& pair, PolytopeWalk& found) {
    Walks<double, Points> walk;
    walk.begin(0, pair, &found);
    do {
        walk.aim(), walk.look();
    } while (walk.judge() == 0);
}

// A lane whose walk has ended takes the next pair. Groups of lanes take turns, stage by stage: each of them spends most of
// its time waiting for itself.
template <class Real, class Points>
void walk_many(const PolytopePair* pairs, PolytopeWalk* found, std::size_t count) {
    constexpr int kGroups = 2;
    Walks<Real, Points> walks[kGroups];
    std::size_t next = 0;
    const auto take = [&](Walks<Real, Points>& group, int lane) {
        if (next == count) return group.rest(lane);
        group.begin(lane, pairs[next], &found[next]);
        ++next;
    };
    for (int lane = 0; lane < LaneTraits<Real>::count; ++lane)
        for (auto& group : walks) take(group, lane);
    while ((walks[0].active() | walks[1].active()) != 0) {
        for (auto& group : walks) group.aim();
        for (auto& group : walks) group.look();
        for (auto& group : walks)
            for (unsigned ended = group.judge(); ended != 0; ended &= ended - 1) take(group, __builtin_ctz(ended));
    }
}

}  // namespace
}  // namespace clearance
