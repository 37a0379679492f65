#pragma once

#include "robot/asked_gaps.hpp"
#include "robot/balls.hpp"
#include "robot/cell.hpp"
#include "robot/kernels.hpp"

namespace clearance {

// A pair that may be near, and what balls and boxes prove of it.
struct NearPair {
    std::int32_t pair;
    Vec3<float> towards;  // from a to b, the direction in which their boxes are farthest apart or overlap least
    double lower;
};

// The nearest of some pairs; the number is negative where none is as near as asked.
struct NearestPair {
    Gap gap;
    std::int32_t pair = -1;
};

// A cell at one configuration. Answers depend on nothing that was asked before.
class Posture {
public:
    explicit Posture(const Cell& cell);

    void take(const double* q);
    const Pose* frames() const { return frames_.data(); }
    const Pose& pose(std::int32_t body) const {
        const CellBody& of = cell_->bodies()[static_cast<std::size_t>(body)];
        return of.frame > 0 ? frames_[static_cast<std::size_t>(of.frame)] : of.stand;
    }
    Ball ball(std::int32_t body) const { return {balls_.centre(body), body_at(body).ball().radius}; }

    struct BoxAt {
        Vec3d centre, side[3];  // in the world; sides are half as long as those of the box
    };
    BoxAt box(std::int32_t body) const {
        const OrientedBox& box = cell_->bodies()[static_cast<std::size_t>(body)].box;
        const Pose& at = pose(body);
        return {at * box.centre,
                {at.rotation * (box.half.x * box.axis[0]), at.rotation * (box.half.y * box.axis[1]),
                 at.rotation * (box.half.z * box.axis[2])}};
    }

    // Those of some pairs that neither balls nor boxes prove to be farther apart than limit(pair), nearest bounds first.
    template <class Limit>
    std::span<const NearPair> near(std::span<const std::int32_t> pairs, const Limit& limit, Work& work) {
        near_.clear(), waiting_ = 0;
        for (const std::int32_t pair : pairs) {
            const double most = limit(pair);
            if (proved_by_balls(pair, most)) continue;
            add_boxes(pair, most, work);
        }
        if (waiting_ > 0) bound_boxes(work);
        return sorted();
    }

    // The same of all pairs of which a body moves, in any order; `most` is the largest of the limits.
    template <class Limit>
    std::span<const NearPair> near_all_unsorted(const Limit& limit, double most, Work& work) {
        near_.clear(), waiting_ = 0;
        for (const std::int32_t pair : cell_->unbounded()) add_unbounded(pair);
        for (const Cell::Row& row : cell_->rows())
            balls_.for_near(row, most, [&](std::int32_t pair) { add_boxes(pair, limit(pair), work); });
        for (const Cell::Row& row : cell_->met())
            cell_->obstacles().for_near(ball(row.body), most, work.volume_tests, [&](std::int32_t body) {
                const auto k = static_cast<std::size_t>(body - row.first);
                if (k < row.pair.size() && row.pair[k] >= 0) add_boxes(row.pair[k], limit(row.pair[k]), work);
            });
        if (waiting_ > 0) bound_boxes(work);
        return near_;
    }

    // Nearest bounds first.
    template <class Limit>
    std::span<const NearPair> near_all(const Limit& limit, double most, Work& work) {
        near_all_unsorted(limit, most, work);
        return sorted();
    }

    // Whether a pair is no farther apart than a limit. A direction that may separate them is worth trying first.
    bool is_within(std::int32_t pair, double limit, Work& work) { return is_within({pair, {0, 0, 0}, 0.0}, limit, work); }
    bool is_within(const NearPair& near, double limit, Work& work);

    // The gap of one pair. Those of many are asked for, beside those of other configurations; once they are found, they are
    // written to their places in a list of all pairs.
    Gap gap(std::int32_t pair, const Question& question, Work& work);
    void ask(std::span<const std::int32_t> pairs, AskedGaps& gaps);
    void take(std::span<const std::int32_t> pairs, AskedGaps& from, Gap* gaps, Work& work);

    // One minimum over all pairs of which a body moves, surfaces in one forest.
    NearestPair nearest(double at_most, Work& work);

private:
    // A box around a body, as the kernel wants it.
    struct BoxPlace {
        Vec3d centre;
        float axis[9], half[3];
        double size;                 // half of the diagonal
        std::uint64_t placed_at;     // the configuration that it was placed for, and its parts:
        std::uint64_t parts_placed;  // most bodies are far from all others, and need neither
        bool is_finite, is_single;
    };

    const CellPair& pair_at(std::int32_t pair) const { return cell_->pairs()[static_cast<std::size_t>(pair)]; }
    BoxPlace& place_at(std::int32_t body) { return places_[static_cast<std::size_t>(body)]; }
    const Body& body_at(std::int32_t body) const { return cell_->bodies()[static_cast<std::size_t>(body)].body; }
    bool is_single(std::int32_t pair) { return place_at(pair_at(pair).a).is_single && place_at(pair_at(pair).b).is_single; }
    const BoxPlace& boxed(std::int32_t body);
    void put_box(std::int32_t body);
    const PlacedBody& placed(std::int32_t body);
    const Body& seen(std::int32_t body) const;
    const PlacedBody& placed_seen(std::int32_t body);
    bool is_seen_by_hulls(std::int32_t pair) const;
    Gap gap_from(const Gap& of_hulls, std::int32_t pair, const Question& question, Work& work);
    bool proved_by_balls(std::int32_t pair, double limit) const;
    double ball_bound(std::int32_t pair) const;
    void add_unbounded(std::int32_t pair) { near_.push_back({pair, {0, 0, 0}, -std::numeric_limits<double>::infinity()}); }
    void add_boxes(std::int32_t pair, double limit, Work& work);
    void bound_boxes(Work& work);
    std::span<const NearPair> sorted();
    struct Start {
        std::int32_t pair;
        double upper;
    };
    Start start() const;
    bool has_surface(std::int32_t pair) const {
        return body_at(pair_at(pair).a).has_surface() || body_at(pair_at(pair).b).has_surface();
    }
    bool open(const NearPair& near, double at_most, Gap& found, Work& work);
    struct Best;
    void look_at(const NearPair& near, double at_most, Best& best, Work& work);
    double look_at_overlapping(double at_most, Best& best, Work& work);

    const Cell* cell_;
    bool has_surfaces_ = false;
    std::vector<Pose> frames_;
    BallSieve balls_;
    std::vector<BoxPlace> places_;
    std::uint64_t taken_ = 0;               // configurations
    std::vector<std::uint64_t> looked_at_;  // for each pair, the question that it was last looked at for
    std::uint64_t asked_ = 0;               // questions for the nearest
    std::vector<PlacedBody> bodies_;
    struct SeenBody {
        std::optional<PlacedBody> placed;  // a hull, once it is needed
        std::uint64_t placed_at = 0;
    };
    std::vector<SeenBody> seen_bodies_;

    // Room for one question.
    std::vector<NearPair> near_;
    std::vector<PlacedPair> surfaces_;
    std::vector<std::int32_t> owner_;  // pair of each of them
    struct Waiting {
        std::int32_t pair;
        double limit, slack;
    };
    BoxPairs boxes_;
    Waiting waits_[8];
    int waiting_ = 0;
};

}  // namespace clearance
