#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "closest/element.hpp"

namespace clearance {

// Balls in cubes that are as large as the balls: one grid for the largest ball, and one for each time that its cubes are
// halved. A ball lies in the cube of its centre and meets only balls of the same grid, or of one with larger cubes, that lie
// in neighbouring cubes. Only cubes with something in them take memory. Cubes in a row along x have places in a row, so that
// neighbours are read from memory in the order in which they lie there.
class HashGrid {
public:
    void insert(std::span<const Ball> balls, std::span<const std::int32_t> members);
    std::size_t size() const { return entries_.size(); }

    // Every pair of balls that overlap, each once, whose first one is among the entries from begin to end, of those pairs
    // that may. Returns how many pairs of balls were tested.
    template <class Filter, class Action>
    std::int64_t for_meeting(std::size_t begin, std::size_t end, const Filter& may_meet, const Action& action) const {
        std::int64_t tests = 0;
        for (std::size_t k = begin; k < end; ++k) {
            const Entry& one = entries_[k];
            const auto test = [&](const Entry& other) {
                if (!may_meet(one.member, other.member)) return;
                ++tests;
                const double reach = one.ball.radius + other.ball.radius;
                if (norm_sq(one.ball.centre - other.ball.centre) <= reach * reach) action(one.member, other.member);
            };
            for_entries(one.cube, [&](const Entry& other) {
                if (other.member > one.member) test(other);
            });
            for_entries(moved(one.cube, 1, 0, 0), test);
            for (int y = -1; y <= 1; ++y) for_row(moved(one.cube, 0, y, 1), test);
            for_row(moved(one.cube, 0, 1, 0), test);
            for (const int level : levels_) {
                if (level >= one.cube.level) continue;
                const Cube middle = cube_of(one.ball.centre, level);
                for (int z = -1; z <= 1; ++z)
                    for (int y = -1; y <= 1; ++y) for_row(moved(middle, 0, y, z), test);
            }
        }
        return tests;
    }

private:
    struct Cube {
        std::int64_t x, y, z;
        int level;  // how often the largest cube was halved
        bool operator==(const Cube&) const = default;
    };
    struct Entry {
        Cube cube;
        std::int32_t member;
        Ball ball;
    };

    static Cube moved(const Cube& cube, int x, int y, int z) { return {cube.x + x, cube.y + y, cube.z + z, cube.level}; }
    int level_of(double radius) const;
    Cube cube_of(const Vec3d& point, int level) const;
    std::size_t mask() const { return starts_.size() - 2; }
    std::size_t place_of(const Cube& cube) const;

    template <class Action>
    void for_entries(const Cube& cube, const Action& action) const {
        const std::size_t place = place_of(cube);
        for (std::uint32_t k = starts_[place]; k < starts_[place + 1]; ++k)
            if (entries_[k].cube == cube) action(entries_[k]);
    }

    // A cube and those before and after it along x.
    template <class Action>
    void for_row(const Cube& middle, const Action& action) const {
        const std::size_t place = place_of(middle);
        if (place == 0 || place == mask()) {  // the row goes on at the other end of the table
            for (int x = -1; x <= 1; ++x) for_entries(moved(middle, x, 0, 0), action);
            return;
        }
        for (std::uint32_t k = starts_[place - 1]; k < starts_[place + 2]; ++k) {
            const Cube& cube = entries_[k].cube;
            const bool is_in_row = cube.y == middle.y && cube.z == middle.z && cube.level == middle.level;
            if (is_in_row && cube.x >= middle.x - 1 && cube.x <= middle.x + 1) action(entries_[k]);
        }
    }

    double largest_ = 1.0;                // cube
    std::vector<Entry> entries_, found_;  // by their places in the table
    std::vector<std::uint32_t> starts_;   // of entries, for each place
    std::vector<int> levels_;
};

}  // namespace clearance
