// Paths against dense samples: what is called clear has no sample within the margin, and the least clearance lies where the
// report says. Obstacles are put so that the path comes as near to one as is wanted, at a moment that is known.
//
//     robot_paths [effort = 1] [seed = 1]: a hundred times the effort takes 100000 samples per path
#include <algorithm>

#include "motion/check_path.hpp"
#include "robot_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;
int samples_per_path = 1000;

PathQuestion asked(double margin, double tolerance) {
    PathQuestion question{};
    question.margin = margin, question.tolerance = tolerance;
    return question;
}

struct Bracket {
    double lower = kInf, upper = kInf;
    std::int32_t pair = -1;  // with the least upper bound
};

// The least clearance at one moment, of all pairs.
class Sampler {
public:
    Sampler(const Cell& cell, const Path& path)
        : cell_(cell), path_(path), posture_(cell), q_(std::size_t(cell.tree().dof())) {
        for (const StandingPair& standing : cell.standing()) add(standing_, standing.gap, standing.pair);
    }
    Bracket at(double t) {
        path_.at(t, q_.data());
        posture_.take(q_.data());
        Bracket least = standing_;
        for (const std::int32_t pair : cell_.moving()) {
            const CellPair& of = cell_.pairs()[std::size_t(pair)];
            const Ball a = posture_.ball(of.a), b = posture_.ball(of.b);
            const double apart = norm(b.centre - a.centre) - a.radius - b.radius - of.margin;
            if (apart * (1.0 - 1e-9) > least.upper + 1e-9 * (largest(a.centre) + largest(b.centre))) continue;
            add(least, exact_gap(cell_, posture_, pair), pair);
        }
        return least;
    }
    Bracket of(std::int32_t pair, double t) {
        path_.at(t, q_.data());
        posture_.take(q_.data());
        Bracket one;
        add(one, exact_gap(cell_, posture_, pair), pair);
        return one;
    }

private:
    void add(Bracket& least, const Gap& gap, std::int32_t pair) const {
        const double margin = cell_.pairs()[std::size_t(pair)].margin;
        least.lower = min_of(least.lower, gap.lower - margin);
        if (gap.upper - margin < least.upper) least.upper = gap.upper - margin, least.pair = pair;
    }
    const Cell& cell_;
    const Path& path_;
    Posture posture_;
    std::vector<double> q_;
    Bracket standing_;
};

struct Moment {
    double t;
    Bracket clearance;
};

// Evenly spread, at moments of interest, and down to the bottom of the lowest valleys.
std::vector<Moment> sampled(Sampler& sampler, const Path& path, const std::vector<double>& interest) {
    std::vector<Moment> moments;
    const double end = path.breaks.back();
    const auto look = [&](double t) {
        moments.push_back({t, sampler.at(t)});
        return moments.back().clearance.upper;
    };
    for (const double t : path.breaks) look(t);
    for (const double t : interest) look(t);
    if (end == 0.0) return moments;
    for (int k = 0; k < samples_per_path; ++k) look(end * (k + 0.5) / samples_per_path);
    std::vector<Moment> lowest = moments;
    const auto count = std::min<std::size_t>(4, lowest.size());
    std::partial_sort(lowest.begin(), lowest.begin() + std::ptrdiff_t(count), lowest.end(),
                      [](const Moment& one, const Moment& other) { return one.clearance.upper < other.clearance.upper; });
    for (std::size_t k = 0; k < count; ++k) {
        double low = max_of(0.0, lowest[k].t - end / samples_per_path),
               high = min_of(end, lowest[k].t + end / samples_per_path);
        for (int step = 0; step < 40; ++step) {
            const double left = high - 0.618034 * (high - low), right = low + 0.618034 * (high - low);
            (look(left) < look(right) ? high : low) = look(left) < look(right) ? right : left;
        }
    }
    return moments;
}

long clear_paths = 0, all_paths = 0, most_configurations = 0;

// `rounding` is what positions, and depths of curved bodies, are known to.
void check_report(const Cell& cell, const Path& path, const PathQuestion& question, const std::vector<double>& interest,
                  double rounding) {
    const PathReport report = check_path(cell, path, question);
    ++all_paths, clear_paths += report.clear;
    most_configurations = std::max<long>(most_configurations, report.configurations);
    Sampler sampler(cell, path);
    std::vector<double> looked_at = interest;
    looked_at.push_back(report.t_worst);
    const std::vector<Moment> moments = sampled(sampler, path, looked_at);
    Moment least = moments.front(), least_lower = moments.front();
    double first = kInf;
    for (const Moment& moment : moments) {
        if (moment.clearance.upper < least.clearance.upper) least = moment;
        if (moment.clearance.lower < least_lower.clearance.lower) least_lower = moment;
        if (moment.clearance.upper <= question.margin - rounding) first = min_of(first, moment.t);
    }
    const double resolution = 1e-3 * min_of(question.tolerance, 1e-3), end = path.breaks.back();

    tally.expect(report.clear == !report.first_violation, "a path is clear or violated somewhere");
    tally.expect(!(report.clear && first < kInf), "no sample of a clear path is within the margin",
                 "clearance %.17g at %.17g, margin %.17g", least.clearance.upper, least.t, question.margin);
    if (report.first_violation) {
        const auto [begin, until] = *report.first_violation;
        tally.expect(0.0 <= begin && begin <= until && until <= end, "a violation is on the path", "[%.9g, %.9g]", begin,
                     until);
        tally.expect(first >= begin, "nothing is violated before the first violation", "at %.17g, not %.17g", first, begin);
        const Bracket there = sampler.at(0.5 * (begin + until));
        tally.expect(there.lower <= question.margin + resolution + rounding || report.configurations > 1000000,
                     "a violation comes as near as the resolution", "clearance %.9g, margin %.9g, resolution %.3g",
                     there.lower, question.margin, resolution);
    }
    tally.expect(report.lower <= report.upper, "the bracket is not empty", "[%.17g, %.17g]", report.lower, report.upper);
    tally.expect(report.lower <= least.clearance.upper + rounding, "no sample lies below the bracket",
                 "%.17g at %.17g, lower %.17g", least.clearance.upper, least.t, report.lower);
    if (report.clear && !cell.pairs().empty())
        tally.expect(report.lower >= min_of(question.margin, report.upper), "a clear path keeps its margin");
    if (question.tolerance == kInf) return;
    if (report.configurations <= 1000000)
        tally.expect(report.upper - report.lower <= question.tolerance + rounding || report.upper == report.lower,
                     "the bracket is as narrow as asked", "[%.9g, %.9g], tolerance %.3g", report.lower, report.upper,
                     question.tolerance);
    tally.expect(
        report.upper >= least_lower.clearance.lower - rounding || report.upper >= least.clearance.lower - question.tolerance,
        "what is found is on the path");
    tally.expect((report.pair < 0) == cell.pairs().empty(), "there is a worst pair if there is any");
    if (report.pair < 0) return;
    tally.expect(report.upper <= least.clearance.upper + question.tolerance + rounding, "the least clearance is found",
                 "%.17g, sample %.17g at %.17g", report.upper, least.clearance.upper, least.t);
    const Bracket there = sampler.of(report.pair, report.t_worst);
    const bool is_there = there.lower - rounding <= report.upper && report.upper <= there.upper + rounding;
    tally.expect(is_there || report.upper == report.lower, "where it is worst the pair is that near",
                 "[%.17g, %.17g], not %.17g", there.lower, there.upper, report.upper);
    const Bracket worst = sampler.at(report.t_worst);
    tally.expect(worst.lower >= report.lower - rounding &&
                     worst.upper >= report.upper - 2.0 * rounding - (report.upper - report.lower),
                 "no other pair is nearer there", "%.17g, upper %.17g", worst.upper, report.upper);
}

// ---- Ways to move.

std::unique_ptr<Path> drawn_waypoints(Draw& draw, const DrawnTree& drawn) {
    const std::size_t count = 1 + std::size_t(draw.below(4));
    std::vector<double> rows, row = drawn_configuration(draw, drawn);
    const double stride = draw.chance(0.3) ? draw.power(-6, -1) : 1.0;
    for (std::size_t k = 0; k < count; ++k) {
        const std::vector<double> next = drawn_configuration(draw, drawn);
        const bool stays = draw.chance(0.1);
        for (std::size_t c = 0; c < row.size() && k > 0 && !stays; ++c)
            if (draw.chance(0.8)) row[c] += stride * (next[c] - row[c]);
        rows.insert(rows.end(), row.begin(), row.end());
    }
    return std::make_unique<Waypoints>(*drawn.tree, rows.data(), count);
}

// Every value swings as fast as its rate says in the middle of the swing; turns are as fast all the time.
std::unique_ptr<Path> drawn_swing(Draw& draw, const DrawnTree& drawn) {
    struct Swing {
        double middle, width, speed, phase;
    };
    std::vector<Swing> swings;
    for (const double unit : drawn.unit)
        swings.push_back({unit * draw.uniform(-1, 1), unit * (draw.chance(0.2) ? 0.0 : draw.uniform(0, 1)),
                          draw.uniform(0, 8), draw.uniform(0, 6)});
    struct Spin {
        std::size_t value;
        Quaternion start;
        Vec3d axis;
        double speed, length;
    };
    std::vector<Spin> spins;
    std::vector<double> rates(std::size_t(drawn.tree->velocities()), 0.0);
    for (const Joint& joint : drawn.joints) {
        const int straight = joint.kind == JointKind::floating ? 3 : values_of(joint.kind);
        for (std::size_t k = 0; k < std::size_t(straight); ++k) {
            const Swing& swing = swings[std::size_t(joint.value) + k];
            rates[std::size_t(joint.velocity) + k] = swing.width * swing.speed;
        }
        if (joint.kind != JointKind::floating) continue;
        const Spin spin{std::size_t(joint.value) + 3, turn_about(draw.direction(), draw.uniform(0, 3)), draw.direction(),
                        draw.uniform(-5, 5), draw.power(-1, 1)};
        const Vec3d rate = spin.speed * draw.direction();
        const auto at = std::size_t(joint.velocity);
        rates[at + 3] = rate.x, rates[at + 4] = rate.y, rates[at + 5] = rate.z;
        spins.push_back(spin);
    }
    const auto function = [swings, spins](double t, double* q) {
        for (std::size_t k = 0; k < swings.size(); ++k)
            q[k] = swings[k].middle + swings[k].width * std::sin(swings[k].speed * t + swings[k].phase);
        for (const Spin& spin : spins) {
            const Quaternion turned = product(turn_about(spin.axis, spin.speed * t), spin.start);
            for (std::size_t c = 0; c < 4; ++c) q[spin.value + c] = spin.length * turned[c];
        }
    };
    return std::make_unique<FreePath>(function, rates);
}

// ---- Cells around a path.

// A ball that a body that moves comes as near to as `wanted` at a moment, not counting what comes even nearer at others.
void add_grazed_ball(std::vector<CellBody>& bodies, std::vector<CellPair>& pairs, const Cell& cell, const Path& path,
                     double t, double wanted, double radius, Draw& draw) {
    std::vector<std::int32_t> movers;
    for (std::size_t k = 0; k < cell.bodies().size(); ++k)
        if (cell.bodies()[k].frame > 0) movers.push_back(std::int32_t(k));
    if (movers.empty()) return;
    const std::int32_t mover = movers[std::size_t(draw.below(int(movers.size())))];
    std::vector<double> q(std::size_t(cell.tree().dof()));
    path.at(t, q.data());
    Posture posture(cell);
    posture.take(q.data());
    const Pose& at = posture.pose(mover);
    const Body& body = cell.bodies()[std::size_t(mover)].body;
    const Vec3d out = draw.direction();
    Vec3d farthest = farthest_point(body.parts().front(), out);
    for (const Part& part : body.parts()) {
        const Vec3d other = farthest_point(part, out);
        if (dot(out, other) > dot(out, farthest)) farthest = other;
    }
    const Vec3d centre = at * farthest + (wanted + radius) * (at.rotation * out);
    const Body ball({part_of(Convex{Element{1, {}, radius}, radius}, Pose{})});
    bodies.push_back({ball, 0, {kNoTurn, centre}, box_around(ball)});
    pairs.push_back({mover, std::int32_t(bodies.size() - 1), 0.0});
}

struct PathOptions {
    bool with_meshes = false, with_far = false, many = false;
};

void check_drawn_path(Draw& draw, const PathOptions& how) {
    const double size = draw.power(-3, 3);
    const DrawnTree drawn = drawn_tree_of(draw, {.links = 2 + draw.below(4), .size = size});
    CellOptions options{.obstacles = how.many ? 8 : draw.below(3), .body = draw.chance(0.5) ? 0.1 : 0.3};
    options.with_meshes = how.with_meshes, options.room = 6.0, options.checked = 0.6;
    options.far = how.with_far ? size * draw.power(0, 5) : 0.0;
    const std::unique_ptr<Cell> plain = drawn_cell(draw, drawn, size, options);
    const bool is_free = draw.chance(0.4);
    tally.context += is_free ? ", swinging" : ", along waypoints";
    const std::unique_ptr<Path> path = is_free ? drawn_swing(draw, drawn) : drawn_waypoints(draw, drawn);

    const double margin = draw.chance(0.5) ? 0.0 : size * draw.power(-3, -1);
    std::vector<CellBody> bodies(plain->bodies().begin(), plain->bodies().end());
    std::vector<CellPair> pairs(plain->pairs().begin(), plain->pairs().end());
    std::vector<double> interest;
    if (draw.chance(0.7)) {
        // Pairs that touch all the time would hide the ball.
        Sampler sampler(*plain, *path);
        std::erase_if(pairs, [&](const CellPair& pair) {
            const auto number =
                std::int32_t(std::find_if(plain->pairs().begin(), plain->pairs().end(),
                                          [&](const CellPair& other) { return other.a == pair.a && other.b == pair.b; }) -
                             plain->pairs().begin());
            for (int k = 0; k <= 20; ++k)
                if (sampler.of(number, path->breaks.back() * k / 20.0).upper <= margin) return true;
            return false;
        });
        interest.push_back(path->breaks.back() * draw.uniform(0, 1));
        const double wanted = margin + (draw.chance(0.5) ? -1.0 : 1.0) * size * draw.power(-9, -2);
        add_grazed_ball(bodies, pairs, *plain, *path, interest.back(), wanted, size * draw.power(-6, -1), draw);
    }
    const Cell cell(drawn.tree, plain->base(), std::move(bodies), std::move(pairs));
    const double tolerance = draw.chance(0.3) ? kInf : size * draw.power(-4, -1);
    const double rounding = 1e-9 * size + 256.0 * kEpsilon * options.far;
    check_report(cell, *path, asked(margin, tolerance), interest, rounding);
}

// ---- Special cases.

Body ball_of(double radius, const Vec3d& centre = {0, 0, 0}) {
    return Body({part_of(Convex{Element{1, {centre, centre, centre}, radius}, radius}, Pose{})});
}

void check_without_joints() {
    tally.context = "no joints";
    const auto tree = std::make_shared<const KinematicTree>(1, std::vector<Joint>{});
    for (const double x : {1.0, 3.0}) {
        const Cell cell(tree, Pose{},
                        {{ball_of(1.0), 0, {}, box_around(ball_of(1.0))},
                         {ball_of(1.0), 0, {kNoTurn, {x, 0, 0}}, box_around(ball_of(1.0))}},
                        {{0, 1, 0.0}});
        for (const std::size_t count : {1, 2, 5}) {
            const Waypoints path(*tree, nullptr, count);
            const PathReport report = check_path(cell, path, asked(0.0, 1e-3));
            tally.expect(report.clear == (x > 2.0), "what stands still is clear or not");
            tally.expect(std::fabs(report.upper - (x - 2.0)) < 1e-12 && std::fabs(report.lower - (x - 2.0)) < 1e-12,
                         "its clearance is exact", "[%.17g, %.17g]", report.lower, report.upper);
            tally.expect(report.clear || (report.first_violation->first == 0.0 && report.first_violation->second == 0.0),
                         "it is violated from the beginning");
        }
        const FreePath path([](double, double*) {}, {});
        tally.expect(check_path(cell, path, asked(0.0, kInf)).clear == (x > 2.0), "and along a function of nothing");
    }
    const Cell empty(tree, Pose{}, {}, {});
    const Waypoints path(*tree, nullptr, 2);
    const PathReport report = check_path(empty, path, asked(0.1, 1e-3));
    tally.expect(report.clear && report.pair == -1 && report.upper == kInf, "nothing is always clear");
}

// A bullet and a thin sheet: no step is short enough for samples, but intervals see it.
void check_bullets(Draw& draw) {
    tally.context = "bullets";
    const auto tree =
        std::make_shared<const KinematicTree>(2, std::vector<Joint>{{JointKind::prismatic, 0, 1, {}, {1, 0, 0}}});
    const double radius = draw.power(-6, -3), at = draw.uniform(0.1, 0.9), thickness = draw.power(-9, -4);
    const double beside = (draw.chance(0.5) ? 0.9 : 1.1) * radius;
    const bool hits = beside < radius;
    // A wall whose edge the bullet passes at `beside`.
    const Body wall({part_of(Convex{Box{{thickness, 1.0, 1.0}}, 0.0}, Pose{kNoTurn, {1000.0 * at, 1.0 + beside, 0}})});
    const Cell cell(tree, Pose{}, {{ball_of(radius), 1, {}, box_around(ball_of(radius))}, {wall, 0, {}, box_around(wall)}},
                    {{0, 1, 0.0}});
    const double rows[2] = {0.0, 1000.0};
    const PathReport report = check_path(cell, Waypoints(*tree, rows, 2), asked(0.0, 1e-3 * radius));
    tally.expect(report.clear == !hits, "a bullet hits a sheet or does not", "radius %.3g, beside %.3g", radius, beside);
    tally.expect(!hits || std::fabs(report.first_violation->first - at) * 1000.0 < 2.0 * radius + thickness, "where it is",
                 "%.9g, not %.9g", hits ? report.first_violation->first : 0.0, at);
    if (!hits)
        tally.expect(std::fabs(report.upper - 0.1 * radius) < 1.1e-3 * radius && report.lower <= 0.1 * radius * (1.0 + 1e-6),
                     "and passes as near as it does", "[%.9g, %.9g], not %.9g", report.lower, report.upper, 0.1 * radius);
}

// A gate that leaves little room, and behind it a sheet that belongs to a body with solid parts far away. What is known of
// those must not be taken for the whole body.
void check_hidden_surfaces(Draw& draw) {
    tally.context = "surface beside a solid";
    const auto tree =
        std::make_shared<const KinematicTree>(2, std::vector<Joint>{{JointKind::prismatic, 0, 1, {}, {1, 0, 0}}});
    const auto ball_at = [](double radius, const Vec3d& centre) {
        return part_of(Convex{Element{1, {centre, centre, centre}, radius}, radius}, Pose{});
    };
    Sample sheet{"sheet", {}, {}};
    const double at = draw.uniform(7.0, 9.0);
    sheet.add({at, -4, -4}, {at, 8, -4}, {at, -4, 8});  // its ball reaches back to the gate
    const auto mesh = std::make_shared<const Mesh>(sheet.built(VolumeKind::obb));
    const Body wall({ball_at(0.1, {5, 8, 0}), ball_at(0.1, {2, -8, 0}), part_of(Surface{mesh, false}, Pose{})});
    const Body gate({ball_at(0.1, {5, 0.5, 0}), ball_at(0.1, {5, -0.5, 0})});
    const double radius = draw.power(-3, -1);
    const Body ball = ball_of(radius);
    const Cell cell(tree, Pose{},
                    {{ball, 1, {}, box_around(ball)}, {gate, 0, {}, box_around(gate)}, {wall, 0, {}, box_around(wall)}},
                    {{0, 1, 0.0}, {0, 2, 0.0}});
    const double rows[2] = {0.0, 10.0};
    for (const double tolerance : {kInf, 1e-3}) {
        const PathReport report = check_path(cell, Waypoints(*tree, rows, 2), asked(0.0, tolerance));
        tally.expect(!report.clear, "a path through a sheet is not clear", "sheet at %.9g, radius %.3g", at, radius);
        tally.expect(!(report.lower > 0.0), "its clearance is none", "%.9g", report.lower);
    }
}

// A half-space that turns reaches everything; nothing can be proved of it but where it is.
void check_moving_half_spaces(Draw& draw) {
    tally.context = "moving half-space";
    const bool turns = draw.chance(0.5);
    const auto tree = std::make_shared<const KinematicTree>(
        3, std::vector<Joint>{
               {JointKind::revolute, 0, 1, drawn_pose(draw, 0.1), draw.direction()},
               {turns ? JointKind::revolute : JointKind::prismatic, 1, 2, drawn_pose(draw, 0.1), draw.direction(), 1, 1}});
    const Body space = half_space(draw, -draw.uniform(0.5, 3.0));
    const Body ball = ball_of(0.2, 2.0 * draw.in_cube());
    const std::int32_t frame = draw.below(2);
    const Cell cell(tree, Pose{}, {{space, 2, {}, box_around(space)}, {ball, frame, {}, box_around(ball)}}, {{0, 1, 0.0}});
    const double begin[2] = {draw.uniform(-3, 3), draw.uniform(-3, 3)}, end[2] = {draw.uniform(-3, 3), draw.uniform(-3, 3)};
    const auto line = [&](double t, double* q) {
        for (int k = 0; k < 2; ++k) q[k] = (1.0 - t) * begin[k] + t * end[k];
    };
    const FreePath path(line, {std::fabs(end[0] - begin[0]), std::fabs(end[1] - begin[1])});
    const double rows[4] = {begin[0], begin[1], end[0], end[1]};
    const Waypoints same(*tree, rows, 2);
    Sampler sampler(cell, path);
    double least = kInf;
    for (int k = 0; k <= 200; ++k) least = min_of(least, sampler.at(k / 200.0).upper);
    for (const Path* one : {static_cast<const Path*>(&path), static_cast<const Path*>(&same)}) {
        // Only the verdict: where no motion is bounded, the least clearance cannot be either.
        const PathReport report = check_path(cell, *one, asked(0.0, kInf));
        tally.expect(!(report.clear && least <= -1e-9), "a path into a half-space is not clear", "down to %.9g", least);
        tally.expect(report.lower <= least + 1e-9, "its clearance is bounded", "%.9g, lower %.9g", least, report.lower);
    }
}

// It turns all the way through a ball: clear at both ends and in the middle, and nowhere near it in between.
void check_turning_half_space() {
    tally.context = "turning half-space";
    const auto tree = std::make_shared<const KinematicTree>(
        3, std::vector<Joint>{{JointKind::revolute, 0, 1, {}, {1, 0, 0}}, {JointKind::revolute, 1, 2, {}, {1, 0, 0}, 1, 1}});
    const Body space({part_of(HalfSpace{{0, 0, 1}, -1.0}, Pose{})}), ball = ball_of(0.2, {0, 2, 0});
    const Cell cell(tree, Pose{}, {{space, 2, {}, box_around(space)}, {ball, 1, {}, box_around(ball)}}, {{0, 1, 0.0}});
    const double rows[4] = {0.0, -3.4, 0.5, 3.3};
    const auto line = [&](double t, double* q) { q[0] = 0.5 * t, q[1] = -3.4 + 6.7 * t; };
    tally.expect(!check_path(cell, FreePath(line, {0.5, 6.7}), asked(0.0, kInf)).clear, "it is not clear as a function");
    tally.expect(!check_path(cell, Waypoints(*tree, rows, 2), asked(0.0, kInf)).clear, "nor between waypoints");
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    const int paths = argc > 3 ? std::atoi(argv[3]) : 400;
    samples_per_path *= effort;
    check_without_joints();
    for (int k = 0; k < 50; ++k) check_bullets(draw);
    for (int k = 0; k < 50; ++k) check_hidden_surfaces(draw);
    check_turning_half_space();
    for (int k = 0; k < 4; ++k) check_moving_half_spaces(draw);
    for (int k = 0; k < paths; ++k) {
        const int kind = draw.below(6);
        tally.context = kind == 0   ? "meshes"
                        : kind == 1 ? "far from the origin"
                        : kind == 2 ? "obstacles in a tree"
                                    : "path";
        tally.context.append(" ").append(std::to_string(k));
        check_drawn_path(draw, {kind == 0, kind == 1, kind == 2});
    }
    std::printf("%ld of %ld paths are clear; at most %ld configurations\n", clear_paths, all_paths, most_configurations);
    return tally.finish();
}
