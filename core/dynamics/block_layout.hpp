#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "closest/element.hpp"

namespace clearance {

// Where bodies may be. Along periodic axes, what leaves on one side comes in on the other.
struct Room {
    Vec3d lower{0, 0, 0}, upper{0, 0, 0};  // matter along periodic axes only
    std::array<bool, 3> is_periodic{false, false, false};
};

struct BlockNumber {
    std::array<std::int32_t, 3> axis{0, 0, 0};
    auto operator<=>(const BlockNumber&) const = default;
};

// Blocks from the lower to below the upper one.
struct BlockBox {
    BlockNumber lower, upper;
    bool contains(const BlockNumber& block) const {
        bool is_inside = true;
        for (std::size_t k = 0; k < 3; ++k) is_inside &= lower.axis[k] <= block.axis[k] && block.axis[k] < upper.axis[k];
        return is_inside;
    }
};

// Space cut into blocks with a colour each, one of eight. A pair of bodies belongs to the block of the middle between them
// (Bowers, Dror and Shaw, The midpoint method for parallelization of particle simulations, 2006). Blocks are wider than
// the reach of a pair, so pairs in two blocks of one colour never have a body in common: they can be treated at the same
// time, in any order, with the same result.
class BlockLayout {
public:
    static constexpr int kColours = 8;
    static constexpr std::int32_t kFarthest = 1 << 29;

    BlockLayout() = default;
    // Pairs reach as far as from centre to centre; blocks are so many times wider where there is space for several of them.
    // Throws std::invalid_argument if a body could meet its own image.
    BlockLayout(const Room& room, double reach, double wider = 2.0);

    const Room& room() const { return room_; }
    double reach() const { return reach_; }
    Vec3d period() const { return period_; }  // zero along axes that are not periodic

    Vec3d wrapped(const Vec3d& point) const;
    BlockNumber block_of(const Vec3d& point) const;
    int colour_of(const BlockNumber& block) const;
    BlockBox everywhere() const;

    // How far a coordinate is from a box of blocks, along its axis: zero inside. And a point along each axis, at most.
    double distance_along(std::size_t axis, double x, const BlockBox& box) const;
    double distance(const Vec3d& point, const BlockBox& box) const;

private:
    Room room_;
    double reach_ = 1.0;
    Vec3d period_{0, 0, 0}, width_{1, 1, 1};
    std::array<std::int32_t, 3> counts_{0, 0, 0};  // of blocks along periodic axes
};

}  // namespace clearance
