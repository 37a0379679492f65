// A world in C++: masses of bodies, motion that keeps what physics keeps, the same bits from every broad phase, any number
// of threads and from a saved state.
//
//     worlds [effort = 1] [seed = 1]
#include <cstring>

#include "dynamics/world.hpp"
#include "robot_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

std::shared_ptr<const Body> one_part(const Convex& convex) {
    return std::make_shared<const Body>(std::vector<Part>{part_of(convex, {})});
}

std::shared_ptr<const Body> ground() {
    return std::make_shared<const Body>(std::vector<Part>{part_of(HalfSpace{{0, 0, 1}, 0.0}, {})});
}

Convex some_convex(Draw& draw) {
    const double size = draw.uniform(0.05, 0.2);
    switch (static_cast<int>(draw.uniform(0.0, 4.999))) {
        case 0:
            return {Box{{size, draw.uniform(0.05, 0.2), draw.uniform(0.05, 0.2)}}, 0.0};
        case 1:
            return {Cylinder{size, draw.uniform(0.05, 0.2)}, 0.0};
        case 2:
            return {Element{1, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, size}, size};
        case 3:
            return {Element{2, {{0, 0, -size}, {0, 0, size}, {0, 0, size}}, 0.07}, 0.07};
        default:
            return {Cone{size, draw.uniform(0.05, 0.2)}, 0.0};
    }
}

// A dozen boxes and balls in one.
std::shared_ptr<const Body> many_parts(Draw& draw) {
    std::vector<Part> parts;
    for (int k = 0; k < 12; ++k)
        parts.push_back(part_of(Convex{Box{{0.05, 0.03, 0.04}}, 0.0}, {draw.rotation(), 0.1 * draw.in_cube()}));
    return std::make_shared<const Body>(std::move(parts));
}

World pile(Draw draw, ContactLaw law, BroadPhaseKind kind, int count) {
    World world({.law = law, .broad_phase = kind});
    const Material material{0.5, 0.2, 0.001, 1e5, 1e3};
    world.add({ground(), {}, std::nullopt, Motion::fixed, material, {0, 0, 0}, {0, 0, 0}, -1});
    for (int k = 0; k < count; ++k) {
        const auto body = k % 4 == 1 ? many_parts(draw) : one_part(some_convex(draw));
        const Pose pose{draw.rotation(), {draw.uniform(-0.4, 0.4), draw.uniform(-0.4, 0.4), 0.3 + 0.25 * k}};
        world.add({body,
                   pose,
                   mass_of(*body, 1000.0),
                   Motion::dynamic,
                   material,
                   {0, 0, -1.0},
                   draw.in_cube(),
                   k % 3 == 0 ? k / 6 : -1});
    }
    world.join(BearingKind::hinge, 1, 2, world.rigid(1).centre, {1, 0, 0});
    world.join(BearingKind::ball, 3, 4, world.rigid(3).centre, {0, 0, 1});
    world.join(BearingKind::fixed, 5, 6, world.rigid(5).centre, {0, 0, 1});
    world.join(BearingKind::slide, 7, 8, world.rigid(7).centre, {0, 1, 0});
    world.bearing(0).motor = {Motor::Task::drive, 3.0, 1.0, 10.0, {}};
    world.bearing(1).motor = {Motor::Task::hold, 0.0, 1.0, 10.0, {}};
    world.bearing(3).lowest = -0.1, world.bearing(3).highest = 0.1;
    return world;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

void go(World& world, int steps, int threads) {
    for (int k = 0; k < steps; ++k) world.step(threads);
}

void check_pile(const Draw& draw, ContactLaw law) {
    constexpr int kBodies = 14, kSteps = 700;
    World reference = pile(draw, law, BroadPhaseKind::all, kBodies);
    go(reference, kSteps, 1);
    const std::vector<double> expected = reference.state();
    for (const double number : expected) tally.expect(std::isfinite(number), "all numbers are finite");
    for (std::int32_t k = 1; k < reference.size(); ++k)
        tally.expect(reference.rigid(k).centre.z > 0.0, "nothing falls through the ground", "%d at %.3g", k,
                     reference.rigid(k).centre.z);
    for (const BroadPhaseKind kind : {BroadPhaseKind::grid, BroadPhaseKind::hierarchy, BroadPhaseKind::combined}) {
        World world = pile(draw, law, kind, kBodies);
        go(world, kSteps / 2, 2);
        const std::vector<double> half = world.state();
        World again = pile(draw, law, kind, kBodies);
        again.set_anchors(world.anchors());
        again.set_state(half);
        go(world, kSteps - kSteps / 2, 3);
        go(again, kSteps - kSteps / 2, 1);
        tally.expect(same_bits(world.state(), expected), "every broad phase gives the same bits");
        tally.expect(same_bits(again.state(), expected), "a saved state gives the same bits");
        tally.expect(world.work().object_tests <= reference.work().object_tests, "no more tests than all");
    }
    reference.remove(9);
    reference.remove(1);
    go(reference, 50, 2);
    tally.expect(reference.size() == kBodies - 1 && reference.bearings() == 3, "bodies take their joints with them");
}

// A swept tetrahedron against samples: the share of a box that lies within the radius of it.
void check_mass(Draw& draw) {
    std::vector<Vec3d> points;
    for (int k = 0; k < 9; ++k) points.push_back(0.5 * draw.in_cube());
    const double radius = draw.uniform(0.0, 0.4);
    const auto body = one_part({std::make_shared<const Hull>(points), radius});
    const std::optional<Mass> mass = mass_of(*body, 1.0);
    tally.expect(mass.has_value(), "a hull has a mass");
    PlacedBody placed(*body);
    placed.place({});
    constexpr int kSamples = 20000;
    double inside = 0.0;
    Vec3d first{0, 0, 0};
    const auto probe = one_part({Element{1, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 0.0}, 0.0});
    PlacedBody dot_body(*probe);
    for (int k = 0; k < kSamples; ++k) {
        const Vec3d p = draw.in_cube();
        dot_body.place({kNoTurn, p});
        std::vector<Contact> found;
        Work work;
        if (contacts(placed, dot_body, {}, found, work).distance <= 0.0)
            inside += 8.0 / kSamples, first = first + (8.0 / kSamples) * p;
    }
    const double error = 4.0 * 8.0 / std::sqrt(static_cast<double>(kSamples));
    tally.expect(std::fabs(mass->mass - inside) < error, "the volume is that of samples", "%.6g, %.6g", mass->mass, inside);
    tally.expect(norm(mass->mass * mass->centre - first) < 2.0 * error, "so is the centre");
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    for (int k = 0; k < 2 * effort; ++k)
        for (const ContactLaw law : {ContactLaw::hard, ContactLaw::soft, ContactLaw::elastic})
            check_pile(draw, law), draw.in_cube();
    for (int k = 0; k < 3 * effort; ++k) check_mass(draw);
    return tally.finish();
}
