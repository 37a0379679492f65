#include "dynamics/world.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "parallel/pool.hpp"

namespace clearance {
namespace {

constexpr double kRelaxing = 0.5;          // of the iterations, once more without undoing overlaps
constexpr double kSamePlace = 0.05;        // of the smaller body: contact points nearer than this are one
constexpr double kBounceSteps = 2.0;       // slower than what gravity does in this many steps, nothing bounces
constexpr double kUnchanged = 1e-6;        // of what gravity does in a step,
constexpr double kUnchangedSpeed = 1e-10;  // and of the fastest body: smaller changes of velocities do not matter

std::uint64_t key_of(std::int32_t a, std::int32_t b) {
    const auto low = static_cast<std::uint64_t>(std::min(a, b)), high = static_cast<std::uint64_t>(std::max(a, b));
    return high << 32 | low;
}

}  // namespace

World::World(const WorldSettings& settings) : settings_(settings), rigid_(1), broad_phase_(settings.broad_phase) {}

std::int32_t World::add(const NewBody& body) {
    Rigid rigid;
    rigid.motion = body.motion;
    if (body.motion == Motion::dynamic) {
        rigid.inverse_mass = 1.0 / body.mass->mass;
        rigid.centre_in_body = body.mass->centre;
        rigid.set_inertia(body.mass->inertia);
    }
    rigid.place(body.pose);
    rigid.velocity = body.velocity, rigid.spin = body.spin;
    rigid_.push_back(rigid);
    bodies_.push_back(body.body);
    materials_.push_back(body.material);
    groups_.push_back(body.group);
    collides_.push_back(body.collides);
    is_changed_ = true;
    return size() - 1;
}

void World::remove(std::int32_t body) {
    const auto k = static_cast<std::ptrdiff_t>(body);
    rigid_.erase(rigid_.begin() + k + 1);
    bodies_.erase(bodies_.begin() + k);
    materials_.erase(materials_.begin() + k);
    groups_.erase(groups_.begin() + k);
    collides_.erase(collides_.begin() + k);
    const auto touches = [&](std::int32_t number) { return number == body; };
    const auto moved_up = [&](std::int32_t number) { return number > body ? number - 1 : number; };
    forget(body);
    for (auto& [a, b] : remembered_of_) a = moved_up(a), b = moved_up(b);
    std::erase_if(bearings_, [&](const Bearing& one) { return touches(one.a - 1) || touches(one.b - 1); });
    for (Bearing& one : bearings_) one.a = moved_up(one.a - 1) + 1, one.b = moved_up(one.b - 1) + 1;
    std::erase_if(guided_, [&](const auto& one) { return touches(one.first); });
    for (auto& one : guided_) one.first = moved_up(one.first);
    std::unordered_set<std::uint64_t> ignored;
    for (const std::uint64_t key : ignored_) {
        const auto a = static_cast<std::int32_t>(key & 0xffffffffu), b = static_cast<std::int32_t>(key >> 32);
        if (!touches(a) && !touches(b)) ignored.insert(key_of(moved_up(a), moved_up(b)));
    }
    ignored_ = std::move(ignored);
    contacts_.clear();
    is_changed_ = true;
}

std::int32_t World::join(BearingKind kind, std::int32_t a, std::int32_t b, const Vec3d& point, const Vec3d& axis) {
    bearings_.emplace_back(kind, a + 1, b + 1, point, axis, rigid_);
    if (a >= 0 && b >= 0) ignore(a, b);
    return bearings() - 1;
}

void World::part(std::int32_t bearing) { bearings_.erase(bearings_.begin() + bearing); }

void World::move(std::int32_t body, const Pose& to) {
    Rigid& rigid = rigid_[slot(body)];
    rigid.place(to);
    is_changed_ |= rigid.motion == Motion::fixed;  // of others the place is looked up in every step
}

void World::ignore(std::int32_t a, std::int32_t b) {
    ignored_.insert(key_of(a, b));
    is_changed_ = true;
}

bool World::is_ignored(std::int32_t a, std::int32_t b) const { return !ignored_.empty() && ignored_.contains(key_of(a, b)); }

void World::clear_forces() {
    for (Rigid& rigid : rigid_) rigid.force = rigid.torque = {0, 0, 0};
}

std::int32_t World::step(int threads) {
    start_guided();
    if (const std::int32_t lost = lost_body(false); lost >= 0) return lost;
    place_bodies(threads);
    find_pairs();
    find_contacts(threads);
    collect_patches();
    solve();
    if (const std::int32_t lost = lost_body(true); lost >= 0) return lost;
    advance();
    end_guided();
    for (Bearing& bearing : bearings_) bearing.measure(rigid_);
    ++steps_;
    return -1;
}

// Poses, velocities and forces stay below the largest length there is; sums of sizes know of NaN, unlike maxima.
std::int32_t World::lost_body(bool is_solved) const {
    const auto size_of = [](const Vec3d& v) { return abs_of(v.x) + abs_of(v.y) + abs_of(v.z); };
    for (std::int32_t k = 0; k < size(); ++k) {
        const Rigid& rigid = rigid_[slot(k)];
        double sum = size_of(rigid.centre) + size_of(rigid.velocity) + size_of(rigid.spin);
        sum += rigid.inverse_mass * (size_of(rigid.force) + size_of(rigid.torque));
        if (is_solved) sum += size_of(undoing_[slot(k)].first) + size_of(undoing_[slot(k)].second);
        if (!(sum < kLargestLength)) return k;
    }
    return -1;
}

void World::advance() {
    remember();
    for (std::size_t k = 1; k < rigid_.size(); ++k)
        if (rigid_[k].motion != Motion::fixed) rigid_[k].advance(settings_.step, undoing_[k].first, undoing_[k].second);
}

void World::start_guided() {
    for (const auto& [body, to] : guided_) {
        Rigid& rigid = rigid_[slot(body)];
        rigid.velocity = (1.0 / settings_.step) * (to * rigid.centre_in_body - rigid.centre);
        rigid.spin = (1.0 / settings_.step) * vector_of(turn_of(to.rotation) * inverse(rigid.turn));
    }
}

void World::end_guided() {
    for (const auto& [body, to] : guided_) {
        Rigid& rigid = rigid_[slot(body)];
        rigid.place(to);
        rigid.velocity = rigid.spin = {0, 0, 0};
    }
    guided_.clear();
}

void World::place_bodies(int threads) {
    const auto count = static_cast<std::size_t>(size());
    if (is_changed_) {
        placed_.clear();
        for (const auto& body : bodies_) placed_.emplace_back(*body);
        part_trees_.build(bodies_);
        poses_.resize(count), balls_.resize(count), rooms_.resize(count);
    }
    const double fall = norm(settings_.gravity) * settings_.step * settings_.step;
    Pool::shared().for_blocks(count, 256, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            const Rigid& rigid = rigid_[k + 1];
            if (is_changed_ || rigid.motion != Motion::fixed) {
                poses_[k] = rigid.pose();
                placed_[k].place(poses_[k]);
            }
            const Ball& ball = bodies_[k]->ball();
            const bool is_finite = bodies_[k]->is_finite();
            const Vec3d centre = is_finite ? poses_[k] * ball.centre : Vec3d{0, 0, 0};
            const double reach = is_finite ? norm(centre - rigid.centre) + ball.radius : 0.0;
            const double pushed = norm(rigid.force) * rigid.inverse_mass * settings_.step * settings_.step;
            rooms_[k] = (norm(rigid.velocity) + norm(rigid.spin) * reach) * settings_.step + fall + pushed;
            balls_[k] = {centre, ball.radius + rooms_[k]};
            if (is_changed_ || rigid.motion != Motion::fixed) part_trees_.refit(k, placed_[k], rooms_[k]);
        }
    });
    if (!is_changed_) return;
    std::vector<BroadBody> bodies;
    for (std::size_t k = 0; k < count; ++k)
        bodies.push_back({bodies_[k].get(), groups_[k], rigid_[k + 1].motion == Motion::dynamic,
                          rigid_[k + 1].motion == Motion::fixed, collides_[k]});
    broad_phase_.build(std::move(bodies), balls_);
    count_pairs();
    is_changed_ = false;
}

void World::count_pairs() {
    const std::int64_t all = std::count(collides_.begin(), collides_.end(), true);
    std::int64_t immovable = 0, pairs = all * (all - 1) / 2;
    std::unordered_map<std::int32_t, std::pair<std::int64_t, std::int64_t>> groups;  // members, and those that nothing moves
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        if (!collides_[k]) continue;
        const bool is_movable = rigid_[k + 1].motion == Motion::dynamic;
        immovable += !is_movable;
        if (groups_[k] >= 0) ++groups[groups_[k]].first, groups[groups_[k]].second += !is_movable;
    }
    pairs -= immovable * (immovable - 1) / 2;
    for (const auto& [group, counts] : groups) {
        const auto [members, fixed] = counts;
        pairs -= members * (members - 1) / 2 - fixed * (fixed - 1) / 2;
    }
    for (const std::uint64_t key : ignored_)
        pairs -= broad_phase_.may_meet(static_cast<std::int32_t>(key & 0xffffffffu), static_cast<std::int32_t>(key >> 32));
    work_.pairs = pairs;
}

void World::find_pairs() {
    work_.volume_tests = 0;
    broad_phase_.find({poses_, balls_, rooms_}, pairs_, work_.volume_tests);
    std::erase_if(pairs_, [&](const BodyPair& pair) { return is_ignored(pair.first, pair.second); });
    work_.object_tests = static_cast<std::int64_t>(pairs_.size());
}

void World::collect_patches() {
    contacts_.clear();
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
        if (found_[k].empty()) continue;
        const auto a = static_cast<std::size_t>(pairs_[k].first), b = static_cast<std::size_t>(pairs_[k].second);
        const auto [begin, end] = std::equal_range(remembered_of_.begin(), remembered_of_.end(), pairs_[k]);
        const std::span<ContactMemory> memories(remembered_.data() + (begin - remembered_of_.begin()),
                                                static_cast<std::size_t>(end - begin));
        const double size = min_of(bodies_[a]->ball().radius, bodies_[b]->ball().radius);
        add_patches(
            contacts_, rigid_,
            {pairs_[k].first + 1, pairs_[k].second + 1, found_[k], together(materials_[a], materials_[b]), {0, 0, 0}},
            memories, kSamePlace * size);
    }
    work_.contacts = static_cast<std::int64_t>(contacts_.points.size());
}

void World::remember() {
    remembered_.clear(), remembered_of_.clear();
    for (std::size_t k = 0; k < contacts_.patches.size(); ++k) {
        const ContactPatch& patch = contacts_.patches[k];
        clearance::remember(contacts_, k, rigid_[static_cast<std::size_t>(patch.a)], remembered_);
        remembered_of_.resize(remembered_.size(), {patch.a - 1, patch.b - 1});
    }
}

void World::forget(std::int32_t body) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < remembered_.size(); ++k) {
        if (remembered_of_[k].first == body || remembered_of_[k].second == body) continue;
        remembered_[kept] = remembered_[k], remembered_of_[kept] = remembered_of_[k];
        ++kept;
    }
    remembered_.resize(kept), remembered_of_.resize(kept);
}

void World::apply_forces(double step) {
    for (Rigid& rigid : rigid_) {
        if (rigid.inverse_mass == 0.0) continue;
        rigid.velocity = rigid.velocity + step * (settings_.gravity + rigid.inverse_mass * rigid.force);
        rigid.spin = rigid.spin + step * (rigid.inverse_inertia * rigid.torque);
    }
}

double World::fastest() const {
    double most_sq = 0.0;
    for (const Rigid& rigid : rigid_) most_sq = max_of(most_sq, norm_sq(rigid.velocity));
    return std::sqrt(most_sq);
}

void World::solve() {
    const bool is_elastic = settings_.law == ContactLaw::elastic, is_hard = settings_.law == ContactLaw::hard;
    const double slowest = kBounceSteps * norm(settings_.gravity) * settings_.step;
    contacts_.prepare(rigid_, {.law = settings_.law, .step = settings_.step, .slowest_bounce = slowest});
    for (Bearing& bearing : bearings_) bearing.prepare(rigid_, settings_.step);
    // Velocities are those of the middle of a step; what is reflected is the velocity between two of them.
    apply_forces((is_elastic ? 0.5 : 1.0) * settings_.step);
    if (is_elastic) {
        contacts_.reflect(rigid_);
        apply_forces(0.5 * settings_.step);
    } else {
        contacts_.warm_start(rigid_);
    }
    for (const Bearing& bearing : bearings_) bearing.warm_start(rigid_);
    // Once nothing changes any more, the rows agree.
    const double unchanged = kUnchanged * (norm(settings_.gravity) * settings_.step) + kUnchangedSpeed * fastest();
    work_.iterations = 0;
    const auto iterate = [&](int count, bool is_relaxing) {
        for (int k = 0; k < count; ++k) {
            double largest = 0.0;
            for (Bearing& bearing : bearings_) largest = max_of(largest, bearing.solve(rigid_, is_relaxing));
            if (!is_elastic) {
                const bool bounces = is_relaxing && is_hard;
                largest = max_of(largest, bounces ? contacts_.relax(rigid_) : contacts_.solve(rigid_));
            }
            ++work_.iterations;
            if (largest <= unchanged) break;
        }
    };
    const bool has_rows = !bearings_.empty() || (!is_elastic && !contacts_.patches.empty());
    const bool has_errors = !bearings_.empty() || is_hard;  // that are undone: springs are meant to give way
    const int relaxing =
        has_rows && has_errors ? std::max(2, static_cast<int>(std::lround(kRelaxing * settings_.iterations))) : 0;
    if (has_rows) iterate(settings_.iterations, false);
    undoing_.resize(rigid_.size());
    for (std::size_t k = 0; k < rigid_.size(); ++k) undoing_[k] = {rigid_[k].velocity, rigid_[k].spin};
    iterate(relaxing, true);
    contacts_.finish();
}

Energy World::energy() const {
    Energy energy;
    for (const Rigid& rigid : rigid_) {
        if (rigid.inverse_mass == 0.0) continue;
        energy.kinetic += rigid.kinetic_energy();
        energy.potential -= dot(settings_.gravity, rigid.centre) / rigid.inverse_mass;
    }
    if (settings_.law != ContactLaw::soft) return energy;
    for (std::size_t i = 0; i < contacts_.patches.size(); ++i) {
        const ContactPatch& patch = contacts_.patches[i];
        const Rigid &a = rigid_[static_cast<std::size_t>(patch.a)], &b = rigid_[static_cast<std::size_t>(patch.b)];
        for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
            const ContactPoint& p = contacts_.points[static_cast<std::size_t>(k)];
            const double speed = dot(patch.normal, b.velocity_at(p.r_b) - a.velocity_at(p.r_a));
            const double separation = contacts_.point_origins[static_cast<std::size_t>(k)].separation;
            const double depth = max_of(0.0, -(separation + settings_.step * speed));
            energy.elastic += 0.5 * contacts_.patch_origins[i].material.stiffness * depth * depth;
        }
    }
    return energy;
}

std::vector<Pressed> World::pressed() const {
    std::vector<Pressed> result;
    for (const ContactPatch& patch : contacts_.patches)
        for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
            const ContactPoint& p = contacts_.points[static_cast<std::size_t>(k)];
            const auto& [place, separation, approach] = contacts_.point_origins[static_cast<std::size_t>(k)];
            if (separation > 0.0 && p.normal_impulse == 0.0) continue;  // it came near, no more
            const Vec3d force = (1.0 / settings_.step) * (p.normal_impulse * patch.normal + p.friction);
            result.push_back({patch.a - 1, patch.b - 1, place, patch.normal, force, -separation});
        }
    return result;
}

}  // namespace clearance
