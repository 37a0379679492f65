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

template <class Real>
CLEARANCE_INLINE Real lanes_at(const double* from) {
    return LaneTraits<Real>::load(from);
}

template <class Real>
CLEARANCE_INLINE Vec3<Real> lanes_at(const double (*from)[PointGroup::kLanes], int k) {
    return {lanes_at<Real>(from[0] + k), lanes_at<Real>(from[1] + k), lanes_at<Real>(from[2] + k)};
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

    CLEARANCE_INLINE Vec3<Real> velocity() const {
        return (b_.velocity + cross(b_.spin, r_b_)) - (a_.velocity + cross(a_.spin, r_a_));
    }
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

template <class Real, bool is_relaxing>
CLEARANCE_INLINE Real solve_lanes(PointGroup& group, int k, Rigid* bodies) {
    const auto at = [&](const double* column) { return lanes_at<Real>(column + k); };
    PairLanes<Real> pair(group, k, bodies);
    const Vec3<Real> normal = lanes_at<Real>(group.normal, k), v = pair.velocity();
    const Real before = at(group.normal_impulse), along = dot(normal, v);
    const Real wanted = is_relaxing ? before - at(group.normal_mass) * (along + at(group.relaxed_target))
                                    : at(group.kept) * before - at(group.softened_mass) * (along + at(group.target));
    const Real pressed = max_of(wanted, Real(0.0)), pressed_more = pressed - before;
    const Vec3<Real> rubbed_before = lanes_at<Real>(group.friction, k);
    const Vec3<Real> slip = v + pressed_more * lanes_at<Real>(group.answer, k);
    Vec3<Real> rubbed = rubbed_before - at(group.friction_mass) * (slip - dot(normal, slip) * normal);
    const Real most = at(group.coefficient) * pressed, size_sq = norm_sq(rubbed);
    const auto is_sliding = size_sq > most * most;
    rubbed = select(is_sliding, most / sqrt_of(select(is_sliding, size_sq, Real(1.0))), Real(1.0)) * rubbed;
    const Vec3<Real> rubbed_more = rubbed - rubbed_before;
    pair.push(pressed_more * normal + rubbed_more);
    pair.finish();
    LaneTraits<Real>::store(group.normal_impulse + k, pressed);
    LaneTraits<Real>::store(group.friction[0] + k, rubbed.x);
    LaneTraits<Real>::store(group.friction[1] + k, rubbed.y);
    LaneTraits<Real>::store(group.friction[2] + k, rubbed.z);
    const Real pressed_change = pressed_more * at(group.normal_rate), rate = at(group.friction_rate);
    return max_of(pressed_change * pressed_change, norm_sq(rubbed_more) * (rate * rate));
}

template <class Real, bool is_relaxing>
double solve_groups(std::span<PointGroup> groups, std::span<Rigid> bodies) {
    Real most(0.0);
    for (PointGroup& group : groups)
        for (int k = 0; k < PointGroup::kLanes; k += LaneTraits<Real>::count)
            most = max_of(most, solve_lanes<Real, is_relaxing>(group, k, bodies.data()));
    double lanes[LaneTraits<Real>::count], largest = 0.0;
    LaneTraits<Real>::store(lanes, most);
    for (const double one : lanes) largest = max_of(largest, one);
    return largest;
}

template <class Real>
constexpr PointKernels point_kernels_of() {
    return {warm_start_groups<Real>, solve_groups<Real, false>, solve_groups<Real, true>};
}

}  // namespace
}  // namespace clearance
