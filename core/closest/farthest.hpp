#pragma once

#include "closest/kernels.hpp"
#include "math/vec3.hpp"

namespace clearance {

constexpr double kFirstNumbers[kPointBlock] = {0, 1, 2, 3, 4, 5, 6, 7};

CLEARANCE_INLINE std::size_t lowest_bit(unsigned bits) { return static_cast<std::size_t>(__builtin_ctz(bits | 1u << 31)); }

// Which is the highest of many values that come in blocks of eight: the first one in its column, and of equal columns the
// first, whatever the number of lanes.
template <class Real>
class Highest {
public:
    static constexpr std::size_t kLanes = LaneTraits<Real>::count, kGroups = kPointBlock / kLanes;

    CLEARANCE_INLINE Highest() {
        for (std::size_t g = 0; g < kGroups; ++g) {
            best_[g] = Real(-std::numeric_limits<double>::infinity()), at_[g] = Real(0.0);
            number_[g] = LaneTraits<Real>::load(kFirstNumbers + g * kLanes);
        }
    }

    // The next values of a group of columns.
    CLEARANCE_INLINE void consider(std::size_t group, Real value) {
        at_[group] = select(value > best_[group], number_[group], at_[group]);
        best_[group] = max_of(value, best_[group]);
        number_[group] = number_[group] + Real(static_cast<double>(kPointBlock));
    }

    // Which of the columns wins cannot be foreseen, so there is no branch for that.
    CLEARANCE_INLINE std::size_t number() const {
        double numbers[kPointBlock];
        Real highest = best_[0];
        for (std::size_t g = 0; g < kGroups; ++g) {
            highest = max_of(highest, best_[g]);
            LaneTraits<Real>::store(numbers + g * kLanes, at_[g]);
        }
        highest = LaneTraits<Real>::highest(highest);
        unsigned winners = 0;
        for (std::size_t g = 0; g < kGroups; ++g) winners |= bits_of(best_[g] >= highest) << (g * kLanes);
        return static_cast<std::size_t>(numbers[lowest_bit(winners)]);
    }

private:
    Real best_[kGroups], at_[kGroups], number_[kGroups];
};

// The number of the point farthest along a direction: see FarthestKernel. One block is compared with its highest value at
// once.
template <class Real>
CLEARANCE_INLINE std::size_t farthest_in(const double* blocks, std::size_t count, const Vec3d& direction) {
    constexpr std::size_t lanes = LaneTraits<Real>::count, groups = Highest<Real>::kGroups;
    Real along[3] = {Real(direction.x), Real(direction.y), Real(direction.z)};
    const auto height = [&](const double* from) {
        return along[0] * LaneTraits<Real>::load(from) + along[1] * LaneTraits<Real>::load(from + kPointBlock) +
               along[2] * LaneTraits<Real>::load(from + 2 * kPointBlock);
    };
    if (count == 1) {
        Real heights[groups], highest(-std::numeric_limits<double>::infinity());
        for (std::size_t g = 0; g < groups; ++g)
            heights[g] = height(blocks + g * lanes), highest = max_of(heights[g], highest);
        highest = LaneTraits<Real>::highest(highest);
        unsigned winners = 0;
        for (std::size_t g = 0; g < groups; ++g) winners |= bits_of(heights[g] >= highest) << (g * lanes);
        return lowest_bit(winners);
    }
    Highest<Real> highest;
    for (std::size_t block = 0; block < count; ++block)
        for (std::size_t g = 0; g < groups; ++g) highest.consider(g, height(blocks + 3 * kPointBlock * block + g * lanes));
    return highest.number();
}

}  // namespace clearance
