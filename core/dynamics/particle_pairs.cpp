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
constexpr double kBlock = 2.0;          // width of a block, in reaches of a pair,
constexpr double kGasBlock = 4.0;       // and where particles fly apart and a block has few of them
constexpr std::size_t kChunk = 512;     // particles that a thread takes at a time
constexpr std::size_t kBlocksAtOnce = 16;
constexpr std::size_t kRounds = 64;

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

// What is known of pairs since they were last looked for: what they press with, by their numbers, and what parted them, by
// their places, which stay the same unless particles come or go.
class Particles::History {
public:
    History(std::span<const PairMemory> memories, std::span<const Block> blocks, std::size_t places)
        : memories_(memories), places_(places + 1, 0) {
        for (std::size_t k = 0; k < memories.size(); ++k) {
            if (k > 0 && memories[k].a == memories[k - 1].a) continue;
            firsts_.push_back(memories[k].a), starts_.push_back(k);
        }
        starts_.push_back(memories.size());
        const auto for_parted = [&](const auto& action) {
            for (const Block& block : blocks)
                for (const Pair& pair : block.pairs)
                    if (norm_sq(pair.between) > 0.0) action(pair);
        };
        for_parted([&](const Pair& pair) { ++places_[static_cast<std::size_t>(pair.a)]; });
        for (std::size_t k = 1; k < places_.size(); ++k) places_[k] += places_[k - 1];
        parted_.resize(places_.back());
        for_parted([&](const Pair& pair) { parted_[--places_[static_cast<std::size_t>(pair.a)]] = {pair.b, pair.between}; });
    }

    std::span<const PairMemory> memories_of(const Pair& pair) const {
        const auto first = std::lower_bound(firsts_.begin(), firsts_.end(), pair.number_a);
        if (first == firsts_.end() || *first != pair.number_a) return {};
        const auto k = static_cast<std::size_t>(first - firsts_.begin());
        const auto own = memories_.subspan(starts_[k], starts_[k + 1] - starts_[k]);
        const auto found = std::ranges::equal_range(own, pair.number_b, {}, &PairMemory::b);
        return {found.begin(), found.end()};
    }

    Vec3d between(const Pair& pair) const {
        for (std::size_t k = places_[static_cast<std::size_t>(pair.a)]; k < places_[static_cast<std::size_t>(pair.a) + 1];
             ++k)
            if (parted_[k].b == pair.b) return parted_[k].between;
        return {0, 0, 0};
    }

private:
    struct Parted {
        std::int32_t b;
        Vec3d between;
    };
    std::span<const PairMemory> memories_;
    std::vector<std::int64_t> firsts_;  // numbers of first particles,
    std::vector<std::size_t> starts_;   // and where their memories start
    std::vector<std::size_t> places_;   // where those start that are parted from each particle
    std::vector<Parted> parted_;
};

// What pairs are looked for with; kept from one time to the next, because there is much of it.
struct Particles::Search {
    std::vector<Ball> balls;  // around particles and their images,
    std::vector<std::int32_t> particles, members;
    HashGrid grid;
    std::vector<std::vector<Found>> found;  // by chunks of particles
    std::size_t chunks = 0;

    std::size_t add_chunks(std::size_t count) {  // returns the first of them
        const std::size_t first = chunks;
        chunks += count;
        if (found.size() < chunks) found.resize(chunks);
        for (std::size_t k = first; k < chunks; ++k) found[k].clear();
        return first;
    }
};

// What a thread needs to put the pairs of one block after the other in order.
struct Particles::Ordering {
    std::vector<std::uint64_t> used;  // rounds of each particle, as bits
    std::vector<std::size_t> rounds;  // of each pair
};

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
    layout_ = BlockLayout(settings_.room, largest_ball > 0.0 ? 2.0 * (1.0 + kRounding) * largest_ball : empty,
                          settings_.law == ContactLaw::elastic ? kGasBlock : kBlock);
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

Particles::Found Particles::found_at(const BlockNumber& block, std::size_t a, std::size_t b, std::int32_t wall,
                                     const Vec3d& shift) const {
    const std::int64_t number_a = a == 0 ? -1 - wall : numbers_[a];
    return {block, static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), wall, number_a, numbers_[b], shift};
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
    if (!search_) search_ = std::make_shared<Search>();
    search_->chunks = 0;
    add_pairs_of_particles(*search_, threads);
    add_pairs_with_walls(*search_, threads);
    const History history(memories, blocks_, rigid_.size());
    fill_blocks(*search_);
    Pool::shared().for_blocks(blocks_.size(), kBlocksAtOnce, threads, [&](std::size_t begin, std::size_t end) {
        static thread_local Ordering ordering;
        for (std::size_t k = begin; k < end; ++k) put_in_order(blocks_[k], history, ordering);
    });
    work_.pairs = 0;
    for (const Block& block : blocks_) work_.pairs += static_cast<std::int64_t>(block.pairs.size());
    remembered_.clear();
    is_changed_ = false;
}

// Along periodic axes particles are seen wherever they come near the domain.
template <class Action>
void Particles::for_images(std::size_t k, const Action& action) const {
    const double halo = 0.5 * layout_.reach();
    const Vec3d period = layout_.period(), centre = built_at_[k];
    const auto for_axis = [&](std::size_t axis, double x, double along, const auto& then) {
        for (int n = along > 0.0 ? -1 : 0; n <= (along > 0.0 ? 1 : 0); ++n)
            if (layout_.distance_along(axis, x + n * along, domain_) <= halo) then(n * along);
    };
    for_axis(0, centre.x, period.x, [&](double x) {
        for_axis(1, centre.y, period.y,
                 [&](double y) { for_axis(2, centre.z, period.z, [&](double z) { action(centre + Vec3d{x, y, z}); }); });
    });
}

void Particles::add_pairs_of_particles(Search& search, int threads) const {
    search.balls.clear(), search.particles.clear(), search.members.clear();
    for (std::size_t k = 1; k < rigid_.size(); ++k)
        for_images(k, [&](const Vec3d& centre) {
            search.members.push_back(static_cast<std::int32_t>(search.balls.size()));
            search.particles.push_back(static_cast<std::int32_t>(k));
            search.balls.push_back({centre, about_kind_[static_cast<std::size_t>(kinds_[k])].radius + slacks_[k]});
        });
    search.grid.insert(search.balls, search.members);
    const std::size_t first = search.add_chunks((search.grid.size() + kChunk - 1) / kChunk);
    Pool::shared().for_blocks(search.grid.size(), kChunk, threads, [&](std::size_t begin, std::size_t end) {
        std::vector<Found>& here = search.found[first + begin / kChunk];
        search.grid.for_meeting(
            begin, end, [](std::int32_t, std::int32_t) { return true; },
            [&](std::int32_t i, std::int32_t j) {
                auto a = static_cast<std::size_t>(search.particles[static_cast<std::size_t>(i)]);
                auto b = static_cast<std::size_t>(search.particles[static_cast<std::size_t>(j)]);
                if (numbers_[a] > numbers_[b]) std::swap(a, b);
                const Vec3d shift = shift_between(built_at_[a], built_at_[b]);
                const BlockNumber block = layout_.block_of(0.5 * (built_at_[a] + (built_at_[b] + shift)));
                if (domain_.contains(block)) here.push_back(found_at(block, a, b, -1, shift));
            });
    });
}

bool Particles::is_near(const Wall& wall, PlacedBody& point, const Vec3d& place, double limit) {
    if (wall.plane) return dot(wall.plane->normal, place) - wall.plane->offset <= limit;
    point.place({kNoTurn, place});
    Work work;
    return within(wall.placed, point, limit, work);
}

void Particles::add_pairs_with_walls(Search& search, int threads) const {
    if (walls_.empty()) return;
    const std::size_t first = search.add_chunks((size() + kChunk - 1) / kChunk);
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
                        search.found[first + begin / kChunk].push_back(
                            found_at(block, 0, k, static_cast<std::int32_t>(wall), shift));
        }
    });
}

// Blocks stand by their colours, and then by their numbers. Pairs that are found one after the other mostly belong to the
// same block.
void Particles::fill_blocks(const Search& search) {
    std::unordered_map<BlockNumber, std::size_t, BlockHash> places;
    std::vector<BlockNumber> numbers;
    const auto for_runs = [&](const auto& action) {
        for (std::size_t k = 0; k < search.chunks; ++k) {
            const std::vector<Found>& here = search.found[k];
            for (std::size_t first = 0, last = 0; first < here.size(); first = last) {
                while (last < here.size() && here[last].block == here[first].block) ++last;
                action(std::span(here).subspan(first, last - first));
            }
        }
    };
    for_runs([&](std::span<const Found> run) {
        if (places.try_emplace(run[0].block, 0).second) numbers.push_back(run[0].block);
    });
    std::sort(numbers.begin(), numbers.end(), [&](const BlockNumber& one, const BlockNumber& other) {
        return std::pair(layout_.colour_of(one), one) < std::pair(layout_.colour_of(other), other);
    });
    blocks_.resize(numbers.size());
    colours_.fill(0);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        places[numbers[k]] = k;
        blocks_[k].found.clear(), blocks_[k].memories.clear(), blocks_[k].contacts.clear();
        ++colours_[static_cast<std::size_t>(layout_.colour_of(numbers[k])) + 1];
    }
    for (std::size_t k = 1; k < colours_.size(); ++k) colours_[k] += colours_[k - 1];
    for_runs([&](std::span<const Found> run) {
        std::vector<Found>& of_block = blocks_[places.find(run[0].block)->second].found;
        of_block.insert(of_block.end(), run.begin(), run.end());
    });
}

// By numbers, each pair once.
void Particles::sort(std::vector<Found>& found) {
    const auto key = [](const Found& one) {
        return std::tie(one.number_a, one.number_b, one.shift.x, one.shift.y, one.shift.z);
    };
    std::sort(found.begin(), found.end(), [&](const Found& one, const Found& other) { return key(one) < key(other); });
    const auto is_same = [&](const Found& one, const Found& other) { return key(one) == key(other); };
    found.erase(std::unique(found.begin(), found.end(), is_same), found.end());
}

// Neighbours in a row that have no body in common do not wait for each other in the solver: pairs are dealt out to rounds in
// which every particle appears once.
void Particles::deal_out(Block& block, Ordering& ordering) const {
    ordering.used.resize(rigid_.size(), 0);
    ordering.rounds.clear();
    std::array<std::size_t, kRounds + 1> starts{};
    for (const Found& one : block.found) {
        std::uint64_t& by_b = ordering.used[static_cast<std::size_t>(one.b)];
        std::uint64_t& by_a = one.a == 0 ? by_b : ordering.used[static_cast<std::size_t>(one.a)];
        const std::size_t round = std::min(static_cast<std::size_t>(std::countr_one(by_a | by_b)), kRounds - 1);
        by_a |= std::uint64_t{1} << round, by_b |= std::uint64_t{1} << round;
        ordering.rounds.push_back(round);
        ++starts[round + 1];
    }
    for (std::size_t k = 1; k < starts.size(); ++k) starts[k] += starts[k - 1];
    block.pairs.resize(block.found.size());
    for (std::size_t k = 0; k < block.found.size(); ++k) {
        const Found& one = block.found[k];
        block.pairs[starts[ordering.rounds[k]]++] = {one.a, one.b, one.wall, one.number_a, one.number_b, one.shift};
        ordering.used[static_cast<std::size_t>(one.a)] = ordering.used[static_cast<std::size_t>(one.b)] = 0;
    }
}

// And with what is known of them.
void Particles::put_in_order(Block& block, const History& history, Ordering& ordering) const {
    sort(block.found);
    deal_out(block, ordering);
    block.found.clear();
    for (Pair& pair : block.pairs) {
        pair.between = history.between(pair);
        pair.first_memory = static_cast<std::int32_t>(block.memories.size());
        for (const PairMemory& one : history.memories_of(pair)) block.memories.push_back(one.memory);
        pair.memories = static_cast<std::int32_t>(block.memories.size()) - pair.first_memory;
    }
}

}  // namespace clearance
