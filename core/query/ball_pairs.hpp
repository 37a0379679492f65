#pragma once

#include "query/body.hpp"

namespace clearance {

// What rounding can have taken from a length between balls this far from each other's origin.
inline double ball_rounding(const Vec3d& b_origin, const Ball& a, const Ball& b) {
    return 16.0 * kEpsilon * (largest(b_origin) + largest(a.centre) + a.radius + largest(b.centre) + b.radius);
}

// The balls around the elements of two bodies, compared without square roots and several at a time.
class BallPairs {
public:
    BallPairs(const PlacedBody& a, const PlacedBody& b, const Vec3d& b_origin)
        : a_(a.balls()), b_(b.balls()), b_origin_(b_origin), slack_(ball_rounding(b_origin, a.ball(), b.ball())) {}

    struct Nearest {
        std::size_t i, j;
    };

    // The pair that overlaps most, or comes nearest, measured by what is cheap: a good one to open first.
    Nearest nearest() const {
        Nearest best{0, 0};
        double best_sq = std::numeric_limits<double>::infinity();
        for_tiles([&](std::size_t i, std::size_t begin, const double* apart_sq, const double* reach, std::size_t count) {
            for (std::size_t k = 0; k < count; ++k) {
                const double excess_sq = apart_sq[k] - reach[k] * reach[k];
                if (excess_sq < best_sq) best_sq = excess_sq, best = {i, begin + k};
            }
        });
        return best;
    }

    // Call open(i, j) for all pairs whose balls may come as near as `bound`, which open may lower meanwhile.
    template <class Open>
    void for_nearer_than(const double& bound, const Open& open) const {
        for_tiles([&](std::size_t i, std::size_t begin, const double* apart_sq, const double* reach, std::size_t count) {
            for (std::size_t k = 0; k < count; ++k) {
                const double allowed = bound + reach[k] + slack_;
                if (allowed >= 0.0 && apart_sq[k] <= allowed * allowed) open(i, begin + k);
            }
        });
    }

    // Whether one pair is among those.
    bool are_nearer_than(double bound, std::size_t i, std::size_t j) const {
        const double dx = b_.x[j] - (a_.x[i] - b_origin_.x), dy = b_.y[j] - (a_.y[i] - b_origin_.y),
                     dz = b_.z[j] - (a_.z[i] - b_origin_.z);
        const double apart_sq = dx * dx + dy * dy + dz * dz, allowed = bound + (a_.radius[i] + b_.radius[j]) + slack_;
        return allowed >= 0.0 && apart_sq <= allowed * allowed;
    }

    // Least distance of any two balls.
    double bound() const {
        double least = std::numeric_limits<double>::infinity();
        for_tiles([&](std::size_t, std::size_t, const double* apart_sq, const double* reach, std::size_t count) {
            for (std::size_t k = 0; k < count; ++k) least = min_of(least, sqrt_of(apart_sq[k]) - reach[k]);
        });
        return least - slack_;
    }

private:
    static constexpr std::size_t kTile = 64;

    template <class Visit>
    void for_tiles(const Visit& visit) const {
        double apart_sq[kTile], reach[kTile];
        for (std::size_t i = 0; i < a_.size(); ++i) {
            const double x = a_.x[i] - b_origin_.x, y = a_.y[i] - b_origin_.y, z = a_.z[i] - b_origin_.z;
            for (std::size_t begin = 0; begin < b_.size(); begin += kTile) {
                const std::size_t count = b_.size() - begin < kTile ? b_.size() - begin : kTile;
                for (std::size_t k = 0; k < count; ++k) {
                    const double dx = b_.x[begin + k] - x, dy = b_.y[begin + k] - y, dz = b_.z[begin + k] - z;
                    apart_sq[k] = dx * dx + dy * dy + dz * dz;
                    reach[k] = a_.radius[i] + b_.radius[begin + k];
                }
                visit(i, begin, apart_sq, reach, count);
            }
        }
    }

    const BallColumns& a_;
    const BallColumns& b_;
    Vec3d b_origin_;
    double slack_;
};

}  // namespace clearance
