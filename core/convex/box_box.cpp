#include "convex/box_box.hpp"

#include "closest/pairs.hpp"

namespace clearance {
namespace {

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
            consider(axis_of(i), abs_of(along(t_, i)) - along(a.half, i) - reach_of_b, i, -1);
        }
        for (int j = 0; j < 3; ++j) {
            const double reach_of_a = dot(magnitude(columns[j]), a.half);
            consider(columns[j], abs_of(dot(t_, columns[j])) - along(b.half, j) - reach_of_a, -1, j);
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
                consider(n, abs_of(dot(t_, n)) - reach_of_a - reach_of_b - 1e-12 * pair.size, i, j);
            }
    }

    Vec3d normal{1, 0, 0};
    double separation = -std::numeric_limits<double>::infinity();

    // On a: where its deepest feature lies under that of b.
    Vec3d point_a() const {
        const Vec3d corner_a = support(a_, normal);
        const Vec3d corner_b = turn_ * support(b_, -transposed_times(turn_, normal)) + t_;
        if (i_ < 0 || j_ < 0) return i_ < 0 ? corner_a : corner_b - dot(corner_b - corner_a, normal) * normal;
        const Vec3d u = axis_of(i_), v = turn_ * axis_of(j_);
        const double ua = along(a_.half, i_), vb = along(b_.half, j_);
        const Vec3d middle_a = corner_a - dot(corner_a, u) * u;
        const Vec3d middle_b = corner_b - dot(corner_b - t_, v) * v;
        const Core<double, 2> edge_a{{middle_a - ua * u, middle_a + ua * u}};
        const Vec3d shift = dot(middle_b - middle_a, normal) * normal;
        const Core<double, 2> edge_b{{middle_b - vb * v - shift, middle_b + vb * v - shift}};
        const Weights<double> at = closest(edge_a, edge_b);
        return edge_a.vertex[0] + at.a1 * (edge_a.vertex[1] - edge_a.vertex[0]);
    }

private:
    void consider(const Vec3d& n, double separation_along, int i, int j) {
        if (!(separation_along > separation)) return;
        separation = separation_along, i_ = i, j_ = j;
        normal = dot(n, t_) < 0.0 ? -n : n;
    }

    const Box &a_, &b_;
    const Mat3& turn_;
    const Vec3d& t_;
    int i_ = -1, j_ = -1;  // the edge or face of either box
};

}  // namespace

EpaResult box_box_depth(const Box& a, const Box& b, const CorePair& pair) {
    const Directions best(a, b, pair);
    const double slack = 1e-12 * pair.size;  // what favouring faces can cost
    return {best.normal, best.separation, best.separation + slack, best.point_a(), 1};
}

}  // namespace clearance
