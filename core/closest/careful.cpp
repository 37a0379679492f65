#include "closest/careful.hpp"

#include "closest/overlap.hpp"
#include "closest/pairs.hpp"

namespace clearance {
namespace {

Vec3d without(const Vec3d& part, const Vec3d& from) {
    return from - (dot(part, from) * inverse_or_zero(norm_sq(part))) * part;
}

Vec3d unit(const Vec3d& v) { return inverse_or_zero(norm(v)) * v; }

// Unit vector perpendicular to u and v. Near-parallel inputs leave noise along their common direction, where it would
// tilt the plane over the whole length of the edges; it is taken out again.
Vec3d common_perpendicular(const Vec3d& u, const Vec3d& v) {
    const Vec3d n = unit(cross(unit(u), unit(v)));
    return unit(without(v, without(u, n)));
}

Vec3d any_perpendicular(const Vec3d& v) {
    const double x = abs_of(v.x), y = abs_of(v.y), z = abs_of(v.z);
    const Vec3d least = x <= y && x <= z ? Vec3d{1, 0, 0} : y <= z ? Vec3d{0, 1, 0} : Vec3d{0, 0, 1};
    return unit(without(v, least));
}

template <int N>
constexpr int edge_count() {
    return N == 1 ? 0 : N == 2 ? 1 : 3;
}

template <int N>
Vec3d edge(const Core<double, N>& core, int k) {
    return core.vertex[(k + 1) % N] - core.vertex[k];
}

template <int N>
Vec3d longest_edge(const Core<double, N>& core) {
    Vec3d longest{0, 0, 0};
    for (int k = 0; k < edge_count<N>(); ++k)
        if (norm_sq(edge(core, k)) > norm_sq(longest)) longest = edge(core, k);
    return longest;
}

template <int N>
Core<double, N> shifted(Core<double, N> core, const Vec3d& by) {
    for (Vec3d& vertex : core.vertex) vertex = vertex + by;
    return core;
}

struct Direction {
    Vec3d normal;
    double separation;
};

// All directions that can separate two cores best, each with the separation it proves.
template <int NA, int NB>
class Directions {
public:
    Directions(const Core<double, NA>& a, const Core<double, NB>& b, const Vec3d& apart) : a_(a), b_(b) {
        if constexpr (NA == 3) add_normal_of(a);
        if constexpr (NB == 3) add_normal_of(b);
        for (int i = 0; i < edge_count<NA>(); ++i)
            for (int j = 0; j < edge_count<NB>(); ++j) add(common_perpendicular(edge(a, i), edge(b, j)));

        // Closest points at a corner, or on one edge: along the points, cleared of noise along the edge.
        add(unit(apart));
        for (int i = 0; i < edge_count<NA>(); ++i) add(unit(without(edge(a, i), apart)));
        for (int j = 0; j < edge_count<NB>(); ++j) add(unit(without(edge(b, j), apart)));

        // Everything on one line, or at one point.
        const Vec3d along_a = longest_edge(a), along_b = longest_edge(b);
        add(any_perpendicular(norm_sq(along_a) > norm_sq(along_b) ? along_a : along_b));
    }

    Direction best() const {
        Direction best = direction_[0];
        for (int k = 1; k < count_; ++k)
            if (direction_[k].separation > best.separation) best = direction_[k];
        return best;
    }

    // Of the directions as good as the best, but for rounding, the one that fits the closest points best.
    Direction best_along(const Vec3d& apart, double rounding) const {
        const double enough = best().separation - rounding;
        const double distance = norm(apart);
        Direction chosen = best();
        const auto misfit = [&](const Direction& d) { return norm_sq(apart - distance * d.normal); };
        for (int k = 0; k < count_; ++k)
            if (direction_[k].separation >= enough && misfit(direction_[k]) < misfit(chosen)) chosen = direction_[k];
        return chosen;
    }

private:
    // Two faces, nine pairs of edges, the closest points with and without six edges, and one more; both senses of each.
    static constexpr int kMost = 2 * (2 + 9 + 7 + 1);

    void add(const Vec3d& axis) {
        if (!(norm_sq(axis) > 0.5)) return;  // parallel edges have no common perpendicular, a point no direction
        direction_[count_++] = {axis, separation_along(axis, a_, b_)};
        direction_[count_++] = {-axis, separation_along(-axis, a_, b_)};
    }
    void add_normal_of(const Core<double, 3>& triangle) {
        const TriangleFrame<double> frame = frame_of(triangle);
        add(common_perpendicular(frame.base, frame.altitude));
    }

    const Core<double, NA>& a_;
    const Core<double, NB>& b_;
    Direction direction_[kMost];
    int count_ = 0;
};

// Are two faces parallel, and is this their common normal?
template <int NA, int NB>
bool face_each_other(const Core<double, NA>& a, const Core<double, NB>& b, const Vec3d& normal) {
    const Vec3d face_normal = unit(cross(b.vertex[1] - b.vertex[0], b.vertex[2] - b.vertex[0]));
    return faces_are_parallel(a, b) && abs_of(dot(face_normal, normal)) > 0.5 && norm(cross(face_normal, normal)) < 1e-9;
}

template <int N>
void set_weights_on_edge(int k, double t, double& w1, double& w2) {
    if constexpr (N == 3)
        weights_on_edge(k, t, w1, w2);
    else
        w1 = t, w2 = 0.0;
}

// Closest points; in the middle of the region of closest points, where faces or edges are parallel.
template <int NA, int NB>
Weights<double> settled_weights(const Core<double, NA>& a, const Core<double, NB>& b, const Vec3d& normal) {
    const Weights<double> corner = closest(a, b);
    const double allowed = norm(between(a, b, corner)) + 4.0 * kParallelAngle * extent_of(a, b);
    const auto is_as_near = [&](const Weights<double>& at) { return norm(between(a, b, at)) <= allowed; };
    if constexpr (NA >= 2 && NB == 3) {
        Vec3d middle;
        if (face_each_other(a, b, normal) && middle_of_overlap(a, b, normal, middle)) {
            const Core<double, 1> point{{middle}};
            const Weights<double> on_a = closest(point, a), on_b = closest(point, b);
            const Weights<double> at{on_a.b1, on_a.b2, on_b.b1, on_b.b2};
            if (is_as_near(at)) return at;
        }
    }
    for (int i = 0; i < edge_count<NA>(); ++i) {
        for (int j = 0; j < edge_count<NB>(); ++j) {
            const Edge<double> u = edge_along(edge(a, i)), v = edge_along(edge(b, j));
            if (norm_sq(cross(u.along, v.along)) > kParallelAngle_sq * u.length_sq * v.length_sq) continue;
            const auto found = closest_on_edges(b.vertex[j] - a.vertex[i], u, v);
            Weights<double> at{0, 0, 0, 0};
            set_weights_on_edge<NA>(i, found.s, at.a1, at.a2);
            set_weights_on_edge<NB>(j, found.t, at.b1, at.b2);
            if (is_as_near(at)) return at;
        }
    }
    return corner;
}

// What is lost where squares of lengths underflow.
double vanished(const Vec3d& apart) { return norm_sq(apart) < 1e-290 ? 2.0 * largest(apart) : 0.0; }

}  // namespace

template <int NA, int NB>
CarefulGap careful_gap(const Core<double, NA>& a, const Core<double, NB>& b) {
    const Vec3d apart_at_first = between(a, b, closest(a, b));
    const Directions<NA, NB> directions(a, b, apart_at_first);
    const double rounding = rounding_of(a, b, extent_of(a, b), norm(apart_at_first)) + vanished(apart_at_first);
    Direction best = directions.best();

    if (best.separation > 0.0) {
        Weights<double> at = settled_weights(a, b, best.normal);
        const Vec3d apart = between(a, b, at);
        const double distance = norm(apart);
        const double lower = proved_distance(distance, best.separation) - rounding;
        best = directions.best_along(apart, rounding);
        // Several directions can be as good, and the points may belong to another: take those that face along this one.
        if (norm(apart - distance * best.normal) > rounding)
            at = settled_weights(a, shifted(b, -distance * best.normal), best.normal);
        return {{point_at(a, at.a1, at.a2), best.normal, distance, lower, distance + rounding}, at};
    }

    // The cores meet. Pushed apart by their depth they just touch, and where they do are the witness points.
    const Weights<double> at = settled_weights(a, shifted(b, -best.separation * best.normal), best.normal);
    return {
        {point_at(a, at.a1, at.a2), best.normal, best.separation, best.separation - rounding, best.separation + rounding},
        at};
}

template CarefulGap careful_gap(const Core<double, 1>&, const Core<double, 1>&);
template CarefulGap careful_gap(const Core<double, 1>&, const Core<double, 2>&);
template CarefulGap careful_gap(const Core<double, 1>&, const Core<double, 3>&);
template CarefulGap careful_gap(const Core<double, 2>&, const Core<double, 2>&);
template CarefulGap careful_gap(const Core<double, 2>&, const Core<double, 3>&);
template CarefulGap careful_gap(const Core<double, 3>&, const Core<double, 3>&);

}  // namespace clearance
