#include "motion/choose_points.hpp"

#include <algorithm>

namespace clearance {
namespace {

constexpr double kThird = 0.57735026918962576451, kHalf = 0.70710678118654752440;

// The axes, the diagonals of their planes and those of the cube.
constexpr Vec3d kDirections[13] = {{1, 0, 0},
                                   {0, 1, 0},
                                   {0, 0, 1},
                                   {kHalf, kHalf, 0},
                                   {kHalf, -kHalf, 0},
                                   {kHalf, 0, kHalf},
                                   {kHalf, 0, -kHalf},
                                   {0, kHalf, kHalf},
                                   {0, kHalf, -kHalf},
                                   {kThird, kThird, kThird},
                                   {kThird, kThird, -kThird},
                                   {kThird, -kThird, kThird},
                                   {-kThird, kThird, kThird}};

double mean_width(const SweptHull& hull) {
    double sum = 0.0;
    for (const Vec3d& along : kDirections)
        sum += dot(along, hull.point(hull.farthest(along))) - dot(along, hull.point(hull.farthest(-along)));
    return sum / std::size(kDirections) + 2.0 * hull.radius;
}

// One body with its operators: how many points its volumes have, and how wide they are together.
struct Choice {
    std::int32_t points;
    double width;
};

Choice choice_of(const KinematicTree& tree, const SweptBody& body, std::int32_t last_frame, const std::vector<int>& of_one,
                 const JointBox& box) {
    const SweepPlan plan(tree, {body}, {of_one}, {last_frame});
    Sweep sweep(plan);
    sweep.take(box);
    Choice choice{plan.points(), 0.0};
    for (std::size_t k = 1; k < plan.volumes().size(); ++k)
        choice.width += mean_width(sweep.hull(static_cast<std::int32_t>(k)));
    return choice;
}

// How many points the volumes of a body would have: more than integers hold, perhaps.
double points_swept(const KinematicTree& tree, const SweptBody& body, const std::vector<int>& of_one,
                    std::int32_t last_frame) {
    double count = static_cast<double>(body.points.size()), sum = 0.0;
    for (std::int32_t k = body.frame; k != last_frame; k = tree.frames()[static_cast<std::size_t>(k)].parent)
        count *= of_one[static_cast<std::size_t>(k)], sum += count;
    return sum;
}

// What a joint may make of one point instead of what it makes now.
std::vector<int> more_points(JointKind kind, int now) {
    if (kind == JointKind::planar)
        return now < 2 ? std::vector<int>{2, 8} : now < 8 ? std::vector<int>{8} : std::vector<int>{};
    if (kind != JointKind::revolute)
        return now < most_points_of_one(kind) ? std::vector<int>{most_points_of_one(kind)} : std::vector<int>{};
    return now < 2 ? std::vector<int>{2} : now < 6 ? std::vector<int>{now + 1, now + 2} : std::vector<int>{};
}

// The best step for one body.
struct Step {
    double gain = 0.0;  // width per point
    std::int32_t points = 0, frame = -1;
    int of_one = 1;
};

Step best_step(const KinematicTree& tree, const SweptBody& body, std::int32_t last_frame, std::vector<int> of_one,
               const JointBox& box, std::int32_t room) {
    const Choice now = choice_of(tree, body, last_frame, of_one, box);
    Step best;
    for (std::int32_t k = body.frame; k != last_frame; k = tree.frames()[static_cast<std::size_t>(k)].parent) {
        int& at = of_one[static_cast<std::size_t>(k)];
        const int before = at;
        for (const int other : more_points(tree.frames()[static_cast<std::size_t>(k)].kind, before)) {
            at = other;
            const Choice then = choice_of(tree, body, last_frame, of_one, box);
            const std::int32_t points = then.points - now.points;
            const double gain = (now.width - then.width) / points;
            if (points <= room && gain > best.gain) best = {gain, points, k, other};
        }
        at = before;
    }
    return best;
}

}  // namespace

SweepPlan::PointsOfOne choose_points(const KinematicTree& tree, const std::vector<SweptBody>& bodies,
                                     const std::vector<std::int32_t>& last_frame, const JointBox& box,
                                     std::int32_t most_points) {
    SweepPlan::PointsOfOne chosen(bodies.size(), std::vector<int>(tree.frames().size(), 1));
    std::int32_t room = most_points - SweepPlan(tree, bodies, chosen, last_frame).points();
    std::vector<Step> steps(bodies.size());
    const auto look = [&](std::size_t k) { steps[k] = best_step(tree, bodies[k], last_frame[k], chosen[k], box, room); };
    for (std::size_t k = 0; k < bodies.size(); ++k) look(k);
    while (true) {
        const auto best =
            std::max_element(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.gain < b.gain; });
        if (best == steps.end() || best->frame < 0) return chosen;
        const auto body = static_cast<std::size_t>(best - steps.begin());
        if (best->points <= room) {
            chosen[body][static_cast<std::size_t>(best->frame)] = best->of_one;
            room -= best->points;
        }
        look(body);
    }
}

void limit_points(const KinematicTree& tree, const std::vector<SweptBody>& bodies,
                  const std::vector<std::int32_t>& last_frame, std::int32_t most_points,
                  SweepPlan::PointsOfOne& points_of_one) {
    const auto points = [&] {
        double sum = 0.0;
        for (std::size_t k = 0; k < bodies.size(); ++k)
            sum += points_swept(tree, bodies[k], points_of_one[k], last_frame[k]);
        return sum;
    };
    for (std::size_t frame = 1; frame < tree.frames().size() && points() > most_points; ++frame)
        for (std::vector<int>& of_body : points_of_one) of_body[frame] = 1;
}

}  // namespace clearance
