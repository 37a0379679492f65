// A small robot among obstacles: its pairs one by one, paths against samples, and a guard against where the robot can get.
#include "bodies.hpp"
#include "contract.hpp"
#include "guard/guard.hpp"
#include "motion/check_path.hpp"
#include "robot/checks.hpp"

using namespace clearance;
using namespace clearance::fuzz;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::shared_ptr<const KinematicTree> tree_from(Bytes& bytes, double size) {
    const std::int32_t links = 2 + bytes.below(4);
    std::vector<Joint> joints;
    std::int32_t values = 0, velocities = 0;
    for (std::int32_t child = 1; child < links; ++child) {
        Joint joint{JointKind(bytes.below(6)), bytes.byte() % child, child, bytes.pose(size), bytes.direction()};
        joint.value = values, joint.velocity = velocities;
        // Only what has one value mimics, and only what does not mimic itself.
        const Joint* leader = joints.empty() ? nullptr : &joints[bytes.byte() % joints.size()];
        const bool can_mimic = leader != nullptr && values_of(leader->kind) == 1 && leader->multiplier == 1.0;
        if (can_mimic && values_of(joint.kind) == 1 && bytes.below(4) == 0) {
            joint.value = leader->value, joint.velocity = leader->velocity;
            joint.multiplier = -2.0, joint.offset = bytes.unit();
        } else {
            values += values_of(joint.kind), velocities += velocities_of(joint.kind);
        }
        joints.push_back(joint);
    }
    return std::make_shared<const KinematicTree>(std::size_t(links), joints);
}

CellBody placed(Body body, std::int32_t frame, const Pose& stand) {
    const OrientedBox box = box_around(body);
    return {std::move(body), frame, stand, box};
}

struct Robot {
    double size;
    std::shared_ptr<const KinematicTree> tree;
    std::unique_ptr<Cell> cell;
    std::size_t links = 0;

    Robot(Bytes& bytes, double scale) : size(scale), tree(tree_from(bytes, scale)) {
        const Pose base = bytes.pose(scale);
        std::vector<CellBody> bodies;
        for (std::size_t link = 0; link < tree->links(); ++link) {
            std::vector<Part> parts;
            const Body drawn = body(bytes, 0.5 * scale, Parts::finite);
            for (const Part& part : drawn.parts()) parts.push_back(moved(part, tree->frame_from_link(link)));
            bodies.push_back(placed(Body(std::move(parts)), tree->frame_of(link), base));
        }
        links = bodies.size();
        for (int obstacles = bytes.below(4); obstacles > 0; --obstacles)
            bodies.push_back(placed(body(bytes, scale * bytes.power(-2, 1), Parts::all), 0, bytes.pose(4.0 * scale)));
        std::vector<CellPair> pairs;
        for (std::size_t a = 0; a < links; ++a)
            for (std::size_t b = a + 1; b < bodies.size(); ++b) {
                if (bodies[a].frame > 0 && bodies[a].frame == bodies[b].frame) continue;
                pairs.push_back({std::int32_t(a), std::int32_t(b), bytes.flag() ? 0.01 * scale : 0.0});
            }
        cell = std::make_unique<Cell>(tree, base, std::move(bodies), std::move(pairs));
    }

    double unit(const Frame& frame, int k) const {
        const bool slides = frame.kind == JointKind::prismatic || (frame.kind == JointKind::planar && k < 2) ||
                            (frame.kind == JointKind::floating && k < 3);
        return slides ? size : 1.0;
    }
    // Quaternions of length one or two, never zero.
    std::vector<double> configuration(Bytes& bytes) const {
        std::vector<double> q(std::size_t(tree->dof()));
        for (const Frame& frame : tree->frames()) {
            const auto first = std::size_t(frame.value);
            for (int k = 0; k < values_of(frame.kind); ++k) q[first + std::size_t(k)] = 2.0 * unit(frame, k) * bytes.unit();
            if (has_quaternion(frame.kind)) q[first + std::size_t(values_of(frame.kind) - 1)] = 1.0;
        }
        return q;
    }
    // What positions are known to, and distances of curved bodies.
    double rounding() const {
        double most = 10.0 * size;
        for (const CellBody& body : cell->bodies())
            if (body.body.is_finite()) most = max_of(most, size_of(body.body) + largest(body.body.ball().centre));
        return 1e-7 * most;
    }
};

Gap gap_of(const Cell& cell, const Posture& posture, const CellPair& pair) {
    const CellBody &a = cell.bodies()[std::size_t(pair.a)], &b = cell.bodies()[std::size_t(pair.b)];
    Work work;
    return distance(a.body, posture.pose(pair.a), b.body, posture.pose(pair.b), {}, work);
}

// The least clearance of all pairs, one by one.
struct Least {
    double lower = kInfinity, upper = kInfinity;              // of distances,
    double clear_lower = kInfinity, clear_upper = kInfinity;  // and less the margins of the pairs
};

Least least_of(const Cell& cell, const Posture& posture) {
    Least least;
    for (const CellPair& pair : cell.pairs()) {
        const Gap gap = gap_of(cell, posture, pair);
        least.lower = min_of(least.lower, gap.lower), least.upper = min_of(least.upper, gap.upper);
        least.clear_lower = min_of(least.clear_lower, gap.lower - pair.margin);
        least.clear_upper = min_of(least.clear_upper, gap.upper - pair.margin);
    }
    return least;
}

void check_posture(const Robot& robot, const std::vector<double>& q, double margin) {
    const Cell& cell = *robot.cell;
    Posture posture(cell);
    posture.take(q.data());
    Work work;
    const Least least = least_of(cell, posture);
    const double slack = robot.rounding();
    const bool clear = is_clear(cell, posture, margin, work);
    require(clear ? least.clear_upper > margin - slack : least.clear_lower <= margin + slack, "clear is as measured",
            "%d in [%.17g, %.17g]", int(clear), least.clear_lower, least.clear_upper);
    const NearestPair nearest = clearance::nearest(cell, posture, kInfinity, work);
    if (cell.pairs().empty()) return;
    require(nearest.pair >= 0, "there is a nearest pair");
    require_contract(nearest.gap, slack);
    require(nearest.gap.lower <= least.upper + slack && nearest.gap.upper >= least.lower - slack,
            "the nearest is the nearest of all pairs", "[%.17g, %.17g], not [%.17g, %.17g]", nearest.gap.lower,
            nearest.gap.upper, least.lower, least.upper);
}

void check_way(const Robot& robot, const std::vector<double>& from, const std::vector<double>& to, double margin) {
    const Cell& cell = *robot.cell;
    std::vector<double> rows = from;
    rows.insert(rows.end(), to.begin(), to.end());
    const Waypoints path(cell.tree(), rows.data(), 2);
    int asked = 0;
    const PathReport report = check_path(cell, path, {margin, kInfinity, [&asked] { return ++asked > 200; }});
    require(!(report.lower > report.upper), "the bracket of a path is one", "[%g, %g]", report.lower, report.upper);
    Posture posture(cell);
    std::vector<double> q(from.size());
    for (int k = 0; k <= 8; ++k) {
        path.at(k / 8.0, q.data());
        posture.take(q.data());
        const Least least = least_of(cell, posture);
        require(report.lower <= least.clear_upper + robot.rounding(), "a path comes no nearer than proved",
                "%.17g, not %.17g", least.clear_upper, report.lower);
        if (report.clear)
            require(least.clear_upper > margin - robot.rounding(), "a clear path is clear", "%.17g at %d", least.clear_upper,
                    k);
    }
}

// A few cycles; what is proved holds for some of the configurations that the robot can get to.
void check_guard(const Robot& robot, std::vector<double> q, Bytes& bytes) {
    const Cell& cell = *robot.cell;
    const auto velocities = std::size_t(cell.tree().velocities());
    const auto all = [](std::size_t count, double value) { return std::vector<double>(count, value); };
    GuardOptions options{
        {all(velocities, 0.01), all(velocities, 2.0), all(velocities, 5.0), all(velocities, 1e-4), all(velocities, 0.1)},
        all(q.size(), -kInfinity),
        all(q.size(), kInfinity)};
    options.margin = bytes.flag() ? 0.01 * robot.size : 0.0;
    options.budget = bytes.flag() ? 100 * bytes.byte() : 1'000'000;
    std::vector<double> qd(velocities);
    for (double& speed : qd) speed = 0.5 * bytes.unit();
    JointBox typical(cell.tree());
    braking_box(cell.tree(), options.braking, options.lower.data(), options.upper.data(), q.data(), qd.data(), nullptr,
                typical);
    Guard guard(cell, {{}, 200, typical, robot.links}, options);
    Posture posture(cell);
    for (int cycle = 0; cycle < 3; ++cycle) {
        const GuardVerdict verdict = guard.update({q.data(), qd.data(), nullptr, 0.01 * cycle});
        require(!std::isnan(verdict.lower), "verdicts are numbers");
        require(verdict.stop == (verdict.reason != GuardReason::clear && verdict.reason != GuardReason::receding),
                "verdicts have their reasons", "%d for %d", int(verdict.stop), int(verdict.reason));
        for (int sample = 0; sample < 3; ++sample) {
            std::vector<double> anywhere = q;
            for (const Frame& frame : cell.tree().frames()) {
                const int slides = has_quaternion(frame.kind) ? values_before_quaternion(frame.kind) : values_of(frame.kind);
                for (std::size_t k = std::size_t(frame.value); k < std::size_t(frame.value + slides); ++k) {
                    const double part = 0.5 + 0.5 * bytes.unit();
                    anywhere[k] = guard.box().low[k] + part * (guard.box().high[k] - guard.box().low[k]);
                }
            }
            posture.take(anywhere.data());
            for (std::size_t pair = 0; pair < cell.pairs().size(); ++pair) {
                const Gap gap = gap_of(cell, posture, cell.pairs()[pair]);
                const double bound = guard.bound(std::int32_t(pair));
                require(bound <= gap.upper + robot.rounding(), "bounds hold until the robot stands still",
                        "%.17g, not %.17g", bound, gap.upper);
                if (!verdict.stop && verdict.reason == GuardReason::clear)
                    require(gap.upper > cell.pairs()[pair].margin + options.margin - robot.rounding(),
                            "what is clear stays clear", "%.17g", gap.upper);
            }
        }
        for (const Frame& frame : cell.tree().frames())
            if (values_of(frame.kind) == 1) q[std::size_t(frame.value)] += 0.01 * qd[std::size_t(frame.velocity)];
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    const double scale = bytes.power(-3, 3);
    const Robot robot(bytes, scale);
    const double margin = bytes.flag() ? 0.1 * scale * bytes.unit() : 0.0;
    const std::vector<double> from = robot.configuration(bytes), to = robot.configuration(bytes);
    check_posture(robot, from, margin);
    check_posture(robot, to, margin);
    check_way(robot, from, to, max_of(margin, 0.0));
    check_guard(robot, from, bytes);
    return 0;
}
