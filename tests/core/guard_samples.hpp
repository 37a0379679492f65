#pragma once

// Boxes of joint values, bodies that joints sweep, and hulls to contain them, for the checks of what guards know.
#include <algorithm>
#include <numbers>

#include "motion/tangent_sweep.hpp"
#include "robot_samples.hpp"

namespace clearance::samples {

constexpr double kPi = std::numbers::pi;

// ---- Rotations.

inline Quaternion drawn_quaternion(Draw& draw) {
    const double length = draw.chance(0.7) ? 1.0 : draw.power(-3, 3);
    const Quaternion turn = turn_about(draw.direction(), draw.uniform(-2.0 * kPi, 2.0 * kPi));
    return {length * turn[0], length * turn[1], length * turn[2], length * turn[3]};
}

// ---- Boxes of joint values.

// How wide a box is, in units of a radian and of the size of the robot.
inline double drawn_width(Draw& draw, double widest) {
    const int kind = draw.below(10);
    return kind == 0 ? 0.0 : kind <= 3 ? widest * draw.power(-8, 0) : widest * draw.uniform(0, 1);
}

struct BoxOptions {
    double widest = 1.0, farthest = 1.5;
    bool endless = false;  // infinite ends where all that follow a value turn
};

inline bool only_turns(const KinematicTree& tree, std::int32_t value) {
    return std::all_of(tree.frames().begin(), tree.frames().end(), [&](const Frame& frame) {
        return frame.value != value || frame.kind == JointKind::revolute || frame.kind == JointKind::fixed;
    });
}

inline JointBox drawn_box(Draw& draw, const DrawnTree& drawn, const BoxOptions& options) {
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
inline double drawn_from(Draw& draw, double low, double high) {
    if (!std::isfinite(low + high))
        return (std::isfinite(low) ? low : std::isfinite(high) ? high : 0.0) + draw.uniform(-7, 7);
    const int kind = draw.below(4);
    return kind == 0 ? low : kind == 1 ? high : min_of(max_of(low + draw.uniform(0, 1) * (high - low), low), high);
}

inline std::vector<double> drawn_from(Draw& draw, const KinematicTree& tree, const JointBox& box) {
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

inline SweptBody drawn_swept(Draw& draw, double size, std::int32_t frame) {
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

inline std::vector<Vec3d> points_of(const SweptHull& hull) {
    std::vector<Vec3d> points;
    for (std::size_t k = 0; k < std::size_t(hull.count); ++k) points.push_back(hull.point(k));
    return points;
}

inline double support(const SweptHull& hull, const Vec3d& along) {
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

// ---- Chains of joints.

inline int drawn_points_of_one(Draw& draw, JointKind kind) {
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

inline std::vector<int> drawn_operators(Draw& draw, const KinematicTree& tree) {
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

}  // namespace clearance::samples
