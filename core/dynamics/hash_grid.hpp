#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "closest/element.hpp"

namespace clearance {

// Balls in cubes that are as large as the balls: one grid for each power of two. A ball lies in the cube of its centre and
// meets only balls of the same grid, or of one with larger cubes, that lie in neighbouring cubes. Only cubes with something
// in them take memory.
class HashGrid {
public:
    // Every pair of balls that overlap, each once, of those that may. Returns how many pairs of balls were tested.
    template <class Filter, class Action>
    std::int64_t for_meeting(std::span<const Ball> balls, std::span<const std::int32_t> members, const Filter& may_meet,
                             const Action& action) {
        insert(balls, members);
        std::int64_t tests = 0;
        for (std::size_t k = 0; k < entries_.size(); ++k) {
            const Entry& one = entries_[k];
            for (const int level : levels_) {
                if (level < one.level) continue;
                for_neighbours(balls[static_cast<std::size_t>(one.member)].centre, level, [&](const Entry& other) {
                    if (level == one.level && other.member <= one.member) return;
                    if (!may_meet(one.member, other.member)) return;
                    ++tests;
                    const Ball &a = balls[static_cast<std::size_t>(one.member)],
                               &b = balls[static_cast<std::size_t>(other.member)];
                    const double reach = a.radius + b.radius;
                    if (norm_sq(a.centre - b.centre) <= reach * reach) action(one.member, other.member);
                });
            }
        }
        return tests;
    }

private:
    struct Cube {
        std::int64_t x, y, z;
        int level;
        bool operator==(const Cube&) const = default;
    };
    struct Entry {
        Cube cube;
        std::int32_t member;
        int level;
        std::int32_t next;  // of the same place in the table
    };

    static Cube cube_of(const Vec3d& point, int level);
    static int level_of(double radius);
    std::size_t place_of(const Cube& cube) const;
    void insert(std::span<const Ball> balls, std::span<const std::int32_t> members);

    template <class Action>
    void for_neighbours(const Vec3d& centre, int level, const Action& action) const {
        const Cube middle = cube_of(centre, level);
        for (std::int64_t x = middle.x - 1; x <= middle.x + 1; ++x)
            for (std::int64_t y = middle.y - 1; y <= middle.y + 1; ++y)
                for (std::int64_t z = middle.z - 1; z <= middle.z + 1; ++z) {
                    const Cube cube{x, y, z, level};
                    for (std::int32_t k = table_[place_of(cube)]; k >= 0; k = entries_[static_cast<std::size_t>(k)].next)
                        if (entries_[static_cast<std::size_t>(k)].cube == cube)
                            action(entries_[static_cast<std::size_t>(k)]);
                }
    }

    std::vector<Entry> entries_;
    std::vector<std::int32_t> table_;
    std::vector<int> levels_;
};

}  // namespace clearance
