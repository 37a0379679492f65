// How far bodies can move: no point moves farther than the bound, the bound is not absurdly loose, and it grows as its steps
// do. Paths meet their waypoints and stay within their steps.
//
//     robot_motion [effort = 1] [seed = 1]
#include "motion/motion_bound.hpp"
#include "motion/path.hpp"
#include "robot_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

// A fraction of a step: mostly all of it.
double fraction(Draw& draw) { return (draw.chance(0.5) ? -1.0 : 1.0) * (draw.chance(0.7) ? 1.0 : draw.uniform(0, 1)); }

// Some configuration no farther from `q` than the steps.
std::vector<double> stepped(Draw& draw, const DrawnTree& drawn, const std::vector<double>& q,
                            const std::vector<double>& steps) {
    std::vector<double> to = q;
    for (const Joint& joint : drawn.joints) {
        const auto value = std::size_t(joint.value), velocity = std::size_t(joint.velocity);
        const int straight = joint.kind == JointKind::floating ? 3 : values_of(joint.kind);
        for (std::size_t k = 0; k < std::size_t(straight); ++k)
            to[value + k] = q[value + k] + fraction(draw) * std::fabs(steps[velocity + k]);
        if (joint.kind != JointKind::floating) continue;
        const double angle = norm(Vec3d{steps[velocity + 3], steps[velocity + 4], steps[velocity + 5]});
        const Quaternion from{q[value + 3], q[value + 4], q[value + 5], q[value + 6]};
        const Quaternion turned = product(turn_about(draw.direction(), fraction(draw) * angle), from);
        std::copy(turned.begin(), turned.end(), to.begin() + joint.value + 3);
    }
    return to;
}

double farthest_move(const Pose& before, const Pose& after, const std::vector<Vec3d>& points) {
    double most = 0.0;
    for (const Vec3d& point : points) most = max_of(most, norm(after * point - before * point));
    return most;
}

struct Looseness {
    double sum = 0.0, most = 0.0;
    long count = 0;
    void add(double used) { sum += used, most = max_of(most, used), ++count; }
    double mean() const { return sum / double(count); }
};

// All that is known of one pair seen from the last frame that both bodies have in common. Points of both move at once, so
// what they move adds up.
void check_bounds(Draw& draw, double size, double step_size, Looseness& used) {
    const TreeOptions tree_options{.links = 2 + draw.below(7), .size = size};
    const DrawnTree drawn = drawn_tree_of(draw, tree_options);
    CellOptions options{.obstacles = 2, .far = draw.chance(0.5) ? 0.0 : size * draw.power(0, 5)};
    const std::unique_ptr<Cell> cell = drawn_cell(draw, drawn, size, options);
    const KinematicTree& tree = *drawn.tree;
    const std::vector<double> q = drawn_configuration(draw, drawn);
    std::vector<double> steps(std::size_t(tree.velocities()), 0.0);
    for (const Joint& joint : drawn.joints)
        for (int k = 0; k < velocities_of(joint.kind); ++k) {
            const bool turns = joint.kind == JointKind::revolute || (joint.kind == JointKind::planar && k == 2) || k > 2;
            steps[std::size_t(joint.velocity + k)] =
                draw.chance(0.1) ? 0.0 : step_size * draw.uniform(0, 1) * (turns ? 1.0 : size);
        }
    // A value that a joint of the other kind mimics has the unit of its leader.
    for (const Joint& joint : drawn.joints)
        if (values_of(joint.kind) == 1)
            steps[std::size_t(joint.velocity)] = draw.uniform(0, 1) * step_size * drawn.unit[std::size_t(joint.value)];

    Posture posture(*cell);
    posture.take(q.data());
    MotionBound bound(*cell), less(*cell);
    bound.set(posture, steps.data());
    const double share = draw.chance(0.5) ? 0.5 : draw.power(-6, 0);
    std::vector<double> smaller = steps;
    for (double& step : smaller) step *= share;
    less.set(posture, smaller.data());

    std::vector<std::vector<Vec3d>> points;
    for (const CellBody& body : cell->bodies())
        points.push_back(body.body.is_finite() ? outermost_points(body.body, draw, 12) : std::vector<Vec3d>{});
    std::vector<Pose> before(tree.frames().size()), after(tree.frames().size());
    tree.place(q.data(), Pose{}, before.data());
    std::vector<double> moved_most(cell->pairs().size(), 0.0);
    for (int sample = 0; sample < 60; ++sample) {
        tree.place(stepped(draw, drawn, q, steps).data(), Pose{}, after.data());
        for (const std::int32_t number : cell->moving()) {
            const CellPair& pair = cell->pairs()[std::size_t(number)];
            const std::int32_t frame_a = cell->bodies()[std::size_t(pair.a)].frame,
                               frame_b = cell->bodies()[std::size_t(pair.b)].frame;
            const auto ancestor = std::size_t(tree.common_ancestor(frame_a, frame_b));
            const Pose from_before = samples::inverse(before[ancestor]), from_after = samples::inverse(after[ancestor]);
            const auto moved = [&](std::int32_t body, std::int32_t frame) {
                if (frame == 0 && ancestor == 0) return 0.0;
                return farthest_move(from_before * before[std::size_t(frame)], from_after * after[std::size_t(frame)],
                                     points[std::size_t(body)]);
            };
            double& most = moved_most[std::size_t(number)];
            most = max_of(most, moved(pair.a, frame_a) + moved(pair.b, frame_b));
        }
    }
    double reach = size;
    for (const Pose& frame : before) reach = max_of(reach, largest(frame.translation));
    const double rounding = 1e-13 * reach + 64.0 * kEpsilon * options.far * min_of(1.0, step_size);
    for (const std::int32_t number : cell->moving()) {
        const double most = bound.of(number), seen = moved_most[std::size_t(number)];
        tally.expect(seen <= most + rounding, "no point moves farther than the bound", "%.9g, bound %.9g", seen, most);
        const double share_of = less.of(number);
        // What the bound is made of may be far longer than what is left of it, and lose digits.
        const double lost = share * min_of(1.0, step_size) * 1e-13 * reach;
        tally.expect(share_of <= share * most * (1.0 + 1e-12) + lost, "it grows no faster than the steps",
                     "%.9g of %.9g at %.9g", share_of, most, share);
        if (most > 1e6 * rounding) used.add(seen / most);
    }
    // Asked again, in any order, it says the same.
    if (!cell->moving().empty()) {
        const std::int32_t last = cell->moving().back();
        const double first = bound.of(last);
        tally.expect(first == bound.of(last), "it says the same again");
    }
}

// Signed distances change by no more than the bound either.
void check_distances(Draw& draw, double size, double step_size) {
    const DrawnTree drawn = drawn_tree_of(draw, {.links = 4, .size = size});
    const std::unique_ptr<Cell> cell = drawn_cell(draw, drawn, size, {.obstacles = 3, .room = 1.5});
    const std::vector<double> q = drawn_configuration(draw, drawn);
    std::vector<double> steps(std::size_t(drawn.tree->velocities()), 0.0);
    for (const Joint& joint : drawn.joints)
        for (int k = 0; k < velocities_of(joint.kind); ++k) {
            const bool turns = joint.kind == JointKind::planar ? k == 2 : k > 2;
            const double unit = values_of(joint.kind) == 1 ? drawn.unit[std::size_t(joint.value)] : turns ? 1.0 : size;
            steps[std::size_t(joint.velocity + k)] = step_size * draw.uniform(0, 1) * unit;
        }
    Posture posture(*cell), other(*cell);
    posture.take(q.data());
    MotionBound bound(*cell);
    bound.set(posture, steps.data());
    for (int sample = 0; sample < 4; ++sample) {
        other.take(stepped(draw, drawn, q, steps).data());
        for (const std::int32_t pair : cell->moving()) {
            const Gap before = exact_gap(*cell, posture, pair), after = exact_gap(*cell, other, pair);
            tally.expect(after.upper >= before.lower - bound.of(pair) - 1e-11 * size &&
                             before.upper >= after.lower - bound.of(pair) - 1e-11 * size,
                         "distances change by no more than the bound", "from %.9g to %.9g, bound %.9g", before.distance,
                         after.distance, bound.of(pair));
        }
    }
}

// One joint and one box: then the bound is what the farthest corner moves, but for the difference of arc and chord.
void check_tightness(Draw& draw) {
    tally.context = "one joint";
    const bool turns = draw.chance(0.5);
    Joint joint{turns ? JointKind::revolute : JointKind::prismatic, 0, 1, {}, draw.direction()};
    joint.multiplier = draw.chance(0.5) ? 1.0 : -draw.power(-1, 1);
    const auto tree = std::make_shared<const KinematicTree>(2, std::vector<Joint>{joint});
    const Vec3d half{draw.power(-2, 0), draw.power(-2, 0), draw.power(-2, 0)};
    const Body body({part_of(Convex{Box{half}, 0.0}, drawn_pose(draw, 1.0))});
    const Body point({part_of(Convex{Element{1, {}, 0.0}, 0.0}, Pose{})});
    std::vector<Vec3d> corners;
    for (int k = 0; k < 8; ++k)
        corners.push_back(body.parts()[0].pose *
                          Vec3d{k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z});
    const Cell cell(tree, Pose{}, {{body, 1, {}, box_around(body)}, {point, 0, {}, box_around(point)}}, {{0, 1, 0.0}});
    const double q = draw.uniform(-3, 3), step = draw.power(-6, -2), to = q + step;
    Posture posture(cell);
    posture.take(&q);
    MotionBound bound(cell);
    bound.set(posture, &step);
    Pose before[2], after[2];
    tree->place(&q, Pose{}, before), tree->place(&to, Pose{}, after);
    const double seen = farthest_move(before[1], after[1], corners);
    tally.expect(bound.of(0) <= 1.0005 * seen + 1e-12, "the bound of a box on one joint is tight", "%.9g, moved %.9g",
                 bound.of(0), seen);
    tally.expect(bound.of(0) >= seen - 1e-12, "and a bound", "%.9g, moved %.9g", bound.of(0), seen);
}

// What is nearer to the base than both bodies does not matter, however far it moves.
void check_common_joints(Draw& draw) {
    tally.context = "common joints";
    std::vector<Joint> joints;
    for (std::int32_t k = 1; k < 5; ++k)
        joints.push_back(
            {JointKind::revolute, k == 4 ? 2 : k - 1, k, drawn_pose(draw, 1.0), draw.direction(), k - 1, k - 1});
    const auto tree = std::make_shared<const KinematicTree>(5, joints);
    const Body body({part_of(Convex{Element{1, {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}, 0.1}, 0.1}, Pose{})});
    std::vector<CellBody> bodies;
    for (std::int32_t frame = 0; frame < 5; ++frame) bodies.push_back({body, frame, {}, box_around(body)});
    const Cell cell(tree, Pose{}, bodies, {{3, 4, 0.0}, {2, 4, 0.0}, {1, 4, 0.0}});
    const double q[4] = {0.1, 0.2, 0.3, 0.4}, steps[4] = {1e3, 1e3, 0.0, 0.0};
    Posture posture(cell);
    posture.take(q);
    MotionBound bound(cell);
    bound.set(posture, steps);
    tally.expect(bound.of(0) <= 1e-8, "siblings do not move", "%.3g", bound.of(0));
    tally.expect(bound.of(1) <= 1e-8, "nor does a child", "%.3g", bound.of(1));
    tally.expect(bound.of(2) >= 1e3 * 0.1, "but a grandchild does", "%.3g", bound.of(2));
}

// ---- Paths.

// Rows with quaternions of any length: equal, opposite, half a turn away, or almost.
std::vector<double> drawn_rows(Draw& draw, const DrawnTree& drawn, std::size_t count) {
    std::vector<double> rows;
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<double> row = drawn_configuration(draw, drawn);
        for (const Joint& joint : drawn.joints) {
            if (joint.kind != JointKind::floating) continue;
            Quaternion q{draw.normal(), draw.normal(), draw.normal(), draw.normal()};
            if (k > 0) {
                const double* last = rows.data() + (k - 1) * row.size() + joint.value + 3;
                const Quaternion from{last[0], last[1], last[2], last[3]};
                const int kind = draw.below(6);
                const double angle = kind == 0   ? 0.0
                                     : kind == 1 ? 3.14159265358979 - draw.power(-14, -1)
                                     : kind == 2 ? 3.14159265358979 + draw.power(-14, -1)
                                     : kind == 3 ? draw.power(-12, -1)
                                                 : draw.uniform(0, 6);
                q = product(turn_about(draw.direction(), angle), from);
            }
            const double scale = (draw.chance(0.3) ? -1.0 : 1.0) * draw.power(-1, 1);
            for (std::size_t c = 0; c < 4; ++c) row[std::size_t(joint.value) + 3 + c] = scale * q[c];
        }
        if (k > 0 && draw.chance(0.1)) row.assign(rows.end() - std::ptrdiff_t(row.size()), rows.end());
        rows.insert(rows.end(), row.begin(), row.end());
    }
    return rows;
}

void check_waypoints(Draw& draw) {
    tally.context = "waypoints";
    const double size = draw.power(-3, 3);
    const DrawnTree drawn = drawn_tree_of(draw, {.links = 1 + draw.below(6), .size = size});
    const std::size_t count = 1 + std::size_t(draw.below(5)), dof = std::size_t(drawn.tree->dof());
    const std::vector<double> rows = drawn_rows(draw, drawn, count);
    const Waypoints path(*drawn.tree, rows.data(), count);
    tally.expect(path.breaks.front() == 0.0 && path.breaks.back() == double(count - 1) && path.breaks.size() >= 2,
                 "a path has a beginning and an end");
    std::vector<double> q(dof), middle(dof), steps(std::size_t(drawn.tree->velocities()));
    for (std::size_t k = 0; k < count; ++k) {
        path.at(double(k), q.data());
        for (const Joint& joint : drawn.joints) {
            const auto value = std::size_t(joint.value);
            const int straight = joint.kind == JointKind::floating ? 3 : values_of(joint.kind);
            for (std::size_t c = 0; c < std::size_t(straight); ++c)
                tally.expect(q[value + c] == rows[k * dof + value + c], "a path meets its waypoints", "%.17g, not %.17g",
                             q[value + c], rows[k * dof + value + c]);
            if (joint.kind == JointKind::floating)
                tally.expect(angle_between(&q[value + 3], &rows[k * dof + value + 3]) < 1e-14 * 8, "and their turns", "%.3g",
                             angle_between(&q[value + 3], &rows[k * dof + value + 3]));
        }
    }
    for (int sample = 0; sample < 10; ++sample) {
        const double segment = double(draw.below(int(std::max<std::size_t>(count, 2)) - 1));
        double begin = segment + draw.uniform(0, 1), end = segment + draw.uniform(0, 1);
        if (draw.chance(0.3)) begin = segment, end = segment + 1.0;
        if (draw.chance(0.2)) end = begin + draw.power(-15, -3), end = min_of(end, segment + 1.0);
        if (count == 1) begin = end = 0.0;
        if (begin > end) std::swap(begin, end);
        path.steps(begin, end, steps.data());
        path.at(0.5 * (begin + end), middle.data());
        const auto k = std::size_t(segment), next = std::min(k + 1, count - 1);
        for (int moment = 0; moment < 12; ++moment) {
            path.at(moment == 0 ? begin : moment == 1 ? end : draw.uniform(begin, end), q.data());
            for (const Joint& joint : drawn.joints) {
                const auto value = std::size_t(joint.value), velocity = std::size_t(joint.velocity);
                const int straight = joint.kind == JointKind::floating ? 3 : values_of(joint.kind);
                for (std::size_t c = 0; c < std::size_t(straight); ++c) {
                    const double moved = std::fabs(q[value + c] - middle[value + c]);
                    const double from = rows[k * dof + value + c], to = rows[next * dof + value + c];
                    tally.expect(moved <= steps[velocity + c], "a path stays within its steps", "%.17g, step %.17g", moved,
                                 steps[velocity + c]);
                    const double due = 0.5 * (end - begin) * std::fabs(to - from);
                    tally.expect(steps[velocity + c] <= due * (1.0 + 1e-9) + 1e-14 * (std::fabs(from) + std::fabs(to)),
                                 "steps are not too long", "%.9g, not %.9g", steps[velocity + c], due);
                }
                if (joint.kind != JointKind::floating) continue;
                const double angle = angle_between(&q[value + 3], &middle[value + 3]);
                const double most = norm(Vec3d{steps[velocity + 3], steps[velocity + 4], steps[velocity + 5]});
                tally.expect(angle <= most, "it turns no farther than its steps", "%.17g, step %.17g", angle, most);
                const double due =
                    0.5 * (end - begin) * angle_between(&rows[k * dof + value + 3], &rows[next * dof + value + 3]);
                tally.expect(most <= due * (1.0 + 1e-6) + 1e-14, "nor much less far", "%.9g, not %.9g", most, due);
                tally.expect(due <= 3.1415926536, "turns take the shortest way", "%.9g", due);
            }
        }
    }
}

void check_planar_joints(Draw& draw) {
    tally.context = "planar joint";
    const Vec3d straight = draw.chance(0.5) ? Vec3d{0, 0, -1} : draw.direction();
    const Vec3d near = straight + draw.power(-9, -1) * draw.direction();
    const Vec3d axis = (1.0 / norm(near)) * near;
    const KinematicTree tree(2, {{JointKind::planar, 0, 1, {}, axis}});
    const double q[3] = {draw.uniform(-1, 1), draw.uniform(-1, 1), draw.uniform(-3, 3)};
    Pose frames[2];
    tree.place(q, Pose{}, frames);
    tally.expect(std::fabs(dot(frames[1].translation, axis)) < 1e-7, "it keeps to its plane",
                 "off by %.3g with the axis %.17g %.17g %.17g", dot(frames[1].translation, axis), axis.x, axis.y, axis.z);
    tally.expect(std::fabs(norm(frames[1].translation) - std::hypot(q[0], q[1])) < 1e-7, "and moves as far as it says");
    tally.expect(norm(frames[1].rotation * axis - axis) < 1e-12, "and turns about its axis");
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    Looseness small, large;
    for (int k = 0; k < 500 * effort; ++k) {
        tally.context = "small steps";
        check_bounds(draw, draw.power(-3, 3), draw.power(-8, -2), small);
        tally.context = "large steps";
        check_bounds(draw, draw.power(-3, 3), draw.power(-2, 1), large);
    }
    std::printf("of the bound are used: %.2f (at most %.4f) by small steps, %.2f (%.4f) by large ones\n", small.mean(),
                small.most, large.mean(), large.most);
    tally.context = "all small steps";
    tally.expect(small.mean() > 0.3, "bounds are not absurdly loose", "%.3g of them used", small.mean());
    tally.expect(small.most > 0.95, "the checks come close to the bound", "%.3g", small.most);
    for (int k = 0; k < 150 * effort; ++k) {
        tally.context = "distances";
        check_distances(draw, draw.power(-3, 3), draw.power(-4, 0));
    }
    for (int k = 0; k < 1000 * effort; ++k) check_tightness(draw);
    for (int k = 0; k < 20 * effort; ++k) check_common_joints(draw);
    for (int k = 0; k < 1500 * effort; ++k) check_waypoints(draw);
    for (int k = 0; k < 1000 * effort; ++k) check_planar_joints(draw);
    return tally.finish();
}
