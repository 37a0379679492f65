#include "convex/box_box.hpp"

#include <cmath>

namespace clearance {
namespace {

double along(const Vec3d& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
Vec3d axis_of(int k) { return {k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0}; }

Vec3d magnitude(const Vec3d& v) { return {abs_of(v.x), abs_of(v.y), abs_of(v.z)}; }

class Directions {
public:
    Directions(const Box& a, const Box& b, const CorePair& pair) : t_(pair.b_origin) {
        const Mat3& r = pair.a_from_b;
        const Vec3d columns[3] = {{r.row[0].x, r.row[1].x, r.row[2].x},
                                  {r.row[0].y, r.row[1].y, r.row[2].y},
                                  {r.row[0].z, r.row[1].z, r.row[2].z}};
        for (int i = 0; i < 3; ++i) {
            const double reach_of_b = dot(magnitude(r.row[i]), b.half);
            consider(axis_of(i), abs_of(along(t_, i)) - along(a.half, i) - reach_of_b);
        }
        for (int j = 0; j < 3; ++j) {
            const double reach_of_a = dot(magnitude(columns[j]), a.half);
            consider(columns[j], abs_of(dot(t_, columns[j])) - along(b.half, j) - reach_of_a);
        }
        const Mat3 size{{magnitude(r.row[0]), magnitude(r.row[1]), magnitude(r.row[2])}};
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) consider_edges(i, j, columns, a, b, size, pair);
    }

    Vec3d normal{1, 0, 0};
    double separation = -std::numeric_limits<double>::infinity(), highest = separation;

private:
    // The product of an edge of each. It has to be better than a face beyond rounding; its length is needed only then.
    // Of almost parallel edges the product is short, and what rounding does to it is divided by that length: a product
    // that is worse beyond this doubt is left, any other is made a unit vector first and measured then.
    void consider_edges(int i, int j, const Vec3d (&columns)[3], const Box& a, const Box& b, const Mat3& size,
                        const CorePair& pair) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
        const double u = along(columns[j], i1), v = along(columns[j], i2), length_sq = u * u + v * v;
        if (length_sq < 1e-28) return;  // parallel: no product of their own
        const double reach_of_a = along(a.half, i1) * abs_of(v) + along(a.half, i2) * abs_of(u);
        const double reach_of_b = along(b.half, j1) * along(size.row[i], j2) + along(b.half, j2) * along(size.row[i], j1);
        const double apart =
            abs_of(along(t_, i2) * u - along(t_, i1) * v) - reach_of_a - reach_of_b + 16.0 * kEpsilon * pair.reach;
        if (apart < 0.0 && separation < 0.0 && apart * apart >= separation * separation * length_sq) return;
        const Vec3d n = (1.0 / std::sqrt(length_sq)) * cross(axis_of(i), columns[j]);
        const double reach = dot(magnitude(n), a.half) + b.half.x * abs_of(dot(n, columns[0])) +
                             b.half.y * abs_of(dot(n, columns[1])) + b.half.z * abs_of(dot(n, columns[2]));
        consider(n, abs_of(dot(n, t_)) - reach, 1e-12 * pair.size);
    }

    void consider(const Vec3d& n, double separation_along, double handicap = 0.0) {
        highest = max_of(highest, separation_along);
        if (!(separation_along - handicap > separation)) return;
        separation = separation_along;
        normal = dot(n, t_) < 0.0 ? -n : n;
    }

    Vec3d t_;
};

bool holds(const Box& box, const Vec3d& point, double slack) {
    return abs_of(point.x) <= box.half.x + slack && abs_of(point.y) <= box.half.y + slack &&
           abs_of(point.z) <= box.half.z + slack;
}

// The deepest corner of either box, if it is opposite a point of the other; two edges that cross have no such corner.
std::optional<Vec3d> witness(const Box& a, const Box& b, const CorePair& pair, const Vec3d& normal, double depth) {
    const double slack = 16.0 * kEpsilon * pair.reach;
    const Difference deepest = pair.farthest(normal);
    const Vec3d over_b = deepest.b + depth * normal;
    if (holds(a, over_b, slack)) return over_b;
    const Vec3d under_a = deepest.a - depth * normal - pair.b_origin;
    if (holds(b, transposed_times(pair.a_from_b, under_a), slack)) return deepest.a;
    return std::nullopt;
}

}  // namespace

Depth box_box_depth(const Box& a, const Box& b, const CorePair& pair) {
    const Directions best(a, b, pair);
    // Boxes that are apart may be farther apart than along any of these.
    const double upper = best.highest < 0.0 ? best.highest : std::numeric_limits<double>::infinity();
    return {best.normal, best.separation, upper, 1, witness(a, b, pair, best.normal, -best.separation)};
}

}  // namespace clearance
