#pragma once

#include "math/vec3.hpp"

namespace clearance {

// A point of A - B, and the point of a that it comes from.
template <class Real>
struct Corner {
    Vec3<Real> w, a;
};

template <class Real, class Mask>
CLEARANCE_INLINE Corner<Real> select(Mask mask, const Corner<Real>& one, const Corner<Real>& other) {
    return {select(mask, one.w, other.w), select(mask, one.a, other.a)};
}

// Up to three points of A - B, of whose hull the inside holds the point nearest to the origin; one simplex in each lane. As
// every new point is part of the next simplex, only those parts of the hull are looked at that contain it: a face of a
// tetrahedron if the origin lies beyond it and over it, else the best edge, else the point alone.
//
// Rounding is not cared for: where it may be in the way, that is said. Lanes in local variables are not const, as in the
// kernels of closest/.
template <class Real>
struct NearSimplex {
    using Mask = typename LaneTraits<Real>::Mask;

    // Lanes that are not simply nearer to the origin than before.
    struct Growth {
        Mask holds_origin;  // the corners before, which are `held`, and the new one do so beyond doubt
        Mask is_unclear;
    };

    Corner<Real> corner[3], held[3];
    Real corners;       // how many there are
    Vec3<Real> normal;  // from the nearest point to the origin, of any length:
    Real length;        // this one
    Real distance;
    Real weight[3];

    CLEARANCE_INLINE Growth grow(const Corner<Real>& newest) {
        Mask has_one = corners >= Real(1.0), has_two = corners >= Real(2.0), has_three = corners >= Real(3.0);
        // The first point of a walk has no edge, whatever the corners still hold: not even the sign of a zero depends on
        // that.
        Edge edges[3] = {edge(newest, select(has_one, corner[0].w, newest.w)), nothing(), nothing()};
        if (any_of(has_two)) edges[1] = edge(newest, corner[1].w);
        if (any_of(has_three)) edges[2] = edge(newest, corner[2].w);
        Growth growth{nowhere(), nowhere()};
        Choice choice{nowhere(), {}, corner[0], corner[1]};
        if (any_of(has_two)) choose_face(newest, edges, has_two, has_three, choice, growth);
        Mask holds = either(growth.holds_origin, growth.is_unclear);
        Real before = distance;
        stand(newest, edges, {has_one, has_two, has_three}, choice);
        growth.is_unclear = either(growth.is_unclear, but_not(but_not(everywhere(), holds), distance < before));
        return growth;
    }

private:
    // An edge from the newest corner to another one.
    struct Edge {
        Vec3<Real> along;
        Real length_sq;
        Real towards;  // how far along it the origin is, times its length

        // How much nearer than the newest corner it comes.
        CLEARANCE_INLINE Real gain(Mask is_there) const {
            Mask gains = both(is_there, towards > Real(0.0));
            return select(gains, towards * towards / select(gains, length_sq, Real(1.0)), Real(0.0));
        }
    };

    // The plane of the newest corner and two edges from it.
    struct Face {
        Vec3<Real> normal;
        Real height;                  // of the origin, times the length of the normal
        Real area_sq, first, second;  // weights of the ends, times area_sq

        CLEARANCE_INLINE Mask is_under_origin() const {
            return both(both(first > Real(0.0), second > Real(0.0)), first + second < area_sq);
        }
    };

    // Where the nearest point lies on a face: on which, and with which corners. Else the first of these begins an edge.
    struct Choice {
        Mask on_face;
        Face face;
        Corner<Real> start, next;
    };

    static CLEARANCE_INLINE Mask everywhere() { return Real(0.0) >= Real(0.0); }
    static CLEARANCE_INLINE Mask nowhere() { return Real(0.0) > Real(0.0); }
    static CLEARANCE_INLINE Real flipped(Mask mask, Real value) { return select(mask, -value, value); }
    static CLEARANCE_INLINE Edge nothing() { return {{Real(0.0), Real(0.0), Real(0.0)}, Real(1.0), Real(0.0)}; }
    static CLEARANCE_INLINE Edge edge(const Corner<Real>& newest, const Vec3<Real>& end) {
        Vec3<Real> along = end - newest.w;
        return {along, norm_sq(along), -dot(newest.w, along)};
    }
    static CLEARANCE_INLINE Face face(const Vec3<Real>& newest, const Edge& one, const Edge& other) {
        Vec3<Real> n = cross(one.along, other.along), aside = cross(newest, n);
        return {n, -dot(newest, n), norm_sq(n), dot(other.along, aside), -dot(one.along, aside)};
    }
    static CLEARANCE_INLINE Face select_face(Mask mask, const Face& one, const Face& other) {
        return {select(mask, one.normal, other.normal), select(mask, one.height, other.height),
                select(mask, one.area_sq, other.area_sq), select(mask, one.first, other.first),
                select(mask, one.second, other.second)};
    }

    // By how much the origin must be inside of all faces so that rounding cannot have made it so.
    static CLEARANCE_INLINE Real doubt(const Vec3<Real>& newest, const Edge (&edges)[3]) {
        Real longest = max_of(max_of(largest(edges[0].along), largest(edges[1].along)), largest(edges[2].along));
        return Real(256.0 * kEpsilon) * longest * longest * (largest(newest) + longest);
    }

    // A triangle is taken if the origin is over it; of the faces of a tetrahedron, one that the origin is beyond as well.
    CLEARANCE_INLINE void choose_face(const Corner<Real>& newest, const Edge (&edges)[3], Mask has_two, Mask has_three,
                                      Choice& choice, Growth& growth) {
        choice.face = face(newest.w, edges[0], edges[1]);
        choice.on_face = both(choice.face.is_under_origin(), has_two);
        if (!any_of(has_three)) return;
        Face second = face(newest.w, edges[1], edges[2]), third = face(newest.w, edges[2], edges[0]);
        Real volume = dot(edges[0].along, second.normal);
        Mask is_turned = volume < Real(0.0);
        Real inside = flipped(is_turned, choice.face.height), inside_second = flipped(is_turned, second.height),
             inside_third = flipped(is_turned, third.height);
        Real least_inside = min_of(min_of(inside, inside_second), inside_third);
        Real over_base = flipped(is_turned, dot(corner[0].w, choice.face.normal + second.normal + third.normal));

        choice.on_face = but_not(choice.on_face, both(has_three, inside > Real(0.0)));
        Mask on_second = both(both(second.is_under_origin(), has_three), inside_second <= Real(0.0));
        Mask on_third = both(both(third.is_under_origin(), has_three), inside_third <= Real(0.0));
        on_second = but_not(on_second, choice.on_face);
        on_third = but_not(but_not(on_third, choice.on_face), on_second);
        choice.face = select_face(on_third, third, select_face(on_second, second, choice.face));
        choice.start = select(on_third, corner[2], select(on_second, corner[1], corner[0]));
        choice.next = select(on_third, corner[0], select(on_second, corner[2], corner[1]));
        choice.on_face = either(choice.on_face, either(on_second, on_third));

        Mask holds = both(but_not(has_three, choice.on_face), least_inside > Real(0.0));
        if (!any_of(holds)) return;
        Mask is_certain = min_of(min_of(over_base, least_inside), abs_of(volume)) > doubt(newest.w, edges);
        growth = {both(holds, is_certain), but_not(holds, is_certain)};
        for (int k = 0; k < 3; ++k) held[k] = corner[k];
    }

    CLEARANCE_INLINE void stand(const Corner<Real>& newest, const Edge (&edges)[3], const Mask (&has)[3],
                                const Choice& choice) {
        Mask on_face = choice.on_face, on_edge = nowhere();
        Edge best = edges[0];
        Corner<Real> start = choice.start;
        if (any_of(but_not(has[0], on_face))) {
            Real gain = edges[0].gain(has[0]), gain_second = edges[1].gain(has[1]), gain_third = edges[2].gain(has[2]);
            Mask second_is_best = but_not(gain_second > gain, on_face);
            gain = max_of(gain_second, gain);
            Mask third_is_best = but_not(gain_third > gain, on_face);
            gain = max_of(gain_third, gain);
            on_edge = but_not(gain > Real(0.0), on_face);
            best.along = select(third_is_best, edges[2].along, select(second_is_best, edges[1].along, best.along));
            best.towards = select(third_is_best, edges[2].towards, select(second_is_best, edges[1].towards, best.towards));
            best.length_sq =
                select(third_is_best, edges[2].length_sq, select(second_is_best, edges[1].length_sq, best.length_sq));
            start = select(third_is_best, corner[2], select(second_is_best, corner[1], start));
        }
        Mask on_more = either(on_face, on_edge);
        Real inverse = Real(1.0) / select(on_face, choice.face.area_sq, select(on_edge, best.length_sq, Real(1.0)));
        // Rounding must leave no lean along an edge.
        Real t = select(on_edge, min_of(Real(1.0), best.towards * inverse), Real(0.0));
        Vec3<Real> nearest = newest.w + t * best.along;
        Real lean = select(on_edge, dot(nearest, best.along) * inverse, Real(0.0));
        Vec3<Real> aside = lean * best.along - nearest;
        Vec3<Real> upright = select(choice.face.height < Real(0.0), -choice.face.normal, choice.face.normal);
        normal = select(on_face, upright, aside);
        length = sqrt_of(select(on_face, choice.face.area_sq, norm_sq(aside)));
        distance = select(on_face, abs_of(choice.face.height) / select(on_face, length, Real(1.0)), length);
        weight[0] = select(on_face, choice.face.first * inverse, select(on_edge, t, Real(1.0)));
        weight[1] = select(on_face, choice.face.second * inverse, select(on_edge, Real(1.0) - t, Real(0.0)));
        weight[2] = select(on_face, max_of(Real(0.0), Real(1.0) - weight[0] - weight[1]), Real(0.0));
        corner[0] = select(on_more, start, newest);
        corner[1] = select(on_face, choice.next, newest);
        corner[2] = newest;
        corners = select(on_face, Real(3.0), select(on_edge, Real(2.0), Real(1.0)));
    }
};

}  // namespace clearance
