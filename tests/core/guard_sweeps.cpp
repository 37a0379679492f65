// What joints sweep: volumes contain every body wherever its joints take it, by all operators and in all frames; they are
// not larger than the printed formulas make them; and bounds along tangents and between boxes hold.
//
//     guard_sweeps [effort = 1] [seed = 1]
#include <algorithm>
#include <numbers>

#include "motion/tangent_sweep.hpp"
#include "robot_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

constexpr double kPi = std::numbers::pi;

// ---- Rotations.

using Quaternion = std::array<double, 4>;  // x, y, z, w

Quaternion product(const Quaternion& p, const Quaternion& q) {
    return {p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1], p[3] * q[1] - p[0] * q[2] + p[1] * q[3] + p[2] * q[0],
            p[3] * q[2] + p[0] * q[1] - p[1] * q[0] + p[2] * q[3], p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2]};
}

Quaternion turn_about(const Vec3d& axis, double angle) {
    const double s = std::sin(0.5 * angle);
    return {s * axis.x, s * axis.y, s * axis.z, std::cos(0.5 * angle)};
}

Quaternion drawn_quaternion(Draw& draw) {
    const double length = draw.chance(0.7) ? 1.0 : draw.power(-3, 3);
    const Quaternion turn = turn_about(draw.direction(), draw.uniform(-2.0 * kPi, 2.0 * kPi));
    return {length * turn[0], length * turn[1], length * turn[2], length * turn[3]};
}

double angle_between(const double* a, const double* b) {
    double length_a = 0.0, length_b = 0.0;
    for (int k = 0; k < 4; ++k) length_a += a[k] * a[k], length_b += b[k] * b[k];
    length_a = std::sqrt(length_a), length_b = std::sqrt(length_b);
    double sum_sq = 0.0, difference_sq = 0.0;
    for (int k = 0; k < 4; ++k) {
        const double sum = a[k] / length_a + b[k] / length_b, difference = a[k] / length_a - b[k] / length_b;
        sum_sq += sum * sum, difference_sq += difference * difference;
    }
    return 4.0 * std::atan2(std::sqrt(min_of(sum_sq, difference_sq)), std::sqrt(max_of(sum_sq, difference_sq)));
}

// ---- Boxes of joint values.

// How wide a box is, in units of a radian and of the size of the robot.
double drawn_width(Draw& draw, double widest) {
    const int kind = draw.below(10);
    return kind == 0 ? 0.0 : kind <= 3 ? widest * draw.power(-8, 0) : widest * draw.uniform(0, 1);
}

struct BoxOptions {
    double widest = 1.0, farthest = 1.5;
    bool endless = false;  // infinite ends where all that follow a value turn
};

bool only_turns(const KinematicTree& tree, std::int32_t value) {
    return std::all_of(tree.frames().begin(), tree.frames().end(), [&](const Frame& frame) {
        return frame.value != value || frame.kind == JointKind::revolute || frame.kind == JointKind::fixed;
    });
}

JointBox drawn_box(Draw& draw, const DrawnTree& drawn, const BoxOptions& options) {
    JointBox box(*drawn.tree);
    for (const Frame& frame : drawn.tree->frames()) {
        const auto value = std::size_t(frame.value);
        const bool turns_about = has_quaternion(frame.kind);
        const auto slides = std::size_t(turns_about ? values_before_quaternion(frame.kind) : values_of(frame.kind));
        for (std::size_t k = value; k < value + slides; ++k) {
            box.low[k] = drawn.unit[k] * draw.uniform(-options.farthest, options.farthest);
            box.high[k] = box.low[k] + drawn.unit[k] * drawn_width(draw, options.widest);
            if (options.endless && slides == 1 && draw.chance(0.1) && only_turns(*drawn.tree, frame.value))
                (draw.chance(0.5) ? box.low[k] = -kInf : box.high[k] = kInf);
        }
        if (!turns_about) continue;
        const Quaternion turn = drawn_quaternion(draw);
        std::copy(turn.begin(), turn.end(), box.low.begin() + std::ptrdiff_t(value + slides));
        box.high[value + slides] = drawn_width(draw, options.widest);
    }
    return box;
}

// Ends as often as anything between them.
double drawn_from(Draw& draw, double low, double high) {
    if (!std::isfinite(low + high))
        return (std::isfinite(low) ? low : std::isfinite(high) ? high : 0.0) + draw.uniform(-7, 7);
    const int kind = draw.below(4);
    return kind == 0 ? low : kind == 1 ? high : min_of(max_of(low + draw.uniform(0, 1) * (high - low), low), high);
}

std::vector<double> drawn_from(Draw& draw, const KinematicTree& tree, const JointBox& box) {
    std::vector<double> q(std::size_t(tree.dof()));
    for (const Frame& frame : tree.frames()) {
        const auto value = std::size_t(frame.value);
        const bool turns_about = has_quaternion(frame.kind);
        const auto slides = std::size_t(turns_about ? values_before_quaternion(frame.kind) : values_of(frame.kind));
        for (std::size_t k = value; k < value + slides; ++k) q[k] = drawn_from(draw, box.low[k], box.high[k]);
        if (!turns_about) continue;
        const double* low = box.low.data() + value + slides;
        const double angle = drawn_from(draw, 0.0, min_of(box.high[value + slides], kPi));
        const Quaternion turn = product(turn_about(draw.direction(), angle), {low[0], low[1], low[2], low[3]});
        std::copy(turn.begin(), turn.end(), q.begin() + std::ptrdiff_t(value + slides));
    }
    return q;
}

// ---- Bodies and what contains them.

SweptBody drawn_swept(Draw& draw, double size, std::int32_t frame) {
    SweptBody body{{}, draw.chance(0.3) ? 0.0 : 0.1 * length(draw, size), frame};
    const int count = draw.chance(0.3) ? 1 : 1 + draw.below(9);
    const Vec3d centre = draw.chance(0.5) ? Vec3d{0, 0, 0} : size * draw.in_cube();
    for (int k = 0; k < count; ++k) {
        body.points.push_back(centre + length(draw, size) * draw.in_cube());
        if (draw.chance(0.1)) body.points.back() = body.points.front();
        if (draw.chance(0.05)) body.points.back() = {0, 0, 0};
    }
    return body;
}

std::vector<Vec3d> points_of(const SweptHull& hull) {
    std::vector<Vec3d> points;
    for (std::size_t k = 0; k < std::size_t(hull.count); ++k) points.push_back(hull.point(k));
    return points;
}

double support(const SweptHull& hull, const Vec3d& along) {
    double highest = -kInf;
    for (const Vec3d& point : points_of(hull)) highest = max_of(highest, dot(along, point));
    return highest + hull.radius;
}

// A hull that says how far points stick out of it.
class Container {
public:
    explicit Container(const SweptHull& hull) : hull_(hull), body_(body_of(hull)) {}

    double sticks_out(const Vec3d& point) const {
        Pose at;
        at.translation = point;
        Work work;
        const Body spot({part_of(Convex{Element{1, {}, 0.0}, 0.0}, Pose{})});
        const Gap gap = distance(body_, Pose{}, spot, at, {.near_enough = 0.9 * hull_.radius}, work);
        return gap.lower - hull_.radius;
    }

private:
    static Body body_of(const SweptHull& hull) {
        return Body({part_of(Convex{std::make_shared<const Hull>(points_of(hull)), 0.0}, Pose{})});
    }
    SweptHull hull_;
    Body body_;
};

// ---- One joint and one body.

int drawn_points_of_one(Draw& draw, JointKind kind) {
    constexpr int kPlanar[3] = {1, 2, 8};
    switch (kind) {
        case JointKind::revolute:
            return 1 + draw.below(16);
        case JointKind::planar:
            return kPlanar[draw.below(3)];
        default:
            return draw.chance(0.5) ? 1 : most_points_of_one(kind);
    }
}

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

double support(const Printed& printed, const Vec3d& along) {
    double highest = -kInf;
    for (const Vec3d& point : printed.points) highest = max_of(highest, dot(along, point));
    return highest + printed.radius;
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
        const double out = support(hull, along), printed_out = support(printed, along);
        if (of_one == 1)
            tally.expect(out <= printed_out + 1e-13, "with one point of one no volume is larger", "%.9g, not %.9g", out,
                         printed_out);
        const double wide = out + support(hull, -along), printed_wide = printed_out + support(printed, -along);
        if (body.points.size() == 1)
            tally.expect(wide <= printed_wide + 1e-13, "the volume of one point is nowhere wider", "%.9g, not %.9g", wide,
                         printed_wide);
    }
}

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

std::vector<int> drawn_operators(Draw& draw, const KinematicTree& tree) {
    std::vector<int> of_one;
    int budget = 2000;  // points of the last volume per point of the body
    for (const Frame& frame : tree.frames()) {
        const int count = drawn_points_of_one(draw, frame.kind);
        of_one.push_back(count <= budget ? count : 1);
        budget /= of_one.back();
    }
    return of_one;
}

// A body at the end of some joints, and one box.
struct Chain {
    DrawnTree drawn;
    SweptBody body;
    SweepPlan plan;
    std::vector<Pose> frames;

    Chain(Draw& draw, DrawnTree tree, double size)
        : drawn(std::move(tree)),
          body(drawn_swept(draw, 0.3 * size, std::int32_t(drawn.tree->frames().size()) - 1)),
          plan(*drawn.tree, {body}, {drawn_operators(draw, *drawn.tree)}, {0}),
          frames(drawn.tree->frames().size()) {}

    // Where a point of the body is, seen from a frame before it.
    Pose placed(const std::vector<double>& q, std::int32_t from) {
        drawn.tree->place(q.data(), Pose{}, frames.data());
        return inverse_times(frames[std::size_t(from)], frames[std::size_t(body.frame)]);
    }
};

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

// A volume that changes: no point of it gets farther from where it was than the bound says.
void check_change(Draw& draw, double size) {
    Chain chain(draw, drawn_tree_of(draw, {.links = 2 + draw.below(4), .size = size}), size);
    const JointBox before = drawn_box(draw, chain.drawn, {draw.power(-3, 0.5), 3.0});
    JointBox now = before;
    const double step = draw.power(-6, 0);
    for (const Frame& frame : chain.drawn.tree->frames())
        for (std::size_t k = std::size_t(frame.value); k < std::size_t(frame.value + values_of(frame.kind)); ++k) {
            if (has_quaternion(frame.kind) && int(k) >= frame.value + values_before_quaternion(frame.kind)) {
                now.low[k] += step * draw.normal();
                if (int(k) == frame.value + values_before_quaternion(frame.kind))
                    now.high[k] = max_of(now.high[k] + step * draw.normal(), 0.0);
                continue;
            }
            const double unit = step * chain.drawn.unit[k];
            now.low[k] += unit * draw.normal(), now.high[k] = max_of(now.high[k] + unit * draw.normal(), now.low[k]);
        }
    Sweep one(chain.plan), other(chain.plan);
    one.take(before), other.take(now);
    for (std::size_t k = 0; k < chain.plan.volumes().size(); ++k) {
        const auto volume = std::int32_t(k);
        const SweptHull &was = one.hull(volume), &is = other.hull(volume);
        const double change = other.change(volume, one);
        double most = -kInf;
        for (int direction = 0; direction < 20; ++direction) {
            const Vec3d along = draw.direction();
            most = max_of(most, support(is, along) - support(was, along));
        }
        const auto point = std::size_t(draw.below(is.count));
        const Vec3d moved = is.point(point) - was.point(point);
        if (norm(moved) > 0.0)
            most = max_of(most, support(is, (1.0 / norm(moved)) * moved) - support(was, (1.0 / norm(moved)) * moved));
        tally.expect(most <= change + 16.0 * kEpsilon * (is.extent + was.extent), "no point of a volume changes by more",
                     "%.9g, bound %.9g", most, change);
    }
    const BoxChange bound(*chain.drawn.tree, {chain.body});
    std::vector<Container> containers;
    for (std::size_t k = 0; k < chain.plan.volumes().size(); ++k) containers.emplace_back(one.hull(std::int32_t(k)));
    for (int sample = 0; sample < 10; ++sample) {
        const std::vector<double> q = drawn_from(draw, *chain.drawn.tree, now);
        for (std::size_t k = 0; k < containers.size(); ++k) {
            const std::int32_t frame = chain.plan.volumes()[k].frame;
            const Pose at = chain.placed(q, frame);
            double farthest = -kInf;
            for (const Vec3d& point : chain.body.points) farthest = max_of(farthest, containers[k].sticks_out(at * point));
            double far = one.hull(std::int32_t(k)).extent;
            for (const Pose& pose : chain.frames) far = max_of(far, norm(pose.translation));
            const double most = bound.of(0, frame, before, now);
            tally.expect(farthest + chain.body.radius <= most + 64.0 * kEpsilon * far,
                         "no point gets farther out of a volume", "%.9g, bound %.9g", farthest + chain.body.radius, most);
        }
    }
}

// One value only, no volume between: where the box grows, points leave it as fast as that joint moves them.
void check_box_change_of_one(Draw& draw) {
    tally.context = "growth of one interval";
    Chain chain(draw, drawn_tree_of(draw, {.links = 2 + draw.below(4), .size = 1.0, .floats = false}), 1.0);
    if (chain.drawn.tree->dof() == 0) return;
    const JointBox before = drawn_box(draw, chain.drawn, {0.5, 3.0});
    JointBox now = before;
    const auto value = std::size_t(draw.below(chain.drawn.tree->dof()));
    now.high[value] += draw.power(-6, 0);
    const BoxChange bound(*chain.drawn.tree, {chain.body});
    const double most = bound.of(0, 0, before, now);
    for (int sample = 0; sample < 20; ++sample) {
        std::vector<double> q = drawn_from(draw, *chain.drawn.tree, now);
        q[value] = now.high[value];
        const Pose out = chain.placed(q, 0);
        q[value] = before.high[value];
        const Pose edge = chain.placed(q, 0);
        double farthest = 0.0;
        for (const Vec3d& point : chain.body.points) farthest = max_of(farthest, norm(out * point - edge * point));
        tally.expect(farthest <= most + 1e-13, "points leave a box no faster than joints move them", "%.9g, bound %.9g",
                     farthest, most);
    }
}

// ---- Tangents.

struct Used {
    double sum = 0.0;
    long count = 0;
    double mean() const { return sum / double(count); }
};

// No point gets farther along any direction than along tangents, with a ball; and none advances where that is denied.
void check_tangents(Draw& draw, double size, double widest, Used& never) {
    Chain chain(draw, drawn_tree_of(draw, {.links = 2 + draw.below(5), .size = size, .floats = draw.chance(0.1)}), size);
    const KinematicTree& tree = *chain.drawn.tree;
    const JointBox box = drawn_box(draw, chain.drawn, {widest, 3.0});
    Sweep sweep(chain.plan);
    sweep.take(box);
    std::vector<double> about = drawn_from(draw, tree, box);
    std::vector<Pose> frames(tree.frames().size());
    tree.place(about.data(), Pose{}, frames.data());
    TangentSweep tangents(chain.plan, sweep);
    const auto volume = std::size_t(draw.below(int(chain.plan.volumes().size())));
    const std::int32_t ancestor = chain.plan.volumes()[volume].frame;
    bool turns_about = false;
    for (std::int32_t k = chain.body.frame; k != ancestor; k = tree.frames()[std::size_t(k)].parent)
        turns_about = turns_about || has_quaternion(tree.frames()[std::size_t(k)].kind);
    const bool is_known = tangents.set_up(0, ancestor, about.data(), frames.data(), box);
    tally.expect(is_known == !turns_about, "tangents are known unless a joint turns every way");
    if (!is_known) return;
    double far = size;
    for (const Pose& frame : frames) far = max_of(far, norm(frame.translation));
    const double ball = tangents.radius() - chain.body.radius;
    const Pose start = inverse_times(frames[std::size_t(ancestor)], frames[std::size_t(chain.body.frame)]);
    const auto top = [&](const Pose& at, const Vec3d& along) {
        double highest = -kInf;
        for (const Vec3d& point : chain.body.points) highest = max_of(highest, dot(along, at * point));
        return highest;
    };
    // Directions in which a value that only grows or shrinks takes a point back are those that may never advance.
    const std::vector<double> other = drawn_from(draw, tree, box);
    const Vec3d back = start * chain.body.points[0] - chain.placed(other, ancestor) * chain.body.points[0];
    for (int direction = 0; direction < 6; ++direction) {
        const Vec3d along = direction < 2 && norm(back) > 1e-12 * far ? (1.0 / norm(back)) * back : draw.direction();
        const double highest = dot(along, tangents.farthest(along)) + ball, now = top(start, along);
        const bool stays = tangents.never_advances(along);
        never.sum += stays && widest > 0.0, ++never.count;
        for (int sample = 0; sample < 12; ++sample) {
            const double then = top(chain.placed(drawn_from(draw, tree, box), ancestor), along);
            tally.expect(then <= highest + 64.0 * kEpsilon * far, "no point gets beyond its tangents",
                         "%.17g, bound %.17g, size %.3g", then, highest, far);
            if (stays)
                tally.expect(then <= now + 64.0 * kEpsilon * far, "what never advances does not advance",
                             "%.17g, from %.17g, size %.3g", then, now, far);
        }
    }
}

// A point on an arm that turns away: one joint, which begins at the end of its interval.
void check_receding(Draw& draw) {
    tally.context = "receding";
    const Joint joint{JointKind::revolute, 0, 1, drawn_pose(draw, 1.0), draw.direction()};
    const auto tree = std::make_shared<const KinematicTree>(2, std::vector<Joint>{joint});
    const SweptBody body{{draw.in_cube()}, 0.1, 1};
    const SweepPlan plan(*tree, {body}, {{1, 2}}, {0});
    JointBox box(*tree);
    const double width = draw.power(-6, -1), q = draw.uniform(-3, 3);
    box.low[0] = q, box.high[0] = q + width;
    Sweep sweep(plan);
    sweep.take(box);
    Pose frames[2];
    tree->place(&q, Pose{}, frames);
    TangentSweep tangents(plan, sweep);
    tangents.set_up(0, 0, &q, frames, box);
    const Vec3d way = cross(frames[1].rotation * joint.axis, frames[1].rotation * body.points[0]);
    if (norm(way) < 1e-3) return;
    const Vec3d ahead = (1.0 / norm(way)) * way;
    tally.expect(tangents.never_advances(-ahead), "what turns away does not advance");
    tally.expect(!tangents.never_advances(ahead), "what turns towards it does");
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
        tally.context = "change, size " + std::to_string(size);
        for (int k = 0; k < 60 * effort; ++k) check_change(draw, size);
    }
    for (int k = 0; k < 200 * effort; ++k) check_box_change_of_one(draw);
    Used never;
    for (const double widest : {1e-4, 1e-2, 0.3, 2.0}) {
        tally.context = "tangents, width " + std::to_string(widest);
        for (int k = 0; k < 200 * effort; ++k) check_tangents(draw, draw.power(-3, 3), widest, never);
    }
    tally.context = "tangents";
    tally.expect(never.mean() > 0.02 && never.mean() < 0.9, "some never advance, some do", "%.3g", never.mean());
    for (int k = 0; k < 200 * effort; ++k) check_receding(draw);
    return tally.finish();
}
