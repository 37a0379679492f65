#pragma once

#include "motion/sweep.hpp"

namespace clearance {

// How far a body can get along one direction while the joints stay in a box, to second order of the width of the box.
//
// Let d be how far each joint is from where it is expanded about. A point of the body is at the height
//     h(d) <= h(0) + sum g_k d_k + 1/2 sum m_jk |d_j| |d_k|
// where g_k are the derivatives at zero, and m_jk bounds second derivatives: where j is nearer to the base than k, or the
// same, it is how fast joint k can move the point if j turns, and zero if j slides.
class DirectionBound {
public:
    DirectionBound(const SweepPlan& plan, const Sweep& sweep) : plan_(&plan), sweep_(&sweep) {
        steps_.reserve(3 * plan.tree().frames().size()), slopes_.resize(static_cast<std::size_t>(plan.tree().dof()));
    }
    void use(const Sweep& sweep) { sweep_ = &sweep; }

    // What the joints beyond a frame may do to a body. `frames` are the poses of all frames where the joints are expanded
    // about, and `q` their values there. False if that is not known: where a floating joint is among them.
    bool set_up(std::int32_t body, std::int32_t ancestor, const double* q, const Pose* frames, const JointBox& box);

    // No point of the core of the body gets higher along a unit vector, both seen from the ancestor.
    double highest(const Vec3d& along);

    // Nor gets any point higher than the highest is where the joints are expanded about.
    bool never_rises(const Vec3d& along);

    // Floating point operations that one of the two takes.
    std::int64_t operations() const;

private:
    struct Step {
        Vec3d axis, origin;   // in the frame of the ancestor
        bool turns;
        std::int32_t value;
        double multiplier;
        double low, high;     // of its own value, from where it is expanded about
        double speed;         // at which it can move a point, per unit of its value
        double bend = 0.0;    // sum of second derivatives, weighted so that squares bound all products
    };
    double reach_of_joint(std::int32_t joint) const;
    void set_bends();
    double slope(const Step& step, const Vec3d& point, const Vec3d& along) const;

    const SweepPlan* plan_;
    const Sweep* sweep_;
    std::int32_t body_ = 0;
    Pose ancestor_from_body_;
    std::vector<Step> steps_;  // from the body to the ancestor
    double remainder_ = 0.0;
    std::vector<double> slopes_;
};

}  // namespace clearance
