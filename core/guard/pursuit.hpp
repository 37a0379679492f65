#pragma once

#include "convex/simplex.hpp"
#include "motion/swept_hull.hpp"

namespace clearance {

// The distance of two hulls that change from cycle to cycle, found by one step of GJK at a time. The simplex is remembered
// by numbers of points, so that the search goes on where it was.
class Pursuit {
public:
    // The hulls have changed.
    void renew(const SweptHull& a, const SweptHull& b);

    // One step: a bound that no two points of the hulls are nearer than, negative if they may overlap by so much.
    double step(const SweptHull& a, const SweptHull& b);

    // The same of a hull and all points x with normal.x <= offset: one step tells.
    double step(const SweptHull& a, const Vec3d& normal, double offset);

    // Nothing is gained by more steps.
    bool has_converged() const { return has_converged_; }
    const Vec3d& normal() const { return normal_; }  // from a to b: of the best bound since the hulls changed

    // What a step costs, in floating point operations.
    static std::int64_t operations(const SweptHull& a, const SweptHull& b) {
        return kStep + kPerBlock * static_cast<std::int64_t>(a.block_count() + b.block_count());
    }
    static std::int64_t operations(const SweptHull& a) { return kPerBlock * static_cast<std::int64_t>(a.block_count()); }

    static constexpr std::int64_t kStep = 250, kPerBlock = 48;  // of which for the simplex, and for eight points

private:
    Simplex simplex_;
    Vec3d towards_{1, 0, 0}, normal_{1, 0, 0};
    double best_ = -std::numeric_limits<double>::infinity();
    bool has_converged_ = false;
};

}  // namespace clearance
