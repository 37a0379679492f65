#include "convex/polytope_walk.hpp"

#include <bit>
#include <cmath>

#include "convex/typed_pair.hpp"

namespace clearance {
namespace {

constexpr int kMostSteps = 64;       // beyond this a walk goes in circles
constexpr double kTouching = 1e-10;  // of the size: nearer than this, directions are noise

// One to three points of A - B, of whose hull the inside holds the point nearest to the origin; and room for one more. As
// every new point is part of the next simplex, only those parts of the hull are looked at that contain it: a face of a
// tetrahedron if the origin lies beyond it and over it, else the best edge, else the point alone.
class NearSimplex {
public:
    enum class Growth { nearer, holds_origin, unclear };

    explicit NearSimplex(const Vec3d& towards_b) : normal(towards_b), length(norm(towards_b)) {}

    Difference& room() { return vertex_[at_[count]]; }

    // Take the point in the room into the simplex.
    Growth grow() {
        const Difference& newest = room();
        const double before = distance;
        Growth growth = Growth::nearer;
        if (count == 0)
            stand_on(newest.w);
        else if (count == 1)
            grow_from_point(newest.w);
        else if (count == 2)
            grow_from_segment(newest.w);
        else
            growth = grow_from_triangle(newest.w);
        return growth == Growth::nearer && !(distance < before) ? Growth::unclear : growth;
    }

    void leave(Simplex& simplex) const {
        const Difference* const corners[4] = {&vertex(0), &vertex(1), &vertex(2), &vertex(3)};
        if (count == 4) return simplex.hold_origin(corners);
        simplex.stand_on(corners, weight, count);
    }

    int count = 0;
    Vec3d normal;   // from the nearest point to the origin, of any length:
    double length;  // this one
    double distance = std::numeric_limits<double>::infinity();
    double weight[3] = {1.0, 0.0, 0.0};

private:
    const Difference& vertex(int k) const { return vertex_[at_[k]]; }

    void keep(int i, int j, int k, int new_count) {
        const int before[4] = {at_[0], at_[1], at_[2], at_[3]};
        at_[0] = before[i], at_[1] = before[j], at_[2] = before[k], at_[3] = before[6 - i - j - k];
        count = new_count;
    }

    void stand_on(const Vec3d& w) {
        count = 1, weight[0] = 1.0;
        normal = -w, distance = length = norm(w);
    }

    // An edge from the newest point: how much nearer than that point it comes, and where.
    struct Edge {
        Vec3d along;  // to the other end
        double length_sq;
        double towards;  // how far along it the origin is, times its length
        double gain() const { return towards > 0.0 ? towards * towards / length_sq : 0.0; }
    };
    static Edge edge(const Vec3d& newest, const Vec3d& end) {
        const Vec3d along = end - newest;
        return {along, norm_sq(along), -dot(newest, along)};
    }

    void stand_on(const Edge& edge, const Vec3d& newest) {
        const double inverse = 1.0 / edge.length_sq, t = min_of(1.0, edge.towards * inverse);
        weight[0] = t, weight[1] = 1.0 - t;
        const Vec3d nearest = newest + t * edge.along;
        normal = (dot(nearest, edge.along) * inverse) * edge.along - nearest;  // rounding leaves no lean along the edge
        distance = length = norm(normal);
    }

    // The plane of the newest point and two edges from it; whether the origin is over the triangle.
    struct Face {
        Vec3d normal;
        double height;                  // of the origin, times the length of the normal
        double area_sq, first, second;  // weights of the ends, times area_sq
        bool is_under() const { return (first > 0.0) & (second > 0.0) & (first + second < area_sq); }
    };
    static Face face(const Vec3d& newest, const Edge& one, const Edge& other, const Vec3d& n) {
        const Vec3d aside = cross(newest, n);
        return {n, -dot(newest, n), norm_sq(n), dot(other.along, aside), -dot(one.along, aside)};
    }

    void stand_on(const Face& face) {
        const double inverse = 1.0 / face.area_sq;
        weight[0] = face.first * inverse, weight[1] = face.second * inverse;
        weight[2] = max_of(0.0, 1.0 - weight[0] - weight[1]);
        normal = std::copysign(1.0, face.height) * face.normal;
        length = std::sqrt(face.area_sq);
        distance = abs_of(face.height) / length;
    }

    void grow_from_point(const Vec3d& w) {
        const Edge only = edge(w, vertex(0).w);
        if (only.towards > 0.0) return count = 2, stand_on(only, w);
        keep(1, 0, 2, 1), stand_on(w);
    }

    void grow_from_segment(const Vec3d& w) {
        const Edge one = edge(w, vertex(0).w), other = edge(w, vertex(1).w);
        const Face whole = face(w, one, other, cross(one.along, other.along));
        if (whole.is_under()) return count = 3, stand_on(whole);
        const double gain = one.gain(), gain_of_other = other.gain();
        if (gain >= gain_of_other && gain > 0.0) return keep(0, 2, 1, 2), stand_on(one, w);
        if (gain_of_other > 0.0) return keep(1, 2, 0, 2), stand_on(other, w);
        keep(2, 0, 1, 1), stand_on(w);
    }

    Growth grow_from_triangle(const Vec3d& w) {
        const Edge edges[3] = {edge(w, vertex(0).w), edge(w, vertex(1).w), edge(w, vertex(2).w)};
        const Vec3d normals[3] = {cross(edges[0].along, edges[1].along), cross(edges[1].along, edges[2].along),
                                  cross(edges[2].along, edges[0].along)};
        const double volume = dot(edges[0].along, normals[1]), sign = std::copysign(1.0, volume);
        const double inside[3] = {-sign * dot(w, normals[0]), -sign * dot(w, normals[1]), -sign * dot(w, normals[2])};
        // Which face it is cannot be foreseen: all three are computed, and one of them is picked without branches.
        const Face faces[3] = {face(w, edges[0], edges[1], normals[0]), face(w, edges[1], edges[2], normals[1]),
                               face(w, edges[2], edges[0], normals[2])};
        const auto origin_is_over = [&](int k) { return static_cast<unsigned>((inside[k] <= 0.0) & faces[k].is_under()); };
        const unsigned over = origin_is_over(0) | origin_is_over(1) << 1 | origin_is_over(2) << 2;
        constexpr int kNext[3] = {1, 2, 0};
        if (over != 0) {
            const int k = std::countr_zero(over);
            keep(k, kNext[k], 3, 3), stand_on(faces[k]);
            return Growth::nearer;
        }
        const double least_inside = min_of(min_of(inside[0], inside[1]), inside[2]);
        if (least_inside > 0.0) {
            const double over_base = sign * dot(vertex(0).w, normals[0] + normals[1] + normals[2]);
            return holds_origin(w, edges, min_of(min_of(over_base, least_inside), sign * volume));
        }
        int best = 0;
        for (int k = 1; k < 3; ++k)
            if (edges[k].gain() > edges[best].gain()) best = k;
        if (edges[best].gain() > 0.0)
            keep(best, 3, kNext[best], 2), stand_on(edges[best], w);
        else
            keep(3, 0, 1, 1), stand_on(w);
        return Growth::nearer;
    }

    // Beyond doubt, that is: the origin is inside of all four faces by more than rounding can have made of it.
    Growth holds_origin(const Vec3d& w, const Edge (&edges)[3], double least_inside) {
        const double longest = max_of(max_of(largest(edges[0].along), largest(edges[1].along)), largest(edges[2].along));
        if (!(least_inside > 256.0 * kEpsilon * longest * longest * (largest(w) + longest))) return Growth::unclear;
        count = 4, distance = 0.0;
        return Growth::holds_origin;
    }

    Difference vertex_[4];
    int at_[4] = {0, 1, 2, 3};
};

template <class A, class B>
bool walk(const TypedPair<A, B>& pair, const StopRule& stop, GjkResult& result) {
    using Growth = NearSimplex::Growth;
    NearSimplex near(result.normal);
    const double touching = kTouching * pair.pair.size;
    const auto leave = [&] {
        near.leave(result.simplex);
        result.upper = result.simplex.distance();
    };
    for (Growth growth = Growth::nearer; growth == Growth::nearer && near.distance > touching;) {
        if (++result.iterations > kMostSteps) break;
        Difference& newest = near.room();
        pair.farthest(near.normal, newest);
        const double inverse = 1.0 / near.length, separation = -dot(near.normal, newest.w) * inverse;
        const bool is_higher = separation > result.lower;
        result.lower = is_higher ? separation : result.lower;
        result.normal = select(is_higher, inverse * near.normal, result.normal);
        if (near.count > 0 && stop.holds(result.lower, near.distance)) {
            leave();
            return stop.holds(result.lower, result.upper);
        }
        growth = near.grow();
    }
    leave();
    return near.count == 4;
}

}  // namespace

bool walk_over_polytopes(const CorePair& pair, const StopRule& stop, GjkResult& result) {
    return with_polytopes(pair, [&](const auto& typed) { return walk(typed, stop, result); });
}

}  // namespace clearance
