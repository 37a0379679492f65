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

template <int NA, int NB>
class BestDirection {
public:
    BestDirection(const Core<double, NA>& a, const Core<double, NB>& b) : a_(a), b_(b) {}

    void try_along(const Vec3d& axis) {
        if (!(norm_sq(axis) > 0.5)) return;  // two edges without a common perpendicular give none
        keep(axis);
        keep(-axis);
    }

    Vec3d normal{1, 0, 0};
    double separation = -std::numeric_limits<double>::infinity();

private:
    void keep(const Vec3d& axis) {
        const double found = separation_along(axis, a_, b_);
        if (found > separation) {
            separation = found;
            normal = axis;
        }
    }

    const Core<double, NA>& a_;
    const Core<double, NB>& b_;
};

template <int N>
Vec3d longest_edge(const Core<double, N>& core) {
    Vec3d longest{0, 0, 0};
    for (int k = 0; k < edge_count<N>(); ++k)
        if (norm_sq(edge(core, k)) > norm_sq(longest)) longest = edge(core, k);
    return longest;
}

template <int NA, int NB>
BestDirection<NA, NB> best_direction(const Core<double, NA>& a, const Core<double, NB>& b, const Vec3d& apart) {
    BestDirection<NA, NB> best(a, b);
    const auto along_face_of = [&](const auto& triangle) {
        const TriangleFrame<double> frame = frame_of(triangle);
        best.try_along(common_perpendicular(frame.base, frame.altitude));
    };
    if constexpr (NA == 3) along_face_of(a);
    if constexpr (NB == 3) along_face_of(b);
    for (int i = 0; i < edge_count<NA>(); ++i)
        for (int j = 0; j < edge_count<NB>(); ++j) best.try_along(common_perpendicular(edge(a, i), edge(b, j)));

    // Closest points that touch at a corner, or lie on one edge: along the points, cleared of noise along the edge.
    best.try_along(unit(apart));
    for (int i = 0; i < edge_count<NA>(); ++i) best.try_along(unit(without(edge(a, i), apart)));
    for (int j = 0; j < edge_count<NB>(); ++j) best.try_along(unit(without(edge(b, j), apart)));

    // Everything on one line, or at one point.
    const Vec3d along_a = longest_edge(a), along_b = longest_edge(b);
    best.try_along(any_perpendicular(norm_sq(along_a) > norm_sq(along_b) ? along_a : along_b));
    return best;
}

template <int NA, int NB>
Vec3d between(const Core<double, NA>& a, const Core<double, NB>& b, const Weights<double>& at) {
    return point_at(b, at.b1, at.b2) - point_at(a, at.a1, at.a2);
}

// Closest points, in the middle of the region of closest points where the faces are parallel.
template <int NA, int NB>
Weights<double> settled_weights(const Core<double, NA>& a, const Core<double, NB>& b, const Vec3d& normal) {
    const Weights<double> corner = closest(a, b);
    if constexpr (NA >= 2 && NB == 3) {
        Vec3d middle;
        if (faces_are_parallel(a, b) && middle_of_overlap(a, b, normal, middle)) {
            const Core<double, 1> point{{middle}};
            Weights<double> at{0, 0, 0, 0};
            const Weights<double> on_a = closest(point, a), on_b = closest(point, b);
            at = {on_a.b1, on_a.b2, on_b.b1, on_b.b2};
            const double allowed = 4.0 * kParallelAngle * extent_of(a, b);
            if (norm(between(a, b, at)) <= norm(between(a, b, corner)) + allowed) return at;
        }
    }
    return corner;
}

}  // namespace

template <int NA, int NB>
CarefulGap careful_gap(const Core<double, NA>& a, const Core<double, NB>& b) {
    const Vec3d apart = between(a, b, closest(a, b));
    const auto best = best_direction(a, b, apart);
    const double rounding = rounding_of(a, b, extent_of(a, b));

    if (best.separation > 0.0) {
        const Weights<double> at = settled_weights(a, b, best.normal);
        const double distance = norm(between(a, b, at));
        return {{point_at(a, at.a1, at.a2), best.normal, distance, min_of(distance, best.separation) - rounding,
                 distance + rounding, rounding},
                at};
    }

    // The cores meet. Pushed apart by their depth they just touch, and where they do are the witness points.
    Core<double, NB> pushed = b;
    for (Vec3d& vertex : pushed.vertex) vertex = vertex - best.separation * best.normal;
    const Weights<double> at = settled_weights(a, pushed, best.normal);
    return {{point_at(a, at.a1, at.a2), best.normal, best.separation, best.separation - rounding,
             best.separation + rounding, rounding},
            at};
}

template CarefulGap careful_gap(const Core<double, 1>&, const Core<double, 1>&);
template CarefulGap careful_gap(const Core<double, 1>&, const Core<double, 2>&);
template CarefulGap careful_gap(const Core<double, 1>&, const Core<double, 3>&);
template CarefulGap careful_gap(const Core<double, 2>&, const Core<double, 2>&);
template CarefulGap careful_gap(const Core<double, 2>&, const Core<double, 3>&);
template CarefulGap careful_gap(const Core<double, 3>&, const Core<double, 3>&);

}  // namespace clearance
