#include "dynamics/hash_grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace clearance {
namespace {

constexpr int kMostHalvings = 200;

}  // namespace

// Cubes of a level are at least as large as the balls in it.
int HashGrid::level_of(double radius) const {
    return radius > 0.0 ? std::min(kMostHalvings, std::max(0, std::ilogb(largest_ / (2.0 * radius)))) : kMostHalvings;
}

// Far away, cubes get larger: what lies beyond is in the last of them.
HashGrid::Cube HashGrid::cube_of(const Vec3d& point, int level) const {
    const double size = std::ldexp(largest_, -level);
    const auto index = [&](double x) {
        constexpr double kFarthest = 9e15;
        return static_cast<std::int64_t>(std::floor(min_of(max_of(x / size, -kFarthest), kFarthest)));
    };
    return {index(point.x), index(point.y), index(point.z), level};
}

// Rows along x begin anywhere.
std::size_t HashGrid::place_of(const Cube& cube) const {
    std::uint64_t hash = static_cast<std::uint64_t>(cube.y) * 0xbf58476d1ce4e5b9ull;
    hash = (hash ^ (hash >> 32)) + static_cast<std::uint64_t>(cube.z) * 0x94d049bb133111ebull;
    hash = (hash ^ (hash >> 31)) + static_cast<std::uint64_t>(cube.level) * 0xd6e8feb86659fd93ull;
    hash = (hash ^ (hash >> 29)) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 32;
    return static_cast<std::size_t>(hash + static_cast<std::uint64_t>(cube.x)) & mask();
}

void HashGrid::insert(std::span<const Ball> balls, std::span<const std::int32_t> members) {
    double largest = 0.0;
    for (const std::int32_t member : members) largest = max_of(largest, balls[static_cast<std::size_t>(member)].radius);
    largest_ = largest > 0.0 ? 2.0 * largest * (1.0 + 1e-9) : 1.0;
    found_.clear(), levels_.clear();
    starts_.assign(std::bit_ceil(2 * members.size() + 1) + 1, 0);
    for (const std::int32_t member : members) {
        const Ball& ball = balls[static_cast<std::size_t>(member)];
        const int level = level_of(ball.radius);
        found_.push_back({cube_of(ball.centre, level), member, ball});
        ++starts_[place_of(found_.back().cube) + 1];
        if (std::find(levels_.begin(), levels_.end(), level) == levels_.end()) levels_.push_back(level);
    }
    for (std::size_t k = 1; k < starts_.size(); ++k) starts_[k] += starts_[k - 1];
    entries_.resize(found_.size());
    for (auto one = found_.rbegin(); one != found_.rend(); ++one) {
        const std::size_t place = place_of(one->cube);
        entries_[--starts_[place + 1]] = *one;
    }
    starts_.erase(starts_.begin());
    starts_.push_back(static_cast<std::uint32_t>(entries_.size()));
}

}  // namespace clearance
