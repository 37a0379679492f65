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

template <class Real>
void keys(const Node<8>& node, const Volume<float>& volume, const KeyRule& rule, float* keys) {
    const Volume<Real> children{loaded<Real>(node.centre),
                                loaded<Real>(node.half),
                                {loaded<Real>(node.axis), loaded<Real>(node.axis + 3), loaded<Real>(node.axis + 6)},
                                Real(0.0f)};
    LaneTraits<Real>::store(keys, key_of(distance_bound(children, spread<Real>(volume)), rule));
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

// The triangles of a leaf, seen from the frame of another.
struct MovedLeaf {
    float vertex[9][8], normal[3][8], centre[3][8], radius[8];
};

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
// line of the centres. Each of these is a proof; what is left has to be looked at in full.
template <class Real>
CLEARANCE_INLINE unsigned near_one(const MovedLeaf& a, int i, const WideLeaf& b, Real within) {
    const Vec3<Real> apart = loaded<Real>(b.centre) - spread<Real>(a.centre, i);
    const Real distance = norm(apart);
    const Real radii = Real(a.radius[i]) + LaneTraits<Real>::load(b.radius);
    const unsigned by_balls = ~bits_of(distance - radii > within) & ((1u << b.count) - 1u);
    if (by_balls == 0) return 0;
    const Core<Real, 3> one{spread<Real>(a.vertex, i), spread<Real>(a.vertex + 3, i), spread<Real>(a.vertex + 6, i)};
    const Core<Real, 3> many = loaded_triangles<Real>(b.vertex);
    const Real along_b = height_over(loaded<Real>(b.normal), many.vertex[0], one);
    const Real along_a = height_over(spread<Real>(a.normal, i), one.vertex[0], many);
    const Real along_centres = separation_along(inverse_or_zero(distance) * apart, one, many);
    return by_balls & ~bits_of(max3(along_a, along_b, along_centres) > within);
}

// Eight pairs side by side: the points found bound the distance from above, the plane across them from below.
struct Octet {
    float a[9][8], b[9][8];
};

template <class Real>
CLEARANCE_INLINE void look_closely(const Octet& octet, float* lower, float* upper) {
    const Core<Real, 3> a = loaded_triangles<Real>(octet.a), b = loaded_triangles<Real>(octet.b);
    const Vec3<Real> apart = between(a, b, closest(a, b));
    const Real distance = norm(apart);
    LaneTraits<Real>::store(upper, distance);
    LaneTraits<Real>::store(lower, separation_along(inverse_or_zero(distance) * apart, a, b));
}

CLEARANCE_INLINE void pack(const float (*from)[8], int k, float (*to)[8], int lane) {
    for (int row = 0; row < 9; ++row) to[row][lane] = from[row][k];
}

template <class Real>
void near_triangles(const WideLeaf& a, const WideLeaf& b, const TreeMotion& b_from_a, float within, NearTriangles& found) {
    MovedLeaf seen;
    move<Real>(a, b_from_a, seen);
    std::uint8_t i[64], j[64];
    int waiting = 0;
    for (int k = 0; k < a.count; ++k)
        for (unsigned near = near_one(seen, k, b, Real(within)); near != 0; near &= near - 1, ++waiting)
            i[waiting] = static_cast<std::uint8_t>(k), j[waiting] = static_cast<std::uint8_t>(__builtin_ctz(near));
    found.count = 0;
    found.tests = waiting;
    for (int first = 0; first < waiting; first += 8) {
        const int used = waiting - first < 8 ? waiting - first : 8;
        Octet octet;
        for (int lane = 0; lane < 8; ++lane) {
            const int from = first + (lane < used ? lane : 0);
            pack(seen.vertex, i[from], octet.a, lane);
            pack(b.vertex, j[from], octet.b, lane);
        }
        float lower[8], upper[8];
        look_closely<Real>(octet, lower, upper);
        for (int lane = 0; lane < used; ++lane) {
            if (lower[lane] > within) continue;
            const int to = found.count++;
            found.i[to] = i[first + lane], found.j[to] = j[first + lane];
            found.lower[to] = lower[lane], found.upper[to] = upper[lane];
        }
    }
}

template <class Real>
void bounds(const WideLeaf& leaf, const Volume<float>& volume, float* bounds) {
    const Volume<Real> box = spread<Real>(volume);
    const Core<Real, 3> world = loaded_triangles<Real>(leaf.vertex);
    const Vec3<Real> normal = loaded<Real>(leaf.normal);
    const auto support = [&](const Vec3<Real>& n) { return dot(abs_of(in_axes(box.axis, n)), box.half); };
    const Real along_normal = abs_of(dot(normal, box.centre - world.vertex[0])) - support(normal);

    // From here on along the axes of the box.
    Core<Real, 3> seen;
    for (int c = 0; c < 3; ++c) seen.vertex[c] = in_axes(box.axis, world.vertex[c] - box.centre);
    const auto outside = [](Real half, Real x, Real y, Real z) { return max_of(min3(x, y, z), -max3(x, y, z)) - half; };
    const Vec3<Real>* v = seen.vertex;
    const Real along_axes =
        length_outside(Vec3<Real>{outside(box.half.x, v[0].x, v[1].x, v[2].x), outside(box.half.y, v[0].y, v[1].y, v[2].y),
                                  outside(box.half.z, v[0].z, v[1].z, v[2].z)});
    const Vec3<Real> middle = Real(1.0f / 3.0f) * (v[0] + v[1] + v[2]);
    const Vec3<Real> n = middle - clamped(middle, box.half);
    const Real lowest = min3(dot(n, v[0]), dot(n, v[1]), dot(n, v[2])) - dot(abs_of(n), box.half);
    const Real along_middle = lowest / max_of(norm(n), Real(1e-18f));
    LaneTraits<Real>::store(bounds, max3(along_normal, along_axes, along_middle) - box.sweep);
}

template <class Real>
constexpr BvhKernels bvh_kernels_of() {
    return {keys<Real>, near_triangles<Real>, bounds<Real>};
}

}  // namespace
}  // namespace clearance
