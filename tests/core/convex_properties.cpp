// Convex bodies of every kind against each other, in the core alone, so that sanitizers see all of it: the answer does not
// depend on the order of the bodies, points lie where the contract says, and any direction is a lower bound.
//
//     convex_properties [placements per pair = 400] [seed = 1]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "query/contacts.hpp"
#include "query/distance.hpp"

using namespace clearance;

namespace {

class Draw {
public:
    explicit Draw(unsigned long seed) : engine_(seed) {}
    double normal() { return normal_(engine_); }
    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
    Vec3d direction() {
        const Vec3d v{normal(), normal(), normal()};
        return (1.0 / norm(v)) * v;
    }
    Mat3 rotation() {
        const Vec3d x = direction(), other = direction();
        const Vec3d across = cross(x, other), y = (1.0 / norm(across)) * across;
        return {{x, y, cross(x, y)}};
    }
    std::vector<Vec3d> points(int count) {
        std::vector<Vec3d> found;
        for (int k = 0; k < count; ++k) found.push_back(uniform(0.2, 1.0) * direction());
        return found;
    }

private:
    std::mt19937_64 engine_;
    std::normal_distribution<double> normal_;
};

struct Kind {
    const char* name;
    Body body;
};

Body body_of(const Convex& convex) { return Body({part_of(convex, Pose{})}); }

std::vector<Kind> kinds(Draw& draw) {
    const auto hull = [&](int count) { return std::make_shared<const Hull>(draw.points(count)); };
    const std::vector<Vec3d> p = draw.points(3);
    const Ellipsoid ellipsoid = worn_ellipsoid({0.7, 0.4, 0.9});
    std::vector<Vec3d> flat = draw.points(6);
    for (Vec3d& v : flat) v.z = 0.0;
    std::vector<Kind> all;
    all.push_back({"ball", body_of({Element{1, {p[0], p[0], p[0]}, 0.3}, 0.3})});
    all.push_back({"capsule", body_of({Element{2, {p[0], p[1], p[1]}, 0.2}, 0.2})});
    all.push_back({"triangle", body_of({Element{3, {p[0], p[1], p[2]}, 0.0}, 0.0})});
    all.push_back({"box", body_of({Box{{0.5, 0.3, 0.8}}, 0.0})});
    all.push_back({"cylinder", body_of({Cylinder{0.4, 0.6}, 0.0})});
    all.push_back({"cone", body_of({Cone{0.5, 0.5}, 0.0})});
    all.push_back({"ellipsoid", body_of({ellipsoid, ellipsoid.taken})});
    all.push_back({"hull", body_of({hull(20), 0.1})});
    all.push_back({"large hull", body_of({hull(700), 0.0})});
    all.push_back({"flat hull", body_of({std::make_shared<const Hull>(flat), 0.0})});
    all.push_back({"point hull", body_of({std::make_shared<const Hull>(std::vector<Vec3d>(5, p[0])), 0.0})});
    all.push_back({"half-space", Body({part_of(HalfSpace{draw.direction(), 0.2}, Pose{})})});
    all.push_back({"pair of boxes", Body({part_of(Convex{Box{{0.2, 0.2, 0.2}}, 0.0}, {.translation = {0.3, 0, 0}}),
                                          part_of(Convex{Box{{0.1, 0.4, 0.2}}, 0.0}, {.translation = {-0.3, 0, 0}})})});
    return all;
}

long passed = 0, failed = 0;

void expect(bool holds, const char* what, const Kind& a, const Kind& b, const Gap& gap) {
    ++(holds ? passed : failed);
    if (holds) return;
    std::printf("%s, %s: %s; distance %.17g in [%.17g, %.17g]\n", a.name, b.name, what, gap.distance, gap.lower, gap.upper);
}

void check_pair(const Kind& a, const Kind& b, Draw& draw, int placements) {
    const auto radius = [](const Body& body) { return body.is_finite() ? body.ball().radius : 0.0; };
    const double size = radius(a.body) + radius(b.body);
    Pose at_a, at_b;
    for (int k = 0; k < placements; ++k) {
        // Every other placement is moved towards contact along the normal that was found, to a gap of any size and sign.
        if (k % 2 == 0) {
            at_a = {draw.rotation(), draw.uniform(0.0, 5.0) * draw.direction()};
            at_b = {draw.rotation(), at_a.translation + draw.uniform(0.0, 2.5) * draw.direction()};
        }
        Work work;
        const Gap gap = distance(a.body, at_a, b.body, at_b, {}, work);
        const Gap swapped = distance(b.body, at_b, a.body, at_a, {}, work);
        const Vec3d joined = gap.point_b - gap.point_a - gap.distance * gap.normal;
        expect(gap.converged, "has converged", a, b, gap);
        expect(gap.lower <= gap.distance && gap.distance <= gap.upper, "lies in its bracket", a, b, gap);
        expect(swapped.lower <= gap.upper && gap.lower <= swapped.upper, "brackets of both orders meet", a, b, gap);
        expect(std::fabs(norm(gap.normal) - 1.0) < 1e-13, "has a unit normal", a, b, gap);
        expect(norm(joined) < 1e-13 * (10.0 + size), "has points joined by the normal", a, b, gap);
        const Gap cut = distance(a.body, at_a, b.body, at_b, {.at_most = 0.0, .near_enough = 0.0}, work);
        expect((cut.distance <= 0.0) == (gap.distance <= 0.0) || std::fabs(gap.distance) < 1e-9 * size,
               "collides as it measures", a, b, gap);
        std::vector<Contact> found;
        PlacedBody placed_a(a.body), placed_b(b.body);
        placed_a.place(at_a);
        placed_b.place(at_b);
        for (const DepthMethod method : {DepthMethod::epa, DepthMethod::mpr})
            contacts(placed_a, placed_b, {.method = method}, found, work);
        expect(found.empty() == (gap.distance > 0.0) || std::fabs(gap.distance) < 1e-9 * size, "has contacts if it touches",
               a, b, gap);
        const double wanted = (draw.uniform(0, 1) < 0.5 ? 1.0 : -1.0) * std::pow(10.0, draw.uniform(-12.0, -1.0));
        at_b.translation = at_b.translation + (wanted - gap.distance) * gap.normal;
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int placements = argc > 1 ? std::atoi(argv[1]) : 400;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    const std::vector<Kind> all = kinds(draw);
    for (const Kind& a : all)
        for (const Kind& b : all)
            if (a.body.is_finite() || b.body.is_finite()) check_pair(a, b, draw, placements);
    std::printf("%ld passed, %ld failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
