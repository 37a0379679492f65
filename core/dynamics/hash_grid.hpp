#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "closest/element.hpp"

namespace clearance {

// Balls in cubes that are as large as the balls: one grid for the largest ball, and one for each time that its cubes are
// halved. A ball lies in the cube of its centre and meets only balls of the same grid, or of one with larger cubes, that lie
// in neighbouring cubes. Only cubes with something in them take memory.
class HashGrid {
public:
    void insert(std::span<const Ball> balls, std::span<const std::int32_t> members);
    std::size_t size() const { return entries_.size(); }

    // Every pair of balls that overlap, each once, whose first one is among the entries from begin to end, of those pairs
    // that may. Returns how many pairs of balls were tested.
    template <class Filter, class Action>
    std::int64_t for_meeting(std::size_t begin, std::size_t end, std::span<const Ball> balls, const Filter& may_meet,
                             const Action& action) const {
        std::int64_t tests = 0;
        for (std::size_t k = begin; k < end; ++k) {
            const Entry& one = entries_[k];
            const Ball& a = balls[static_cast<std::size_t>(one.member)];
            const auto test = [&](const Entry& other) {
                if (!may_meet(one.member, other.member)) return;
                ++tests;
                const Ball& b = balls[static_cast<std::size_t>(other.member)];
                const double reach = a.radius + b.radius;
                if (norm_sq(a.centre - b.centre) <= reach * reach) action(one.member, other.member);
            };
            for_entries(one.cube, [&](const Entry& other) {
                if (other.member > one.member) test(other);
            });
            for (int n = kNeighbours / 2 + 1; n < kNeighbours; ++n) for_entries(neighbour(one.cube, n), test);
            for (const int level : levels_) {
                if (level >= one.cube.level) continue;
                const Cube middle = cube_of(a.centre, level);
                for (int n = 0; n < kNeighbours; ++n) for_entries(neighbour(middle, n), test);
            }
        }
        return tests;
    }

private:
    static constexpr int kNeighbours = 27;  // the cube itself in the middle of them

    struct Cube {
        std::int64_t x, y, z;
        int level;  // how often the largest cube was halved
        bool operator==(const Cube&) const = default;
    };
    struct Entry {
        Cube cube;
        std::int32_t member;
    };

    static Cube neighbour(const Cube& cube, int n) {
        return {cube.x + n % 3 - 1, cube.y + n / 3 % 3 - 1, cube.z + n / 9 - 1, cube.level};
    }
    int level_of(double radius) const;
    Cube cube_of(const Vec3d& point, int level) const;
    std::size_t place_of(const Cube& cube) const;

    template <class Action>
    void for_entries(const Cube& cube, const Action& action) const {
        const std::size_t place = place_of(cube);
        for (std::uint32_t k = starts_[place]; k < starts_[place + 1]; ++k)
            if (entries_[k].cube == cube) action(entries_[k]);
    }

    double largest_ = 1.0;                // cube
    std::vector<Entry> entries_, found_;  // by their places in the table
    std::vector<std::uint32_t> starts_;   // of entries, for each place
    std::vector<int> levels_;
};

}  // namespace clearance
