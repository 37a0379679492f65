#include "dynamics/block_layout.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace clearance {
namespace {

constexpr double kLeastWider = 2.0;  // than the reach: larger blocks are fewer
constexpr double kSeveral = 8.0;     // blocks along a period, rather than wider ones

double& at(Vec3d& v, std::size_t axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
double at(const Vec3d& v, std::size_t axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

}  // namespace

BlockLayout::BlockLayout(const Room& room, double reach, double wider) : room_(room), reach_(reach) {
    for (std::size_t k = 0; k < 3; ++k) {
        at(width_, k) = wider * reach;
        if (!room.is_periodic[k]) continue;
        const double period = at(room.upper, k) - at(room.lower, k);
        if (!(period >= 2.0 * reach))
            throw std::invalid_argument("a periodic room must be at least twice as wide as the largest body and its way.");
        // An even number, so that the colours of the first and the last differ; or one.
        const double wanted = min_of(wider * reach, max_of(kLeastWider * reach, period / kSeveral));
        const double pairs = std::min(std::floor(period / (2.0 * wanted)), 1e8);
        counts_[k] = pairs >= 1.0 ? 2 * static_cast<std::int32_t>(pairs) : 1;
        at(period_, k) = period, at(width_, k) = period / counts_[k];
    }
}

Vec3d BlockLayout::wrapped(const Vec3d& point) const {
    Vec3d result = point;
    for (std::size_t k = 0; k < 3; ++k) {
        if (!room_.is_periodic[k]) continue;
        const double lower = at(room_.lower, k), upper = at(room_.upper, k), period = at(period_, k);
        double& x = at(result, k);
        if (x < lower || x >= upper) x -= period * std::floor((x - lower) / period);
        if (x < lower || x >= upper) x = lower;  // by rounding
    }
    return result;
}

BlockNumber BlockLayout::block_of(const Vec3d& point) const {
    BlockNumber block;
    for (std::size_t k = 0; k < 3; ++k) {
        const double cell = std::floor((at(point, k) - at(room_.lower, k)) / at(width_, k));
        const auto number = static_cast<std::int32_t>(min_of(max_of(cell, -kFarthest), kFarthest));
        const std::int32_t count = counts_[k];
        block.axis[k] = count == 0 ? number : (number % count + count) % count;
    }
    return block;
}

int BlockLayout::colour_of(const BlockNumber& block) const {
    return (block.axis[0] & 1) | (block.axis[1] & 1) << 1 | (block.axis[2] & 1) << 2;
}

BlockBox BlockLayout::everywhere() const {
    BlockBox box;
    for (std::size_t k = 0; k < 3; ++k) {
        box.lower.axis[k] = counts_[k] == 0 ? -kFarthest : 0;
        box.upper.axis[k] = counts_[k] == 0 ? kFarthest + 1 : counts_[k];
    }
    return box;
}

double BlockLayout::distance_along(std::size_t axis, double x, const BlockBox& box) const {
    const double origin = at(room_.lower, axis), width = at(width_, axis);
    const bool is_open_below = counts_[axis] == 0 && box.lower.axis[axis] <= -kFarthest;
    const bool is_open_above = counts_[axis] == 0 && box.upper.axis[axis] > kFarthest;
    const double below = is_open_below ? 0.0 : origin + width * box.lower.axis[axis] - x;
    const double above = is_open_above ? 0.0 : x - (origin + width * box.upper.axis[axis]);
    return max_of(0.0, max_of(below, above));
}

double BlockLayout::distance(const Vec3d& point, const BlockBox& box) const {
    return max_of(distance_along(0, point.x, box), max_of(distance_along(1, point.y, box), distance_along(2, point.z, box)));
}

}  // namespace clearance
