#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_map>

#include "dynamics/particles.hpp"
#include "parallel/pool.hpp"
#include "query/distance.hpp"

namespace clearance {
namespace {

constexpr double kThinSkin = 0.1;       // of a particle, whatever its speed
constexpr double kLeastSkin = 1e-3;     // of a particle, in a room that is hardly wider
constexpr double kThickSkin = 0.5;      // of a particle, unless a step needs more
constexpr double kStepsPerBuild = 4.0;  // at the present speed
constexpr double kRounding = 1e-6;      // of lengths
constexpr std::size_t kChunk = 512;     // particles that a thread takes at a time

struct BlockHash {
    std::size_t operator()(const BlockNumber& block) const {
        std::uint64_t hash = 0;
        for (const std::int32_t number : block.axis) {
            hash = (hash ^ static_cast<std::uint32_t>(number)) * 0x9e3779b97f4a7c15ull;
            hash ^= hash >> 32;
        }
        return static_cast<std::size_t>(hash);
    }
};

// Periods from where b is to its image that is nearest to a.
double periods_between(double a, double b, double period) { return period > 0.0 ? std::round((a - b) / period) : 0.0; }

}  // namespace

// Each particle has room of its own: what is fast needs more of it than what lies still.
double Particles::give_room() {
    double largest = 0.0;
    const double widest = (1.0 - 4.0 * kRounding) * 0.25 * narrowest_period();  // balls that a periodic room can hold
    for (std::size_t k = 1; k < rigid_.size(); ++k) {
        const double radius = about_kind_[static_cast<std::size_t>(kinds_[k])].radius;
        const bool looks_ahead = settings_.law == ContactLaw::hard;
        const double way = looks_ahead ? rooms_[k] : norm(rigid_[k].velocity) * settings_.step;
        const double usual = min_of(kStepsPerBuild * way, kThickSkin * radius);
        const double wanted = min_of(max_of(kThinSkin * radius, usual), widest - radius);
        slacks_[k] = max_of(max_of(wanted, kLeastSkin * radius), looks_ahead ? (1.0 + kRounding) * way : 0.0);
        largest = max_of(largest, radius + slacks_[k]);
    }
    return largest;
}

double Particles::narrowest_period() const {
    const Room& room = settings_.room;
    const Vec3d width = room.upper - room.lower;
    double narrowest = std::numeric_limits<double>::infinity();
    if (room.is_periodic[0]) narrowest = min_of(narrowest, width.x);
    if (room.is_periodic[1]) narrowest = min_of(narrowest, width.y);
    if (room.is_periodic[2]) narrowest = min_of(narrowest, width.z);
    return narrowest;
}

void Particles::lay_out(double largest_ball) {
    const double empty = min_of(1.0, 0.25 * narrowest_period());
    layout_ = BlockLayout(settings_.room, largest_ball > 0.0 ? 2.0 * (1.0 + kRounding) * largest_ball : empty);
    largest_ball_ = largest_ball;
    domain_ = layout_.everywhere();
}

void Particles::wrap() {
    for (std::size_t k = 1; k < rigid_.size(); ++k) built_at_[k] = rigid_[k].centre = layout_.wrapped(rigid_[k].centre);
}

Vec3d Particles::shift_between(const Vec3d& a, const Vec3d& b) const {
    const Vec3d period = layout_.period();
    return {period.x * periods_between(a.x, b.x, period.x), period.y * periods_between(a.y, b.y, period.y),
            period.z * periods_between(a.z, b.z, period.z)};
}

Particles::Pair Particles::pair_of(std::size_t a, std::size_t b, std::int32_t wall, const Vec3d& shift) const {
    const std::int64_t number_a = a == 0 ? -1 - wall : numbers_[a];
    return {static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), wall, number_a, numbers_[b], shift};
}

// To all places where a particle may be seen.
std::vector<Vec3d> Particles::shifts() const {
    const Vec3d period = layout_.period();
    const int nx = period.x > 0.0, ny = period.y > 0.0, nz = period.z > 0.0;
    std::vector<Vec3d> result;
    for (int x = -nx; x <= nx; ++x)
        for (int y = -ny; y <= ny; ++y)
            for (int z = -nz; z <= nz; ++z) result.push_back({x * period.x, y * period.y, z * period.z});
    return result;
}

BlockNumber Particles::block_of_pair(std::size_t a, std::size_t b) const {
    const Vec3d shifted = built_at_[b] + shift_between(built_at_[a], built_at_[b]);
    return layout_.block_of(0.5 * (built_at_[a] + shifted));
}

void Particles::find_pairs(std::span<const PairMemory> memories, int threads) {
    std::vector<std::vector<Found>> found;
    add_pairs_of_particles(found, threads);
    add_pairs_with_walls(found, threads);
    fill_blocks(found);
    Pool::shared().for_blocks(blocks_.size(), 4, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) put_in_order(blocks_[k], memories);
    });
    work_.pairs = 0;
    for (const Block& block : blocks_) work_.pairs += static_cast<std::int64_t>(block.pairs.size());
    remembered_.clear();
    is_changed_ = false;
}

// Along periodic axes particles are seen wherever they come near the domain.
void Particles::add_pairs_of_particles(std::vector<std::vector<Found>>& found, int threads) const {
    const double halo = 0.5 * layout_.reach();
    const std::vector<Vec3d> all = shifts();
    std::vector<Ball> balls;
    std::vector<std::int32_t> particles, members;
    const auto add = [&](std::size_t k, const Vec3d& shift) {
        const Vec3d centre = built_at_[k] + shift;
        if (layout_.distance(centre, domain_) > halo) return;
        members.push_back(static_cast<std::int32_t>(balls.size()));
        particles.push_back(static_cast<std::int32_t>(k));
        balls.push_back({centre, about_kind_[static_cast<std::size_t>(kinds_[k])].radius + slacks_[k]});
    };
    for (std::size_t k = 1; k < rigid_.size(); ++k)
        for (const Vec3d& shift : all) add(k, shift);
    HashGrid grid;
    grid.insert(balls, members);
    const std::size_t first = found.size();
    found.resize(first + (grid.size() + kChunk - 1) / kChunk);
    Pool::shared().for_blocks(grid.size(), kChunk, threads, [&](std::size_t begin, std::size_t end) {
        std::vector<Found>& here = found[first + begin / kChunk];
        grid.for_meeting(
            begin, end, balls, [](std::int32_t, std::int32_t) { return true; },
            [&](std::int32_t i, std::int32_t j) {
                auto a = static_cast<std::size_t>(particles[static_cast<std::size_t>(i)]);
                auto b = static_cast<std::size_t>(particles[static_cast<std::size_t>(j)]);
                if (numbers_[a] > numbers_[b]) std::swap(a, b);
                const BlockNumber block = block_of_pair(a, b);
                if (!domain_.contains(block)) return;
                const Vec3d shift = shift_between(built_at_[a], built_at_[b]);
                here.push_back({block, pair_of(a, b, -1, shift)});
            });
    });
}

bool Particles::is_near(const Wall& wall, PlacedBody& point, const Vec3d& place, double limit) {
    if (wall.plane) return dot(wall.plane->normal, place) - wall.plane->offset <= limit;
    point.place({kNoTurn, place});
    Work work;
    return within(wall.placed, point, limit, work);
}

void Particles::add_pairs_with_walls(std::vector<std::vector<Found>>& found, int threads) const {
    const std::size_t first = found.size();
    found.resize(first + (size() + kChunk - 1) / kChunk);
    const std::vector<Vec3d> all = shifts(), nowhere{{0, 0, 0}};  // a plane goes on by itself
    const Body point({part_of(Convex{Element{1, {}, 0.0}, 0.0}, Pose{})});
    Pool::shared().for_blocks(size(), kChunk, threads, [&](std::size_t begin, std::size_t end) {
        PlacedBody placed(point);
        for (std::size_t k = begin + 1; k <= end; ++k) {
            const BlockNumber block = layout_.block_of(built_at_[k]);
            if (!domain_.contains(block)) continue;
            const double limit = about_kind_[static_cast<std::size_t>(kinds_[k])].radius + slacks_[k];
            for (std::size_t wall = 0; wall < walls_.size(); ++wall)
                for (const Vec3d& shift : walls_[wall].plane ? nowhere : all)
                    if (is_near(walls_[wall], placed, built_at_[k] + shift, limit))
                        found[first + begin / kChunk].push_back(
                            {block, pair_of(0, k, static_cast<std::int32_t>(wall), shift)});
        }
    });
}

// Blocks stand by their colours, and then by their numbers.
void Particles::fill_blocks(const std::vector<std::vector<Found>>& found) {
    std::unordered_map<BlockNumber, std::size_t, BlockHash> places;
    std::vector<BlockNumber> numbers;
    for (const auto& here : found)
        for (const Found& one : here)
            if (places.try_emplace(one.block, 0).second) numbers.push_back(one.block);
    std::sort(numbers.begin(), numbers.end(), [&](const BlockNumber& one, const BlockNumber& other) {
        return std::pair(layout_.colour_of(one), one) < std::pair(layout_.colour_of(other), other);
    });
    blocks_.resize(numbers.size());
    colours_.fill(0);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        places[numbers[k]] = k;
        blocks_[k].pairs.clear(), blocks_[k].memories.clear(), blocks_[k].contacts.clear();
        ++colours_[static_cast<std::size_t>(layout_.colour_of(numbers[k])) + 1];
    }
    for (std::size_t k = 1; k < colours_.size(); ++k) colours_[k] += colours_[k - 1];
    for (const auto& here : found)
        for (const Found& one : here) blocks_[places.find(one.block)->second].pairs.push_back(one.pair);
}

// Neighbours in a row that have no body in common do not wait for each other in the solver: pairs are dealt out to rounds in
// which every particle appears once.
void Particles::deal_out(std::vector<Pair>& pairs) {
    std::unordered_map<std::int32_t, std::uint64_t> used;  // rounds, as bits
    std::vector<std::vector<Pair>> rounds;
    for (const Pair& pair : pairs) {
        std::uint64_t& by_b = used[pair.b];
        const std::uint64_t by_a = pair.a == 0 ? 0 : used[pair.a];
        const auto round = std::min<std::size_t>(static_cast<std::size_t>(std::countr_one(by_a | by_b)), 63);
        used[pair.b] |= std::uint64_t{1} << round;
        if (pair.a > 0) used[pair.a] |= std::uint64_t{1} << round;
        if (rounds.size() <= round) rounds.resize(round + 1);
        rounds[round].push_back(pair);
    }
    pairs.clear();
    for (const std::vector<Pair>& round : rounds) pairs.insert(pairs.end(), round.begin(), round.end());
}

// By numbers, each pair once, and with what is remembered of it.
void Particles::put_in_order(Block& block, std::span<const PairMemory> memories) const {
    const auto by_numbers = [](const Pair& one, const Pair& other) {
        return std::tie(one.number_a, one.number_b, one.shift.x, one.shift.y, one.shift.z) <
               std::tie(other.number_a, other.number_b, other.shift.x, other.shift.y, other.shift.z);
    };
    std::sort(block.pairs.begin(), block.pairs.end(), by_numbers);
    const auto is_same = [](const Pair& one, const Pair& other) {
        return one.number_a == other.number_a && one.number_b == other.number_b && one.shift.x == other.shift.x &&
               one.shift.y == other.shift.y && one.shift.z == other.shift.z;
    };
    block.pairs.erase(std::unique(block.pairs.begin(), block.pairs.end(), is_same), block.pairs.end());
    deal_out(block.pairs);
    const auto numbers_before = [](const PairMemory& one, const std::pair<std::int64_t, std::int64_t>& numbers) {
        return std::pair(one.a, one.b) < numbers;
    };
    for (Pair& pair : block.pairs) {
        const std::pair numbers(pair.number_a, pair.number_b);
        pair.first_memory = static_cast<std::int32_t>(block.memories.size());
        auto one = std::lower_bound(memories.begin(), memories.end(), numbers, numbers_before);
        for (; one != memories.end() && std::pair(one->a, one->b) == numbers; ++one) {
            block.memories.push_back(one->memory);
            ++pair.memories;
        }
    }
}

}  // namespace clearance
