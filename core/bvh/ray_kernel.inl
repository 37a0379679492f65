// Rays through trees, eight boxes or four triangles at a time; included by one file per instruction set, see
// closest/kernel.inl for the rules.
#include "bvh/ray_kernels.hpp"

namespace clearance {
namespace {

constexpr int kStack = 256;

struct Waiting {
    float near;  // the nearest point of any of its rays
    std::int32_t child;
    unsigned rays;
};

// Which columns of a node a ray meets first.
struct Sides {
    int near[3], far[3];
};

// Where the ray enters eight boxes; bit by bit those that it meets.
template <class Real>
CLEARANCE_INLINE unsigned entered(const RayNode& node, const BoxRays& rays, const Sides& sides, int k, Real& nearest) {
    using Lanes = LaneTraits<Real>;
    const Real from_x(rays.from[0][k]), from_y(rays.from[1][k]), from_z(rays.from[2][k]);
    const Real per_x(rays.inverse[0][k]), per_y(rays.inverse[1][k]), per_z(rays.inverse[2][k]);
    const Real in_x = (Lanes::load(node.bound[sides.near[0]]) - from_x) * per_x;
    const Real in_y = (Lanes::load(node.bound[sides.near[1]]) - from_y) * per_y;
    const Real in_z = (Lanes::load(node.bound[sides.near[2]]) - from_z) * per_z;
    const Real out_x = (Lanes::load(node.bound[sides.far[0]]) - from_x) * per_x;
    const Real out_y = (Lanes::load(node.bound[sides.far[1]]) - from_y) * per_y;
    const Real out_z = (Lanes::load(node.bound[sides.far[2]]) - from_z) * per_z;
    const Real latest = max_of(max_of(in_x, in_y), max_of(in_z, Real(rays.first[k])));
    const Real earliest = min_of(min_of(out_x, out_y), min_of(out_z, Real(rays.last[k])));
    const auto is_entered = latest <= earliest;
    nearest = select(is_entered, min_of(nearest, latest), nearest);
    return bits_of(is_entered);
}

// Bit j of byte i becomes bit i of byte j.
CLEARANCE_INLINE std::uint64_t transposed_bits(std::uint64_t x) {
    std::uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aau;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000ccccu;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0u;
    return x ^ t ^ (t << 28);
}

template <class Leaf>
CLEARANCE_INLINE void fetch(const Leaf* leaf) {
    const char* at = reinterpret_cast<const char*>(leaf);
    for (std::size_t k = 0; k < sizeof(Leaf); k += 64) __builtin_prefetch(at + k);
}

// Nearest boxes first. Visitor::visit(leaf, rays) may shrink boxes.last, Visitor::fetch(leaf) asks memory for what will be
// needed soon. Below a stack that is full, another one begins.
template <class Real, class Visitor>
void through(const RayNode* nodes, const Waiting& root, BoxRays& boxes, const Sides* sides, const Visitor& visitor,
             RayCounts& counts) {
    using Lanes = LaneTraits<Real>;
    Waiting stack[kStack];
    int size = 0;
    stack[size++] = root;
    while (size > 0) {
        const Waiting top = stack[--size];
        unsigned rays = top.rays & bits_of(Real(top.near) <= Lanes::load(boxes.last));
        if (rays == 0) continue;
        if (top.child < 0) {
            ++counts.leaves;
            visitor.visit(~top.child, rays);
            continue;
        }
        const RayNode& node = nodes[top.child];
        ++counts.nodes;
        Real nearest(std::numeric_limits<float>::infinity());
        std::uint64_t matrix = 0;
        unsigned children = 0;
        do {
            const int k = __builtin_ctz(rays);
            const unsigned met = entered(node, boxes, sides[k], k, nearest);
            children |= met;
            matrix |= static_cast<std::uint64_t>(met) << (8 * k);
            rays &= rays - 1;
        } while (rays != 0);
        if (children == 0) continue;
        matrix = transposed_bits(matrix);
        alignas(32) float near[8];
        Lanes::store(near, nearest);
        const bool has_room = size + 8 <= kStack;
        const int bottom = size;
        for (; children != 0; children &= children - 1) {
            const int k = __builtin_ctz(children);
            const Waiting below{near[k], node.child[k], static_cast<unsigned>(matrix >> (8 * k)) & 0xffu};
            if (!has_room) {
                through<Real>(nodes, below, boxes, sides, visitor, counts);
                continue;
            }
            if (below.child >= 0)
                fetch(nodes + below.child);
            else
                visitor.fetch(~below.child);
            int to = size++;
            for (; to > bottom && stack[to - 1].near < below.near; --to) stack[to] = stack[to - 1];
            stack[to] = below;
        }
    }
}

template <class Real, class Visitor>
CLEARANCE_INLINE void through_all(const RayNode* nodes, unsigned active, BoxRays& boxes, const Visitor& visitor,
                                  RayCounts& counts) {
    Sides sides[kPacket];
    float first = std::numeric_limits<float>::infinity();
    for (int k = 0; k < kPacket; ++k) {
        const bool is_active = (active >> k & 1u) != 0;
        boxes.last[k] = is_active ? boxes.last[k] : -std::numeric_limits<float>::infinity();
        first = min_of(first, is_active ? boxes.first[k] : first);
        for (int axis = 0; axis < 3; ++axis) {
            const int falls = boxes.inverse[axis][k] < 0.0f ? 3 : 0;
            sides[k].near[axis] = axis + falls, sides[k].far[axis] = axis + 3 - falls;
        }
    }
    through<Real>(nodes, {first, 0, active}, boxes, sides, visitor, counts);
}

// Triangles of a leaf that the ray meets, and not all later than `best`.
template <class Real>
CLEARANCE_INLINE unsigned met_triangles(const RayTriangles& leaf, const TriangleRay& ray, double best) {
    using Lanes = LaneTraits<Real>;
    unsigned met = 0;
    for (int first = 0; first < kRayLeaf; first += Lanes::count) {
        const auto corner = [&](int k) {
            const double(*vertex)[kRayLeaf] = leaf.vertex + 3 * k;
            return seen(ray, Lanes::load(vertex[ray.x] + first), Lanes::load(vertex[ray.y] + first),
                        Lanes::load(vertex[ray.z] + first));
        };
        const Vec3<Real> a = corner(0), b = corner(1), c = corner(2);
        const Real at_a = place_on(ray, a.z), at_b = place_on(ray, b.z), at_c = place_on(ray, c.z);
        const auto in_range =
            both(min_of(at_a, min_of(at_b, at_c)) <= Real(best), max_of(at_a, max_of(at_b, at_c)) >= Real(0.0));
        met |= bits_of(both(EdgeSides<Real>(a, b, c).are_alike(), in_range)) << first;
    }
    return met & ((1u << leaf.count) - 1u);
}

template <class Wide>
struct TriangleLeaves {
    const RayTriangles* leaves;
    TriangleRays& rays;
    const LeafVisitor& visitor;

    CLEARANCE_INLINE void fetch(std::int32_t number) const { clearance::fetch(leaves + number); }
    CLEARANCE_INLINE void visit(std::int32_t number, unsigned active) const {
        const RayTriangles& leaf = leaves[number];
        for (; active != 0; active &= active - 1) {
            const int k = __builtin_ctz(active);
            const unsigned met = met_triangles<Wide>(leaf, *rays.ray[k], rays.best[k]);
            if (met != 0) visitor.visit(visitor.context, k, leaf, met);
        }
    }
};

struct BallLeaves {
    const RayBalls* leaves;
    const BallVisitor& visitor;

    CLEARANCE_INLINE void fetch(std::int32_t number) const { clearance::fetch(leaves + number); }
    CLEARANCE_INLINE void visit(std::int32_t number, unsigned active) const {
        visitor.visit(visitor.context, active, leaves[number]);
    }
};

struct Items {
    const ItemVisitor& visitor;

    CLEARANCE_INLINE void fetch(std::int32_t) const {}
    CLEARANCE_INLINE void visit(std::int32_t number, unsigned active) const {
        visitor.visit(visitor.context, active, number);
    }
};

template <class Real, class Wide>
void through_triangles(const RayNode* nodes, const RayTriangles* leaves, unsigned active, BoxRays& boxes, TriangleRays& rays,
                       const LeafVisitor& visitor, RayCounts& counts) {
    through_all<Real>(nodes, active, boxes, TriangleLeaves<Wide>{leaves, rays, visitor}, counts);
}

template <class Real>
void through_balls(const RayNode* nodes, const RayBalls* leaves, unsigned active, BoxRays& boxes, const BallVisitor& visitor,
                   RayCounts& counts) {
    through_all<Real>(nodes, active, boxes, BallLeaves{leaves, visitor}, counts);
}

template <class Real>
void through_world(const RayNode* nodes, unsigned active, BoxRays& boxes, const ItemVisitor& visitor, RayCounts& counts) {
    through_all<Real>(nodes, active, boxes, Items{visitor}, counts);
}

// What follows are loops over the rays of a packet that compilers turn into lanes by themselves.

// None of the inverse slopes is infinite: boxes are larger than they need to be by more than rounding, so what lies in the
// plane of a face is inside of it.
CLEARANCE_INLINE float inverse_slope(double along) {
    constexpr float kLeast = 1e-18f;
    const float slope = static_cast<float>(along), size = abs_of(slope);
    return 1.0f / std::copysign(size < kLeast ? kLeast : size, slope);
}

void look_through(const double (*from)[kPacket], const double (*along)[kPacket], const double* offset, const double* at,
                  double per_unit, BoxRays& boxes) {
    for (int axis = 0; axis < 3; ++axis)
        for (int k = 0; k < kPacket; ++k) {
            boxes.from[axis][k] = static_cast<float>(from[axis][k]);
            boxes.inverse[axis][k] = inverse_slope(along[axis][k]);
        }
    for (int k = 0; k < kPacket; ++k) {
        boxes.first[k] = bound_on_ray(0.0, offset[k], per_unit, -1.0);
        boxes.last[k] = bound_on_ray(at[k], offset[k], per_unit, 1.0);
    }
}

unsigned approach(const RayPacket& rays, const Vec3d& centre, double per_unit, double* offset, BoxRays& boxes) {
    alignas(64) double from[3][kPacket], reach[kPacket];
    for (int k = 0; k < kPacket; ++k) {
        const Vec3d along{rays.along[0][k], rays.along[1][k], rays.along[2][k]};
        const Vec3d start = Vec3d{rays.origin[0][k], rays.origin[1][k], rays.origin[2][k]} - centre;
        offset[k] = -dot(start, along) * rays.per_length_sq[k];
        const Vec3d nearest = per_unit * (start + offset[k] * along);
        from[0][k] = nearest.x, from[1][k] = nearest.y, from[2][k] = nearest.z;
        reach[k] = largest(nearest);
    }
    look_through(from, rays.along, offset, rays.at, per_unit, boxes);
    unsigned near = 0;
    for (int k = 0; k < kPacket; ++k) near |= (reach[k] <= 4.0 ? 1u : 0u) << k;
    return near;
}

// Where a coordinate is between -half and half.
CLEARANCE_INLINE void cut(double from, double along, double half, double& first, double& last) {
    constexpr double inf = std::numeric_limits<double>::infinity(), kLeast = 1e-290;
    const bool is_flat = abs_of(along) < kLeast, is_inside = abs_of(from) <= half;
    const double inverse = 1.0 / (is_flat ? 1.0 : along);
    const double low = (-half - from) * inverse, high = (half - from) * inverse;
    const double in = min_of(low, high), out = max_of(low, high);
    first = is_flat ? (is_inside ? -inf : inf) : in;
    last = is_flat ? (is_inside ? inf : -inf) : out;
}

void meet_box(const RayPacket& rays, const PlacedBox& box, BoxChords& chords) {
    for (int k = 0; k < kPacket; ++k) {
        const Vec3d along{rays.along[0][k], rays.along[1][k], rays.along[2][k]};
        const Vec3d start = Vec3d{rays.origin[0][k], rays.origin[1][k], rays.origin[2][k]} - box.centre;
        const double offset = -dot(start, along) * rays.per_length_sq[k];
        const Vec3d near = start + offset * along;
        const Vec3d from = near.x * box.row[0] + near.y * box.row[1] + near.z * box.row[2];
        const Vec3d slope = along.x * box.row[0] + along.y * box.row[1] + along.z * box.row[2];
        double first_x, first_y, first_z, last_x, last_y, last_z;
        cut(from.x, slope.x, box.half.x, first_x, last_x);
        cut(from.y, slope.y, box.half.y, first_y, last_y);
        cut(from.z, slope.z, box.half.z, first_z, last_z);
        const double first_xy = max_of(first_x, first_y), first = max_of(first_xy, first_z);
        chords.offset[k] = offset, chords.first[k] = first, chords.last[k] = min_of(last_x, min_of(last_y, last_z));
        chords.piece[k] = first_xy >= first_z ? (first_x >= first_y ? 0.0 : 1.0) : 2.0;
    }
}

template <class Real, class Wide>
constexpr RayKernels ray_kernels_of() {
    return {through_triangles<Real, Wide>, through_balls<Real>, through_world<Real>, approach, look_through, meet_box};
}

}  // namespace
}  // namespace clearance
