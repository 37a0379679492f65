// Bounds of eight at a time, included by one file per instruction set; see closest/kernel.inl for the rules.
#include "bvh/kernels.hpp"
#include "closest/certificate.hpp"
#include "closest/triangle_triangle.hpp"

namespace clearance {
namespace {

template <class Real>
CLEARANCE_INLINE Vec3<Real> loaded(const float (*column)[8]) {
    using Lanes = LaneTraits<Real>;
    return {Lanes::load(column[0]), Lanes::load(column[1]), Lanes::load(column[2])};
}

template <class Real>
CLEARANCE_INLINE Vec3<Real> spread(const Vec3<float>& v) {
    return {Real(v.x), Real(v.y), Real(v.z)};
}

template <class Real>
CLEARANCE_INLINE Volume<Real> spread(const Volume<float>& volume) {
    return {spread<Real>(volume.centre),
            spread<Real>(volume.half),
            {spread<Real>(volume.axis[0]), spread<Real>(volume.axis[1]), spread<Real>(volume.axis[2])},
            Real(volume.sweep)};
}

template <class Real, bool is_signed>
Opened keys(const Node<8>& node, const Volume<float>& volume, const KeyRule& rule, float bound, float* keys) {
    const Volume<Real> children{loaded<Real>(node.centre),
                                loaded<Real>(node.half),
                                {loaded<Real>(node.axis), loaded<Real>(node.axis + 3), loaded<Real>(node.axis + 6)},
                                Real(0.0f)};
    const Real key = key_of(distance_bound<is_signed>(children, spread<Real>(volume)), rule);
    LaneTraits<Real>::store(keys, key);
    const auto near = key < Real(bound);
    const Real pruned = select(near, Real(std::numeric_limits<float>::infinity()), key);
    return {bits_of(near), least_of(pruned)};
}

template <class Real>
CLEARANCE_INLINE Real min3(Real a, Real b, Real c) {
    return min_of(a, min_of(b, c));
}
template <class Real>
CLEARANCE_INLINE Real max3(Real a, Real b, Real c) {
    return max_of(a, max_of(b, c));
}

// How far a plane through `on` keeps three points on one side.
template <class Real>
CLEARANCE_INLINE Real height_over(const Vec3<Real>& normal, const Vec3<Real>& on, const Core<Real, 3>& triangle) {
    const Real h0 = dot(normal, triangle.vertex[0] - on), h1 = dot(normal, triangle.vertex[1] - on);
    const Real h2 = dot(normal, triangle.vertex[2] - on);
    return max_of(min3(h0, h1, h2), -max3(h0, h1, h2));
}

template <class Real>
CLEARANCE_INLINE void store3(float (*column)[8], const Vec3<Real>& v) {
    using Lanes = LaneTraits<Real>;
    Lanes::store(column[0], v.x), Lanes::store(column[1], v.y), Lanes::store(column[2], v.z);
}

template <class Real>
CLEARANCE_INLINE void move(const WideLeaf& leaf, const TreeMotion& motion, MovedLeaf& to) {
    for (int c = 0; c < 3; ++c) store3(to.vertex + 3 * c, moved(motion, loaded<Real>(leaf.vertex + 3 * c)));
    store3(to.normal, turned(motion, loaded<Real>(leaf.normal)));
    store3(to.centre, moved(motion, loaded<Real>(leaf.centre)));
    LaneTraits<Real>::store(to.radius, Real(motion.scale) * LaneTraits<Real>::load(leaf.radius));
}

template <class Real>
CLEARANCE_INLINE Vec3<Real> spread(const float (*column)[8], int k) {
    return {Real(column[0][k]), Real(column[1][k]), Real(column[2][k])};
}

template <class Real>
CLEARANCE_INLINE Core<Real, 3> loaded_triangles(const float (*vertex)[8]) {
    return {loaded<Real>(vertex), loaded<Real>(vertex + 3), loaded<Real>(vertex + 6)};
}

// Which of eight triangles may be within reach of one: bit by bit, by their balls, then along both normals and along the
// line of the centres. Each of these is a proof; what is left has to be looked at in full. Centres belong to the triangles,
// so they also tell how far these are apart at most.
template <class Real>
CLEARANCE_INLINE unsigned near_one(const MovedLeaf& a, int i, const WideLeaf& b, Real within, Real& upper_sq) {
    const Vec3<Real> apart = loaded<Real>(b.centre) - spread<Real>(a.centre, i);
    const Real distance_sq = norm_sq(apart);
    const Real reach = Real(a.radius[i]) + LaneTraits<Real>::load(b.radius) + within;
    upper_sq = min_of(upper_sq, distance_sq);
    const unsigned by_balls = ~bits_of(distance_sq > reach * reach) & ((1u << b.count) - 1u);
    if (by_balls == 0) return 0;
    const Core<Real, 3> one{spread<Real>(a.vertex, i), spread<Real>(a.vertex + 3, i), spread<Real>(a.vertex + 6, i)};
    const Core<Real, 3> many = loaded_triangles<Real>(b.vertex);
    const Real along_b = height_over(loaded<Real>(b.normal), many.vertex[0], one);
    const Real along_a = height_over(spread<Real>(a.normal, i), one.vertex[0], many);
    const Real along_centres = separation_along(inverse_or_zero(sqrt_of(distance_sq)) * apart, one, many);
    return by_balls & ~bits_of(max3(along_a, along_b, along_centres) > within);
}

// Lower bounds of the distances of triangles from a volume: along their normals, along the axes of the volume, and along the
// way from the volume to their middle.
template <class Real>
CLEARANCE_INLINE Real bounds_from(const Volume<Real>& box, const Core<Real, 3>& triangles, const Vec3<Real>& normal) {
    const Real support = dot(abs_of(in_axes(box.axis, normal)), box.half);
    const Real along_normal = abs_of(dot(normal, box.centre - triangles.vertex[0])) - support;

    // From here on along the axes of the box.
    Core<Real, 3> seen;
    for (int c = 0; c < 3; ++c) seen.vertex[c] = in_axes(box.axis, triangles.vertex[c] - box.centre);
    const auto outside = [](Real half, Real x, Real y, Real z) { return max_of(min3(x, y, z), -max3(x, y, z)) - half; };
    const Vec3<Real>* v = seen.vertex;
    const Real along_axes =
        length_outside(Vec3<Real>{outside(box.half.x, v[0].x, v[1].x, v[2].x), outside(box.half.y, v[0].y, v[1].y, v[2].y),
                                  outside(box.half.z, v[0].z, v[1].z, v[2].z)});
    const Vec3<Real> middle = Real(1.0f / 3.0f) * (v[0] + v[1] + v[2]);
    const Vec3<Real> n = middle - clamped(middle, box.half);
    const Real lowest = min3(dot(n, v[0]), dot(n, v[1]), dot(n, v[2])) - dot(abs_of(n), box.half);
    const Real along_middle = lowest / max_of(norm(n), Real(1e-18f));
    return max3(along_normal, along_axes, along_middle) - box.sweep;
}

template <class Real>
void bounds(const WideLeaf& leaf, const Volume<float>& volume, float* bounds) {
    const Core<Real, 3> triangles = loaded_triangles<Real>(leaf.vertex);
    LaneTraits<Real>::store(bounds, bounds_from(spread<Real>(volume), triangles, loaded<Real>(leaf.normal)));
}

template <class Real>
void signed_bounds(const WideLeaf& leaf, const Volume<float>& volume, float* bounds) {
    const Volume<Real> box = spread<Real>(volume);
    const Vec3<Real> seen = in_axes(box.axis, loaded<Real>(leaf.vertex) - box.centre);
    LaneTraits<Real>::store(bounds, signed_length_outside(abs_of(seen) - box.half) - box.sweep);
}

template <class Real>
void near_triangles(const WideLeaf& a, const WideLeaf& b, const Volume<float>& volume_b, const TreeMotion& b_from_a,
                    float within, NearTriangles& found) {
    move<Real>(a, b_from_a, found.a);
    const Core<Real, 3> seen = loaded_triangles<Real>(found.a.vertex);
    const Real from_b = bounds_from(spread<Real>(volume_b), seen, loaded<Real>(found.a.normal));
    Real upper_sq(std::numeric_limits<float>::infinity());
    found.count = 0;
    for (unsigned left = ~bits_of(from_b > Real(within)) & ((1u << a.count) - 1u); left != 0; left &= left - 1) {
        const int k = __builtin_ctz(left);
        for (unsigned near = near_one(found.a, k, b, Real(within), upper_sq); near != 0; near &= near - 1, ++found.count) {
            found.i[found.count] = static_cast<std::uint8_t>(k);
            found.j[found.count] = static_cast<std::uint8_t>(__builtin_ctz(near));
        }
    }
    found.upper = sqrt_of(least_of(upper_sq));
}

// The points found bound the distance from above, the plane across them from below.
template <class Real>
void look_closely(const Octet& octet, float* lower, float* upper) {
    const Core<Real, 3> a = loaded_triangles<Real>(octet.a), b = loaded_triangles<Real>(octet.b);
    const Vec3<Real> apart = between(a, b, closest(a, b));
    const Real distance = norm(apart);
    LaneTraits<Real>::store(upper, distance);
    LaneTraits<Real>::store(lower, separation_along(inverse_or_zero(distance) * apart, a, b));
}

template <class Real>
void point_distances(const Node<8>& node, const Vec3<float>& point, float* distances) {
    const Vec3<Real> axis[3] = {loaded<Real>(node.axis), loaded<Real>(node.axis + 3), loaded<Real>(node.axis + 6)};
    const Vec3<Real> seen = abs_of(in_axes(axis, spread<Real>(point) - loaded<Real>(node.centre)));
    LaneTraits<Real>::store(distances, length_outside(seen - loaded<Real>(node.half)));
}

template <class Real>
constexpr BvhKernels bvh_kernels_of() {
    return {keys<Real, false>, keys<Real, true>,    near_triangles<Real>, look_closely<Real>,
            bounds<Real>,      signed_bounds<Real>, point_distances<Real>};
}

}  // namespace
}  // namespace clearance
