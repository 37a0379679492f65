// The expanding polytope of van den Bergen (2001) for two polytopes, included by one file per instruction set: see
// closest/kernel.inl for what that asks for.
#include "convex/polytope_kernels.hpp"
#include "convex/polytope_shell.inl"
#include "convex/polytope_walk.inl"

namespace clearance {
namespace {

// Some polytopes that grow in turns, stage by stage: each of them spends most of its time waiting for itself.
template <class Real, unsigned places>
class Growths {
    using Traits = LaneTraits<Real>;
    static constexpr unsigned kDirections = (2 * places + Traits::count - 1) / Traits::count * Traits::count;

public:
    CLEARANCE_INLINE void begin(unsigned place, const PolytopeMeeting& of, PolytopeGrowth& found) {
        found = {of.walked->normal, of.walked->lower, 0.0, 0, false, false, {}};
        if (!shell_[place].start(of.walked->corner, of.rule.size)) return;
        of_[place] = &of, found_[place] = &found;
        growing_ |= 1u << place;
    }

    CLEARANCE_INLINE bool is_growing(unsigned place) const { return (growing_ >> place & 1u) != 0; }
    CLEARANCE_INLINE bool any_growing() const { return growing_ != 0; }

    // All grow by a vertex, or come to an end.
    CLEARANCE_INLINE void step() {
        for_growing([&](unsigned place) { return choose(place); });
        for_growing([&](unsigned place) { return aim(place); });
        find_cells();
        for_growing([&](unsigned place) { return look(place); });
        for_growing([&](unsigned place) { return judge(place); });
        for_growing([&](unsigned place) { return shell_[place].see(farthest_[place]), true; });
        for_growing([&](unsigned place) { return shell_[place].find_rim(); });
        for_growing([&](unsigned place) { return shell_[place].lay_ring(); });
        for_growing([&](unsigned place) { return shell_[place].close(); });
    }

private:
    template <class Stage>
    CLEARANCE_INLINE void for_growing(const Stage& stage) {
        for (unsigned place = 0; place < places; ++place)
            if (is_growing(place) && !stage(place)) growing_ &= ~(1u << place);
    }

    // The nearest face, unless none comes nearer than what was found.
    CLEARANCE_INLINE bool choose(unsigned place) {
        PolytopeGrowth& found = *found_[place];
        ++found.iterations;
        const unsigned face = face_[place] = shell_[place].nearest();
        if (shell_[place].upper(face) > found.lower) return true;
        found.upper = found.lower, found.is_done = found.lower < 0.0;
        return false;
    }

    CLEARANCE_INLINE bool aim(unsigned place) {
        const Vec3d along = shell_[place].normal(face_[place]);
        const Vec3d along_b = -transposed_times(of_[place]->pair->a_from_b, along);
        along_[0][place] = along.x, along_[1][place] = along.y, along_[2][place] = along.z;
        along_[0][places + place] = along_b.x, along_[1][places + place] = along_b.y, along_[2][places + place] = along_b.z;
        return true;
    }

    // Cells of many directions are found in lanes, those of two when they are needed.
    CLEARANCE_INLINE void find_cells() {
        if (places == 1) return;
        for (unsigned k = 0; k < kDirections; k += Traits::count) {
            const Vec3<Real> along{Traits::load(along_[0] + k), Traits::load(along_[1] + k), Traits::load(along_[2] + k)};
            Traits::store(cells_ + k, SupportCells::cells_of(along));
        }
    }

    CLEARANCE_INLINE Vec3d farthest_along(const PolytopeCorners& of, unsigned direction) const {
        const Vec3d along{along_[0][direction], along_[1][direction], along_[2][direction]};
        if (places == 1) return farthest_corner<Real>(of, along);
        return farthest_corner<Real>(of, along, [&] { return static_cast<int>(cells_[direction]); });
    }

    CLEARANCE_INLINE bool look(unsigned place) {
        const PolytopePair& pair = *of_[place]->pair;
        const Vec3d a = farthest_along(pair.a, place), b = farthest_along(pair.b, places + place);
        farthest_[place] = {a - (pair.a_from_b * b + pair.b_origin), a};
        return true;
    }

    // Whether what is farthest beyond that face is worth growing there.
    CLEARANCE_INLINE bool judge(unsigned place) {
        Shell<Real>& shell = shell_[place];
        PolytopeGrowth& found = *found_[place];
        const GrowthRule& rule = of_[place]->rule;
        const unsigned face = face_[place];
        const Vec3d normal = shell.normal(face);
        const double separation = -dot(normal, farthest_[place].w), rise = -separation - shell.height(face);
        const bool is_best = separation >= found.lower;  // of opposite faces as near as each other, the last one
        if (is_best) found.lower = separation, found.normal = normal;
        found.upper = min_of(0.0, shell.upper(face));
        if (rise > 8.0 * kEpsilon * rule.size && found.upper - found.lower > rule.width && found.lower <= rule.lower_above)
            return true;
        found.upper = max_of(found.lower, found.upper);
        if (is_best && found.upper < 0.0) found.has_point_a = shell.point_a(face, found.point_a);
        found.is_done = true;
        return false;
    }

    Shell<Real> shell_[places];
    const PolytopeMeeting* of_[places];
    PolytopeGrowth* found_[places];
    Corner<double> farthest_[places];
    unsigned face_[places], growing_ = 0;
    alignas(64) double along_[3][kDirections] = {}, cells_[kDirections];  // on all a, and then on all b
};

// A place whose polytope has grown enough goes to the next pair.
template <class Real, unsigned places>
void grow(const PolytopeMeeting* of, PolytopeGrowth* found, std::size_t count) {
    Growths<Real, places> growths;
    std::size_t next = 0;
    const auto fill = [&](unsigned place) {
        for (; !growths.is_growing(place) && next < count; ++next) growths.begin(place, of[next], found[next]);
    };
    do {
        for (unsigned place = 0; place < places; ++place) fill(place);
        growths.step();
    } while (growths.any_growing() || next < count);
}

template <class Real>
void grow_one(const PolytopeMeeting& of, PolytopeGrowth& found) {
    grow<Real, 1>(&of, &found, 1);
}

constexpr unsigned kInTurns = 4;  // more do not fit the cache

template <class Real>
constexpr PolytopeKernels polytope_kernels_of() {
    return {walk_one<Real>, walk_many<Real, Real>, grow_one<Real>, grow<Real, kInTurns>};
}

}  // namespace
}  // namespace clearance
