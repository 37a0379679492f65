#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "robot/tree.hpp"

namespace clearance {

// A motion of all joints over a time from 0 to `end`. Between the times in `breaks`, and there only, steps are bounded.
class Path {
public:
    virtual ~Path() = default;
    virtual void at(double t, double* q) const = 0;
    // How far every velocity can have taken its joint from where it is in the middle, anywhere between two times.
    virtual void steps(double begin, double end, double* steps) const = 0;
    std::vector<double> breaks;  // 0 first, the end last
};

// Straight lines from one configuration to the next, one per unit of time; floating and ball joints turn on the shortest
// way.
class Waypoints : public Path {
public:
    Waypoints(const KinematicTree& tree, const double* rows, std::size_t count);
    void at(double t, double* q) const override;
    void steps(double begin, double end, double* steps) const override;

private:
    const double* row(std::size_t k) const { return rows_.data() + k * dof_; }
    std::size_t segment_of(double t) const;

    std::vector<Frame> joints_;  // one per joint of the configuration
    std::size_t dof_;
    std::size_t count_;
    std::vector<double> rows_;
};

// Whatever a function says, as long as no joint is faster than its rate.
class FreePath : public Path {
public:
    using Function = std::function<void(double t, double* q)>;
    FreePath(Function function, std::vector<double> rates);
    void at(double t, double* q) const override { function_(t, q); }
    void steps(double begin, double end, double* steps) const override;

private:
    Function function_;
    std::vector<double> rates_;
};

}  // namespace clearance
