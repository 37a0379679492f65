#pragma once

// Pairs of swept points, segments and triangles, most of them nearly degenerate, for the check against the oracle.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "math/vec3.hpp"

namespace clearance::elements {

// ---- Random numbers: every case has its own seed, so that it can be drawn again alone.

class Draw {
public:
    explicit Draw(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {  // splitmix64 (Steele, Lea, Flood 2014)
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    double uniform(double low, double high) { return low + (high - low) * std::ldexp(double(bits() >> 11), -53); }
    double magnitude(double low, double high) { return std::pow(10.0, uniform(low, high)); }  // 10^low to 10^high
    bool chance(double probability) { return uniform(0, 1) < probability; }
    int below(int count) { return int(bits() % std::uint64_t(count)); }
    double sign() { return chance(0.5) ? 1.0 : -1.0; }
    Vec3d vector() { return {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}; }

private:
    std::uint64_t state_;
};

// ---- Cases.

enum Family {
    kAnywhere,
    kContact,
    kParallel,
    kFlat,
    kNeedles,
    kDegenerate,
    kCollinear,
    kPiercing,
    kContained,
    kShared,
    kLattice,
    kRatio,
    kFamilies
};
inline const char* const kFamilyNames[] = {"anywhere",  "contact",  "parallel",  "flat",   "needles", "degenerate",
                                           "collinear", "piercing", "contained", "shared", "lattice", "ratio"};

struct Element {
    Vec3d vertex[3];
    double radius;
};

struct Case {
    Element a, b;
    Family family;
};

inline void make_needle(Draw& draw, Element& e) {
    const double width = draw.magnitude(-12, -3), along = draw.chance(0.5) ? draw.uniform(0, 1) : double(draw.below(2));
    e.vertex[2] = e.vertex[0] + along * (e.vertex[1] - e.vertex[0]) + width * draw.vector();
    std::swap(e.vertex[2], e.vertex[draw.below(3)]);
}

inline void make_degenerate(Draw& draw, int count, Element& e) {
    if (count == 2 || draw.chance(0.3)) e.vertex[1] = e.vertex[0];
    if (count == 3 && draw.chance(0.5))
        e.vertex[2] = e.vertex[draw.below(2)];
    else
        e.vertex[2] = e.vertex[0] + 0.5 * (e.vertex[1] - e.vertex[0]);
    std::swap(e.vertex[2], e.vertex[draw.below(count)]);
}

inline Element drawn_element(Draw& draw, int count) {
    Element e{{draw.vector(), draw.vector(), draw.vector()}, draw.chance(0.5) ? 0.0 : draw.magnitude(-4, 0)};
    if (count == 3 && draw.chance(0.2))
        make_needle(draw, e);
    else if (count > 1 && draw.chance(0.03))
        make_degenerate(draw, count, e);
    return e;
}

// A small length, quite often none.
inline double small(Draw& draw, double high = -3) { return draw.chance(0.2) ? 0.0 : draw.magnitude(-16, high); }

// A point of the hull of the first `count` vertices; often on its boundary.
inline Vec3d point_of(Draw& draw, const Element& e, int count) {
    double weight[3] = {draw.uniform(0, 1), draw.uniform(0, 1), draw.uniform(0, 1)};
    if (draw.chance(0.3)) weight[draw.below(3)] = 0.0;
    double sum = 0.0;
    for (int k = 0; k < count; ++k) sum += weight[k];
    Vec3d point = e.vertex[0];
    for (int k = 1; k < count && sum > 0.0; ++k) point = point + (weight[k] / sum) * (e.vertex[k] - e.vertex[0]);
    return point;
}

inline void shift(Element& e, const Vec3d& by) {
    for (Vec3d& vertex : e.vertex) vertex = vertex + by;
}

inline void place_point_of_b_near_a(Draw& draw, int na, int nb, Case& c, const Vec3d& off) {
    shift(c.b, point_of(draw, c.a, na) - point_of(draw, c.b, nb) + off);
}

// Lay one feature on the plane z = 0, a point of it at the origin, the rest of the element on one side.
inline void lay_on_plane(Draw& draw, int count, double side, Element& e) {
    const int touching = 1 + draw.below(count);
    const double steepness = draw.chance(0.7) ? 1.0 : draw.magnitude(-16, 0);
    for (int k = 0; k < 3; ++k) e.vertex[k].z = k < touching ? 0.0 : side * steepness * std::fabs(e.vertex[k].z);
    shift(e, -1.0 * point_of(draw, e, touching));
    for (int k = 0; k < touching; ++k) e.vertex[k].z = 0.0;
}

inline void flatten(Draw& draw, double height, Element& e) {
    const double tilt = small(draw);
    for (Vec3d& vertex : e.vertex) vertex.z = height + tilt * vertex.z;
}

// One edge of b turned along one of a.
inline void make_parallel(Draw& draw, Case& c) {
    const int from = draw.below(2);
    const Vec3d along = c.a.vertex[1] - c.a.vertex[0];
    const double length = draw.sign() * draw.magnitude(-1, 1);
    c.b.vertex[1 - from] = c.b.vertex[from] + length * along + (length * small(draw)) * draw.vector();
}

// An edge of a goes through a point of b, the ends as deep as chance has it.
inline void pierce(Draw& draw, int na, int nb, Case& c) {
    const Vec3d through = point_of(draw, c.b, nb);
    Vec3d along = draw.vector();
    if (draw.chance(0.3)) along = c.b.vertex[1] - c.b.vertex[0] + small(draw) * along;
    c.a.vertex[0] = through + small(draw, 0) * along;
    if (na > 1) c.a.vertex[1] = through - small(draw, 0) * along;
}

inline void share_vertices(Draw& draw, int na, int nb, Case& c) {
    const int shared = 1 + draw.below(std::min(na, nb)), turn_a = draw.below(na), turn_b = draw.below(nb);
    const double off = draw.chance(0.7) ? 0.0 : small(draw, -10);
    for (int k = 0; k < shared; ++k) c.b.vertex[(turn_b + k) % nb] = c.a.vertex[(turn_a + k) % na] + off * draw.vector();
}

inline double lattice_coordinate(Draw& draw) { return draw.below(5) - 2; }

inline Case drawn_relation(Draw& draw, int na, int nb, Family family) {
    Case c{drawn_element(draw, na), drawn_element(draw, nb), family};
    switch (family) {
        case kAnywhere:
            shift(c.b, draw.uniform(0, 3) * draw.vector());
            break;
        case kContact: {
            lay_on_plane(draw, na, -1.0, c.a);
            lay_on_plane(draw, nb, 1.0, c.b);
            const double gap = small(draw), radii = draw.chance(0.5) ? 0.0 : c.a.radius + c.b.radius;
            shift(c.b, {0, 0, draw.chance(0.8) ? radii + gap : radii - gap});
            break;
        }
        case kParallel:
            make_parallel(draw, c);
            place_point_of_b_near_a(draw, na, nb, c, small(draw, 0.5) * draw.vector());
            break;
        case kFlat:
            flatten(draw, 0.0, c.a);
            flatten(draw, small(draw, 0), c.b);
            shift(c.b, draw.chance(0.6) ? Vec3d{draw.uniform(-3, 3), 0, 0} : Vec3d{0, 0, 0});
            break;
        case kNeedles:
            if (na == 3) make_needle(draw, c.a);
            if (nb == 3) make_needle(draw, c.b);
            place_point_of_b_near_a(draw, na, nb, c, small(draw, 0) * draw.vector());
            break;
        case kDegenerate:
            if (draw.chance(0.7)) make_degenerate(draw, na, c.a);
            if (draw.chance(0.7)) make_degenerate(draw, nb, c.b);
            if (draw.chance(0.7)) place_point_of_b_near_a(draw, na, nb, c, small(draw, 0) * draw.vector());
            break;
        case kCollinear: {
            const Vec3d along = draw.vector(), off = small(draw, 0) * draw.vector();
            for (Vec3d& vertex : c.a.vertex) vertex = vertex.x * along;
            for (Vec3d& vertex : c.b.vertex) vertex = off + vertex.x * along;
            break;
        }
        case kPiercing:
            pierce(draw, na, nb, c);
            break;
        case kContained: {
            flatten(draw, 0.0, c.b);
            if (draw.chance(0.6)) flatten(draw, 0.0, c.a);
            const double ratio = draw.magnitude(-6, -0.3);
            for (Vec3d& vertex : c.a.vertex) vertex = ratio * vertex;
            shift(c.a, point_of(draw, c.b, nb) + Vec3d{0, 0, draw.sign() * small(draw, 0)});
            break;
        }
        case kShared:
            share_vertices(draw, na, nb, c);
            break;
        case kLattice:
            for (Element* e : {&c.a, &c.b}) {
                for (Vec3d& vertex : e->vertex)
                    vertex = {lattice_coordinate(draw), lattice_coordinate(draw), lattice_coordinate(draw)};
                e->radius = 0.25 * draw.below(3);
            }
            break;
        case kRatio: {
            const double ratio = draw.magnitude(-6, 6);
            for (Vec3d& vertex : c.b.vertex) vertex = ratio * vertex;
            c.b.radius *= ratio;
            place_point_of_b_near_a(draw, na, nb, c, small(draw, 0) * draw.vector());
            break;
        }
        default:
            break;
    }
    return c;
}

struct Rotation {
    Vec3d row[3];
    Vec3d operator()(const Vec3d& v) const { return {dot(row[0], v), dot(row[1], v), dot(row[2], v)}; }
};

inline Rotation drawn_rotation(Draw& draw) {
    const auto unit = [](const Vec3d& v) { return (1.0 / norm(v)) * v; };
    const Vec3d x = unit(draw.vector()), z = unit(cross(x, draw.vector()));
    return {{x, cross(z, x), z}};
}

inline double largest_coordinate(const Element& e, int count) {
    double found = 0.0;
    for (int k = 0; k < count; ++k) found = std::max(found, largest(e.vertex[k]));
    return found;
}

// The whole scene turned, scaled and moved away; lattices mostly stay where their ties are exact.
inline Case drawn_case(std::uint64_t seed, int na, int nb) {
    Draw draw(seed);
    Case c = drawn_relation(draw, na, nb, Family(draw.below(kFamilies)));
    const bool exact = c.family == kLattice && draw.chance(0.8);
    if (!exact && draw.chance(0.6)) {
        const Rotation turn = drawn_rotation(draw);
        for (Element* e : {&c.a, &c.b})
            for (Vec3d& vertex : e->vertex) vertex = turn(vertex);
    }
    if (draw.chance(0.5)) {
        const double scale = exact ? std::ldexp(1.0, draw.below(41) - 20) : draw.magnitude(-6, 6);
        for (Element* e : {&c.a, &c.b}) {
            for (Vec3d& vertex : e->vertex) vertex = scale * vertex;
            e->radius *= scale;
        }
    }
    if (draw.chance(0.25)) {
        double away = draw.magnitude(0, 6) * std::max(largest_coordinate(c.a, na), largest_coordinate(c.b, nb));
        if (exact) away = std::ldexp(1.0, std::ilogb(away + 1.0));
        const Vec3d off = exact ? Vec3d{away, -away, away} : away * draw.vector();
        shift(c.a, off);
        shift(c.b, off);
    }
    return c;
}

}  // namespace clearance::elements
