#pragma once

#include "closest/kernels.hpp"
#include "math/vec3.hpp"

namespace clearance {

constexpr double kFirstNumbers[kPointBlock] = {0, 1, 2, 3, 4, 5, 6, 7};

CLEARANCE_INLINE std::size_t lowest_bit(unsigned bits) { return static_cast<std::size_t>(__builtin_ctz(bits | 1u << 31)); }

// The number of the point farthest along a direction: see FarthestKernel.
template <class Real>
CLEARANCE_INLINE std::size_t farthest_in(const double* blocks, std::size_t count, const Vec3d& direction) {
    constexpr std::size_t lanes = LaneTraits<Real>::count, groups = kPointBlock / lanes;
    Real along[3] = {Real(direction.x), Real(direction.y), Real(direction.z)};
    Real best[groups], at[groups], number[groups];
    for (std::size_t g = 0; g < groups; ++g) {
        best[g] = Real(-std::numeric_limits<double>::infinity()), at[g] = Real(0.0);
        number[g] = LaneTraits<Real>::load(kFirstNumbers + g * lanes);
    }
    for (std::size_t block = 0; block < count; ++block) {
        const double* from = blocks + 3 * kPointBlock * block;
        for (std::size_t g = 0; g < groups; ++g, from += lanes) {
            Real height = along[0] * LaneTraits<Real>::load(from) + along[1] * LaneTraits<Real>::load(from + kPointBlock) +
                          along[2] * LaneTraits<Real>::load(from + 2 * kPointBlock);
            at[g] = select(height > best[g], number[g], at[g]);
            best[g] = max_of(height, best[g]);
            number[g] = number[g] + Real(static_cast<double>(kPointBlock));
        }
    }
    // Which of the columns wins cannot be foreseen, so there is no branch for that.
    double height[kPointBlock], numbers[kPointBlock];
    for (std::size_t g = 0; g < groups; ++g) {
        LaneTraits<Real>::store(height + g * lanes, best[g]);
        LaneTraits<Real>::store(numbers + g * lanes, at[g]);
    }
    const Real highest(max_of(max_of(max_of(height[0], height[1]), max_of(height[2], height[3])),
                              max_of(max_of(height[4], height[5]), max_of(height[6], height[7]))));
    unsigned winners = 0;
    for (std::size_t g = 0; g < groups; ++g) winners |= bits_of(best[g] >= highest) << (g * lanes);
    return static_cast<std::size_t>(numbers[lowest_bit(winners)]);
}

}  // namespace clearance
