// Rays through trees, eight boxes or four triangles at a time; included by one file per instruction set, see
// closest/kernel.inl for the rules.
#include "bvh/ray_kernels.hpp"

namespace clearance {
namespace {

constexpr int kStack = 256;

struct Waiting {
    float near;
    std::int32_t child;
};

// Which columns of a node are met first, and the inverse slopes of the ray. None of these is infinite: boxes are larger than
// they need to be by more than rounding, so what lies in the plane of a face is inside of it.
struct Slopes {
    int near[3], far[3];
    float inverse[3];

    CLEARANCE_INLINE explicit Slopes(const BoxRay& ray) {
        constexpr float kLeast = 1e-18f;
        for (int k = 0; k < 3; ++k) {
            const bool falls = ray.along[k] < 0.0f;
            near[k] = falls ? k + 3 : k, far[k] = falls ? k : k + 3;
            inverse[k] = 1.0f / (abs_of(ray.along[k]) < kLeast ? (falls ? -kLeast : kLeast) : ray.along[k]);
        }
    }
};

// Where the ray enters eight boxes; bit by bit those that it meets.
template <class Real>
CLEARANCE_INLINE unsigned entered(const RayNode& node, const BoxRay& ray, const Slopes& slopes, float last, float* near) {
    using Lanes = LaneTraits<Real>;
    const Real from_x(ray.from[0]), from_y(ray.from[1]), from_z(ray.from[2]);
    const Real per_x(slopes.inverse[0]), per_y(slopes.inverse[1]), per_z(slopes.inverse[2]);
    const Real in_x = (Lanes::load(node.bound[slopes.near[0]]) - from_x) * per_x;
    const Real in_y = (Lanes::load(node.bound[slopes.near[1]]) - from_y) * per_y;
    const Real in_z = (Lanes::load(node.bound[slopes.near[2]]) - from_z) * per_z;
    const Real out_x = (Lanes::load(node.bound[slopes.far[0]]) - from_x) * per_x;
    const Real out_y = (Lanes::load(node.bound[slopes.far[1]]) - from_y) * per_y;
    const Real out_z = (Lanes::load(node.bound[slopes.far[2]]) - from_z) * per_z;
    const Real latest = max_of(max_of(in_x, in_y), max_of(in_z, Real(ray.first)));
    const Real earliest = min_of(min_of(out_x, out_y), min_of(out_z, Real(last)));
    Lanes::store(near, latest);
    return bits_of(latest <= earliest);
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

// Nearest boxes first; visit(leaf, last) gives the new end of what is still of interest. Below a stack that is full, another
// one begins.
template <class Real, class Visit>
void through(const RayNode* nodes, Waiting root, const BoxRay& ray, const Slopes& slopes, const Visit& visit, float& last,
             RayCounts& counts) {
    Waiting stack[kStack];
    int size = 0;
    stack[size++] = root;
    while (size > 0) {
        const Waiting top = stack[--size];
        if (!(top.near <= last)) continue;
        if (top.child < 0) {
            ++counts.leaves;
            last = visit(~top.child, last);
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
                through<Real>(nodes, {near[k], node.child[k]}, ray, slopes, visit, last, counts);
            }
        }
    }
}

// Triangles of a leaf that are hit no later than `best`, or seen as a line.
template <class Real>
CLEARANCE_INLINE unsigned hit_triangles(const RayTriangles& leaf, const TriangleRay& ray, double best, double* at) {
    using Lanes = LaneTraits<Real>;
    unsigned hit = 0;
    for (int first = 0; first < kRayLeaf; first += Lanes::count) {
        const auto corner = [&](int k) {
            const double(*vertex)[kRayLeaf] = leaf.vertex + 3 * k;
            return seen(ray, Lanes::load(vertex[ray.x] + first), Lanes::load(vertex[ray.y] + first),
                        Lanes::load(vertex[ray.z] + first));
        };
        const Vec3<Real> a = corner(0), b = corner(1), c = corner(2);
        const TriangleMeeting<Real> met = meeting(ray, a, b, c);
        const auto in_range = both(met.at >= Real(0.0), met.at <= Real(best));
        const auto edgewise = both(met.area >= Real(0.0), met.area <= Real(0.0));
        Lanes::store(at + first, met.at);
        hit |= bits_of(both(met.is_inside, either(in_range, edgewise))) << first;
    }
    return hit & ((1u << leaf.count) - 1u);
}

template <class Real, class Wide>
void through_triangles(const RayNode* nodes, const RayTriangles* leaves, const BoxRay& boxes, const TriangleRay& ray,
                       double best, const LeafVisitor& visitor, RayCounts& counts) {
    const auto visit = [&](std::int32_t number, float last) {
        alignas(32) double at[kRayLeaf];
        const unsigned hit = hit_triangles<Wide>(leaves[number], ray, best, at);
        return hit == 0 ? last : visitor.visit(visitor.context, leaves[number], hit, at, best);
    };
    float last = boxes.last;
    through<Real>(nodes, {boxes.first, 0}, boxes, Slopes(boxes), visit, last, counts);
}

template <class Real>
void through_balls(const RayNode* nodes, const RayBalls* leaves, const BoxRay& boxes, const BallVisitor& visitor,
                   RayCounts& counts) {
    const auto visit = [&](std::int32_t number, float) { return visitor.visit(visitor.context, leaves[number]); };
    float last = boxes.last;
    through<Real>(nodes, {boxes.first, 0}, boxes, Slopes(boxes), visit, last, counts);
}

template <class Real>
void through_world(const RayNode* nodes, const BoxRay& boxes, const ItemVisitor& visitor, RayCounts& counts) {
    const auto visit = [&](std::int32_t item, float) { return visitor.visit(visitor.context, item); };
    float last = boxes.last;
    through<Real>(nodes, {boxes.first, 0}, boxes, Slopes(boxes), visit, last, counts);
}

template <class Real, class Wide>
constexpr RayKernels ray_kernels_of() {
    return {through_triangles<Real, Wide>, through_balls<Real>, through_world<Real>};
}

}  // namespace
}  // namespace clearance
