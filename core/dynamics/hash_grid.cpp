#include "dynamics/hash_grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace clearance {

// Cubes of a level are at least as large as the balls in it.
int HashGrid::level_of(double radius) { return radius > 0.0 ? std::ilogb(2.0 * radius) + 1 : -1000; }

// Far away, cubes get larger: what lies beyond is in the last of them.
HashGrid::Cube HashGrid::cube_of(const Vec3d& point, int level) {
    const auto index = [&](double x) {
        constexpr double kFarthest = 9e15;
        return static_cast<std::int64_t>(std::floor(min_of(max_of(std::ldexp(x, -level), -kFarthest), kFarthest)));
    };
    return {index(point.x), index(point.y), index(point.z), level};
}

std::size_t HashGrid::place_of(const Cube& cube) const {
    std::uint64_t hash = static_cast<std::uint64_t>(cube.x) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ (hash >> 29)) + static_cast<std::uint64_t>(cube.y) * 0xbf58476d1ce4e5b9ull;
    hash = (hash ^ (hash >> 32)) + static_cast<std::uint64_t>(cube.z) * 0x94d049bb133111ebull;
    hash = (hash ^ (hash >> 31)) + static_cast<std::uint64_t>(cube.level + 4096) * 0xd6e8feb86659fd93ull;
    hash ^= hash >> 32;
    return static_cast<std::size_t>(hash) & (table_.size() - 1);
}

void HashGrid::insert(std::span<const Ball> balls, std::span<const std::int32_t> members) {
    entries_.clear();
    levels_.clear();
    table_.assign(std::bit_ceil(2 * members.size() + 1), -1);
    for (const std::int32_t member : members) {
        const Ball& ball = balls[static_cast<std::size_t>(member)];
        const int level = level_of(ball.radius);
        const Cube cube = cube_of(ball.centre, level);
        std::int32_t& head = table_[place_of(cube)];
        entries_.push_back({cube, member, level, head});
        head = static_cast<std::int32_t>(entries_.size()) - 1;
        if (std::find(levels_.begin(), levels_.end(), level) == levels_.end()) levels_.push_back(level);
    }
}

}  // namespace clearance
