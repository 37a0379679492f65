// How far what joints sweep can get: bounds between volumes and between boxes hold, and so do those along tangents.
//
//     guard_tangents [effort = 1] [seed = 1]
#include "guard_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

// ---- Boxes that change.

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
    for (const double size : {1.0, 1e-3, 1e3}) {
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
