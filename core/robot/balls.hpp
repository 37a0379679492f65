#pragma once

#include <bit>

#include "robot/cell.hpp"
#include "robot/kernels.hpp"

namespace clearance {

// The balls around the bodies of a cell at one configuration, compared eight at a time. Centres are kept as they are, and
// as floats about the base of the robot, in units of the size of the largest ball.
class BallSieve {
public:
    explicit BallSieve(const Cell& cell);

    void take(const Pose* frames);

    const Vec3d& centre(std::int32_t body) const { return centres_[static_cast<std::size_t>(body)]; }

    // Calls visit(pair) for the pairs of a row whose balls may be as near as `within`.
    template <class Visit>
    void for_near(const Cell::Row& row, double within, const Visit& visit) const {
        std::uint8_t near[kTile];
        for (std::size_t begin = 0; begin < row.there.size(); begin += kTile) {
            const std::size_t octets = std::min(kTile, row.there.size() - begin);
            robot_kernels().near_balls(lanes(), {static_cast<std::size_t>(row.first) + 8 * begin, octets}, point(row.body),
                                       reach(row.body, within), near);
            for (std::size_t k = 0; k < octets; ++k)
                for (unsigned bits = near[k] & row.there[begin + k]; bits != 0; bits &= bits - 1)
                    visit(row.pair[8 * (begin + k) + static_cast<std::size_t>(std::countr_zero(bits))]);
        }
    }

    // The pair of a row whose balls overlap most, or come nearest: how near, and a distance that one pair does not exceed.
    struct Nearest {
        std::int32_t pair;
        double apart, upper;
    };
    Nearest nearest(const Cell::Row& row) const;

private:
    static constexpr std::size_t kTile = 16;  // octets

    struct Mover {
        std::int32_t body, frame;
        Vec3d centre;
    };

    BallLanes lanes() const { return {x_.data(), y_.data(), z_.data(), radius_.data()}; }
    Vec3<float> point(std::int32_t body) const {
        const auto k = static_cast<std::size_t>(body);
        return {x_[k], y_[k], z_[k]};
    }
    float reach(std::int32_t body, double within) const;
    void put(std::size_t body, const Vec3d& centre);

    std::vector<Mover> movers_;
    std::vector<Vec3d> centres_;
    std::vector<float> x_, y_, z_, radius_;
    Vec3d about_;
    double unit_ = 1.0, largest_radius_ = 0.0;
    double extent_ = 0.0, extent_of_standing_ = 0.0;  // no coordinate about the base is larger than this
    double slack_ = 0.0;                              // of comparisons, in units
};

}  // namespace clearance
