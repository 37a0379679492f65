#pragma once

#include "motion/sweep.hpp"

namespace clearance {

// What a body can touch while joints stay in a box, as if it moved along tangents, and by how much that may be wrong.
//
// Let d be how far each joint is from where it is expanded about. A point of the body is within r(d) of p + sum g_k d_k,
// where g_k are its derivatives at zero and
//     r(d) = 1/2 sum m_jk |d_j| |d_k|
// with m_jk a bound for second derivatives: where j is nearer to the base than k, or the same, it is how fast joint k can
// move the point if j turns, and zero if j slides. This is of second order in the width of the box, while volumes that
// follow a joint with one point are wrong in the first order.
class TangentSweep {
public:
    TangentSweep(const SweepPlan& plan, const Sweep& sweep) : plan_(&plan), sweep_(&sweep) {
        steps_.reserve(3 * plan.tree().frames().size());
    }
    void use(const Sweep& sweep) { sweep_ = &sweep; }

    // What the joints beyond a frame may do to a body. `frames` are the poses of all frames where the joints are expanded
    // about, and `q` their values there. False if that is not known: where a floating or ball joint is among them.
    bool set_up(std::int32_t body, std::int32_t ancestor, const double* q, const Pose* frames, const JointBox& box);

    // The point farthest along a direction that the core of the body reaches on tangents, seen from the ancestor.
    Vec3d farthest(const Vec3d& along) const;
    double radius() const;  // of a ball that makes up for everything else: the radius of the body, and what tangents miss

    // How far along a direction the core of the body is where the joints are expanded about, and whether it never gets
    // farther.
    double height(const Vec3d& along) const;
    bool never_advances(const Vec3d& along) const;

    // Whether every joint is at an end of its range: else something advances, whatever the direction.
    bool goes_one_way() const;

    // Floating point operations to find a farthest point.
    std::int64_t operations() const { return 50 + core().count * (20 + 25 * static_cast<std::int64_t>(steps_.size())); }

private:
    struct Step {
        Vec3d axis, origin;  // in the frame of the ancestor
        bool turns;
        std::int32_t value;
        double multiplier;
        double low, high;   // of what it does itself, from where it is expanded about,
        double from, to;    // and of the value that it follows
        double speed;       // at which it can move a point
        double bend = 0.0;  // sum of second derivatives, weighted so that squares bound all products
    };
    const SweptHull& core() const { return sweep_->hull(plan_->first_volume(body_)); }
    double reach_of_joint(std::int32_t joint) const;
    void set_bends();
    static Vec3d tangent(const Step& step, const Vec3d& point) {
        return step.turns ? cross(step.axis, point - step.origin) : step.axis;
    }
    Vec3d advanced(const Vec3d& point, const Vec3d& along) const;

    const SweepPlan* plan_;
    const Sweep* sweep_;
    std::int32_t body_ = 0;
    Pose ancestor_from_body_;
    std::vector<Step> steps_;  // from the body to the ancestor
    double off_ = 0.0;         // what tangents miss
};

}  // namespace clearance
