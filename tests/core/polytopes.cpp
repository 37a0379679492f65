// Short ways for polytopes against long ones: the farthest point of a hull against a look at all of its points; boxes that
// are parallel or nearly so, near contact, and hulls in each other, against the way that any two cores go.
//
//     polytopes [cases = 300] [seed = 1]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "query/pair.hpp"

using namespace clearance;

namespace {

std::mt19937_64 engine;
double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); }
Vec3d direction() {
    std::normal_distribution<double> normal;
    const Vec3d v{normal(engine), normal(engine), normal(engine)};
    return (1.0 / norm(v)) * v;
}

long passed = 0, failed = 0, deep = 0, shallow = 0;

void expect(bool holds, const char* what, double found, double wanted) {
    ++(holds ? passed : failed);
    if (!holds) std::printf("%s: %.17g, not %.17g\n", what, found, wanted);
}

// Round, flat, on a line, repeated, or on the edges of a grid.
std::vector<Vec3d> points_of(int kind, int count) {
    std::vector<Vec3d> points;
    for (int k = 0; k < count; ++k) {
        Vec3d p = (kind == 0 ? 1.0 : uniform(0.1, 1.0)) * direction();
        if (kind == 1) p.z = 0.25;
        if (kind == 2) p = uniform(-1.0, 1.0) * Vec3d{0.3, -0.5, 0.7};
        if (kind == 3) p = points.size() > 20 ? points[points.size() - 20] : p;
        if (kind == 4) p = {std::round(3.0 * p.x), std::round(3.0 * p.y), std::round(3.0 * p.z)};
        points.push_back(p);
    }
    return points;
}

Vec3d any_direction(int k) {
    const Vec3d d = direction();
    if (k % 4 == 1) return {std::round(d.x), std::round(d.y), std::round(d.z) == 0.0 ? 1.0 : std::round(d.z)};
    if (k % 4 == 2) return {d.x, d.x, 1e-17 * d.z};                   // on the edge between two cells
    if (k % 4 == 3) return std::pow(10.0, uniform(-20.0, 20.0)) * d;  // of any length
    return d;
}

void check_support(int kind, int count) {
    const std::vector<Vec3d> points = points_of(kind, count);
    const Hull hull(points);
    for (int k = 0; k < 200; ++k) {
        const Vec3d along = any_direction(k);
        expect(SupportCells::cells_of(along) == SupportCells::cell_of(along), "one direction has one cell",
               SupportCells::cells_of(along), SupportCells::cell_of(along));
        double highest = -std::numeric_limits<double>::infinity();
        for (const Vec3d& p : points) highest = max_of(highest, dot(along, p));
        const double found = dot(along, hull.support(along));
        expect(highest - found <= 1e-14 * norm(along) * hull.ball().radius, "farthest point", found, highest);
    }
}

// Turned by a small angle about any axis, from one of the ways in which boxes can be parallel.
Mat3 nearly_parallel(double angle) {
    const Vec3d axis = direction();
    const double s = std::sin(angle), c = 1.0 - std::cos(angle);
    const Mat3 turn{
        {{1.0 - c * (1.0 - axis.x * axis.x), c * axis.x * axis.y - s * axis.z, c * axis.x * axis.z + s * axis.y},
         {c * axis.x * axis.y + s * axis.z, 1.0 - c * (1.0 - axis.y * axis.y), c * axis.y * axis.z - s * axis.x},
         {c * axis.x * axis.z - s * axis.y, c * axis.y * axis.z + s * axis.x, 1.0 - c * (1.0 - axis.z * axis.z)}}};
    const Mat3 quarter = uniform(0, 1) < 0.5 ? kNoTurn : Mat3{{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}};
    return quarter * turn;
}

void check_boxes() {
    const auto box = [] {
        const auto side = [] { return std::pow(10.0, uniform(-2.0, 0.0)); };
        return part_of(Convex{Box{{side(), side(), side()}}, 0.0}, Pose{});
    };
    const Part a = box(), b = box();
    const double size = size_of(a, b),
                 angle = uniform(0, 1) < 0.2 ? uniform(0.0, 3.0) : std::pow(10.0, uniform(-17.0, -1.0));
    const PlacedPart at_a{a, kNoTurn, {0, 0, 0}};
    PlacedPart at_b{b, nearly_parallel(angle), uniform(0.0, 1.0) * size * direction()};
    Work work;
    const Gap before = gap_between(at_a, at_b, {}, work);
    const double wanted = (uniform(0, 1) < 0.5 ? size : -size) * std::pow(10.0, uniform(-12.0, -1.0));
    at_b.origin = at_b.origin + (wanted - before.distance) * before.normal;
    const Gap found = gap_between(at_a, at_b, {}, work), general = gap_between(at_a, at_b, {.has_shortcuts = false}, work);
    const auto half = [](const Part& part) { return std::get<Box>(std::get<Convex>(part.shape).core).half; };
    const auto off = [&](const Vec3d& p, const Vec3d& h) {
        return max_of(max_of(abs_of(p.x) - h.x, abs_of(p.y) - h.y), abs_of(p.z) - h.z);
    };
    expect(found.converged && found.upper - found.lower <= 1e-9 * size, "bracket of boxes", found.lower, found.upper);
    expect(found.lower <= general.upper && general.lower <= found.upper, "distance of boxes", found.distance,
           general.distance);
    // Points are promised as closely as brackets: where nearly parallel edges cross, the normal turns a little as they part.
    const Vec3d on_b = transposed_times(at_b.rotation, found.point_b - at_b.origin);
    expect(off(found.point_a, half(a)) <= 1e-9 * size, "point of a outside of it", off(found.point_a, half(a)), 0.0);
    expect(off(on_b, half(b)) <= 1e-9 * size, "point of b outside of it", off(on_b, half(b)), 0.0);
}

// Hulls in each other, shallow or deep: round ones, any, with corners twice, and of points on a grid.
void check_hulls() {
    const auto hull = [] {
        const int kinds[] = {0, 5, 3, 4}, kind = kinds[engine() % 4];
        const double scale = std::pow(10.0, uniform(-1.0, 0.0));
        std::vector<Vec3d> points = points_of(kind, 4 + static_cast<int>(engine() % 120));
        for (Vec3d& p : points) p = scale * p;
        return part_of(Convex{std::make_shared<const Hull>(points), 0.0}, Pose{});
    };
    const Part a = hull(), b = hull();
    const double size = size_of(a, b), angle = uniform(0, 1) < 0.5 ? uniform(0.0, 3.0) : 0.0;
    const PlacedPart at_a{a, kNoTurn, {0, 0, 0}};
    PlacedPart at_b{b, nearly_parallel(angle), uniform(0.0, 1.0) * size * direction()};
    Work work;
    const Gap before = gap_between(at_a, at_b, {}, work);
    const double depth = min_of(size * std::pow(10.0, uniform(-9.0, 0.0)), max_of(1e-3 * size, -before.distance));
    at_b.origin = at_b.origin - (depth + before.distance) * before.normal;
    const Gap found = gap_between(at_a, at_b, {}, work), general = gap_between(at_a, at_b, {.has_shortcuts = false}, work);
    expect(found.converged && found.upper - found.lower <= 1e-9 * size, "bracket of hulls", found.lower, found.upper);
    expect(found.lower <= general.upper && general.lower <= found.upper, "distance of hulls", found.distance,
           general.distance);
    // Any direction proves a bound: moved along the normal by the depth, and hardly more, the hulls are apart.
    PlacedPart parted = at_b;
    parted.origin = at_b.origin + (1e-9 * size - found.distance) * found.normal;
    const Gap after = gap_between(at_a, parted, {.has_shortcuts = false}, work);
    expect(after.upper >= 0.0 && after.lower <= 2e-9 * size, "hulls parted", after.lower, after.upper);
    ++(found.distance < -1e-6 * size ? deep : shallow);
}

}  // namespace

int main(int argc, char** argv) {
    const int cases = argc > 1 ? std::atoi(argv[1]) : 300;
    engine.seed(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    for (int kind = 0; kind < 5; ++kind)
        for (const int count : {1, 7, 48, 49, 100, 300, 512, 513, 700}) check_support(kind, count);
    for (int k = 0; k < 20 * cases; ++k) check_boxes();
    for (int k = 0; k < 20 * cases; ++k) check_hulls();
    expect(deep > 5 * cases, "hulls deep in each other", static_cast<double>(deep), 5.0 * cases);
    std::printf("%ld passed, %ld failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
