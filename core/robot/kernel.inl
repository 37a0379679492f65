// Robots several numbers at a time, included by one file per instruction set; see closest/kernel.inl for the rules.
#include "bvh/volume.hpp"
#include "robot/kernels.hpp"
#include "robot/turn.hpp"

namespace clearance {
namespace {

template <class Doubles>
void turns(const double* angles, std::size_t count, double* sines, double* versines) {
    using Lanes = LaneTraits<Doubles>;
    for (std::size_t k = 0; k < count; k += Lanes::count) {
        const Turn<Doubles> turn = turn_of(Lanes::load(angles + k));
        Lanes::store(sines + k, turn.sine);
        Lanes::store(versines + k, turn.versine);
    }
}

template <class Real>
CLEARANCE_INLINE Vec3<Real> loaded(const float* x, const float* y, const float* z, std::size_t at) {
    using Lanes = LaneTraits<Real>;
    return {Lanes::load(x + at), Lanes::load(y + at), Lanes::load(z + at)};
}

template <class Real>
CLEARANCE_INLINE Vec3<Real> loaded(const float (*column)[8]) {
    return loaded<Real>(column[0], column[1], column[2], 0);
}

template <class Real>
void near_balls(const BallLanes& balls, const BallRow& row, const Vec3<float>& point, float reach, std::uint8_t* near) {
    const Vec3<Real> to{Real(point.x), Real(point.y), Real(point.z)};
    for (std::size_t k = 0; k < row.octets; ++k) {
        const std::size_t at = row.first + 8 * k;
        const Real radii = max_of(Real(reach) + LaneTraits<Real>::load(balls.radius + at), Real(0.0f));
        const Vec3<Real> apart = loaded<Real>(balls.x, balls.y, balls.z, at) - to;
        // What floats cannot hold, places far away in units of very small balls, may be near: only what is farther is left.
        near[k] = static_cast<std::uint8_t>(~bits_of(norm_sq(apart) > radii * radii));
    }
}

template <class Real>
NearestBall nearest_ball(const BallLanes& balls, const BallRow& row, const float* absent, const Vec3<float>& centre,
                         float radius) {
    using Lanes = LaneTraits<Real>;
    const Real inf(std::numeric_limits<float>::infinity());
    const Vec3<Real> to{Real(centre.x), Real(centre.y), Real(centre.z)};
    Real lower = inf, upper = inf, octet(0.0f);
    for (std::size_t k = 0; k < row.octets; ++k) {
        const std::size_t at = row.first + 8 * k;
        const Real radii = Real(radius) + Lanes::load(balls.radius + at);
        const Real apart = norm(loaded<Real>(balls.x, balls.y, balls.z, at) - to) + Lanes::load(absent + 8 * k);
        const auto is_nearer = apart - radii < lower;
        lower = select(is_nearer, apart - radii, lower);
        octet = select(is_nearer, Real(static_cast<float>(k)), octet);
        upper = min_of(apart + radii, upper);
    }
    float lowers[8], octets[8];
    Lanes::store(lowers, lower), Lanes::store(octets, octet);
    NearestBall found{lowers[0], static_cast<std::int32_t>(octets[0]) * 8, least_of(upper)};
    for (int k = 1; k < 8; ++k)
        if (lowers[k] < found.lower) found.lower = lowers[k], found.number = static_cast<std::int32_t>(octets[k]) * 8 + k;
    return found;
}

template <class Real>
CLEARANCE_INLINE Volume<Real> loaded_boxes(const float (*half)[8], const float (*axis)[8], const Vec3<Real>& centre) {
    return {centre, loaded<Real>(half), {loaded<Real>(axis), loaded<Real>(axis + 3), loaded<Real>(axis + 6)}, Real(0.0f)};
}

// The direction that separates most, in the axes of the first box.
template <class Real>
struct Separation {
    Real gap;
    Vec3<Real> along;

    CLEARANCE_INLINE void consider(Real by, Real way, const Vec3<Real>& direction) {
        const auto is_more = by > gap;
        gap = select(is_more, by, gap);
        along = select(is_more, select(way < Real(0.0f), -direction, direction), along);
    }
};

// Gottschalk, Lin, Manocha (1996): faces and pairs of edges are all that can separate two boxes.
template <class Real>
CLEARANCE_INLINE Separation<Real> separation_of(const Volume<Real>& a, const Volume<Real>& b) {
    const Real zero(0.0f), one(1.0f), none(-std::numeric_limits<float>::infinity());
    const Vec3<Real> t = in_axes(a.axis, b.centre - a.centre);
    const Vec3<Real> m[3] = {in_axes(a.axis, b.axis[0]), in_axes(a.axis, b.axis[1]), in_axes(a.axis, b.axis[2])};
    const Vec3<Real> size[3] = {abs_of(m[0]), abs_of(m[1]), abs_of(m[2])};
    const Vec3<Real> by_a = abs_of(t) - (a.half + b.half.x * size[0] + b.half.y * size[1] + b.half.z * size[2]);
    const Vec3<Real> seen = in_axes(m, t), by_b = abs_of(seen) - (b.half + in_axes(size, a.half));
    Separation<Real> best{by_a.x, select(t.x < zero, Vec3<Real>{-one, zero, zero}, Vec3<Real>{one, zero, zero})};
    best.consider(by_a.y, t.y, {zero, one, zero});
    best.consider(by_a.z, t.z, {zero, zero, one});
    best.consider(by_b.x, seen.x, m[0]);
    best.consider(by_b.y, seen.y, m[1]);
    best.consider(by_b.z, seen.z, m[2]);
    const Real halves[3] = {b.half.x, b.half.y, b.half.z};
    CLEARANCE_UNROLL
    for (int j = 0; j < 3; ++j) {
        const int k = (j + 1) % 3, l = (j + 2) % 3;
        const Vec3<Real> across[3] = {{zero, -m[j].z, m[j].y}, {m[j].z, zero, -m[j].x}, {-m[j].y, m[j].x, zero}};
        CLEARANCE_UNROLL
        for (int i = 0; i < 3; ++i) {
            const Vec3<Real>& n = across[i];
            const Real length_sq = norm_sq(n), way = dot(n, t);
            const Real reach = dot(abs_of(n), a.half) + halves[k] * abs_of(dot(n, m[k])) + halves[l] * abs_of(dot(n, m[l]));
            const auto has_direction = length_sq > Real(1e-6f);  // parallel edges tell no more than faces
            const Real scale = one / sqrt_of(max_of(length_sq, Real(1e-6f)));
            best.consider(select(has_direction, (abs_of(way) - reach) * scale, none), way, scale * n);
        }
    }
    return best;
}

template <class Real>
void box_separations(const BoxPairs& pairs, float* bounds, float (*towards)[8]) {
    using Lanes = LaneTraits<Real>;
    const Vec3<Real> zero{Real(0.0f), Real(0.0f), Real(0.0f)};
    const Volume<Real> a = loaded_boxes<Real>(pairs.half_a, pairs.axis_a, zero);
    const Volume<Real> b = loaded_boxes<Real>(pairs.half_b, pairs.axis_b, loaded<Real>(pairs.apart));
    const Separation<Real> best = separation_of(a, b);
    const Real apart = distance_bound(a, b);
    Lanes::store(bounds, select(apart > Real(0.0f), max_of(apart, best.gap), best.gap));
    const Vec3<Real> n = best.along.x * a.axis[0] + best.along.y * a.axis[1] + best.along.z * a.axis[2];
    Lanes::store(towards[0], n.x), Lanes::store(towards[1], n.y), Lanes::store(towards[2], n.z);
}

template <class Doubles, class Floats>
constexpr RobotKernels robot_kernels_of() {
    return {turns<Doubles>, near_balls<Floats>, nearest_ball<Floats>, box_separations<Floats>};
}

}  // namespace
}  // namespace clearance
