#pragma once

#include <algorithm>

#include "robot/cell.hpp"

namespace clearance {

// A pair that may be near, and what balls and boxes prove of it.
struct NearPair {
    std::int32_t pair;
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
    const Pose& pose(std::int32_t body) const { return places_[static_cast<std::size_t>(body)].pose; }
    Ball ball(std::int32_t body) const {
        const auto k = static_cast<std::size_t>(body);
        return {places_[k].ball_centre, cell_->bodies()[k].body.ball().radius};
    }

    struct BoxAt {
        Vec3d centre, side[3];  // in the world; sides are half as long as those of the box
    };
    BoxAt box(std::int32_t body) const {
        const Place& at = places_[static_cast<std::size_t>(body)];
        const auto side = [&](int k) {
            const double half = at.half[k];
            return half * Vec3d{at.axis[3 * k], at.axis[3 * k + 1], at.axis[3 * k + 2]};
        };
        return {at.box_centre, {side(0), side(1), side(2)}};
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

    // The same of all pairs of which a body moves; `most` is the largest of the limits.
    template <class Limit>
    std::span<const NearPair> near_all(const Limit& limit, double most, Work& work) {
        near_.clear(), waiting_ = 0;
        for (const std::int32_t pair : cell_->unbounded()) near_.push_back({pair, -std::numeric_limits<double>::infinity()});
        for (const Cell::Row& row : cell_->rows())
            for_near_balls(row, most, [&](std::int32_t pair) { add_boxes(pair, limit(pair), work); });
        for (const Cell::Row& row : cell_->met())
            cell_->obstacles().for_near(ball(row.body), most, work.volume_tests, [&](std::int32_t body) {
                const auto k = static_cast<std::size_t>(body - row.first);
                if (k < row.pair.size() && row.pair[k] >= 0) add_boxes(row.pair[k], limit(row.pair[k]), work);
            });
        if (waiting_ > 0) bound_boxes(work);
        return sorted();
    }

    // Whether a pair is no farther apart than a limit.
    bool is_within(std::int32_t pair, double limit, Work& work);

    // The gap of one pair.
    Gap gap(std::int32_t pair, const Question& question, Work& work);

    // One minimum over all pairs of which a body moves, surfaces in one forest.
    NearestPair nearest(double at_most, Work& work);

private:
    struct Place {
        Pose pose;
        Vec3d ball_centre, box_centre;
        float axis[9], half[3];
        double size;  // half of the diagonal of the box
        bool is_finite, is_single;
        bool is_placed;  // its parts as well
    };

    // Pairs of a row whose balls may be as near as `within`; all of them are compared at once.
    template <class Visit>
    void for_near_balls(const Cell::Row& row, double within, const Visit& visit) const {
        const auto at = static_cast<std::size_t>(row.body);
        const double x = balls_.x[at], y = balls_.y[at], z = balls_.z[at];
        const double reach = balls_.radius[at] + within + 64.0 * kEpsilon * extent_;
        constexpr std::size_t kTile = 32;
        for (std::size_t begin = 0; begin < row.pair.size(); begin += kTile) {
            const std::size_t count = std::min(kTile, row.pair.size() - begin), first = row.first + begin;
            double beyond[kTile];
            for (std::size_t k = 0; k < count; ++k) {
                const double dx = balls_.x[first + k] - x, dy = balls_.y[first + k] - y, dz = balls_.z[first + k] - z;
                const double radii = max_of(reach + balls_.radius[first + k], 0.0);
                beyond[k] = dx * dx + dy * dy + dz * dz - radii * radii;
            }
            for (std::size_t k = 0; k < count; ++k)
                if (!(beyond[k] > 0.0) && row.pair[begin + k] >= 0) visit(row.pair[begin + k]);
        }
    }

    const CellPair& pair_at(std::int32_t pair) const { return cell_->pairs()[static_cast<std::size_t>(pair)]; }
    Place& place_at(std::int32_t body) { return places_[static_cast<std::size_t>(body)]; }
    const Body& body_at(std::int32_t body) const { return cell_->bodies()[static_cast<std::size_t>(body)].body; }
    void put(std::size_t body, const Pose& pose);
    const PlacedBody& placed(std::int32_t body);
    bool proved_by_balls(std::int32_t pair, double limit);
    double ball_bound(std::int32_t pair);
    void add_boxes(std::int32_t pair, double limit, Work& work);
    void bound_boxes(Work& work);
    void add_near(std::int32_t pair, double apart, double limit);
    std::span<const NearPair> sorted();
    struct Start {
        std::int32_t pair;
        double upper;
    };
    Start start();
    bool has_surface(std::int32_t pair) const {
        return body_at(pair_at(pair).a).has_surface() || body_at(pair_at(pair).b).has_surface();
    }
    bool open(std::int32_t pair, double at_most, Gap& found, Work& work);

    const Cell* cell_;
    std::vector<Pose> frames_;
    std::vector<Place> places_;
    BallColumns balls_;                               // around all bodies,
    double extent_ = 0.0, extent_of_standing_ = 0.0;  // and no coordinate of them larger than this
    std::vector<PlacedBody> bodies_;

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
