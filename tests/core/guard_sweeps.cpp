// What joints sweep: volumes contain every body wherever its joints take it, by all operators and in all frames, and are not
// larger than the printed formulas make them.
//
//     guard_sweeps [effort = 1] [seed = 1]
#include "guard_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

// ---- One joint and one body.

DrawnTree drawn_joint(Draw& draw, JointKind kind, double size) {
    Joint joint{kind, 0, 1, drawn_pose(draw, size), draw.chance(0.3) ? Vec3d{0, 0, 1} : draw.direction()};
    if (draw.chance(0.2)) joint.origin = {};
    if (values_of(kind) == 1 && draw.chance(0.5)) {
        joint.multiplier = draw.chance(0.2) ? 0.0 : (draw.chance(0.5) ? -1.0 : 1.0) * draw.power(-1, 1);
        joint.offset = draw.uniform(-1, 1) * (kind == JointKind::revolute ? 1.0 : size);
    }
    DrawnTree drawn{nullptr, {}, {joint}};
    for (int k = 0; k < values_of(kind); ++k) {
        const bool turns = kind == JointKind::revolute || (kind == JointKind::planar && k == 2);
        drawn.unit.push_back(turns ? 1.0 : size);
    }
    drawn.tree = std::make_shared<const KinematicTree>(2, drawn.joints);
    return drawn;
}

// All of the motion: the whole way from end to end of the first value, with the others anywhere.
void check_one_joint(Draw& draw, JointKind kind, double size) {
    const DrawnTree drawn = drawn_joint(draw, kind, size);
    const SweptBody body = drawn_swept(draw, size, 1);
    const double widest[] = {0.1, 1.0, kPi, 2.0 * kPi, 7.0};
    const BoxOptions options{widest[draw.below(5)], draw.chance(0.1) ? 1e6 : draw.chance(0.2) ? 100.0 : 4.0, true};
    const JointBox box = drawn_box(draw, drawn, options);
    const int of_one = drawn_points_of_one(draw, kind);
    const SweepPlan plan(*drawn.tree, {body}, {{1, of_one}}, {0});
    tally.expect(plan.points() == of_one * int(body.points.size()), "a joint makes as many points as it is told to");
    Sweep sweep(plan);
    sweep.take(box);
    const SweptHull& hull = sweep.hull(1);
    const Container container(hull);
    for (const Vec3d& point : points_of(hull))
        tally.expect(norm(point) <= hull.extent * (1.0 + 4.0 * kEpsilon), "no point is beyond the extent",
                     "%.17g, not %.17g", norm(point), hull.extent);
    constexpr int kSamples = 40;
    Pose frames[2];
    double farthest = -kInf;
    for (int sample = 0; sample <= kSamples; ++sample) {
        std::vector<double> q = drawn_from(draw, *drawn.tree, box);
        const double way = (box.high[0] - box.low[0]) * sample / kSamples;
        if (!has_quaternion(kind) && std::isfinite(way)) q[0] = min_of(box.low[0] + way, box.high[0]);
        drawn.tree->place(q.data(), Pose{}, frames);
        for (const Vec3d& point : body.points) farthest = max_of(farthest, container.sticks_out(frames[1] * point));
    }
    tally.expect(farthest + body.radius <= 16.0 * kEpsilon * hull.extent, "a volume contains all that its joint sweeps",
                 "%.3g sticks out of %.3g, kind %d, %d points of one", farthest + body.radius, hull.extent, int(kind),
                 of_one);
}

// ---- The printed formulas, with distances from the origin of the joint.

struct Printed {
    std::vector<Vec3d> points;
    double radius;

    double support(const Vec3d& along) const {
        double highest = -kInf;
        for (const Vec3d& point : points) highest = max_of(highest, dot(along, point));
        return highest + radius;
    }
};

// Equation 24, or 25 with two points.
Printed printed_arc(const KinematicTree& tree, const SweptBody& body, double low, double high, int of_one) {
    Pose at_low[2], at_middle[2], at_high[2];
    const double middle = 0.5 * (low + high), half = 0.5 * abs_of(tree.frames()[1].multiplier) * (high - low);
    tree.place(&low, Pose{}, at_low), tree.place(&middle, Pose{}, at_middle), tree.place(&high, Pose{}, at_high);
    const double share = of_one == 1 ? std::sin(half) : 0.5 * (1.0 - std::cos(half));
    Printed printed{{}, 0.0};
    for (const Vec3d& point : body.points) {
        const Vec3d from = at_low[1] * point, to = at_high[1] * point;
        const Vec3d outwards = at_middle[1] * point - at_middle[1].translation;
        if (of_one == 1) printed.points.push_back(0.5 * (from + to));
        if (of_one == 2) printed.points.push_back(from + share * outwards), printed.points.push_back(to + share * outwards);
        printed.radius = max_of(printed.radius, share * norm(point));
    }
    printed.radius += body.radius;
    return printed;
}

// The printed two points of one stand farther along the axis, so that neither volume is inside of the other; but that of a
// single point is nowhere wider.
void check_printed_arcs(Draw& draw) {
    tally.context = "printed formulas";
    const DrawnTree drawn = drawn_joint(draw, JointKind::revolute, 1.0);
    const SweptBody body = drawn_swept(draw, 1.0, 1);
    const int of_one = 1 + draw.below(2);
    JointBox box(*drawn.tree);
    box.low[0] = draw.uniform(-3, 3), box.high[0] = box.low[0] + draw.uniform(0, 1) * kPi;
    if (abs_of(drawn.joints[0].multiplier) * (box.high[0] - box.low[0]) > kPi) return;
    const SweepPlan plan(*drawn.tree, {body}, {{1, of_one}}, {0});
    Sweep sweep(plan);
    sweep.take(box);
    const SweptHull& hull = sweep.hull(1);
    const Printed printed = printed_arc(*drawn.tree, body, box.low[0], box.high[0], of_one);
    tally.expect(hull.radius <= printed.radius + 1e-13, "no ball is larger than in its printed formula", "%.9g, not %.9g",
                 hull.radius, printed.radius);
    for (int k = 0; k < 30; ++k) {
        const Vec3d along = draw.direction();
        const double out = support(hull, along), printed_out = printed.support(along);
        if (of_one == 1)
            tally.expect(out <= printed_out + 1e-13, "with one point of one no volume is larger", "%.9g, not %.9g", out,
                         printed_out);
        const double wide = out + support(hull, -along), printed_wide = printed_out + printed.support(-along);
        if (body.points.size() == 1)
            tally.expect(wide <= printed_wide + 1e-13, "the volume of one point is nowhere wider", "%.9g, not %.9g", wide,
                         printed_wide);
    }
}

// ---- Turns every way.

void check_middle_turn(Draw& draw) {
    tally.context = "middle of two turns";
    const Quaternion from = drawn_quaternion(draw);
    const int kind = draw.below(4);
    const double angle = kind == 0   ? 0.0
                         : kind == 1 ? draw.power(-12, 0)
                         : kind == 2 ? kPi - draw.power(-12, 0)
                                     : draw.uniform(0, kPi);
    const Vec3d axis = draw.direction();
    Quaternion to = product(turn_about(axis, angle), from);
    const double scale = (draw.chance(0.5) ? -1.0 : 1.0) * draw.power(-2, 2);
    for (double& part : to) part *= scale;
    double middle[4];
    const double half = middle_turn(from.data(), to.data(), middle);
    tally.expect(std::fabs(half - 0.5 * angle) < 1e-14 * 8, "it is half way", "%.17g of %.17g", half, angle);
    for (int k = 0; k <= 10; ++k) {
        const Quaternion between = product(turn_about(axis, 0.1 * k * angle), from);
        const double away = angle_between(middle, between.data());
        tally.expect(away <= half + 1e-14 * 8, "all on the way are within half of it", "%.17g, not %.17g", away, half);
    }
}

// ---- Chains of joints.

void check_chain(Draw& draw, double size) {
    Chain chain(draw, drawn_tree_of(draw, {.links = 2 + draw.below(4), .size = size}), size);
    const BoxOptions options{draw.chance(0.5) ? 0.1 : draw.power(-3, 0.8), 3.0, true};
    const JointBox box = drawn_box(draw, chain.drawn, options);
    Sweep sweep(chain.plan);
    sweep.take(box);
    if (sweep.hull(std::int32_t(chain.plan.volumes().size()) - 1).count > 4000) return;
    std::vector<Container> containers;
    for (std::size_t k = 0; k < chain.plan.volumes().size(); ++k) containers.emplace_back(sweep.hull(std::int32_t(k)));
    for (int sample = 0; sample < 25; ++sample) {
        const std::vector<double> q = drawn_from(draw, *chain.drawn.tree, box);
        for (std::size_t k = 0; k < containers.size(); ++k) {
            const SweptHull& hull = sweep.hull(std::int32_t(k));
            const Pose at = chain.placed(q, chain.plan.volumes()[k].frame);
            double farthest = -kInf;
            for (const Vec3d& point : chain.body.points) farthest = max_of(farthest, containers[k].sticks_out(at * point));
            double far = hull.extent;
            for (const Pose& frame : chain.frames) far = max_of(far, norm(frame.translation));
            tally.expect(farthest + chain.body.radius <= 64.0 * kEpsilon * far,
                         "volumes contain what chains of joints sweep", "%.3g of %.3g sticks out of volume %zu",
                         farthest + chain.body.radius, far, k);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    constexpr JointKind kKinds[] = {JointKind::revolute, JointKind::prismatic, JointKind::planar, JointKind::floating,
                                    JointKind::ball};
    for (const double size : {1.0, 1e-3, 1e3}) {
        tally.context = "one joint, size " + std::to_string(size);
        for (const JointKind kind : kKinds)
            for (int k = 0; k < (kind == JointKind::revolute ? 400 : 80) * effort; ++k) check_one_joint(draw, kind, size);
    }
    for (int k = 0; k < 1000 * effort; ++k) check_printed_arcs(draw);
    for (int k = 0; k < 1000 * effort; ++k) check_middle_turn(draw);
    for (const double size : {1.0, 1e-3, 1e3}) {
        tally.context = "chain, size " + std::to_string(size);
        for (int k = 0; k < 60 * effort; ++k) check_chain(draw, size);
    }
    return tally.finish();
}
