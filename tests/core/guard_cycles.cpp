// The guard in a control loop without Python: a cycle takes nothing from the heap and keeps to its budget, repeats itself,
// and whatever it proves holds for all that the robot can still do.
//
//     guard_cycles [effort = 1] [seed = 1]
#include "counted_allocations.hpp"
#include "guard/guard.hpp"
#include "robot_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ---- A robot with two arms on a body that slides, among obstacles.

CellBody placed(Body body, std::int32_t frame, const Pose& stand = {}) {
    const OrientedBox box = box_around(body);
    return {std::move(body), frame, stand, box};
}

Body capsule(const Vec3d& to, double radius) {
    return Body({part_of(Convex{Element{2, {{0, 0, 0}, to, to}, radius}, radius}, Pose{})});
}

Pose at(double x, double y, double z) { return {kNoTurn, {x, y, z}}; }

std::vector<Joint> joints_of_two_arms() {
    std::vector<Joint> joints{{JointKind::prismatic, 0, 1, {}, {0, 0, 1}, 0, 0}};
    for (std::int32_t arm = 0; arm < 2; ++arm) {
        const double side = arm == 0 ? 0.2 : -0.2;
        const std::int32_t first = 2 + 3 * arm, value = 1 + 2 * arm;
        joints.push_back({JointKind::revolute, 1, first, at(0, side, 0.5), {0, 0, 1}, value, value});
        joints.push_back({JointKind::revolute, first, first + 1, at(0.4, 0, 0), {0, 1, 0}, value + 1, value + 1});
        Joint wrist{JointKind::revolute, first + 1, first + 2, at(0.3, 0, 0), {1, 0, 0}, value + 1, value + 1};
        wrist.multiplier = arm == 0 ? 0.5 : -2.0, wrist.offset = 0.1;
        joints.push_back(wrist);
    }
    return joints;
}

constexpr std::int32_t kLinks = 7, kBall = 9;  // links without the base, and an obstacle that moves

std::unique_ptr<Cell> two_arms() {
    const auto tree = std::make_shared<const KinematicTree>(8, joints_of_two_arms());
    std::vector<CellBody> bodies{placed(capsule({0, 0, 0.5}, 0.1), 1)};
    for (std::int32_t arm = 0; arm < 2; ++arm) {
        const std::int32_t first = 2 + 3 * arm;
        bodies.push_back(placed(capsule({0.4, 0, 0}, 0.06), first));
        bodies.push_back(placed(capsule({0.3, 0, 0}, 0.05), first + 1));
        const Body hand({part_of(Convex{Box{{0.08, 0.05, 0.02}}, 0.0}, at(0.08, 0, 0)),
                         part_of(Convex{Element{1, {}, 0.04}, 0.04}, Pose{})});
        bodies.push_back(placed(hand, first + 2));
    }
    bodies.push_back(placed(Body({part_of(Convex{Box{{0.2, 0.4, 0.3}}, 0.0}, Pose{})}), 0, at(0.9, 0.2, 0.2)));
    bodies.push_back(placed(Body({part_of(HalfSpace{{0, 0, 1}, -0.4}, Pose{})}), 0));
    bodies.push_back(placed(Body({part_of(Convex{Element{1, {}, 0.1}, 0.1}, Pose{})}), 0, at(0.3, -1.0, 0.5)));
    std::vector<CellPair> pairs;
    for (std::int32_t a = 0; a < kLinks; ++a)
        for (std::int32_t b = a + 2; b < std::int32_t(bodies.size()); ++b)
            if (!(a == 0 && b == 4)) pairs.push_back({a, b, 0.001 * (b % 3)});
    return std::make_unique<Cell>(tree, Pose{Mat3{{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}}, {0.5, -0.25, 0.125}},
                                  std::move(bodies), std::move(pairs));
}

GuardOptions options_of(const KinematicTree& tree, std::int64_t budget) {
    const auto all = [&](double value) { return std::vector<double>(std::size_t(tree.velocities()), value); };
    GuardOptions options{{all(0.01), all(5.0), all(5.0), all(1e-4), all(0.5)}, all(-3.0), all(3.0)};
    options.budget = budget, options.margin = 0.002;
    return options;
}

GuardModel::Options model_of(const Cell& cell, const GuardOptions& options, std::size_t links,
                             std::vector<std::int32_t> movers = {}) {
    const KinematicTree& tree = cell.tree();
    JointBox typical(tree);
    const std::vector<double> q(std::size_t(tree.dof()), 0.0), qd(std::size_t(tree.velocities()), 0.5);
    braking_box(tree, options.braking, options.lower.data(), options.upper.data(), q.data(), qd.data(), nullptr, typical);
    return {{}, 400, typical, links, std::move(movers)};
}

// The ball is the only one that may move.
GuardOptions options_of_two_arms(const KinematicTree& tree, std::int64_t budget) {
    GuardOptions options = options_of(tree, budget);
    options.speeds = {0.2};
    return options;
}

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

struct Watched {
    std::unique_ptr<Cell> cell;
    Guard guard;

    explicit Watched(std::int64_t budget) : Watched(two_arms(), budget) {}
    Watched(std::unique_ptr<Cell> of, std::int64_t budget)
        : cell(std::move(of)),
          guard(*cell, model_of(*cell, options_of_two_arms(cell->tree(), budget), kLinks, {kBall}),
                options_of_two_arms(cell->tree(), budget)) {}
};

// ---- Motions.

struct Moment {
    double time;
    std::vector<double> q, qd, command;
    bool commanded;
    GuardInput::Seen ball;
    bool seen;

    GuardInput input() const {
        GuardInput input{q.data(), qd.data(), commanded ? command.data() : nullptr, time};
        if (seen) input.moving = {&ball, 1};
        return input;
    }
};

// Every joint swings about some place; the ball goes round, and is not always seen.
std::vector<Moment> swings(Draw& draw, const Cell& cell, int count, double fastest) {
    const auto dof = std::size_t(cell.tree().dof());
    std::vector<double> middle(dof), amplitude(dof), rate(dof), phase(dof);
    for (std::size_t k = 0; k < dof; ++k) {
        middle[k] = draw.uniform(-1, 1), amplitude[k] = draw.uniform(0, 1.2);
        rate[k] = fastest * draw.uniform(0, 1), phase[k] = draw.uniform(0, 6);
    }
    std::vector<Moment> moments;
    for (int step = 0; step < count; ++step) {
        const double time = 0.01 * step;
        Moment moment{time, {}, {}, {}, draw.chance(0.3), {kBall, {}}, step == 0 || draw.chance(0.8)};
        for (std::size_t k = 0; k < dof; ++k) {
            const double angle = rate[k] * time + phase[k];
            moment.q.push_back(middle[k] + amplitude[k] * std::sin(angle));
            moment.qd.push_back(amplitude[k] * rate[k] * std::cos(angle));
            moment.command.push_back(-amplitude[k] * rate[k] * rate[k] * std::sin(angle));
        }
        moment.ball.pose = cell.base() * at(0.6 + 0.2 * std::sin(time), -0.8 + 0.2 * std::cos(time), 0.5);
        moments.push_back(moment);
    }
    return moments;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same(const GuardVerdict& a, const GuardVerdict& b) {
    return a.stop == b.stop && a.reason == b.reason && same(a.lower, b.lower) && a.pair == b.pair &&
           same(a.present.distance, b.present.distance) && same(a.time_to_contact, b.time_to_contact) && a.work == b.work &&
           a.iterations == b.iterations && same(a.stopping_time, b.stopping_time);
}

bool goes(GuardReason reason) { return reason == GuardReason::clear || reason == GuardReason::receding; }

// ---- What is proved.

Body body_of(const SweptHull& hull) {
    std::vector<Vec3d> points;
    for (std::size_t k = 0; k < std::size_t(hull.count); ++k) points.push_back(hull.point(k));
    return Body({part_of(Convex{std::make_shared<const Hull>(std::move(points)), hull.radius}, Pose{})});
}

// The distance of the swept volumes of a pair, over all its parts, with nothing left out.
Gap swept_distance(const Guard& guard, std::int32_t pair) {
    Gap least = farther_than_asked(kInf);
    for (const GuardPair& parts : guard.model().pairs()) {
        if (parts.pair != pair) continue;
        const Body a = body_of(guard.swept().hull(parts.volume_a));
        const GuardPart& other = guard.model().parts()[std::size_t(parts.part_b)];
        const Body b =
            parts.volume_b < 0 ? Body({part_of(other.plane, Pose{})}) : body_of(guard.swept().hull(parts.volume_b));
        Work work;
        const Gap gap = distance(a, Pose{}, b, Pose{}, {}, work);
        if (!(gap.distance >= least.distance)) least = gap;
    }
    return least;
}

// Some configuration that the guard expects.
std::vector<double> drawn_from(Draw& draw, const JointBox& box) {
    std::vector<double> q(box.low.size());
    for (std::size_t k = 0; k < q.size(); ++k)
        q[k] = draw.chance(0.3)   ? box.low[k]
               : draw.chance(0.4) ? box.high[k]
                                  : box.low[k] + draw.uniform(0, 1) * (box.high[k] - box.low[k]);
    return q;
}

// The true gap of a pair where the ball stands at a pose.
Gap true_gap(const Cell& cell, const Posture& posture, std::int32_t pair, const Pose& ball) {
    const CellPair& of = cell.pairs()[std::size_t(pair)];
    const auto pose = [&](std::int32_t body) { return body == kBall ? ball : posture.pose(body); };
    const auto body = [&](std::int32_t number) -> const Body& { return cell.bodies()[std::size_t(number)].body; };
    Work work;
    return distance(body(of.a), pose(of.a), body(of.b), pose(of.b), {}, work);
}

struct Count {
    long go = 0, stop = 0, receding = 0;
};

// All that a verdict says, against sampled configurations.
void check_verdict(Draw& draw, const Guard& guard, const Moment& moment, const GuardVerdict& verdict, const Pose& ball,
                   double since_seen) {
    const Cell& cell = guard.cell();
    Posture now(cell), then(cell);
    now.take(moment.q.data());
    for (int sample = 0; sample < 4; ++sample) {
        then.take(drawn_from(draw, guard.box()).data());
        Pose moved = ball;
        const double way = 0.2 * (verdict.stopping_time + since_seen);
        moved.translation = moved.translation + (sample == 0 ? 0.0 : way * draw.uniform(0, 1)) * draw.direction();
        for (std::size_t k = 0; k < cell.pairs().size(); ++k) {
            const auto pair = std::int32_t(k);
            const Gap gap = true_gap(cell, then, pair, moved);
            tally.expect(gap.upper >= guard.bound(pair) - 1e-12, "what is proved holds", "%.9g of pair %zu, bound %.9g",
                         gap.upper, k, guard.bound(pair));
            if (verdict.stop) continue;
            const double margin = cell.pairs()[k].margin + 0.002;
            const bool is_kept = gap.upper > margin || (verdict.reason == GuardReason::receding &&
                                                        gap.upper >= true_gap(cell, now, pair, ball).lower - 1e-9);
            tally.expect(is_kept, "nothing comes too near after it says go", "%.9g of pair %zu", gap.upper, k);
        }
    }
}

void check_motion(Draw& draw, double fastest, Count& count) {
    tally.context = "motion";
    Watched full(kNoLimit), limited(draw.chance(0.5) ? 20'000 : std::int64_t(draw.power(2, 5)));
    const std::vector<Moment> moments = swings(draw, *full.cell, 40, fastest);
    Pose ball;
    double seen = 0.0;
    for (const Moment& moment : moments) {
        if (moment.seen) ball = moment.ball.pose, seen = moment.time;
        const GuardVerdict all = full.guard.update(moment.input()), some = limited.guard.update(moment.input());
        tally.expect(all.reason != GuardReason::budget, "without a limit there is no lack of it");
        tally.expect(!some.stop ? !all.stop : true, "more work never proves less");
        tally.expect(all.stop == !goes(all.reason) && some.stop == !goes(some.reason), "it stops for a reason");
        check_verdict(draw, full.guard, moment, all, ball, moment.time - seen);
        check_verdict(draw, limited.guard, moment, some, ball, moment.time - seen);
        ++(all.stop ? count.stop : count.go), count.receding += all.reason == GuardReason::receding;
        for (std::size_t k = 0; k < full.cell->pairs().size(); ++k) {
            const auto pair = std::int32_t(k);
            const Gap swept = swept_distance(full.guard, pair);
            const double bound = full.guard.bound(pair);
            tally.expect(bound <= swept.upper + 1e-12, "no bound is above the distance of the volumes", "%.12g, not %.12g",
                         bound, swept.upper);
            tally.expect(limited.guard.bound(pair) <= swept.upper + 1e-12, "with a budget neither", "%.12g, not %.12g",
                         limited.guard.bound(pair), swept.upper);
            // How deep volumes overlap is not looked for: that they do is enough.
            if (swept.lower > 1e-7)
                tally.expect(bound >= swept.lower - 1e-7, "without a limit bounds have converged", "%.12g, not %.12g", bound,
                             swept.lower);
        }
    }
}

void check_budgets(Draw& draw) {
    tally.context = "budget";
    for (const std::int64_t budget : {0, 1, 47, 48, 49, 300, 345, 346, 347, 1000, 4000, 5000, 55'000, 1'000'000}) {
        Watched watched(budget);
        for (const Moment& moment : swings(draw, *watched.cell, 30, 2.0)) {
            const GuardVerdict verdict = watched.guard.update(moment.input());
            tally.expect(verdict.work >= 0 && verdict.work <= budget, "no more work than allowed", "%ld of %ld",
                         long(verdict.work), long(budget));
            if (budget == 0)
                tally.expect(verdict.stop && verdict.reason == GuardReason::budget && verdict.iterations == 0,
                             "nothing is proved by no work");
        }
    }
    // What one cycle does not manage, several do while the robot stands.
    Watched full(kNoLimit), limited(5'000);
    std::vector<double> q{0.0, 1.0, 0.0, -1.0, 0.0}, still(5, 0.0);
    const GuardInput::Seen ball{kBall, full.cell->base() * at(0, -3, 0)};
    const GuardInput input{q.data(), still.data(), nullptr, 0.0, {&ball, 1}};
    tally.expect(full.guard.update(input).reason == GuardReason::clear, "the sample is clear");
    int cycles = 0;
    while (cycles < 1000 && limited.guard.update(input).stop) ++cycles;
    tally.expect(cycles > 0 && cycles < 1000, "a small budget proves all pairs in turn", "%d cycles", cycles);
}

void check_repetition(Draw& draw) {
    tally.context = "repetition";
    Watched one(20'000), other(20'000);
    const std::vector<Moment> moments = swings(draw, *one.cell, 40, 2.0);
    std::vector<GuardVerdict> first;
    for (const Moment& moment : moments) {
        first.push_back(one.guard.update(moment.input()));
        tally.expect(same(first.back(), other.guard.update(moment.input())), "two guards say the same");
    }
    one.guard.reset();
    tally.expect(one.guard.bound(0) == -kInf, "nothing is left after a reset");
    for (std::size_t k = 0; k < moments.size(); ++k)
        tally.expect(same(first[k], one.guard.update(moments[k].input())), "a guard says the same again after a reset",
                     "cycle %zu", k);
}

// ---- No heap.

void check_heap(Draw& draw) {
    tally.context = "heap";
    for (const std::int64_t budget : {std::int64_t(0), std::int64_t(3000), kNoLimit}) {
        Watched watched(budget);
        std::vector<Moment> moments = swings(draw, *watched.cell, 60, 4.0);
        for (std::size_t k = 0; k < moments.size(); ++k) {
            Moment& moment = moments[k];
            if (k % 7 == 3) moment.q[k % 5] = kNan;
            if (k % 7 == 4) moment.qd[k % 5] = kInf;
            if (k % 11 == 5) moment.time = k % 2 == 0 ? kNan : -1.0;
            if (k % 5 == 1) moment.q = {-1.0, 0.1, 0.1, -0.1, 0.1};  // arms in the table and each other
            if (k % 5 == 2) std::fill(moment.qd.begin(), moment.qd.end(), 0.0);
        }
        const long before = allocations;
        for (const Moment& moment : moments) watched.guard.update(moment.input());
        watched.guard.reset();
        watched.guard.update(moments[0].input());
        watched.guard.update({nullptr, nullptr});
        const long after = allocations;
        tally.expect(after == before, "a cycle takes nothing from the heap", "%ld times", after - before);
    }
}

// ---- Reasons.

// A ball of radius 0.1 on a rail along x before a wall at 1, with one joint that is known by its command.
struct Rail {
    std::unique_ptr<Cell> cell;
    Guard guard;

    explicit Rail(double timeout = kInf, std::int64_t budget = kNoLimit)
        : cell(make_cell()), guard(*cell, model_of(*cell, options(timeout, budget), 1), options(timeout, budget)) {}

    GuardVerdict update(double q, double qd, std::optional<double> time = std::nullopt) {
        const double command = 0.0;
        return guard.update({&q, &qd, &command, time});
    }

    static std::unique_ptr<Cell> make_cell() {
        const Joint rail{JointKind::prismatic, 0, 1, {}, {1, 0, 0}};
        return std::make_unique<Cell>(
            std::make_shared<const KinematicTree>(2, std::vector<Joint>{rail}), Pose{},
            std::vector<CellBody>{placed(Body({part_of(Convex{Element{1, {}, 0.1}, 0.1}, Pose{})}), 1),
                                  placed(Body({part_of(Convex{Box{{0.5, 1, 1}}, 0.0}, Pose{})}), 0, at(1.5, 0, 0))},
            std::vector<CellPair>{{0, 1, 0.0}});
    }
    static GuardOptions options(double timeout, std::int64_t budget) {
        GuardOptions options{{{0.1}, {1.0}, {2.0}, {0.0}, {0.0}}, {-10.0}, {10.0}};
        options.margin = 0.05, options.timeout = timeout, options.budget = budget;
        return options;
    }
};

void expect_reason(const GuardVerdict& verdict, GuardReason reason, const char* what) {
    tally.expect(verdict.reason == reason && verdict.stop == !goes(reason), what, "reason %d, stop %d", int(verdict.reason),
                 int(verdict.stop));
}

void check_reasons() {
    tally.context = "reasons";
    Rail rail;
    expect_reason(rail.update(0.0, 0.0), GuardReason::clear, "far from the wall all is well");
    // With 1 m/s it goes on for 0.1 m, brakes for 0.25 m, and keeps 0.05 m: the last place to go on from is 0.5.
    expect_reason(rail.update(0.4999, 1.0), GuardReason::clear, "it goes on as long as it can");
    expect_reason(rail.update(0.5001, 1.0), GuardReason::pair, "and no longer");
    tally.expect(std::fabs(rail.update(0.5001, 1.0).lower - 0.0499) < 1e-6, "with what is left then");
    tally.expect(std::fabs(rail.update(0.5001, 1.0).time_to_contact - 0.3999) < 1e-6, "and the time until it touches");
    tally.expect(std::fabs(rail.update(0.5001, 1.0).stopping_time - 0.6) < 1e-9, "and until it stands");
    expect_reason(rail.update(0.86, 0.1), GuardReason::pair, "nearer than the margin it does not go on");
    expect_reason(rail.update(0.86, -0.1), GuardReason::receding, "unless away from the wall");
    expect_reason(rail.update(0.86, 0.0), GuardReason::receding, "or not at all");
    expect_reason(rail.update(0.95, -0.1), GuardReason::receding, "also out of the wall");
    expect_reason(rail.update(0.95, 1e-6), GuardReason::pair, "but not into it");
    expect_reason(rail.update(kNan, 0.0), GuardReason::input, "no number");
    expect_reason(rail.update(0.0, kInf), GuardReason::input, "too fast");
    expect_reason(rail.guard.update({nullptr, nullptr}), GuardReason::input, "nothing at all");
    expect_reason(rail.update(0.0, 0.0), GuardReason::clear, "and it goes on afterwards");
    const double zero = 0.0, bad = kNan;
    expect_reason(rail.guard.update({&zero, &zero, &bad}), GuardReason::input, "a command that is none");

    Rail untimed;
    expect_reason(untimed.update(0.0, 0.0), GuardReason::clear, "nobody has to tell the time");
    expect_reason(untimed.update(0.0, 0.0, kNan), GuardReason::input, "but who does has to know it");
    expect_reason(untimed.update(0.0, 0.0, kInf), GuardReason::input, "no clock shows infinity");
    expect_reason(untimed.update(0.0, 0.0, 1.0), GuardReason::clear, "and nothing stays behind");
    Rail timed(0.02);
    expect_reason(timed.update(0.0, 0.0), GuardReason::input, "with a timeout it wants to know the time");
    expect_reason(timed.update(0.0, 0.0, kNan), GuardReason::input, "which NaN is none of");
    expect_reason(timed.update(0.0, 0.0, 1.0), GuardReason::clear, "the first one is in time");
    expect_reason(timed.update(0.0, 0.0, 1.015), GuardReason::clear, "so is the next one");
    expect_reason(timed.update(0.0, 0.0, 1.05), GuardReason::stale, "and this one is late");
    expect_reason(timed.update(0.0, 0.0, 1.06), GuardReason::clear, "in time again");
    expect_reason(timed.update(0.0, 0.0, 1.05), GuardReason::stale, "time does not go backwards");
    timed.guard.reset();
    expect_reason(timed.update(0.0, 0.0, 0.0), GuardReason::clear, "unless it begins anew");

    Rail poor(kInf, 100);
    expect_reason(poor.update(0.0, 0.0), GuardReason::budget, "too little to tell");

    Watched watched(kNoLimit);
    const std::vector<double> q(5, 0.0);
    GuardInput::Seen ball{kBall, watched.cell->base() * at(0, -3, 0)};
    expect_reason(watched.guard.update({q.data(), q.data(), nullptr, 0.0}), GuardReason::input,
                  "nobody knows where the ball is");
    expect_reason(watched.guard.update({q.data(), q.data(), nullptr, 0.0, {&ball, 1}}), GuardReason::clear, "it is seen");
    expect_reason(watched.guard.update({q.data(), q.data(), nullptr, 1.0}), GuardReason::clear, "it cannot have come far");
    expect_reason(watched.guard.update({q.data(), q.data(), nullptr, 60.0}), GuardReason::pair, "now it can");
    expect_reason(watched.guard.update({q.data(), q.data()}), GuardReason::input, "or at some time");
    GuardInput::Seen lost = ball, nobody = ball;
    lost.pose.translation.x = std::numeric_limits<double>::quiet_NaN();
    expect_reason(watched.guard.update({q.data(), q.data(), nullptr, 61.0, {&lost, 1}}), GuardReason::input,
                  "it is nowhere");
    for (const std::int32_t body : {-1, 0, 1000}) {
        nobody.body = body;
        expect_reason(watched.guard.update({q.data(), q.data(), nullptr, 61.0, {&nobody, 1}}), GuardReason::input,
                      "only obstacles that may move are seen");
    }
}

// No joints, no pairs: nothing to prove, nothing in the way.
void check_nothing() {
    tally.context = "nothing";
    const auto tree = std::make_shared<const KinematicTree>(1, std::vector<Joint>{});
    const Cell cell(tree, Pose{}, {}, {});
    const GuardOptions options{};
    Guard guard(cell, {{}, 100, JointBox(*tree), 0, {}}, options);
    const double none = 0.0;
    const GuardVerdict verdict = guard.update({&none, &none});
    tally.expect(!verdict.stop && verdict.reason == GuardReason::clear && verdict.lower == kInf && verdict.pair == -1,
                 "where there is nothing, nothing is in the way");
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    Count count;
    for (const double fastest : {0.3, 1.0, 3.0})
        for (int k = 0; k < 4 * effort; ++k) check_motion(draw, fastest, count);
    tally.expect(count.go > count.stop / 9 && count.stop > count.go / 9, "some go, some stop", "%ld and %ld, %ld receding",
                 count.go, count.stop, count.receding);
    check_budgets(draw);
    check_repetition(draw);
    for (int k = 0; k < effort; ++k) check_heap(draw);
    check_reasons();
    check_nothing();
    return tally.finish();
}
