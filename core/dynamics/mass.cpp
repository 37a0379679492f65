#include "dynamics/mass.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "convex/facets.hpp"

namespace clearance {
namespace {

using std::numbers::pi;

void add_outer(Moments& sum, double weight, const Vec3d& a, const Vec3d& b) {
    sum.xx += weight * a.x * b.x, sum.yy += weight * a.y * b.y, sum.zz += weight * a.z * b.z;
    sum.xy += 0.5 * weight * (a.x * b.y + a.y * b.x);
    sum.xz += 0.5 * weight * (a.x * b.z + a.z * b.x);
    sum.yz += 0.5 * weight * (a.y * b.z + a.z * b.y);
}

// Of the same solid, shifted.
Moments shifted(const Moments& m, const Vec3d& by) {
    Moments result = m;
    result.first = m.first + m.volume * by;
    add_outer(result, 2.0, m.first, by);
    add_outer(result, m.volume, by, by);
    return result;
}

void operator+=(Moments& sum, const Moments& m) {
    sum.volume += m.volume;
    sum.first = sum.first + m.first;
    sum.xx += m.xx, sum.yy += m.yy, sum.zz += m.zz, sum.xy += m.xy, sum.xz += m.xz, sum.yz += m.yz;
}

Moments turned(const Moments& m, const Mat3& by) {
    Moments result;
    result.volume = m.volume;
    result.first = by * m.first;
    const Mat3 second{{{m.xx, m.xy, m.xz}, {m.xy, m.yy, m.yz}, {m.xz, m.yz, m.zz}}};
    const Mat3 half = by * second;  // times the transpose of the rotation, below
    const auto at = [&](int i, int j) { return dot(half.row[i], by.row[j]); };
    result.xx = at(0, 0), result.yy = at(1, 1), result.zz = at(2, 2);
    result.xy = at(0, 1), result.xz = at(0, 2), result.yz = at(1, 2);
    return result;
}

// A solid that is even in all coordinates.
Moments centred(double volume, double xx, double yy, double zz) {
    Moments m;
    m.volume = volume, m.xx = volume * xx, m.yy = volume * yy, m.zz = volume * zz;
    return m;
}

Moments of(const Box& box) {
    const Vec3d& h = box.half;
    return centred(8.0 * h.x * h.y * h.z, h.x * h.x / 3.0, h.y * h.y / 3.0, h.z * h.z / 3.0);
}

Moments of(const Cylinder& c) {
    const double across = c.radius * c.radius / 4.0;
    return centred(2.0 * pi * c.radius * c.radius * c.half_length, across, across, c.half_length * c.half_length / 3.0);
}

Moments of(const Cone& cone) {
    const double height = 2.0 * cone.half_length, across = 3.0 * cone.radius * cone.radius / 20.0;
    const double volume = pi * cone.radius * cone.radius * height / 3.0;
    // About its centre of mass, which is a quarter of the height above the base.
    return shifted(centred(volume, across, across, 3.0 * height * height / 80.0), {0, 0, -0.25 * height});
}

Moments of(const Ellipsoid& e) {
    const Vec3d& r = e.radii;
    return centred(4.0 / 3.0 * pi * r.x * r.y * r.z, r.x * r.x / 5.0, r.y * r.y / 5.0, r.z * r.z / 5.0);
}

Moments ball(double radius) { return of(Ellipsoid{{radius, radius, radius}, 0.0}); }

// About the middle of a segment; `along` is of length one.
Moments capsule(const Vec3d& along, double length, double radius) {
    // Along z: a cylinder and two halves of a ball, the middle of mass of which lies 3/8 of the radius above its base.
    Moments sum = of(Cylinder{radius, 0.5 * length});
    const Moments whole = ball(radius);
    const double above = 0.5 * length;
    sum.volume += whole.volume;
    sum.xx += whole.xx, sum.yy += whole.yy;
    sum.zz += whole.zz + whole.volume * (above * above + 2.0 * above * 0.375 * radius);
    Moments result;
    result.volume = sum.volume;
    result.xx = result.yy = result.zz = sum.xx;
    add_outer(result, sum.zz - sum.xx, along, along);
    return result;
}

void add_tetrahedron(Moments& sum, const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
    const double volume = dot(b - a, cross(c - a, d - a)) / 6.0;
    const Vec3d corners = a + b + c + d;
    sum.volume += volume;
    sum.first = sum.first + (0.25 * volume) * corners;
    add_outer(sum, volume / 20.0, corners, corners);
    for (const Vec3d& corner : {a, b, c, d}) add_outer(sum, volume / 20.0, corner, corner);
}

// A sector of a cylinder about an edge of the given middle: from the direction u through an angle towards w.
Moments edge_sector(const Vec3d& along, double length, const Vec3d& u, const Vec3d& w, double angle, double radius) {
    const double sine = std::sin(angle), cosine = std::cos(angle);
    const double area = 0.5 * radius * radius * angle, third = radius * radius * radius / 3.0;
    const double fourth = radius * radius * radius * radius / 4.0;
    Moments m;
    m.volume = area * length;
    m.first = (length * third * sine) * u + (length * third * (1.0 - cosine)) * w;
    add_outer(m, area * length * length * length / 12.0, along, along);
    add_outer(m, length * fourth * 0.5 * (angle + sine * cosine), u, u);
    add_outer(m, length * fourth * 0.5 * (angle - sine * cosine), w, w);
    add_outer(m, length * fourth * sine * sine, u, w);
    return m;
}

// Integrals over directions in a triangle on the unit sphere, with its sign: of 1, of u, and of u u^T.
void add_directions(Moments& sum, const Vec3d& a, const Vec3d& b, const Vec3d& c, int depth) {
    constexpr double kSmall = 0.1;  // radians, for which the rule below is exact to nine digits
    const double longest_sq = max_of(max_of(norm_sq(b - a), norm_sq(c - b)), norm_sq(a - c));
    if (longest_sq > kSmall * kSmall && depth > 0) {
        const auto middle = [](const Vec3d& p, const Vec3d& q) { return (1.0 / norm(p + q)) * (p + q); };
        const Vec3d ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
        add_directions(sum, a, ab, ca, depth - 1), add_directions(sum, ab, b, bc, depth - 1);
        add_directions(sum, ca, bc, c, depth - 1), add_directions(sum, ab, bc, ca, depth - 1);
        return;
    }
    // Radon's rule of seven points, which is exact for polynomials of degree five.
    const double near = (6.0 - std::sqrt(15.0)) / 21.0, far = (6.0 + std::sqrt(15.0)) / 21.0;
    const double weight_near = (155.0 - std::sqrt(15.0)) / 1200.0, weight_far = (155.0 + std::sqrt(15.0)) / 1200.0;
    const double area = 0.5 * dot(a, cross(b - a, c - a));  // times the height of the plane over the centre
    const auto add = [&](double s, double t, double weight) {
        const Vec3d x = (1.0 - s - t) * a + s * b + t * c;
        const double length = norm(x), solid_angle = weight * area / (length * length * length);
        const Vec3d u = (1.0 / length) * x;
        sum.volume += solid_angle;
        sum.first = sum.first + solid_angle * u;
        add_outer(sum, solid_angle, u, u);
    };
    add(1.0 / 3.0, 1.0 / 3.0, 0.225);
    for (const auto& [s, weight] : {std::pair{near, weight_near}, std::pair{far, weight_far}})
        add(s, s, weight), add(1.0 - 2.0 * s, s, weight), add(s, 1.0 - 2.0 * s, weight);
}

// A sharp hull, prisms on its faces, sectors of cylinders along its edges, sectors of a ball at its corners.
class SweptHullMoments {
public:
    SweptHullMoments(const std::vector<Vec3d>& points, const std::vector<Facet>& facets, double radius)
        : points_(points), facets_(facets), radius_(radius) {}

    Moments sum() {
        for (const Facet& facet : facets_) {
            add_tetrahedron(sum_, {0, 0, 0}, at(facet, 0), at(facet, 1), at(facet, 2));
            if (radius_ > 0.0) add_prism(facet);
        }
        if (radius_ == 0.0) return sum_;
        towards_.assign(points_.size(), {0, 0, 0});
        for_edges([&](const Facet& facet, const Edge& edge) {
            const Vec3d middle = edge.turned(0.5, facet.normal);
            for (const int end : {edge.from, edge.to}) towards_[static_cast<std::size_t>(end)] = towards_of(end) + middle;
            if (edge.from < edge.to) add_edge(facet, edge);
        });
        for (Vec3d& towards : towards_)
            if (const double length = norm(towards); length > 0.0) towards = (1.0 / length) * towards;
        for_edges([&](const Facet& facet, const Edge& edge) { add_corner(facet, edge); });
        return sum_;
    }

private:
    // Of a facet, and what lies beyond: the directions across it turn from the normal of the facet towards `outward`.
    struct Edge {
        int from, to;
        Vec3d along, outward;
        double length, angle;
        Vec3d turned(double share, const Vec3d& normal) const {
            return std::cos(share * angle) * normal + std::sin(share * angle) * outward;
        }
    };

    const Vec3d& point(int k) const { return points_[static_cast<std::size_t>(k)]; }
    const Vec3d& at(const Facet& facet, std::size_t k) const { return point(facet.corner[k]); }
    const Vec3d& towards_of(int k) const { return towards_[static_cast<std::size_t>(k)]; }

    template <class Action>
    void for_edges(const Action& action) const {
        for (const Facet& facet : facets_)
            for (std::size_t k = 0; k < 3; ++k) {
                const int from = facet.corner[k], to = facet.corner[(k + 1) % 3];
                const double length = norm(point(to) - point(from));
                const Vec3d along = (1.0 / length) * (point(to) - point(from));
                const Vec3d outward = cross(along, facet.normal);
                const Vec3d& beyond = facets_[static_cast<std::size_t>(facet.neighbour[k])].normal;
                const double angle = std::atan2(dot(beyond, outward), dot(beyond, facet.normal));
                // Rounding may turn it to the other side: a little at flat edges, by a whole turn at those of a sheet.
                const double turned = angle < -0.5 * pi ? angle + 2.0 * pi : max_of(0.0, angle);
                action(facet, Edge{from, to, along, outward, length, turned});
            }
    }

    void add_prism(const Facet& facet) {
        const Vec3d up = radius_ * facet.normal;
        const Vec3d &a = at(facet, 0), &b = at(facet, 1), &c = at(facet, 2);
        add_tetrahedron(sum_, a, b, c, a + up);
        add_tetrahedron(sum_, b, c, a + up, b + up);
        add_tetrahedron(sum_, c, a + up, b + up, c + up);
    }

    void add_edge(const Facet& facet, const Edge& edge) {
        const Moments sector = edge_sector(edge.along, edge.length, facet.normal, edge.outward, edge.angle, radius_);
        sum_ += shifted(sector, 0.5 * (point(edge.from) + point(edge.to)));
    }

    // The share of an edge in the sector at its end: directions between those across the edge and one inside.
    void add_corner(const Facet& facet, const Edge& edge) {
        Moments directions;
        const Vec3d& inside = towards_of(edge.to);
        const Vec3d middle = edge.turned(0.5, facet.normal), last = edge.turned(1.0, facet.normal);
        add_directions(directions, inside, facet.normal, middle, kDepth);
        add_directions(directions, inside, middle, last, kDepth);
        const double r3 = radius_ * radius_ * radius_;
        Moments sector;
        sector.volume = r3 / 3.0 * directions.volume;
        sector.first = (r3 * radius_ / 4.0) * directions.first;
        const double fifth = r3 * radius_ * radius_ / 5.0;
        sector.xx = fifth * directions.xx, sector.yy = fifth * directions.yy, sector.zz = fifth * directions.zz;
        sector.xy = fifth * directions.xy, sector.xz = fifth * directions.xz, sector.yz = fifth * directions.yz;
        sum_ += shifted(sector, point(edge.to));
    }

    static constexpr int kDepth = 6;

    const std::vector<Vec3d>& points_;
    const std::vector<Facet>& facets_;
    double radius_;
    std::vector<Vec3d> towards_;  // a direction inside of the sector of each corner
    Moments sum_;
};

Moments swept(std::vector<Vec3d> points, double radius) {
    const Vec3d middle = points.front();
    for (Vec3d& p : points) p = p - middle;
    const std::vector<Facet> facets = facets_of(points);
    if (!facets.empty()) return shifted(SweptHullMoments(points, facets, radius).sum(), middle);
    const auto farthest_from = [&](const Vec3d& from) {
        return *std::max_element(points.begin(), points.end(),
                                 [&](const Vec3d& p, const Vec3d& q) { return norm_sq(p - from) < norm_sq(q - from); });
    };
    const Vec3d low = farthest_from({0, 0, 0}), high = farthest_from(low);  // the ends of a line
    const double length = norm(high - low);
    const Moments m = length > 0.0 ? capsule((1.0 / length) * (high - low), length, radius) : ball(radius);
    return shifted(m, middle + 0.5 * (low + high));
}

Moments of(const Convex& convex) {
    if (const auto* element = std::get_if<Element>(&convex.core))
        return swept({element->vertex, element->vertex + element->count}, convex.radius);
    if (const auto* hull = std::get_if<HullPointer>(&convex.core)) return swept((*hull)->points(), convex.radius);
    if (const auto* box = std::get_if<Box>(&convex.core)) return of(*box);
    if (const auto* cylinder = std::get_if<Cylinder>(&convex.core)) return of(*cylinder);
    if (const auto* cone = std::get_if<Cone>(&convex.core)) return of(*cone);
    return of(std::get<Ellipsoid>(convex.core));
}

}  // namespace

std::optional<Mass> mass_of(const Body& body, double density) {
    Moments sum;
    for (const Part& part : body.parts()) {
        const auto* convex = std::get_if<Convex>(&part.shape);
        if (convex == nullptr) return std::nullopt;
        sum += shifted(turned(of(*convex), part.pose.rotation), part.pose.translation);
    }
    const double size = body.ball().radius;
    if (!(sum.volume > 1e-12 * size * size * size)) return std::nullopt;
    const Vec3d centre = (1.0 / sum.volume) * sum.first;
    const Moments m = shifted(sum, -centre);
    const auto times = [&](double x) { return density * x; };
    return Mass{times(m.volume),
                centre,
                {{{times(m.yy + m.zz), -times(m.xy), -times(m.xz)},
                  {-times(m.xy), times(m.xx + m.zz), -times(m.yz)},
                  {-times(m.xz), -times(m.yz), times(m.xx + m.yy)}}}};
}

}  // namespace clearance
