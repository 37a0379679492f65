#pragma once

#include <chrono>
#include <optional>

#include "guard/braking.hpp"
#include "guard/model.hpp"
#include "guard/pursuit.hpp"
#include "motion/tangent_sweep.hpp"

namespace clearance {

struct GuardOptions {
    Braking braking;
    std::vector<double> lower, upper;  // limits of all values
    double margin = 0.0;
    std::int64_t budget = std::numeric_limits<std::int64_t>::max();  // operations in a cycle; as many as it takes by default
    double seconds = std::numeric_limits<double>::infinity();        // the same as time
    double timeout = std::numeric_limits<double>::infinity();        // between two updates
    std::vector<double> speeds = {};  // of obstacles that may move, in the order of the model's movers
};

// One cycle of the control loop. Without q and qd, or with NaN anywhere, something should be known and is not; the others
// may be left out.
struct GuardInput {
    const double *q, *qd;
    const double* command = nullptr;  // accelerations
    std::optional<double> time = {};  // in seconds
    struct Seen {
        std::int32_t body;  // of the cell
        Pose pose;          // in the world
    };
    std::span<const Seen> moving = {};  // where obstacles are that may move
};

enum class GuardReason {
    clear,     // nothing comes nearer than its margin before the robot stands still
    receding,  // what is nearer than its margin already comes no nearer
    pair,      // a pair may come too near
    budget,    // it takes longer to tell
    input,     // there is none, or it is no number
    stale,     // it comes too late, or from the past
};

struct GuardVerdict {
    bool stop = true;
    GuardReason reason = GuardReason::input;
    double lower = -std::numeric_limits<double>::infinity();           // of the critical pair, until the robot stands still
    std::int32_t pair = -1;                                            // of the cell
    Gap present{};                                                     // of its critical parts now, in the world
    double time_to_contact = std::numeric_limits<double>::infinity();  // if all joints went on as fast as now
    double stopping_time = 0.0;
    std::int64_t work = 0;  // operations that count towards the budget
    std::int64_t iterations = 0;
};

// Watches a robot among obstacles: says in every cycle whether it may wait one more before it brakes. It keeps a table of
// lower bounds for the distances of all pairs of swept volumes. What the volumes change by in a cycle is subtracted, and
// what is left of a budget goes into steps of GJK: first where a pair is not proved to be safe, then in turn. After Taeubig,
// Baeuml and Frese (2011), section IV.
//
// A cycle allocates nothing and takes no locks. One thread at a time may use a guard; the cell must outlive it.
class Guard {
public:
    Guard(const Cell& cell, const GuardModel::Options& model, GuardOptions options);
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    GuardVerdict update(const GuardInput& input);
    void reset();  // as if nothing had been seen yet

    const Cell& cell() const { return *cell_; }
    const GuardModel& model() const { return model_; }
    const JointBox& box() const { return box_; }  // where joints may get to by the last update,
    const Sweep& swept() const { return *now_; }  // and what is swept then
    double bound(std::int32_t pair) const;        // of a pair of the cell, over all its parts

private:
    struct Entry {
        Pursuit pursuit;
        std::int64_t renewed = -1;  // in which cycle
        double extra;               // a bound that holds in this cycle only
        bool is_receding;
    };
    struct Obstacle {
        double speed = 0.0;
        double seen = std::numeric_limits<double>::quiet_NaN();  // when
        bool is_known = false;
    };

    GuardReason check(const GuardInput& input) const;
    bool place_obstacles(const GuardInput& input);
    void carry_over();
    bool can_afford(std::int64_t operations) const;
    double margin(std::size_t k) const { return model_.pairs()[k].margin + options_.margin; }
    bool is_proved(std::size_t k) const {
        return max_of(bounds_[k], entries_[k].extra) > margin(k) || entries_[k].is_receding;
    }
    void step_by_balls(std::size_t k);
    void step(std::size_t k);
    bool pursue(std::size_t k);
    bool look_closer(std::size_t k);
    bool prove_all();
    void go_round();
    void place_middle();
    bool bound_by_tangents(std::size_t k);
    bool may_recede(const GuardPair& pair);
    double kept_apart(const GuardPair& pair, const Vec3d& normal) const;
    Gap present(const GuardPair& pair) const;
    double closing_speed(const GuardPair& pair, const Gap& gap, const double* qd);
    std::size_t critical() const;
    GuardVerdict verdict(const GuardInput& input, bool is_decided);
    const GuardPart& part(std::int32_t k) const { return model_.parts()[static_cast<std::size_t>(k)]; }
    std::int64_t operations(const GuardPair& pair) const;

    const Cell* cell_;
    GuardModel model_;
    GuardOptions options_;
    Sweep one_, other_, *now_ = &one_, *before_ = &other_;
    TangentSweep tangent_a_, tangent_b_;
    JointBox box_;
    std::vector<double> q_, middle_;            // now, and in the middle of the box
    std::vector<double> row_;                   // by velocity
    std::vector<Pose> frames_, middle_frames_;  // seen from the base
    std::vector<Entry> entries_;                // by pair of the model,
    std::vector<double> bounds_;
    std::vector<double> changes_;  // by volume
    struct BallAround {
        Ball ball;
        std::int64_t cycle = -1;
    };
    const Ball& ball_around(std::int32_t volume);
    std::vector<BallAround> balls_;       // by volume, where they were asked for
    std::vector<std::int32_t> compared_;  // volumes that pairs need
    std::vector<Obstacle> obstacles_;     // by body of the cell
    bool has_bounds_ = false, has_middle_ = false;
    std::size_t start_ = 0, turn_ = 0;  // where to go on
    std::int64_t cycle_ = 0, work_ = 0, iterations_ = 0;
    std::optional<double> last_time_;
    double stopping_time_ = 0.0;
    std::chrono::steady_clock::time_point began_;
};

}  // namespace clearance
