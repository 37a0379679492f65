#include <cstddef>

#include "dynamics/point_groups.hpp"
#include "math/lanes.hpp"

namespace clearance {
namespace {

// Velocities and spins of a few bodies, column by column.
template <class Real>
struct MovingLanes {
    Vec3<Real> velocity, spin;
};

CLEARANCE_INLINE MovingLanes<double> gather(const Rigid* bodies, const std::int32_t* which, double*) {
    const Rigid& body = bodies[which[0]];
    return {body.velocity, body.spin};
}

CLEARANCE_INLINE void scatter(Rigid* bodies, const std::int32_t* which, const double* inverse_mass,
                              const MovingLanes<double>& moving) {
    if (inverse_mass[0] > 0.0) bodies[which[0]].velocity = moving.velocity, bodies[which[0]].spin = moving.spin;
}

#if defined(__SSE2__)

// Six numbers in a row: velocity and spin.
CLEARANCE_INLINE const double* row_of(const Rigid& body) { return &body.velocity.x; }
CLEARANCE_INLINE double* row_of(Rigid& body) { return &body.velocity.x; }
static_assert(offsetof(Rigid, spin) == offsetof(Rigid, velocity) + sizeof(Vec3d));

CLEARANCE_INLINE MovingLanes<Double2> gather(const Rigid* bodies, const std::int32_t* which, Double2*) {
    const double *p = row_of(bodies[which[0]]), *q = row_of(bodies[which[1]]);
    const __m128d p0 = _mm_loadu_pd(p), p1 = _mm_loadu_pd(p + 2), p2 = _mm_loadu_pd(p + 4);
    const __m128d q0 = _mm_loadu_pd(q), q1 = _mm_loadu_pd(q + 2), q2 = _mm_loadu_pd(q + 4);
    return {{_mm_unpacklo_pd(p0, q0), _mm_unpackhi_pd(p0, q0), _mm_unpacklo_pd(p1, q1)},
            {_mm_unpackhi_pd(p1, q1), _mm_unpacklo_pd(p2, q2), _mm_unpackhi_pd(p2, q2)}};
}

CLEARANCE_INLINE void scatter(Rigid* bodies, const std::int32_t* which, const double* inverse_mass,
                              const MovingLanes<Double2>& moving) {
    const auto& [v, s] = moving;
    if (inverse_mass[0] > 0.0) {
        double* p = row_of(bodies[which[0]]);
        _mm_storeu_pd(p, _mm_unpacklo_pd(v.x.value, v.y.value));
        _mm_storeu_pd(p + 2, _mm_unpacklo_pd(v.z.value, s.x.value));
        _mm_storeu_pd(p + 4, _mm_unpacklo_pd(s.y.value, s.z.value));
    }
    if (inverse_mass[1] > 0.0) {
        double* q = row_of(bodies[which[1]]);
        _mm_storeu_pd(q, _mm_unpackhi_pd(v.x.value, v.y.value));
        _mm_storeu_pd(q + 2, _mm_unpackhi_pd(v.z.value, s.x.value));
        _mm_storeu_pd(q + 4, _mm_unpackhi_pd(s.y.value, s.z.value));
    }
}

#endif

#if defined(__AVX2__)

CLEARANCE_INLINE void transpose(__m256d& a, __m256d& b, __m256d& c, __m256d& d) {
    const __m256d ab0 = _mm256_unpacklo_pd(a, b), ab1 = _mm256_unpackhi_pd(a, b);
    const __m256d cd0 = _mm256_unpacklo_pd(c, d), cd1 = _mm256_unpackhi_pd(c, d);
    a = _mm256_permute2f128_pd(ab0, cd0, 0x20), b = _mm256_permute2f128_pd(ab1, cd1, 0x20);
    c = _mm256_permute2f128_pd(ab0, cd0, 0x31), d = _mm256_permute2f128_pd(ab1, cd1, 0x31);
}

CLEARANCE_INLINE __m256d pair_of(const double* low, const double* high) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high), 1);
}

CLEARANCE_INLINE MovingLanes<Double4> gather(const Rigid* bodies, const std::int32_t* which, Double4*) {
    const double* row[4];
    for (int k = 0; k < 4; ++k) row[k] = row_of(bodies[which[k]]);
    __m256d x = _mm256_loadu_pd(row[0]), y = _mm256_loadu_pd(row[1]), z = _mm256_loadu_pd(row[2]),
            spin_x = _mm256_loadu_pd(row[3]);
    transpose(x, y, z, spin_x);
    const __m256d ac = pair_of(row[0] + 4, row[2] + 4), bd = pair_of(row[1] + 4, row[3] + 4);
    return {{x, y, z}, {spin_x, _mm256_unpacklo_pd(ac, bd), _mm256_unpackhi_pd(ac, bd)}};
}

CLEARANCE_INLINE void scatter(Rigid* bodies, const std::int32_t* which, const double* inverse_mass,
                              const MovingLanes<Double4>& moving) {
    __m256d row[4] = {moving.velocity.x.value, moving.velocity.y.value, moving.velocity.z.value, moving.spin.x.value};
    transpose(row[0], row[1], row[2], row[3]);
    const __m256d ac = _mm256_unpacklo_pd(moving.spin.y.value, moving.spin.z.value);
    const __m256d bd = _mm256_unpackhi_pd(moving.spin.y.value, moving.spin.z.value);
    const __m128d rest[4] = {_mm256_castpd256_pd128(ac), _mm256_castpd256_pd128(bd), _mm256_extractf128_pd(ac, 1),
                             _mm256_extractf128_pd(bd, 1)};
    for (int k = 0; k < 4; ++k) {
        if (!(inverse_mass[k] > 0.0)) continue;
        double* to = row_of(bodies[which[k]]);
        _mm256_storeu_pd(to, row[k]);
        _mm_storeu_pd(to + 4, rest[k]);
    }
}

#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__)

CLEARANCE_INLINE MovingLanes<Double8> gather(const Rigid* bodies, const std::int32_t* which, Double8*) {
    const auto low = gather(bodies, which, static_cast<Double4*>(nullptr));
    const auto high = gather(bodies, which + 4, static_cast<Double4*>(nullptr));
    return {{{low.velocity.x, high.velocity.x}, {low.velocity.y, high.velocity.y}, {low.velocity.z, high.velocity.z}},
            {{low.spin.x, high.spin.x}, {low.spin.y, high.spin.y}, {low.spin.z, high.spin.z}}};
}

CLEARANCE_INLINE void scatter(Rigid* bodies, const std::int32_t* which, const double* inverse_mass,
                              const MovingLanes<Double8>& moving) {
    const auto& [v, s] = moving;
    const MovingLanes<Double4> low{{v.x.low(), v.y.low(), v.z.low()}, {s.x.low(), s.y.low(), s.z.low()}};
    const MovingLanes<Double4> high{{v.x.high(), v.y.high(), v.z.high()}, {s.x.high(), s.y.high(), s.z.high()}};
    scatter(bodies, which, inverse_mass, low);
    scatter(bodies, which + 4, inverse_mass + 4, high);
}

#endif

template <class Real>
CLEARANCE_INLINE Real lanes_at(const double* from) {
    return LaneTraits<Real>::load(from);
}

template <class Real, std::size_t n>
CLEARANCE_INLINE Vec3<Real> lanes_at(const double (*from)[n], int k) {
    return {lanes_at<Real>(from[0] + k), lanes_at<Real>(from[1] + k), lanes_at<Real>(from[2] + k)};
}

// Of a point of b against one of a.
template <class Real>
CLEARANCE_INLINE Vec3<Real> velocity_between(const MovingLanes<Real>& a, const Vec3<Real>& r_a, const MovingLanes<Real>& b,
                                             const Vec3<Real>& r_b) {
    return (b.velocity + cross(b.spin, r_b)) - (a.velocity + cross(a.spin, r_a));
}

// Both bodies of some lanes of a group.
template <class Real>
class PairLanes {
public:
    CLEARANCE_INLINE PairLanes(const PointGroup& group, int k, Rigid* bodies)
        : group_(group),
          k_(k),
          bodies_(bodies),
          a_(gather(bodies, group.a + k, static_cast<Real*>(nullptr))),
          b_(gather(bodies, group.b + k, static_cast<Real*>(nullptr))),
          r_a_(lanes_at<Real>(group.r_a, k)),
          r_b_(lanes_at<Real>(group.r_b, k)) {}

    CLEARANCE_INLINE Vec3<Real> velocity() const { return velocity_between(a_, r_a_, b_, r_b_); }
    CLEARANCE_INLINE void push(const Vec3<Real>& impulse) {
        a_.velocity = a_.velocity - lanes_at<Real>(group_.inverse_mass_a + k_) * impulse;
        b_.velocity = b_.velocity + lanes_at<Real>(group_.inverse_mass_b + k_) * impulse;
        a_.spin = a_.spin - lanes_at<Real>(group_.inverse_inertia_a + k_) * cross(r_a_, impulse);
        b_.spin = b_.spin + lanes_at<Real>(group_.inverse_inertia_b + k_) * cross(r_b_, impulse);
    }
    CLEARANCE_INLINE void finish() const {
        scatter(bodies_, group_.a + k_, group_.inverse_mass_a + k_, a_);
        scatter(bodies_, group_.b + k_, group_.inverse_mass_b + k_, b_);
    }

private:
    const PointGroup& group_;
    int k_;
    Rigid* bodies_;
    MovingLanes<Real> a_, b_;
    Vec3<Real> r_a_, r_b_;
};

template <class Real>
void warm_start_groups(std::span<const PointGroup> groups, std::span<Rigid> bodies) {
    for (const PointGroup& group : groups)
        for (int k = 0; k < PointGroup::kLanes; k += LaneTraits<Real>::count) {
            PairLanes<Real> pair(group, k, bodies.data());
            const Real pressed = lanes_at<Real>(group.normal_impulse + k);
            pair.push(pressed * lanes_at<Real>(group.normal, k) + lanes_at<Real>(group.friction, k));
            pair.finish();
        }
}

template <class Real, bool is_relaxing, class Points>
CLEARANCE_INLINE Real pressed_lanes(const Points& points, int k, Real before, Real along) {
    const auto at = [&](const double* column) { return lanes_at<Real>(column + k); };
    const Real wanted = is_relaxing ? before - at(points.normal_mass) * (along + at(points.relaxed_target))
                                    : at(points.kept) * before - at(points.softened_mass) * (along + at(points.target));
    return max_of(wanted, Real(0.0));
}

// Changes friction, which is bounded, against a slip, and returns by how much.
template <class Real, class Points>
CLEARANCE_INLINE Vec3<Real> rub_lanes(Points& points, int k, const Vec3<Real>& normal, const Vec3<Real>& slip, Real bound) {
    const Vec3<Real> before = lanes_at<Real>(points.friction, k);
    Vec3<Real> rubbed = before - lanes_at<Real>(points.friction_mass + k) * (slip - dot(normal, slip) * normal);
    const Real size_sq = norm_sq(rubbed);
    const auto is_sliding = size_sq > bound * bound;
    rubbed = select(is_sliding, bound / sqrt_of(select(is_sliding, size_sq, Real(1.0))), Real(1.0)) * rubbed;
    LaneTraits<Real>::store(points.friction[0] + k, rubbed.x);
    LaneTraits<Real>::store(points.friction[1] + k, rubbed.y);
    LaneTraits<Real>::store(points.friction[2] + k, rubbed.z);
    return rubbed - before;
}

template <class Real>
CLEARANCE_INLINE double largest_lane(Real most) {
    double lanes[LaneTraits<Real>::count], largest = 0.0;
    LaneTraits<Real>::store(lanes, most);
    for (const double one : lanes) largest = max_of(largest, one);
    return largest;
}

template <class Real, bool is_relaxing>
CLEARANCE_INLINE Real solve_lanes(PointGroup& group, int k, Rigid* bodies) {
    const auto at = [&](const double* column) { return lanes_at<Real>(column + k); };
    PairLanes<Real> pair(group, k, bodies);
    const Vec3<Real> normal = lanes_at<Real>(group.normal, k), v = pair.velocity();
    const Real before = at(group.normal_impulse);
    const Real pressed = pressed_lanes<Real, is_relaxing>(group, k, before, dot(normal, v)), more = pressed - before;
    const Vec3<Real> slip = v + more * lanes_at<Real>(group.answer, k);
    const Vec3<Real> rubbed_more = rub_lanes<Real>(group, k, normal, slip, at(group.coefficient) * pressed);
    pair.push(more * normal + rubbed_more);
    pair.finish();
    LaneTraits<Real>::store(group.normal_impulse + k, pressed);
    const Real pressed_change = more * at(group.normal_rate), rate = at(group.friction_rate);
    return max_of(pressed_change * pressed_change, norm_sq(rubbed_more) * (rate * rate));
}

template <class Real, bool is_relaxing>
double solve_groups(std::span<PointGroup> groups, std::span<Rigid> bodies) {
    Real most(0.0);
    for (PointGroup& group : groups)
        for (int k = 0; k < PointGroup::kLanes; k += LaneTraits<Real>::count)
            most = max_of(most, solve_lanes<Real, is_relaxing>(group, k, bodies.data()));
    return largest_lane(most);
}

// What undoes the overlaps of some points, once they have moved with a velocity along their normals.
template <class Real, class Points>
CLEARANCE_INLINE void follow_lanes(Points& points, int k, Real along, const Recovery& recovery) {
    using Traits = LaneTraits<Real>;
    const Softness& soft = recovery.softness;
    const Real separation = lanes_at<Real>(points.separation + k) + Real(recovery.step) * along;
    const Real mass = lanes_at<Real>(points.normal_mass + k), near = separation * Real(1.0 / recovery.step);
    const auto is_apart = separation > Real(0.0);
    const Real undoing = max_of(Real(soft.bias_rate) * separation, Real(-recovery.fastest));
    Traits::store(points.separation + k, separation);
    Traits::store(points.target + k, select(is_apart, near, undoing));
    Traits::store(points.relaxed_target + k, select(is_apart, near, Real(0.0)));
    Traits::store(points.softened_mass + k, select(is_apart, mass, Real(soft.mass_scale) * mass));
    Traits::store(points.kept + k, select(is_apart, Real(1.0), Real(1.0 - soft.impulse_scale)));
}

template <class Real>
void follow_groups(std::span<PointGroup> groups, std::span<const Rigid> bodies, const Recovery& recovery) {
    for (PointGroup& group : groups)
        for (int k = 0; k < PointGroup::kLanes; k += LaneTraits<Real>::count) {
            const MovingLanes<Real> a = gather(bodies.data(), group.a + k, static_cast<Real*>(nullptr));
            const MovingLanes<Real> b = gather(bodies.data(), group.b + k, static_cast<Real*>(nullptr));
            const Vec3<Real> v = velocity_between(a, lanes_at<Real>(group.r_a, k), b, lanes_at<Real>(group.r_b, k));
            follow_lanes<Real>(group, k, dot(lanes_at<Real>(group.normal, k), v), recovery);
        }
}

// The same for patches.

template <class Real>
struct RoundInertia {
    CLEARANCE_INLINE RoundInertia(const double (*from)[PatchGroup::kLanes], int k) : any(lanes_at<Real>(from[0] + k)) {}
    CLEARANCE_INLINE Vec3<Real> operator*(const Vec3<Real>& v) const { return any * v; }
    Real any;
};

template <class Real>
struct AnyInertia {
    CLEARANCE_INLINE AnyInertia(const double (*from)[PatchGroup::kLanes], int k)
        : diagonal(lanes_at<Real>(from, k)), other(lanes_at<Real>(from + 3, k)) {}
    CLEARANCE_INLINE Vec3<Real> operator*(const Vec3<Real>& v) const {
        return {diagonal.x * v.x + other.x * v.y + other.y * v.z, other.x * v.x + diagonal.y * v.y + other.z * v.z,
                other.y * v.x + other.z * v.y + diagonal.z * v.z};
    }
    Vec3<Real> diagonal, other;  // xy, xz, yz
};

// Of a normal about the centres of mass of both bodies.
template <class Real>
struct Arms {
    Vec3<Real> a, b;
};

// Both bodies of some lanes of a group of patches.
template <class Real, class Inertia>
class PatchLanes {
public:
    CLEARANCE_INLINE PatchLanes(const PatchGroup& group, int k, Rigid* bodies)
        : group_(group),
          k_(k),
          bodies_(bodies),
          a_(gather(bodies, group.a + k, static_cast<Real*>(nullptr))),
          b_(gather(bodies, group.b + k, static_cast<Real*>(nullptr))) {}

    CLEARANCE_INLINE Vec3<Real> velocity(const PointRow& row) const {
        return velocity_between(a_, lanes_at<Real>(row.r_a, k_), b_, lanes_at<Real>(row.r_b, k_));
    }
    CLEARANCE_INLINE void push(const PointRow& row, const Vec3<Real>& impulse) {
        a_.velocity = a_.velocity - lanes_at<Real>(group_.inverse_mass_a + k_) * impulse;
        b_.velocity = b_.velocity + lanes_at<Real>(group_.inverse_mass_b + k_) * impulse;
        a_.spin = a_.spin - Inertia(group_.inverse_inertia_a, k_) * cross(lanes_at<Real>(row.r_a, k_), impulse);
        b_.spin = b_.spin + Inertia(group_.inverse_inertia_b, k_) * cross(lanes_at<Real>(row.r_b, k_), impulse);
    }
    // Along the normal, arms tell what spins do and how they are changed.
    CLEARANCE_INLINE Arms<Real> arms(const PointRow& row, const Vec3<Real>& normal) const {
        return {cross(lanes_at<Real>(row.r_a, k_), normal), cross(lanes_at<Real>(row.r_b, k_), normal)};
    }
    CLEARANCE_INLINE Real velocity_along(const Vec3<Real>& normal, const Arms<Real>& arms) const {
        return dot(normal, b_.velocity - a_.velocity) + (dot(arms.b, b_.spin) - dot(arms.a, a_.spin));
    }
    CLEARANCE_INLINE void press(const Vec3<Real>& normal, const Arms<Real>& arms, Real impulse) {
        a_.velocity = a_.velocity - (lanes_at<Real>(group_.inverse_mass_a + k_) * impulse) * normal;
        b_.velocity = b_.velocity + (lanes_at<Real>(group_.inverse_mass_b + k_) * impulse) * normal;
        a_.spin = a_.spin - impulse * (Inertia(group_.inverse_inertia_a, k_) * arms.a);
        b_.spin = b_.spin + impulse * (Inertia(group_.inverse_inertia_b, k_) * arms.b);
    }
    CLEARANCE_INLINE void finish() const {
        scatter(bodies_, group_.a + k_, group_.inverse_mass_a + k_, a_);
        scatter(bodies_, group_.b + k_, group_.inverse_mass_b + k_, b_);
    }

private:
    const PatchGroup& group_;
    int k_;
    Rigid* bodies_;
    MovingLanes<Real> a_, b_;
};

CLEARANCE_INLINE std::span<PointRow> rows_of(const PatchGroups& patches, const PatchGroup& group) {
    return patches.rows.subspan(static_cast<std::size_t>(group.first_row), static_cast<std::size_t>(group.rows));
}

template <class Real>
void warm_start_patches(const PatchGroups& patches, std::span<Rigid> bodies) {
    for (const PatchGroup& group : patches.groups)
        for (int k = 0; k < PatchGroup::kLanes; k += LaneTraits<Real>::count) {
            PatchLanes<Real, AnyInertia<Real>> pair(group, k, bodies.data());
            const Vec3<Real> normal = lanes_at<Real>(group.normal, k);
            for (const PointRow& row : rows_of(patches, group))
                pair.push(row, lanes_at<Real>(row.normal_impulse + k) * normal + lanes_at<Real>(row.friction, k));
            pair.finish();
        }
}

template <class Real, bool is_relaxing, class Inertia>
Real solve_patch_lanes(const PatchGroup& group, std::span<PointRow> rows, int k, Rigid* bodies) {
    PatchLanes<Real, Inertia> pair(group, k, bodies);
    const Vec3<Real> normal = lanes_at<Real>(group.normal, k);
    Real most(0.0);
    for (PointRow& row : rows) {
        const Real before = lanes_at<Real>(row.normal_impulse + k);
        const Arms<Real> arms = pair.arms(row, normal);
        const Real pressed = pressed_lanes<Real, is_relaxing>(row, k, before, pair.velocity_along(normal, arms));
        const Real change = pressed - before;
        pair.press(normal, arms, change);
        LaneTraits<Real>::store(row.normal_impulse + k, pressed);
        const Real changed = change * lanes_at<Real>(row.normal_rate + k);
        most = max_of(most, changed * changed);
    }
    const Real coefficient = lanes_at<Real>(group.coefficient + k);
    for (PointRow& row : rows) {
        const Real bound = coefficient * lanes_at<Real>(row.normal_impulse + k);
        const Vec3<Real> change = rub_lanes<Real>(row, k, normal, pair.velocity(row), bound);
        pair.push(row, change);
        const Real rate = lanes_at<Real>(row.friction_rate + k);
        most = max_of(most, norm_sq(change) * (rate * rate));
    }
    pair.finish();
    return most;
}

template <class Real, bool is_relaxing>
double solve_patches(const PatchGroups& patches, std::span<Rigid> bodies) {
    Real most(0.0);
    for (const PatchGroup& group : patches.groups) {
        const auto solve = group.is_round ? solve_patch_lanes<Real, is_relaxing, RoundInertia<Real>>
                                          : solve_patch_lanes<Real, is_relaxing, AnyInertia<Real>>;
        for (int k = 0; k < PatchGroup::kLanes; k += LaneTraits<Real>::count)
            most = max_of(most, solve(group, rows_of(patches, group), k, bodies.data()));
    }
    return largest_lane(most);
}

template <class Real>
void follow_patches(const PatchGroups& patches, std::span<const Rigid> bodies, const Recovery& recovery) {
    for (const PatchGroup& group : patches.groups)
        for (int k = 0; k < PatchGroup::kLanes; k += LaneTraits<Real>::count) {
            const MovingLanes<Real> a = gather(bodies.data(), group.a + k, static_cast<Real*>(nullptr));
            const MovingLanes<Real> b = gather(bodies.data(), group.b + k, static_cast<Real*>(nullptr));
            const Vec3<Real> normal = lanes_at<Real>(group.normal, k);
            for (PointRow& row : rows_of(patches, group)) {
                const Vec3<Real> v = velocity_between(a, lanes_at<Real>(row.r_a, k), b, lanes_at<Real>(row.r_b, k));
                follow_lanes<Real>(row, k, dot(normal, v), recovery);
            }
        }
}

template <class Real, class PatchReal>
constexpr PointKernels point_kernels_of() {
    return {warm_start_groups<Real>,        solve_groups<Real, false>,
            solve_groups<Real, true>,       follow_groups<Real>,
            warm_start_patches<PatchReal>,  solve_patches<PatchReal, false>,
            solve_patches<PatchReal, true>, follow_patches<PatchReal>};
}

}  // namespace
}  // namespace clearance
