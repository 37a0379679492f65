// Cylinders and cones against boxes, cylinders and cones: what the closed forms along an axis prove must agree with the
// general path, near contact and deep inside, for thin, long, tiny, parallel and coaxial bodies.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "convex/point_solid.hpp"
#include "drum_cases.hpp"
#include "query/distance.hpp"

using namespace clearance;

namespace {

ConvexCore drawn_core(Draw& draw, bool with_box) {
    const double scale = draw.below(6) == 0 ? draw.length(1e-6, 1.0) : 1.0;
    const bool is_odd = draw.below(4) == 0;  // a disc or a needle
    const auto length = [&] { return scale * (is_odd ? draw.length(1e-4, 1.0) : draw.uniform(0.2, 1.0)); };
    switch (draw.below(with_box ? 3 : 2)) {
        case 0:
            return Cylinder{length(), length()};
        case 1:
            return Cone{length(), length()};
        default:
            return Box{{length(), length(), length()}};
    }
}

double distance_to(const ConvexCore& core, const Vec3d& point) {
    if (const Cylinder* it = std::get_if<Cylinder>(&core)) return point_gap(*it, point, {0, 0, 1}).distance;
    if (const Cone* it = std::get_if<Cone>(&core)) return point_gap(*it, point, {0, 0, 1}).distance;
    return point_gap(std::get<Box>(core), point, {0, 0, 1}).distance;
}

struct Count {
    long passed = 0, failed = 0;
};

struct Case {
    ConvexCore a, b;
    Pose at_a, at_b;
    Gap gap;

    double axes_apart(double size) const {
        const Vec3d apart = transposed_times(at_a.rotation, at_b.translation - at_a.translation);
        const Mat3 turn = transposed_times(at_a.rotation, at_b.rotation);
        return std::hypot(apart.x, apart.y) + 2.0 * std::hypot(turn.row[0].z, turn.row[1].z) * size;
    }

    void expect(bool holds, const char* what, Count& count) const {
        ++(holds ? count.passed : count.failed);
        if (holds || count.failed > 20) return;
        std::printf("%s: kinds %zu and %zu, distance %.17g in [%.17g, %.17g]\n", what, a.index(), b.index(), gap.distance,
                    gap.lower, gap.upper);
    }
};

void check(Case& c, const Body& a, const Body& b, Count& count) {
    const double size = a.ball().radius + b.ball().radius;
    const double rounding = 8.0 * kEpsilon * (largest(c.at_a.translation) + largest(c.at_b.translation) + size);
    Work work;
    c.gap = distance(a, c.at_a, b, c.at_b, {}, work);
    const Gap& gap = c.gap;
    const Gap general = distance(a, c.at_a, b, c.at_b, {.has_shortcuts = false}, work);
    const Gap swapped = distance(b, c.at_b, a, c.at_a, {}, work);
    c.expect(gap.converged, "has converged", count);
    c.expect(gap.lower <= gap.distance && gap.distance <= gap.upper, "lies in its bracket", count);
    c.expect(gap.lower <= general.upper + rounding && general.lower <= gap.upper + rounding, "agrees with the general path",
             count);
    c.expect(gap.lower <= swapped.upper + rounding && swapped.lower <= gap.upper + rounding, "agrees with both swapped",
             count);
    c.expect(std::fabs(norm(gap.normal) - 1.0) < 1e-14, "has a unit normal", count);
    const Vec3d on_a = transposed_times(c.at_a.rotation, gap.point_a - c.at_a.translation);
    const Vec3d on_b = transposed_times(c.at_b.rotation, gap.point_b - c.at_b.translation);
    // Some deep pairs are left to the general path, whose witnesses have tests of their own.
    const bool is_general = gap.distance == general.distance && largest(gap.normal - general.normal) == 0.0;
    // Bodies on one axis are taken to be so even if their axes differ a little.
    const double allowed = 3e-11 * size + rounding + (c.axes_apart(size) <= 1e-9 * size ? c.axes_apart(size) : 0.0);
    c.expect(is_general || std::fabs(distance_to(c.a, on_a)) <= allowed, "has a witness on a", count);
    c.expect(is_general || std::fabs(distance_to(c.b, on_b)) <= allowed, "has a witness on b", count);
    const bool meets = distance(a, c.at_a, b, c.at_b, {.at_most = 0.0, .near_enough = 0.0}, work).distance <= 0.0;
    c.expect(meets == (gap.distance <= 0.0) || std::fabs(gap.distance) <= 1e-12 * size + rounding, "collides as it measures",
             count);
}

// One pair of bodies: anywhere, then at a gap of any size and sign, then deeper and deeper.
void check_pair(Draw& draw, Count& count) {
    const bool box_first = draw.below(4) == 0;
    Case c{drawn_core(draw, box_first), drawn_core(draw, !box_first), {}, {}, {}};
    if (std::holds_alternative<Box>(c.a) && std::holds_alternative<Box>(c.b)) return;
    const Body a({part_of(Convex{c.a, 0.0}, Pose{})}), b({part_of(Convex{c.b, 0.0}, Pose{})});
    const double size = a.ball().radius + b.ball().radius;
    const double away = draw.below(8) == 0 ? draw.length(1.0, 1e4) * size : 0.0;
    c.at_a = {draw.rotation(), away * draw.direction()};
    c.at_b.rotation = c.at_a.rotation * drawn_turn(draw);
    Vec3d apart = draw.direction();
    if (draw.below(4) == 0) apart = c.at_a.rotation * Vec3d{0, 0, draw.sign()};
    if (draw.below(8) == 0) apart = c.at_a.rotation * Vec3d{draw.sign(), 0, 0};
    c.at_b.translation = c.at_a.translation + (draw.uniform(0.0, 1.5) * size) * apart;
    for (int step = 0; step < 3; ++step) {
        check(c, a, b, count);
        const double wanted = (step == 1 ? -1.0 : draw.sign()) * size * draw.length(1e-14, 0.3);
        c.at_b.translation = c.at_b.translation + (wanted - c.gap.distance) * c.gap.normal;
    }
}

// Cylinders and cones in each other on one axis, or almost, either way up; the closed form takes no faces.
void check_coaxial(Draw& draw, Count& count) {
    Case c{drawn_core(draw, false), drawn_core(draw, false), {}, {}, {}};
    if (draw.below(4) == 0) c.b = c.a;
    const Body a({part_of(Convex{c.a, 0.0}, Pose{})}), b({part_of(Convex{c.b, 0.0}, Pose{})});
    const double size = a.ball().radius + b.ball().radius;
    const double off = draw.below(2) == 0 ? 0.0 : draw.length(1e-16, 1e-9);
    const Mat3 over = draw.below(2) == 0 ? kNoTurn : Mat3{{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}};
    c.at_a = {draw.rotation(), {0, 0, 0}};
    c.at_b.rotation = c.at_a.rotation * over;
    const double up = draw.below(4) == 0 ? 0.0 : draw.uniform(-0.5, 0.5) * size;
    c.at_b.translation = c.at_a.rotation * Vec3d{0, off * size, up};
    check(c, a, b, count);
    Work work;
    distance(a, c.at_a, b, c.at_b, {}, work);
    c.expect(c.gap.distance > 0.0 || work.iterations < 1000, "is found in few steps", count);
}

}  // namespace

int main(int argc, char** argv) {
    const int pairs = argc > 1 ? std::atoi(argv[1]) : 2000;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    Count count;
    for (int k = 0; k < pairs; ++k) check_pair(draw, count);
    for (int k = 0; k < pairs / 10; ++k) check_coaxial(draw, count);
    std::printf("%ld passed, %ld failed\n", count.passed, count.failed);
    return count.failed == 0 ? 0 : 1;
}
