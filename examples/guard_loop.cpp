// A control loop with a guard, in plain C++: an arm of two links swings towards a wall and brakes in time.
//
// Build with -DCLEARANCE_TESTS=ON; it needs nothing but the headers and the library of core/.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "guard/guard.hpp"

using namespace clearance;

namespace {

constexpr double kCycle = 0.01, kBrake = 5.0;  // seconds, radians per second squared

CellBody placed(Body body, std::int32_t frame, const Pose& stand = {}) {
    const OrientedBox box = box_around(body);
    return {std::move(body), frame, stand, box};
}

// Capsules along x, half a metre long, on two joints about z; and a wall.
Cell arm_at_wall() {
    const Joint shoulder{JointKind::revolute, 0, 1, {}, {0, 0, 1}, 0, 0};
    const Joint elbow{JointKind::revolute, 1, 2, {kNoTurn, {0.5, 0, 0}}, {0, 0, 1}, 1, 1};
    const auto tree = std::make_shared<const KinematicTree>(3, std::vector<Joint>{shoulder, elbow});
    const Element along_x{2, {{0, 0, 0}, {0.5, 0, 0}, {0.5, 0, 0}}, 0.05};
    const Body capsule({part_of(Convex{along_x, along_x.radius}, Pose{})});
    const Body wall({part_of(Convex{Box{{1.0, 0.1, 1.0}}, 0.0}, Pose{})});
    return Cell(tree, Pose{}, {placed(capsule, 1), placed(capsule, 2), placed(wall, 0, {kNoTurn, {0, 0.9, 0}})},
                {{0, 2, 0.0}, {1, 2, 0.0}});
}

GuardOptions options_for(const KinematicTree& tree) {
    const auto all = [&](double value) { return std::vector<double>(std::size_t(tree.velocities()), value); };
    GuardOptions options{{all(kCycle), all(20.0), all(kBrake), all(0.0), all(0.0)}, all(-3.0), all(3.0)};
    options.margin = 0.01, options.budget = 20'000, options.timeout = 2.5 * kCycle;
    return options;
}

}  // namespace

int main() {
    const Cell cell = arm_at_wall();
    const GuardOptions options = options_for(cell.tree());
    const std::size_t links = 2;  // which come first among the bodies
    std::vector<double> q{-1.0, 0.3}, qd{1.0, -0.2};
    JointBox typical(cell.tree());
    braking_box(cell.tree(), options.braking, options.lower.data(), options.upper.data(), q.data(), qd.data(), nullptr,
                typical);
    Guard guard(cell, {{}, 1000, typical, links}, options);

    bool brakes = false;
    double nearest = std::numeric_limits<double>::infinity();
    for (int cycle = 0; cycle < 500; ++cycle) {
        const GuardVerdict verdict = guard.update({q.data(), qd.data(), nullptr, cycle * kCycle});
        nearest = std::min(nearest, verdict.present.distance);
        if (verdict.stop && !brakes && verdict.pair >= 0) {
            const CellPair& pair = cell.pairs()[std::size_t(verdict.pair)];
            std::printf("%.2f s: brakes for bodies %d and %d, %.3f m apart now, %.3f m proved\n", cycle * kCycle, pair.a,
                        pair.b, verdict.present.distance, verdict.lower);
        }
        brakes = brakes || verdict.stop;
        for (std::size_t k = 0; k < q.size(); ++k) {
            const double slower = std::max(std::abs(qd[k]) - kBrake * kCycle, 0.0);
            if (brakes) qd[k] = std::copysign(slower, qd[k]);
            q[k] += kCycle * qd[k];
        }
    }
    std::printf("stands still, never nearer than %.3f m\n", nearest);
    return brakes && nearest > options.margin ? 0 : 1;
}
