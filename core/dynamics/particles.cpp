#include "dynamics/particles.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "parallel/pool.hpp"

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmall = 0.1;       // of what gravity does in a step: a change of velocities that may stay
constexpr double kUnchanged = 1e-4;  // of what gravity does in a step: smaller changes of velocities do not matter
constexpr std::size_t kChunk = 256;  // particles that a thread takes at a time
constexpr std::size_t kBlocksAtOnce = 4;
constexpr std::size_t kManyBlocks = 64;  // fewer are handed out one by one, or threads would go without

// Larger of two, by several threads: whatever their order, the result is the same.
void raise_to(std::atomic<double>& most, double value) {
    double known = most.load();
    while (value > known && !most.compare_exchange_weak(known, value)) {
    }
}

double size_of(const Vec3d& v) { return abs_of(v.x) + abs_of(v.y) + abs_of(v.z); }

// Where it gets with its velocity, unless that is beyond all bounds.
void move(Rigid& rigid, double step) {
    const double sum = size_of(rigid.velocity) + size_of(rigid.spin) + size_of(rigid.centre);
    if (sum < kLargestLength) rigid.advance(step, rigid.velocity, rigid.spin);
}

}  // namespace

void Partners::rebuild(Particles& particles, int threads) {
    const std::vector<PairMemory> memories = particles.memories();
    particles.lay_out(particles.give_room());
    particles.wrap();
    particles.find_pairs(memories, threads);
}

std::int32_t Particles::add_kind(const ParticleKind& kind) {
    const Ball& ball = kind.body->ball();
    const Element* element = kind.body->parts().size() == 1 ? element_of(kind.body->parts()[0]) : nullptr;
    const bool is_sphere = element != nullptr && element->count == 1;
    kind_.push_back(kind);
    const Convex* convex = kind.body->parts().size() == 1 ? std::get_if<Convex>(&kind.body->parts()[0].shape) : nullptr;
    const double radius = is_sphere ? element->radius : norm(ball.centre - kind.mass.centre) + ball.radius;
    about_kind_.push_back({radius, is_sphere, convex});
    return static_cast<std::int32_t>(kind_.size()) - 1;
}

// Whatever comes or goes, pairs are looked for again before the next step; until then, contacts are only remembered.
void Particles::take_apart() {
    if (is_changed_) return;
    remembered_ = memories();
    blocks_.clear();
    rigid_.resize(owned_ + 1), numbers_.resize(owned_ + 1), kinds_.resize(owned_ + 1), built_at_.resize(owned_ + 1);
    slacks_.resize(owned_ + 1);
    is_changed_ = true;
}

void Particles::append(const Particle& particle) {
    const Mass& mass = kind_[static_cast<std::size_t>(particle.kind)].mass;
    Rigid rigid;
    rigid.motion = Motion::dynamic;
    rigid.inverse_mass = 1.0 / mass.mass;
    rigid.centre_in_body = mass.centre;
    rigid.set_inertia(mass.inertia);
    rigid.set_turn(particle.turn);
    rigid.centre = particle.centre;
    rigid.velocity = particle.velocity, rigid.spin = particle.spin;
    rigid_.push_back(rigid);
    numbers_.push_back(particle.number), kinds_.push_back(particle.kind), built_at_.push_back(particle.built_at);
    slacks_.push_back(particle.slack);
}

void Particles::add(const Particle& particle) {
    take_apart();
    append(particle);
    ++owned_;
}

void Particles::remove(std::span<const std::int64_t> numbers) {
    take_apart();
    std::size_t kept = 1;
    for (std::size_t k = 1; k < rigid_.size(); ++k) {
        if (std::binary_search(numbers.begin(), numbers.end(), numbers_[k])) continue;
        rigid_[kept] = rigid_[k], numbers_[kept] = numbers_[k];
        kinds_[kept] = kinds_[k], built_at_[kept] = built_at_[k], slacks_[kept] = slacks_[k];
        ++kept;
    }
    rigid_.resize(kept), numbers_.resize(kept), kinds_.resize(kept), built_at_.resize(kept), slacks_.resize(kept);
    owned_ = kept - 1;
}

void Particles::add_wall(std::shared_ptr<const Body> body, const Pose& pose, const Material& material) {
    take_apart();
    PlacedBody placed(*body);
    placed.place(pose);
    std::optional<HalfSpace> plane;
    const std::vector<Part>& parts = body->parts();
    if (const auto* half_space = parts.size() == 1 ? std::get_if<HalfSpace>(&parts[0].shape) : nullptr) {
        const Pose at = pose * parts[0].pose;
        const Vec3d normal = at.rotation * half_space->normal;
        plane = {normal, half_space->offset + dot(normal, at.translation)};
    }
    walls_.push_back({std::move(body), pose, material, std::move(placed), plane});
}

void Particles::remove_wall(std::int32_t wall) {
    take_apart();
    walls_.erase(walls_.begin() + wall);
    const std::int64_t number = -1 - wall;
    std::erase_if(remembered_, [&](const PairMemory& one) { return one.a == number; });
    for (PairMemory& one : remembered_)
        if (one.a < number) ++one.a;
    std::stable_sort(remembered_.begin(), remembered_.end(), [](const PairMemory& one, const PairMemory& other) {
        return std::pair(one.a, one.b) < std::pair(other.a, other.b);
    });
}

Particle Particles::particle(std::size_t k) const {
    const Rigid& rigid = rigid_[k + 1];
    return {numbers_[k + 1], kinds_[k + 1], rigid.centre,     rigid.turn,
            rigid.velocity,  rigid.spin,    built_at_[k + 1], slacks_[k + 1]};
}

std::int64_t Particles::step(int threads, Partners& partners) {
    measure_rooms(threads);
    if (!(partners.largest(is_changed_ ? kInfinity : room_used(threads)) <= 1.0)) {
        partners.rebuild(*this, threads);
        measure_rooms(threads);
        ++work_.builds;
    }
    keep_state(threads);
    find_contacts(threads);
    solve(threads, partners);
    const std::int64_t number = lost(threads);
    const double first = partners.largest(number < 0 ? -kInfinity : -static_cast<double>(number));  // of all ranks
    if (first > -kInfinity) return go_back(), static_cast<std::int64_t>(-first);
    Pool::shared().for_blocks(blocks_.size(), kBlocksAtOnce, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) remember(blocks_[k]);
    });
    ++steps_;
    return -1;
}

void Particles::keep_state(int threads) {
    kept_.resize(rigid_.size());
    Pool::shared().for_blocks(size(), kChunk, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin + 1; k <= end; ++k)
            kept_[k] = {rigid_[k].centre, rigid_[k].turn, rigid_[k].velocity, rigid_[k].spin};
    });
}

// To before a step that is not made. What pairs pressed with until then is remembered, and they are looked for again.
void Particles::go_back() {
    for (std::size_t k = 1; k < rigid_.size(); ++k) {
        const auto& [centre, turn, velocity, spin] = kept_[k];
        rigid_[k].centre = centre, rigid_[k].velocity = velocity, rigid_[k].spin = spin;
        rigid_[k].set_turn(turn);
    }
    for (Block& block : blocks_)
        for (ContactMemory& one : block.memories) one.is_used = false;
    take_apart();
}

// Only hard contacts look ahead.
void Particles::measure_rooms(int threads) {
    rooms_.resize(rigid_.size()), turnings_.resize(rigid_.size());
    if (settings_.law != ContactLaw::hard) return;
    const double step = settings_.step, fall = norm(settings_.gravity) * step * step;
    Pool::shared().for_blocks(size(), kChunk, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin + 1; k <= end; ++k) {
            const Kind& kind = about_kind_[static_cast<std::size_t>(kinds_[k])];
            turnings_[k] = (kind.is_sphere ? 0.0 : norm(rigid_[k].spin) * kind.radius) * step + fall;
            rooms_[k] = norm(rigid_[k].velocity) * step + turnings_[k];
        }
    });
}

// The largest share of the room of a particle that it has used since pairs were looked for, and may use in this step.
double Particles::room_used(int threads) const {
    std::atomic<double> most = 0.0;
    Pool::shared().for_blocks(size(), kChunk, threads, [&](std::size_t begin, std::size_t end) {
        double farthest = 0.0;
        for (std::size_t k = begin + 1; k <= end; ++k)
            farthest = max_of(farthest, (norm(rigid_[k].centre - built_at_[k]) + rooms_[k]) / slacks_[k]);
        raise_to(most, farthest);
    });
    return most.load();
}

void Particles::apply_forces(double step, int threads) {
    const Vec3d change = step * settings_.gravity;
    Pool::shared().for_blocks(size(), kChunk, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin + 1; k <= end; ++k) rigid_[k].velocity = rigid_[k].velocity + change;
    });
}

// Contacts begin with the impulses that they ended the last small step with. All of these together are what the velocity of
// a particle has changed by since, other than by gravity, so that no contact has to be asked for its own.
void Particles::begin_small_step(double step, bool is_first, int threads) {
    const Vec3d change = step * settings_.gravity;
    Pool::shared().for_blocks(size(), kChunk, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin + 1; k <= end; ++k) {
            Rigid& rigid = rigid_[k];
            Unpushed& unpushed = unpushed_[k];
            const Vec3d push = rigid.velocity - unpushed.velocity, twist = rigid.spin - unpushed.spin;
            rigid.velocity = rigid.velocity + change;
            unpushed = {rigid.velocity, rigid.spin};
            if (!is_first) rigid.velocity = rigid.velocity + push, rigid.spin = rigid.spin + twist;
        }
    });
}

// Moving changes the spin of what is not round: that is no push.
void Particles::move_by_small_step(double step, int threads) {
    Pool::shared().for_blocks(size(), kChunk, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin + 1; k <= end; ++k) {
            const Vec3d spin = rigid_[k].spin;
            move(rigid_[k], step);
            if (!rigid_[k].is_round()) unpushed_[k].spin = unpushed_[k].spin + (rigid_[k].spin - spin);
        }
    });
}

// Treat all blocks of a colour at a time, and tell the partners. Returns the largest of what each gives.
template <class Treat>
double Particles::for_colours(int threads, Partners& partners, const Treat& treat) {
    std::atomic<double> most = 0.0;
    for (int colour = 0; colour < BlockLayout::kColours; ++colour) {
        const std::size_t first = colours_[static_cast<std::size_t>(colour)];
        const std::size_t count = colours_[static_cast<std::size_t>(colour) + 1] - first;
        const std::size_t at_once = count < kManyBlocks ? 1 : kBlocksAtOnce;
        Pool::shared().for_blocks(count, at_once, threads, [&](std::size_t begin, std::size_t end) {
            double largest = 0.0;
            for (std::size_t k = begin; k < end; ++k) largest = max_of(largest, treat(blocks_[first + k].contacts));
            raise_to(most, largest);
        });
        partners.share(colour);
    }
    return most.load();
}

void Particles::solve(int threads, Partners& partners) {
    work_.iterations = 0;
    if (settings_.law == ContactLaw::hard) solve_hard(threads, partners);
    if (settings_.law == ContactLaw::soft) solve_soft(threads, partners);
    if (settings_.law == ContactLaw::elastic) reflect(threads, partners);
}

// In small steps of their own, each of which looks at all contacts once (Macklin and others, Small steps in physics
// simulation, 2019): velocities that also undo overlaps move the particles, and then contacts are solved on without, so
// that undoing leaves no speed behind.
void Particles::solve_hard(int threads, Partners& partners) {
    const double step = settings_.step / settings_.iterations;
    unpushed_.resize(rigid_.size());
    for (int k = 0; k < settings_.iterations; ++k) {
        begin_small_step(step, k == 0, threads);
        if (k == 0)
            for_colours(threads, partners, [&](ContactSolver& contacts) { return contacts.warm_start(rigid_), 0.0; });
        for_colours(threads, partners, [&](ContactSolver& contacts) { return contacts.solve(rigid_); });
        Pool::shared().for_blocks(blocks_.size(), kBlocksAtOnce, threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) blocks_[i].contacts.follow(rigid_);
        });
        move_by_small_step(step, threads);
        for_colours(threads, partners, [&](ContactSolver& contacts) { return contacts.relax(rigid_); });
        ++work_.iterations;
    }
    // What undoing overlaps has left is taken out.
    const double small = kSmall * norm(settings_.gravity) * settings_.step;
    double changed = kInfinity;
    for (int k = 0; k < std::max(2, settings_.iterations / 3) && changed > small; ++k)
        changed = partners.largest(
            for_colours(threads, partners, [&](ContactSolver& contacts) { return contacts.relax(rigid_); }));
    for_colours(threads, partners, [&](ContactSolver& contacts) { return contacts.bounce(rigid_), 0.0; });
}

void Particles::solve_soft(int threads, Partners& partners) {
    const double unchanged = kUnchanged * norm(settings_.gravity) * settings_.step;
    apply_forces(settings_.step, threads);
    for_colours(threads, partners, [&](ContactSolver& contacts) { return contacts.warm_start(rigid_), 0.0; });
    double changed = std::numeric_limits<double>::infinity();
    for (int k = 0; k < settings_.iterations && changed > unchanged; ++k) {
        changed = partners.largest(
            for_colours(threads, partners, [&](ContactSolver& contacts) { return contacts.solve(rigid_); }));
        ++work_.iterations;
    }
    advance(settings_.step, threads);
}

// Velocities are those of the middle of a step; what is reflected is the velocity between two of them.
void Particles::reflect(int threads, Partners& partners) {
    apply_forces(0.5 * settings_.step, threads);
    for_colours(threads, partners, [&](ContactSolver& contacts) { return contacts.reflect(rigid_), 0.0; });
    apply_forces(0.5 * settings_.step, threads);
    advance(settings_.step, threads);
}

void Particles::remember(Block& block) const {
    block.contacts.finish();
    block.memories.clear();
    for (Pair& pair : block.pairs) {
        pair.first_memory = static_cast<std::int32_t>(block.memories.size());
        for (std::int32_t i = pair.first_patch; i < pair.first_patch + pair.patches; ++i)
            clearance::remember(block.contacts, static_cast<std::size_t>(i), rigid_[static_cast<std::size_t>(pair.a)],
                                block.memories);
        pair.memories = static_cast<std::int32_t>(block.memories.size()) - pair.first_memory;
    }
}

void Particles::advance(double step, int threads) {
    Pool::shared().for_blocks(size(), kChunk, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin + 1; k <= end; ++k) move(rigid_[k], step);
    });
}

// Sums of sizes know of NaN, unlike maxima.
std::int64_t Particles::lost(int threads) const {
    std::atomic<double> most = 0.0;
    Pool::shared().for_blocks(size(), kChunk, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin + 1; k <= end; ++k)
            if (!(size_of(rigid_[k].velocity) + size_of(rigid_[k].spin) + size_of(rigid_[k].centre) < kLargestLength))
                raise_to(most, 1.0);
    });
    if (most.load() == 0.0) return -1;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (std::size_t k = 1; k < rigid_.size(); ++k)
        if (!(size_of(rigid_[k].velocity) + size_of(rigid_[k].spin) + size_of(rigid_[k].centre) < kLargestLength))
            first = std::min(first, numbers_[k]);
    return first;
}

std::vector<PairMemory> Particles::memories() const {
    if (is_changed_) return remembered_;
    struct Place {
        const Pair* pair;
        const ContactMemory* first;
    };
    std::vector<Place> places;
    std::size_t count = 0;
    for (const Block& block : blocks_)
        for (const Pair& pair : block.pairs) {
            if (pair.memories > 0) places.push_back({&pair, block.memories.data() + pair.first_memory});
            count += static_cast<std::size_t>(pair.memories);
        }
    std::stable_sort(places.begin(), places.end(), [](const Place& one, const Place& other) {
        return std::pair(one.pair->number_a, one.pair->number_b) < std::pair(other.pair->number_a, other.pair->number_b);
    });
    std::vector<PairMemory> result;
    result.reserve(count);
    for (const auto& [pair, first] : places)
        for (std::int32_t k = 0; k < pair->memories; ++k) result.push_back({pair->number_a, pair->number_b, first[k]});
    return result;
}

std::vector<ParticlePressed> Particles::pressed() const {
    const double time = settings_.law == ContactLaw::hard ? settings_.step / settings_.iterations : settings_.step;
    std::vector<ParticlePressed> result;
    for (const Block& block : blocks_)
        for (const Pair& pair : block.pairs) {
            const std::int64_t a = pair.number_a, b = pair.number_b;
            for (std::int32_t i = pair.first_patch; i < pair.first_patch + pair.patches; ++i) {
                const ContactPatch& patch = block.contacts.patches[static_cast<std::size_t>(i)];
                for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
                    const ContactPoint& point = block.contacts.points[static_cast<std::size_t>(k)];
                    const auto& [place, separation, approach] = block.contacts.point_origins[static_cast<std::size_t>(k)];
                    if (separation > 0.0 && point.normal_impulse == 0.0) continue;  // it came near, no more
                    const Vec3d impulse = point.normal_impulse * patch.normal + point.friction;
                    result.push_back({a, b, place, patch.normal, (1.0 / time) * impulse, -separation});
                }
            }
        }
    std::stable_sort(result.begin(), result.end(), [](const ParticlePressed& one, const ParticlePressed& other) {
        return std::pair(one.a, one.b) < std::pair(other.a, other.b);
    });
    return result;
}

}  // namespace clearance
