#include "convex/box_box.hpp"

#include <cmath>

namespace clearance {
namespace {

// Edges that are more parallel than this have no points opposite each other that rounding would not move far along them.
constexpr double kParallel_sq = 1e-6;

// The product of two edges has to be better than the normal of a face by so much, compared with the size.
constexpr double kHandicap = 1e-12;

constexpr int kNext[3] = {1, 2, 0}, kLast[3] = {2, 0, 1};

struct Triple {
    double k[3];
};
Triple triple(const Vec3d& v) { return {{v.x, v.y, v.z}}; }
Vec3d vector(const Triple& t) { return {t.k[0], t.k[1], t.k[2]}; }
Triple product(const Triple& a, const Triple& b) {
    return {{a.k[1] * b.k[2] - a.k[2] * b.k[1], a.k[2] * b.k[0] - a.k[0] * b.k[2], a.k[0] * b.k[1] - a.k[1] * b.k[0]}};
}
double dot(const Triple& a, const Triple& b) { return a.k[0] * b.k[0] + a.k[1] * b.k[1] + a.k[2] * b.k[2]; }
double dot_of_sizes(const Triple& a, const Triple& b) {
    return abs_of(a.k[0]) * b.k[0] + abs_of(a.k[1]) * b.k[1] + abs_of(a.k[2]) * b.k[2];
}

// The fifteen directions that can separate two boxes best: normals of their faces, and products of an edge of each.
class Directions {
public:
    Directions(const Box& a, const Box& b, const CorePair& pair)
        : half_a_(triple(a.half)), half_b_(triple(b.half)), t_(triple(pair.b_origin)) {
        const Mat3& r = pair.a_from_b;
        axis_b_[0] = {{r.row[0].x, r.row[1].x, r.row[2].x}};
        axis_b_[1] = {{r.row[0].y, r.row[1].y, r.row[2].y}};
        axis_b_[2] = {{r.row[0].z, r.row[1].z, r.row[2].z}};
        for (int i = 0; i < 3; ++i)
            consider_face(i, abs_of(t_.k[i]) - half_a_.k[i] - dot_of_sizes(triple(r.row[i]), half_b_));
        for (int j = 0; j < 3; ++j)
            consider_face(3 + j, abs_of(dot(t_, axis_b_[j])) - half_b_.k[j] - dot_of_sizes(axis_b_[j], half_a_));
        highest = separation;
        consider_edges(kHandicap * pair.size);
        choose_normal();
    }

    // A point of a that is opposite one of b, if the features along the normal are a corner and a face, or two edges.
    std::optional<Vec3d> point_a(double slack) const {
        if (direction_ < 3) return corner_of_b_over(direction_, slack);
        if (direction_ < 6) return corner_of_a_under(direction_ - 3, slack);
        return crossing((direction_ - 6) % 3, (direction_ - 6) / 3, slack);
    }

    Vec3d normal;
    double separation = -std::numeric_limits<double>::infinity();
    double highest;  // of all: one of them may be higher than the one chosen by less than the handicap

private:
    void consider_face(int direction, double apart) {
        const bool better = apart > separation;
        separation = better ? apart : separation, direction_ = better ? direction : direction_;
    }

    // Axes here are short where edges are nearly parallel. All that is compared is as short, and as exact: products are
    // those of the axes as they are, not of axes that are perpendicular but for rounding.
    void consider_edges(double handicap) {
        double best = -std::numeric_limits<double>::infinity(), best_apart = 0.0, best_length_sq = 1.0;
        int best_direction = 6;
        for (int j = 0; j < 3; ++j) {
            const int j1 = kNext[j], j2 = kLast[j];
            const Triple &axis = axis_b_[j], centre = product(axis, t_);
            const Triple side1 = product(axis, axis_b_[j1]), side2 = product(axis, axis_b_[j2]);
            for (int i = 0; i < 3; ++i) {
                const double u = axis.k[kNext[i]], v = axis.k[kLast[i]], length_sq = u * u + v * v;
                const double reach_of_a = half_a_.k[kNext[i]] * abs_of(v) + half_a_.k[kLast[i]] * abs_of(u);
                const double reach_of_b = half_b_.k[j1] * abs_of(side1.k[i]) + half_b_.k[j2] * abs_of(side2.k[i]);
                const double apart = abs_of(centre.k[i]) - reach_of_a - reach_of_b;
                // The square of the separation, with its sign. Parallel edges have no product.
                const double square = apart * abs_of(apart) / max_of(length_sq, std::numeric_limits<double>::min());
                const bool better = square > best && length_sq > 0.0;
                best = better ? square : best;
                best_apart = better ? apart : best_apart, best_length_sq = better ? length_sq : best_length_sq;
                best_direction = better ? 6 + 3 * j + i : best_direction;
            }
        }
        const double found = best_apart / std::sqrt(best_length_sq);
        if (best_direction == 6 && !(best > -std::numeric_limits<double>::infinity())) return;
        highest = max_of(highest, found);
        if (found - handicap > separation) separation = found, direction_ = best_direction;
    }

    void choose_normal() {
        Triple n{{0, 0, 0}};
        if (direction_ < 3) {
            n.k[direction_] = 1.0;
        } else if (direction_ < 6) {
            n = axis_b_[direction_ - 3];
        } else {
            const int i = (direction_ - 6) % 3, j = (direction_ - 6) / 3, i1 = kNext[i], i2 = kLast[i];
            const double u = axis_b_[j].k[i1], v = axis_b_[j].k[i2], scale = 1.0 / std::sqrt(u * u + v * v);
            n.k[i1] = -scale * v, n.k[i2] = scale * u;
        }
        const double sign = dot(n, t_) < 0.0 ? -1.0 : 1.0;
        n_ = {{sign * n.k[0], sign * n.k[1], sign * n.k[2]}};
        normal = vector(n_);
    }

    // The point of b lowest along the normal, without its part along the axis `without`; and the highest of a.
    Triple lowest_of_b(int without) const {
        Triple corner = t_;
        for (int j = 0; j < 3; ++j) {
            const double way = j == without ? 0.0 : -std::copysign(half_b_.k[j], dot(n_, axis_b_[j]));
            for (int i = 0; i < 3; ++i) corner.k[i] += way * axis_b_[j].k[i];
        }
        return corner;
    }
    Triple highest_of_a(int without) const {
        Triple corner;
        for (int i = 0; i < 3; ++i) corner.k[i] = i == without ? 0.0 : std::copysign(half_a_.k[i], n_.k[i]);
        return corner;
    }

    std::optional<Vec3d> corner_of_b_over(int i, double slack) const {
        Triple on_a = lowest_of_b(-1);
        on_a.k[i] = std::copysign(half_a_.k[i], n_.k[i]);
        if (abs_of(on_a.k[kNext[i]]) > half_a_.k[kNext[i]] + slack || abs_of(on_a.k[kLast[i]]) > half_a_.k[kLast[i]] + slack)
            return std::nullopt;
        return vector(on_a);
    }
    std::optional<Vec3d> corner_of_a_under(int j, double slack) const {
        const Triple corner = highest_of_a(-1);
        const Triple from_b{{corner.k[0] - t_.k[0], corner.k[1] - t_.k[1], corner.k[2] - t_.k[2]}};
        for (const int other : {kNext[j], kLast[j]})
            if (abs_of(dot(from_b, axis_b_[other])) > half_b_.k[other] + slack) return std::nullopt;
        return vector(corner);
    }

    // Two edges: where they come nearest to each other.
    std::optional<Vec3d> crossing(int i, int j, double slack) const {
        Triple on_a = highest_of_a(i);
        const Triple on_b = lowest_of_b(j), &axis = axis_b_[j];
        const double cosine = axis.k[i], sine_sq = axis.k[kNext[i]] * axis.k[kNext[i]] + axis.k[kLast[i]] * axis.k[kLast[i]];
        if (sine_sq < kParallel_sq) return std::nullopt;
        const Triple apart{{on_b.k[0] - on_a.k[0], on_b.k[1] - on_a.k[1], on_b.k[2] - on_a.k[2]}};
        const double along_a = apart.k[i], along_b = dot(apart, axis);
        const double s = (along_a - cosine * along_b) / sine_sq, t = (cosine * along_a - along_b) / sine_sq;
        if (abs_of(s) > half_a_.k[i] + slack || abs_of(t) > half_b_.k[j] + slack) return std::nullopt;
        on_a.k[i] = s;
        return vector(on_a);
    }

    Triple half_a_, half_b_, t_, axis_b_[3], n_;
    int direction_ = 0;  // 0 to 2: faces of a, 3 to 5: of b, then 6 + 3 j + i: edge i of a and j of b
};

}  // namespace

Depth box_box_depth(const Box& a, const Box& b, const CorePair& pair) {
    const Directions best(a, b, pair);
    const std::optional<Vec3d> point_a = best.point_a(8.0 * kEpsilon * pair.reach);
    // Boxes that are apart may be farther apart than along any of these, unless points prove that they are not.
    const double upper = best.highest < 0.0 || point_a ? best.highest : std::numeric_limits<double>::infinity();
    return {best.normal, best.separation, upper, 1, point_a};
}

}  // namespace clearance
