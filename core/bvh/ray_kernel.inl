// Rays through trees, eight boxes or triangles at a time; included by one file per instruction set, see closest/kernel.inl
// for the rules.
#include "bvh/ray_kernels.hpp"

namespace clearance {
namespace {

constexpr int kStack = 256;

struct Waiting {
    float near;
    std::int32_t child;
};

template <class Real>
CLEARANCE_INLINE Vec3<Real> loaded(const float (*column)[8]) {
    using Lanes = LaneTraits<Real>;
    return {Lanes::load(column[0]), Lanes::load(column[1]), Lanes::load(column[2])};
}

template <class Real>
CLEARANCE_INLINE Vec3<Real> spread(const float* v) {
    return {Real(v[0]), Real(v[1]), Real(v[2])};
}

template <class Real>
CLEARANCE_INLINE Real min3(Real a, Real b, Real c) {
    return min_of(a, min_of(b, c));
}
template <class Real>
CLEARANCE_INLINE Real max3(Real a, Real b, Real c) {
    return max_of(a, max_of(b, c));
}

// Divisors that are not zero: boxes are grown by more than rounding, so what lies in the plane of a face is inside of it.
constexpr float kLeastSlope = 1e-18f;

// Where the ray enters eight oriented boxes; bit by bit those that it meets.
template <class Real>
CLEARANCE_INLINE unsigned entered(const Node<8>& node, const TreeRay& ray, float last, float* near) {
    const Vec3<Real> axis[3] = {loaded<Real>(node.axis), loaded<Real>(node.axis + 3), loaded<Real>(node.axis + 6)};
    const Vec3<Real> from = in_axes(axis, loaded<Real>(node.centre) - spread<Real>(ray.from));
    const Vec3<Real> along = in_axes(axis, spread<Real>(ray.along));
    const Vec3<Real> half = loaded<Real>(node.half);
    const Real grow(ray.grow), least(kLeastSlope), one(1.0f);
    Real latest(ray.first), earliest(last);
    const auto cut = [&](Real centre, Real rise, Real reach) {
        const Real inverse = one / select(abs_of(rise) < least, least, rise);
        const Real middle = centre * inverse, around = (reach + grow) * abs_of(inverse);
        latest = max_of(latest, middle - around);
        earliest = min_of(earliest, middle + around);
    };
    cut(from.x, along.x, half.x);
    cut(from.y, along.y, half.y);
    cut(from.z, along.z, half.z);
    LaneTraits<Real>::store(near, latest);
    return bits_of(latest <= earliest) & ((1u << node.count) - 1u);
}

// The columns of a ray that has most of its length along z, seen along itself: x and y become zero on the ray.
struct Sheared {
    int x, y, z;
    float slope_x, slope_y, per_z;

    CLEARANCE_INLINE explicit Sheared(const TreeRay& ray) {
        const float a[3] = {abs_of(ray.along[0]), abs_of(ray.along[1]), abs_of(ray.along[2])};
        z = a[0] > a[1] ? (a[0] > a[2] ? 0 : 2) : (a[1] > a[2] ? 1 : 2);
        x = z == 2 ? 0 : z + 1, y = x == 2 ? 0 : x + 1;
        per_z = 1.0f / ray.along[z];
        slope_x = ray.along[x] * per_z, slope_y = ray.along[y] * per_z;
    }
};

// Which of eight triangles the ray may meet. Edge functions are compared with what rounding may do to them: coordinates
// across the ray are off by less than kRayRounding / 2, and so are products, relative to the larger factor.
template <class Real>
CLEARANCE_INLINE unsigned near_triangles(const WideLeaf& leaf, const TreeRay& ray, const Sheared& sheared, float last) {
    using Lanes = LaneTraits<Real>;
    const Real slope_x(sheared.slope_x), slope_y(sheared.slope_y);
    const Real from_x(ray.from[sheared.x]), from_y(ray.from[sheared.y]), from_z(ray.from[sheared.z]);
    Real x[3], y[3], z[3];
    CLEARANCE_UNROLL
    for (int k = 0; k < 3; ++k) {
        const float(*vertex)[8] = leaf.vertex + 3 * k;
        z[k] = Lanes::load(vertex[sheared.z]) - from_z;
        x[k] = Lanes::load(vertex[sheared.x]) - from_x - slope_x * z[k];
        y[k] = Lanes::load(vertex[sheared.y]) - from_y - slope_y * z[k];
    }
    const Real u = x[2] * y[1] - y[2] * x[1], v = x[0] * y[2] - y[0] * x[2], w = x[1] * y[0] - y[1] * x[0];
    const Real size = abs_of(x[0]) + abs_of(y[0]) + abs_of(x[1]) + abs_of(y[1]) + abs_of(x[2]) + abs_of(y[2]);
    const Real doubt = Real(kRayRounding) * (size + Real(kRayRounding));
    const auto on_one_side = either(min3(u, v, w) >= -doubt, max3(u, v, w) <= doubt);
    const Real per_z(sheared.per_z), along_z(4.0f * kRayRounding);
    const Real s0 = z[0] * per_z, s1 = z[1] * per_z, s2 = z[2] * per_z;
    const auto in_range = both(min3(s0, s1, s2) - along_z <= Real(last), max3(s0, s1, s2) + along_z >= Real(ray.first));
    return bits_of(both(on_one_side, in_range)) & ((1u << leaf.count) - 1u);
}

// Which of eight balls the ray may meet: by how far it passes their centres.
template <class Real>
CLEARANCE_INLINE unsigned near_balls(const WideLeaf& leaf, const TreeRay& ray, float last) {
    const Vec3<Real> to = loaded<Real>(leaf.vertex) - spread<Real>(ray.from), along = spread<Real>(ray.along);
    const Real length_sq = norm_sq(along), pass_sq = norm_sq(cross(to, along));
    const Real reach = Real(ray.grow) * sqrt_of(length_sq);
    const Real middle = dot(to, along), half = reach * Real(1.0f + 1e-6f) + Real(4.0f * kRayRounding);
    const auto in_range = both(middle - half <= Real(last) * length_sq, middle + half >= Real(ray.first) * length_sq);
    const auto is_near = pass_sq <= reach * reach * Real(1.0f + 1e-5f);
    return bits_of(both(is_near, in_range)) & ((1u << leaf.count) - 1u);
}

// Puts what was entered on the stack, the nearest on top. Most nodes have one or two such children.
CLEARANCE_INLINE void push(Waiting* stack, int& size, unsigned entered, const float* near, const std::int32_t* child) {
    const int bottom = size;
    for (; entered != 0; entered &= entered - 1) {
        const int k = __builtin_ctz(entered);
        int to = size++;
        for (; to > bottom && stack[to - 1].near < near[k]; --to) stack[to] = stack[to - 1];
        stack[to] = {near[k], child[k]};
    }
}

template <class Real>
void through_mesh_below(const TreeView& tree, const TreeRay& ray, const LeafVisitor& visitor, Waiting root, float& last,
                        RayCounts& counts) {
    const Sheared sheared(ray);
    Waiting stack[kStack];
    int size = 0;
    stack[size++] = root;
    while (size > 0) {
        const Waiting top = stack[--size];
        if (!(top.near <= last)) continue;
        if (top.child < 0) {
            const WideLeaf& leaf = tree.leaves[~top.child];
            ++counts.leaves;
            const unsigned candidates =
                tree.of_balls ? near_balls<Real>(leaf, ray, last) : near_triangles<Real>(leaf, ray, sheared, last);
            if (candidates != 0) last = visitor.visit(visitor.context, leaf, candidates);
            continue;
        }
        const Node<8>& node = tree.nodes[top.child];
        ++counts.nodes;
        alignas(32) float near[8];
        unsigned children = entered<Real>(node, ray, last, near);
        if (size + 8 <= kStack) {
            push(stack, size, children, near, node.child);
        } else {
            for (; children != 0; children &= children - 1) {
                const int k = __builtin_ctz(children);
                through_mesh_below<Real>(tree, ray, visitor, {near[k], node.child[k]}, last, counts);
            }
        }
    }
}

template <class Real>
void through_mesh(const TreeView& tree, const TreeRay& ray, const LeafVisitor& visitor, RayCounts& counts) {
    float last = ray.last;
    through_mesh_below<Real>(tree, ray, visitor, {ray.first, tree.root}, last, counts);
}

// Which columns of a node are met first, and the slopes of the ray.
struct Slopes {
    int near[3], far[3];  // columns
    float inverse[3];

    CLEARANCE_INLINE explicit Slopes(const TreeRay& ray) {
        for (int k = 0; k < 3; ++k) {
            const bool falls = ray.along[k] < 0.0f;
            near[k] = falls ? k + 3 : k, far[k] = falls ? k : k + 3;
            const float slope = abs_of(ray.along[k]) < kLeastSlope ? kLeastSlope : ray.along[k];
            inverse[k] = 1.0f / slope;
        }
    }
};

template <class Real>
CLEARANCE_INLINE unsigned entered(const RayNode& node, const TreeRay& ray, const Slopes& slopes, float last, float* near) {
    using Lanes = LaneTraits<Real>;
    const Real in_x = (Lanes::load(node.low[slopes.near[0]]) - Real(ray.from[0])) * Real(slopes.inverse[0]);
    const Real in_y = (Lanes::load(node.low[slopes.near[1]]) - Real(ray.from[1])) * Real(slopes.inverse[1]);
    const Real in_z = (Lanes::load(node.low[slopes.near[2]]) - Real(ray.from[2])) * Real(slopes.inverse[2]);
    const Real out_x = (Lanes::load(node.low[slopes.far[0]]) - Real(ray.from[0])) * Real(slopes.inverse[0]);
    const Real out_y = (Lanes::load(node.low[slopes.far[1]]) - Real(ray.from[1])) * Real(slopes.inverse[1]);
    const Real out_z = (Lanes::load(node.low[slopes.far[2]]) - Real(ray.from[2])) * Real(slopes.inverse[2]);
    const Real latest = max_of(max_of(in_x, in_y), max_of(in_z, Real(ray.first)));
    const Real earliest = min_of(min_of(out_x, out_y), min_of(out_z, Real(last)));
    Lanes::store(near, latest);
    return bits_of(latest <= earliest);
}

template <class Real>
void through_world_below(const RayNode* nodes, Waiting root, const TreeRay& ray, const ItemVisitor& visitor, float& last,
                         RayCounts& counts) {
    const Slopes slopes(ray);
    Waiting stack[kStack];
    int size = 0;
    stack[size++] = root;
    while (size > 0) {
        const Waiting top = stack[--size];
        if (!(top.near <= last)) continue;
        if (top.child < 0) {
            ++counts.leaves;
            last = visitor.visit(visitor.context, ~top.child);
            continue;
        }
        const RayNode& node = nodes[top.child];
        ++counts.nodes;
        alignas(32) float near[8];
        unsigned children = entered<Real>(node, ray, slopes, last, near);
        if (size + 8 <= kStack) {
            push(stack, size, children, near, node.child);
        } else {
            for (; children != 0; children &= children - 1) {
                const int k = __builtin_ctz(children);
                through_world_below<Real>(nodes, {near[k], node.child[k]}, ray, visitor, last, counts);
            }
        }
    }
}

template <class Real>
void through_world(const RayNode* nodes, std::int32_t root, const TreeRay& ray, const ItemVisitor& visitor,
                   RayCounts& counts) {
    float last = ray.last;
    through_world_below<Real>(nodes, {ray.first, root}, ray, visitor, last, counts);
}

template <class Real>
constexpr RayKernels ray_kernels_of() {
    return {through_mesh<Real>, through_world<Real>};
}

}  // namespace
}  // namespace clearance
