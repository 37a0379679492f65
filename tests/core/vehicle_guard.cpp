// The guard of a vehicle takes nothing from the heap once it is made, and what it computes with holds: hulls contain their
// points, distances to hulls are right, arcs of braking stay in the pieces of their sweep.
#include "guard/vehicle_guard.hpp"

#include <cstdio>
#include <limits>
#include <random>

#include "counted_allocations.hpp"

using namespace clearance;

namespace {

int passed = 0, failed = 0;

void check(bool holds, const char* what) {
    ++(holds ? passed : failed);
    if (!holds) std::printf("FAILED %s\n", what);
}

class Draw {
public:
    explicit Draw(unsigned seed) : engine_(seed) {}
    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
    Vec2 point(double size) { return {uniform(-size, size), uniform(-size, size)}; }

private:
    std::mt19937 engine_;
};

Corners drawn_points(Draw& draw, int count) {
    Corners points;
    for (int k = 0; k < count; ++k) points.push_back(draw.point(1.0));
    // On one line, and twice: what hulls stumble over.
    if (count > 4) points[2] = 0.5 * (points[0] + points[1]), points[3] = points[0];
    return points;
}

double sampled_distance(const DiscSweptHull& hull, const Vec2& a, const Vec2& b) {
    double least = 1e300;
    for (int k = 0; k <= 200; ++k) least = std::min(least, hull.gap_to(a + 5e-3 * k * (b - a)).distance);
    return least;
}

void check_hulls() {
    Draw draw(1);
    for (int round = 0; round < 500; ++round) {
        Corners points = drawn_points(draw, 1 + round % 12), corners;
        const Corners all = points;
        hull_of(points, corners);
        DiscSweptHull hull;
        hull.set(corners, round % 3 == 0 ? 0.0 : 0.2);
        for (const Vec2& point : all) {
            check(hull.gap_to(point).distance <= 1e-12 - hull.radius(), "a hull contains its points");
            check(norm(point - hull.centre()) <= hull.size() && norm(point) <= hull.reach(), "discs contain a hull");
        }
        const Vec2 a = draw.point(2.0), b = draw.point(2.0);
        const PlanarGap gap = hull.gap_to(a);
        check(hull.lower_to(a, -1e9) <= gap.distance + 1e-12 && hull.lower_to(a, 1e9) == gap.distance,
              "a lower bound is one");
        check(norm(gap.other - gap.point - gap.distance * gap.normal) < 1e-12, "points are as far apart as told");
        check(std::fabs(norm(gap.normal) - 1.0) < 1e-12, "a normal has length one");
        for (const Vec2& corner : corners)
            check(dot(gap.normal, corner) <= dot(gap.normal, gap.point) - hull.radius() + 1e-12, "a normal separates");
        const PlanarGap wall = hull.gap_to(a, b);
        const double sampled = sampled_distance(hull, a, b);
        check(wall.distance <= sampled + 1e-12, "a segment is no farther than its points");
        check(wall.distance < -hull.radius() + 1e-9 || sampled <= wall.distance + 0.005 * norm(b - a),
              "a segment apart is as near as one of its points");
        check(norm(wall.other - wall.point - wall.distance * wall.normal) < 1e-12, "points of segments are as far apart");
    }
}

std::vector<FootprintPart> footprint() {
    return {
        {{{-0.5, -0.3}, {0.5, -0.3}, {0.5, 0.3}, {-0.5, 0.3}}, 0.0}, {{{0.6, 0.0}}, 0.2}, {{{0.0, -0.5}, {0.0, 0.5}}, 0.1}};
}

PlanarBraking drawn_braking(Draw& draw, bool is_arc) {
    const auto three = [&](double low) -> Twist {
        return {draw.uniform(low, 3.0), draw.uniform(low, 3.0), draw.uniform(low, 3.0)};
    };
    PlanarBraking braking{draw.uniform(0.0, 0.3), three(0.0), three(0.5), three(0.0), is_arc};
    if (draw.uniform(0.0, 1.0) < 0.5) {  // a jerk: arcs begin at one place and in one direction, but with any yaw rate
        braking.latency *= 0.01;
        for (double& acceleration : braking.acceleration) acceleration *= 100.0;
    }
    return braking;
}

Twist drawn_twist(Draw& draw) { return {draw.uniform(-2.0, 2.0), draw.uniform(-1.0, 1.0), draw.uniform(-3.0, 3.0)}; }

// Constant accelerations, then an arc: in closed form but for the latency, which is cut into short arcs.
void check_arcs() {
    Draw draw(2);
    for (int round = 0; round < 100; ++round) {
        const PlanarBraking braking = drawn_braking(draw, true);
        PlanarSweep sweep(footprint(), braking, 1 + static_cast<std::size_t>(round % 12));
        Twist twist = drawn_twist(draw), rate = drawn_twist(draw);
        for (std::size_t k = 0; k < 3; ++k) rate[k] = (rate[k] < 0.0 ? -1.0 : 1.0) * braking.acceleration[k];
        rate[2] *= draw.uniform(0.0, 1.0);
        sweep.set(twist, {});
        Vec2 at;
        double yaw = 0.0;
        constexpr int kSteps = 500;
        const double step = braking.latency / kSteps;
        for (int k = 0; k < kSteps; ++k) {
            for (std::size_t i = 0; i < 3; ++i) twist[i] += 0.5 * step * rate[i];
            at = at + step * (unit_at(yaw + 0.5 * step * twist[2]) * Vec2{twist[0], twist[1]});
            yaw += step * twist[2];
            for (std::size_t i = 0; i < 3; ++i) twist[i] += 0.5 * step * rate[i];
        }
        double longest = 0.0;
        for (std::size_t i = 0; i < 3; ++i) longest = std::max(longest, std::fabs(twist[i]) / braking.deceleration[i]);
        for (int k = 0; k <= 25; ++k) {
            const double length = 0.02 * k * longest, turn = length * twist[2];
            const double share = std::fabs(turn) < 1e-9 ? 1.0 : std::sin(0.5 * turn) / (0.5 * turn);
            const Vec2 there = at + length * share * (unit_at(yaw + 0.5 * turn) * Vec2{twist[0], twist[1]});
            for (const DiscSweptHull& part : sweep.footprint())
                for (const Vec2& corner : part.corners()) {
                    double outside = 1e300;
                    for (const DiscSweptHull& piece : sweep.pieces())
                        outside = std::min(outside, piece.gap_to(there + unit_at(yaw + turn) * corner).distance);
                    check(outside <= 1e-6 - part.radius(), "an arc of braking stays in its sweep");
                }
        }
    }
}

void check_heap() {
    const long at_first = allocations;
    ::operator delete(::operator new(1));
    check(allocations == at_first + 1, "the counter sees an allocation");

    Draw draw(3);
    const std::vector<Outline> obstacles{
        {{3.0, 3.0}}, {{-4.0, 1.0}, {-4.0, 5.0}}, {{2.0, -3.0}, {3.0, -3.0}, {3.0, -2.0}, {2.0, -2.0}}};
    std::vector<double> scan;
    for (int k = 0; k < 2000; ++k) scan.push_back(draw.uniform(-5.0, 5.0));
    scan[7] = std::numeric_limits<double>::quiet_NaN();
    for (const bool is_arc : {true, false})
        for (int round = 0; round < 20; ++round) {
            VehicleGuard guard(PlanarSweep(footprint(), drawn_braking(draw, is_arc), 8), obstacles,
                               {{0.01, 0.01, 0.01}, 0.1, 0.01});
            guard.set_scan(scan.data(), scan.size() / 2);
            const long before = allocations;
            bool is_told = true;
            for (int cycle = 0; cycle < 20; ++cycle) {
                guard.set_scan(scan.data(), scan.size() / 2 - static_cast<std::size_t>(cycle));
                const std::optional<Twist> command = cycle % 3 == 0 ? std::optional(drawn_twist(draw)) : std::nullopt;
                const double faster = cycle % 5 == 0 ? 30.0 : 1.0;
                Twist velocity = drawn_twist(draw);
                for (double& component : velocity) component *= faster;
                is_told = is_told && guard.look({draw.point(5.0), draw.uniform(-9.0, 9.0)}, velocity, command).index >= 0;
                if (cycle % 10 == 0) guard.clear_factor(3);
            }
            check(allocations == before, "a cycle takes nothing from the heap");
            check(is_told, "something is nearest");
        }
}

}  // namespace

int main() {
    check_hulls();
    check_arcs();
    check_heap();
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
