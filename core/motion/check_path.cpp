#include "motion/check_path.hpp"

#include <algorithm>
#include <queue>

#include "motion/motion_bound.hpp"

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Stretches in which nothing moves farther than this, compared with the tolerance (at most a millimetre), are not halved.
constexpr double kResolution = 1e-3, kLargestTolerance = 1e-3;
constexpr std::int64_t kMostConfigurations = 1000000;  // of either search: after that things stay as they are

using Pairs = std::vector<std::int32_t>;

struct Stretch {
    double begin, end;
    Pairs pairs;   // that are not proved
    double lower;  // of their clearance
    double middle() const { return 0.5 * (begin + end); }
};

class Check {
public:
    Check(const Cell& cell, const Path& path, const PathQuestion& question)
        : cell_(cell),
          path_(path),
          question_(question),
          posture_(cell),
          motion_(cell),
          q_(static_cast<std::size_t>(cell.tree().dof())),
          steps_(static_cast<std::size_t>(cell.tree().velocities())) {}

    PathReport run() {
        report_.lower = report_.upper = kInfinity;
        for (const StandingPair& standing : cell_.standing()) look_at_standing(standing);
        if (!report_.first_violation) find_first_violation();
        report_.clear = !report_.first_violation;
        if (question_.tolerance < kInfinity)
            bracket_least_clearance();
        else
            report_.lower = -kInfinity;
        if (report_.pair >= 0) measure_worst();
        // The search for the least clearance may prove what the search for violations gave up.
        if (report_.lower > question_.margin) report_.clear = true, report_.first_violation.reset();
        if (report_.clear) report_.lower = max_of(report_.lower, min_of(question_.margin, report_.upper));
        return report_;
    }

private:
    double margin_of(std::int32_t pair) const { return cell_.pairs()[static_cast<std::size_t>(pair)].margin; }
    double resolution() const { return kResolution * min_of(question_.tolerance, kLargestTolerance); }

    // Surfaces have no inside: their distance is never negative.
    double least_of(std::int32_t pair) const {
        const auto all_surfaces = [&](std::int32_t body) {
            const auto& parts = cell_.bodies()[static_cast<std::size_t>(body)].body.parts();
            return std::all_of(parts.begin(), parts.end(),
                               [](const Part& part) { return surface_of(part) != nullptr && !is_cloud(part); });
        };
        const CellPair& of = cell_.pairs()[static_cast<std::size_t>(pair)];
        return all_surfaces(of.a) || all_surfaces(of.b) ? -of.margin : -kInfinity;
    }

    void look_at_standing(const StandingPair& standing) {
        const double margin = margin_of(standing.pair);
        note(standing.gap, standing.pair, path_.breaks.front());
        report_.lower = min_of(report_.lower, standing.gap.lower - margin);
        if (standing.gap.distance - margin <= question_.margin)
            report_.first_violation = {path_.breaks.front(), path_.breaks.front()};
    }

    void note(const Gap& gap, std::int32_t pair, double t) {
        const double upper = gap.upper - margin_of(pair);
        if (upper < report_.upper) report_.upper = upper, report_.pair = pair, report_.t_worst = t;
    }

    // Gaps are known no closer than it took to decide, and not of all pairs; where it is worst they are measured in full.
    void measure_worst() {
        const double t = report_.t_worst;
        path_.at(t, q_.data());
        posture_->take(q_.data());
        const auto limit = [&](std::int32_t pair) { return report_.upper + margin_of(pair); };
        const auto near = posture_->near(cell_.moving(), limit, report_.work);
        for (const NearPair& one : near)
            note(posture_->gap(one.pair, {.at_most = limit(one.pair)}, report_.work), one.pair, t);
        report_.upper = max_of(report_.upper, report_.lower);
    }

    bool is_given_up(std::int64_t most) const {
        return report_.configurations > most || (question_.is_over && question_.is_over());
    }

    void take(const Stretch& stretch) {
        ++report_.configurations;
        path_.at(stretch.middle(), q_.data());
        path_.steps(stretch.begin, stretch.end, steps_.data());
        posture_->take(q_.data());
        motion_.set(*posture_, steps_.data());
    }

    std::vector<Stretch> whole() const {
        const Pairs all(cell_.moving().begin(), cell_.moving().end());
        std::vector<Stretch> stretches;
        for (std::size_t k = 0; k + 1 < path_.breaks.size(); ++k)
            stretches.push_back({path_.breaks[k], path_.breaks[k + 1], all, -kInfinity});
        return stretches;
    }

    // What is known of a stretch once it is looked at.
    struct Looked {
        bool is_violated = false;  // in the middle
        double motion = 0.0;       // of the pairs that are not proved for all of it, at most
        double proved = 1.0;       // for them: this fraction of it, around the middle
    };

    // What moves by `motion` on the way to the ends can use up `room` no sooner than at this fraction of the way.
    static double fraction_of(double room, double motion) {
        if (room > motion) return kInfinity;
        if (motion > 0.0) return max_of(0.0, (1.0 - 1e-6) * room / motion);
        return room > 0.0 ? 1.0 : 0.0;
    }

    // The stretches before and after the part around the middle that is proved.
    static std::pair<Stretch, Stretch> sides_of(const Stretch& stretch, double proved) {
        const double half = min_of(proved, 1.0) * 0.5 * (stretch.end - stretch.begin), middle = stretch.middle();
        return {{stretch.begin, middle - half, stretch.pairs, stretch.lower},
                {middle + half, stretch.end, stretch.pairs, stretch.lower}};
    }

    // A pair that balls and boxes do not prove for the whole of a stretch.
    struct Open {
        std::int32_t pair;
        double lower, motion;  // its distance in the middle is at least this, and shrinks by no more than that
        double proved;         // the fraction that follows from these
    };

    // Such pairs of a stretch, the least proved first: they have to stay above floor(pair) on the whole way.
    template <class Floor>
    std::span<Open> open_pairs(const Stretch& stretch, const Floor& floor) {
        const auto needed = [&](std::int32_t pair) { return floor(pair) + motion_.of(pair); };
        open_.clear();
        for (const NearPair& near : posture_->near(stretch.pairs, needed, report_.work)) {
            const double motion = motion_.of(near.pair);
            open_.push_back({near.pair, near.lower, motion, fraction_of(near.lower - floor(near.pair), motion)});
        }
        std::sort(open_.begin(), open_.end(), [](const Open& one, const Open& other) {
            return one.proved < other.proved || (one.proved == other.proved && one.pair < other.pair);
        });
        return open_;
    }

    // Pairs are measured as long as their bounds leave them the least proved.
    Looked look_for_violation(Stretch& stretch) {
        take(stretch);
        Looked looked;
        const double t = stretch.middle();
        const auto floor = [&](std::int32_t pair) { return question_.margin + margin_of(pair); };
        const std::span<Open> open = open_pairs(stretch, floor);
        for (Open& one : open) {
            if (one.proved >= looked.proved) break;
            const double least = floor(one.pair), most = least + looked.proved * one.motion;
            const Gap gap = posture_->gap(one.pair, {.at_most = most, .near_enough = least}, report_.work);
            note(gap, one.pair, t);
            looked.is_violated = looked.is_violated || gap.distance <= least;
            one.lower = max_of(one.lower, gap.lower);
            looked.proved = min_of(looked.proved, fraction_of(one.lower - least, one.motion));
        }
        stretch.pairs.clear();
        for (const Open& one : open) {
            if (one.lower > floor(one.pair) + one.motion) continue;
            looked.motion = max_of(looked.motion, one.motion);
            stretch.pairs.push_back(one.pair);
        }
        return looked;
    }

    // In the order of time, so that what was proved lies before what was not.
    void find_first_violation() {
        std::vector<Stretch> stack = whole();
        std::reverse(stack.begin(), stack.end());
        while (!stack.empty()) {
            Stretch stretch = std::move(stack.back());
            stack.pop_back();
            const Looked looked = look_for_violation(stretch);
            if (stretch.pairs.empty()) continue;
            const double middle = stretch.middle();
            const bool is_short = looked.motion <= resolution() || !(stretch.begin < middle && middle < stretch.end) ||
                                  is_given_up(kMostConfigurations);
            if (is_short) {
                report_.first_violation = {stretch.begin, stretch.end};
                return;
            }
            auto [before, after] = sides_of(stretch, looked.proved);
            if (looked.is_violated) {
                // Nothing later matters.
                stack.clear();
                after.end = after.begin;
            }
            stack.push_back(std::move(after));
            stack.push_back(std::move(before));
        }
    }

    // Nothing above this matters any more.
    double enough() const { return report_.upper - 0.999 * question_.tolerance; }

    // Looks at a stretch for the least clearance: pairs that cannot come below what is known are left out. Gives the
    // fraction around the middle in which none of the others can.
    double look_for_least(Stretch& stretch) {
        take(stretch);
        const double t = stretch.middle();
        const auto floor = [&](std::int32_t pair) { return report_.upper + margin_of(pair); };
        double settled = 1.0;
        const auto settled_by = [&](const Open& one) {
            return fraction_of(one.lower - margin_of(one.pair) - enough(), one.motion);
        };
        const std::span<Open> open = open_pairs(stretch, floor);
        for (Open& one : open) {
            if (settled_by(one) >= settled) continue;
            const Gap gap = posture_->gap(one.pair, {.at_most = floor(one.pair) + one.motion}, report_.work);
            note(gap, one.pair, t);
            one.lower = max_of(one.lower, gap.lower);
            settled = min_of(settled, settled_by(one));
        }
        stretch.pairs.clear();
        double lower = kInfinity;
        for (const Open& one : open) {
            const double least = max_of(one.lower - margin_of(one.pair) - one.motion, least_of(one.pair));
            if (least >= enough())
                left_out_ = min_of(left_out_, least);
            else
                lower = min_of(lower, least), stretch.pairs.push_back(one.pair);
        }
        if (!stretch.pairs.empty() && settled > 0.0) left_out_ = min_of(left_out_, enough());
        stretch.lower = max_of(stretch.lower, lower);
        return settled;
    }

    // Best first: the stretch with the least bound is halved, until nothing can be lower than what was found.
    void bracket_least_clearance() {
        const auto is_later = [](const Stretch& one, const Stretch& other) { return one.lower > other.lower; };
        std::vector<Stretch> heap = whole();
        left_out_ = kInfinity;
        double remaining = kInfinity;
        const std::int64_t most = report_.configurations + kMostConfigurations;
        while (!heap.empty()) {
            std::pop_heap(heap.begin(), heap.end(), is_later);
            Stretch stretch = std::move(heap.back());
            heap.pop_back();
            const bool is_enough = stretch.lower >= enough();
            if (is_enough || is_given_up(most)) {
                remaining = stretch.lower;
                break;
            }
            const double settled = look_for_least(stretch);
            if (stretch.pairs.empty()) continue;
            const double middle = stretch.middle();
            if (!(stretch.begin < middle && middle < stretch.end)) {
                left_out_ = min_of(left_out_, stretch.lower);
                continue;
            }
            auto [before, after] = sides_of(stretch, settled);
            for (Stretch* side : {&before, &after}) {
                heap.push_back(std::move(*side));
                std::push_heap(heap.begin(), heap.end(), is_later);
            }
        }
        report_.lower = min_of(report_.lower, min_of(report_.upper, min_of(left_out_, remaining)));
    }

    const Cell& cell_;
    const Path& path_;
    const PathQuestion question_;
    const Cell::Lease posture_;
    MotionBound motion_;
    std::vector<double> q_, steps_;
    std::vector<Open> open_;
    double left_out_ = kInfinity;
    PathReport report_;
};

}  // namespace

PathReport check_path(const Cell& cell, const Path& path, const PathQuestion& question) {
    return Check(cell, path, question).run();
}

}  // namespace clearance
