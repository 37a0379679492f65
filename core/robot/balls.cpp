#include "robot/balls.hpp"

#include <cmath>

namespace clearance {
namespace {

constexpr double kRounding = 1e-6;  // of comparisons of floats, by the lengths that they are made of

}  // namespace

BallSieve::BallSieve(const Cell& cell) : centres_(cell.bodies().size()), about_(cell.base().translation) {
    for (const CellBody& body : cell.bodies())
        if (body.body.is_finite()) largest_radius_ = max_of(largest_radius_, body.body.ball().radius);
    unit_ = std::ldexp(1.0, std::ilogb(max_of(largest_radius_, 1e-300)));
    for (auto* column : {&x_, &y_, &z_, &radius_}) column->resize(cell.bodies().size() + 8);
    for (std::size_t k = 0; k < cell.bodies().size(); ++k) {
        const CellBody& body = cell.bodies()[k];
        const Ball& ball = body.body.ball();
        // Conversion must not make a ball smaller.
        radius_[k] = static_cast<float>((1.0 + 1e-7) * ball.radius / unit_);
        put(k, body.stand * ball.centre);
        if (body.frame > 0) movers_.push_back({static_cast<std::int32_t>(k), body.frame, ball.centre});
    }
    extent_of_standing_ = extent_;
}

void BallSieve::put(std::size_t body, const Vec3d& centre) {
    centres_[body] = centre;
    const Vec3d about = centre - about_;
    extent_ = max_of(extent_, largest(about));
    const double scale = 1.0 / unit_;
    x_[body] = static_cast<float>(scale * about.x), y_[body] = static_cast<float>(scale * about.y);
    z_[body] = static_cast<float>(scale * about.z);
}

void BallSieve::take(const Pose* frames) {
    extent_ = extent_of_standing_;
    for (const Mover& mover : movers_) put(static_cast<std::size_t>(mover.body), frames[mover.frame] * mover.centre);
    slack_ = (kRounding * (extent_ + largest_radius_) + 64.0 * kEpsilon * largest(about_)) / unit_;
}

float BallSieve::reach(std::int32_t body, double within) const {
    return static_cast<float>(static_cast<double>(radius_[static_cast<std::size_t>(body)]) + within / unit_ + slack_ +
                              kRounding * max_of(within / unit_, 0.0));
}

BallSieve::Nearest BallSieve::nearest(const Cell::Row& row) const {
    const NearestBall found =
        robot_kernels().nearest_ball(lanes(), {static_cast<std::size_t>(row.first), row.there.size()}, row.absent.data(),
                                     point(row.body), radius_[static_cast<std::size_t>(row.body)]);
    const std::int32_t pair = row.pair[static_cast<std::size_t>(found.number)];
    const double upper = static_cast<double>(found.upper);
    return {pair, unit_ * static_cast<double>(found.lower), unit_ * ((1.0 + kRounding) * upper + slack_)};
}

}  // namespace clearance
