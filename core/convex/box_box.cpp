#include "convex/box_box.hpp"

#include "convex/manifold.hpp"

namespace clearance {
namespace {

// Points that are less deep than the deepest by more than this, compared with the size, are not where the boxes meet.
constexpr double kFlatDepth = 1e-9;

double along(const Vec3d& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
Vec3d axis_of(int k) { return {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0}; }

Vec3d magnitude(const Vec3d& v) { return {abs_of(v.x), abs_of(v.y), abs_of(v.z)}; }

class Directions {
public:
    Directions(const Box& a, const Box& b, const CorePair& pair) : a_(a), b_(b), turn_(pair.a_from_b), t_(pair.b_origin) {
        const Mat3& r = turn_;
        const Vec3d columns[3] = {
            {r.row[0].x, r.row[1].x, r.row[2].x}, {r.row[0].y, r.row[1].y, r.row[2].y}, {r.row[0].z, r.row[1].z, r.row[2].z}};
        for (int i = 0; i < 3; ++i) {
            const double reach_of_b = dot(magnitude(r.row[i]), b.half);
            consider(axis_of(i), abs_of(along(t_, i)) - along(a.half, i) - reach_of_b);
        }
        for (int j = 0; j < 3; ++j) {
            const double reach_of_a = dot(magnitude(columns[j]), a.half);
            consider(columns[j], abs_of(dot(t_, columns[j])) - along(b.half, j) - reach_of_a);
        }
        // An edge product has to be better than a face beyond rounding.
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                const Vec3d product = cross(axis_of(i), columns[j]);
                const double length = norm(product);
                if (length < 1e-14) continue;  // parallel: no product of their own
                const Vec3d n = (1.0 / length) * product;
                const double reach_of_a = dot(magnitude(n), a.half);
                const double reach_of_b = dot(magnitude(transposed_times(r, n)), b.half);
                consider(n, abs_of(dot(t_, n)) - reach_of_a - reach_of_b - 1e-12 * pair.size);
            }
    }

    Vec3d normal{1, 0, 0};
    double separation = -std::numeric_limits<double>::infinity();

    // On a: the middle of where the facing sides of both meet.
    Vec3d point_a() const {
        const Feature side_a = feature_facing(a_, normal);
        Feature side_b = feature_facing(b_, -transposed_times(turn_, normal));
        for (int k = 0; k < side_b.count; ++k) side_b.point[k] = turn_ * side_b.point[k] + t_;
        const Manifold meet = meeting(side_a, side_b, normal, -separation - kFlatDepth * (norm(a_.half) + norm(b_.half)));
        if (meet.count == 0) return support(a_, normal);
        Vec3d sum{0, 0, 0};
        for (int k = 0; k < meet.count; ++k) sum = sum + meet.point[k].place + meet.point[k].height_a * normal;
        return (1.0 / meet.count) * sum;
    }

private:
    void consider(const Vec3d& n, double separation_along) {
        if (!(separation_along > separation)) return;
        separation = separation_along;
        normal = dot(n, t_) < 0.0 ? -n : n;
    }

    const Box &a_, &b_;
    const Mat3& turn_;
    const Vec3d& t_;
};

}  // namespace

EpaResult box_box_depth(const Box& a, const Box& b, const CorePair& pair) {
    const Directions best(a, b, pair);
    const double slack = 1e-12 * pair.size;  // what favouring faces can cost
    return {best.normal, best.separation, best.separation + slack, best.point_a(), 1};
}

}  // namespace clearance
