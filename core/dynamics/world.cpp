#include "dynamics/world.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "convex/curvature.hpp"
#include "parallel/pool.hpp"

namespace clearance {
namespace {

constexpr double kRelaxing = 0.5;     // of the iterations, once more without undoing overlaps
constexpr double kSamePlace = 0.05;   // of the smaller body: contact points nearer than this are one
constexpr double kBounceSteps = 2.0;  // slower than what gravity does in this many steps, nothing bounces
constexpr double kFast = 0.1;         // of the smaller body, in a step
constexpr double kReached = 1e-3;     // of the smaller body: nearer is there
constexpr double kFaceToFace = 0.7;   // cosine between a contact and the normal of its triangle
constexpr int kMostAdvances = 30;
constexpr double kUnchanged = 1e-6;        // of what gravity does in a step,
constexpr double kUnchangedSpeed = 1e-10;  // and of the fastest body: smaller changes of velocities do not matter
constexpr std::size_t kBlock = 16;         // pairs that a thread takes at a time

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
    std::erase_if(remembered_, [&](const Remembered& one) { return touches(one.a) || touches(one.b); });
    for (Remembered& one : remembered_) one.a = moved_up(one.a), one.b = moved_up(one.b);
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
    contacts_.patches.clear(), contacts_.points.clear();
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
    if (const std::int32_t lost = lost_body(); lost >= 0) return lost;
    place_bodies(threads);
    find_pairs();
    find_contacts(threads);
    collect_patches();
    solve();
    if (const std::int32_t lost = lost_body(); lost >= 0) return lost;
    advance();
    end_guided();
    for (Bearing& bearing : bearings_) bearing.measure(rigid_);
    ++steps_;
    return -1;
}

// Poses, velocities and forces stay below the largest length there is; sums of sizes know of NaN, unlike maxima.
std::int32_t World::lost_body() const {
    const auto size_of = [](const Vec3d& v) { return abs_of(v.x) + abs_of(v.y) + abs_of(v.z); };
    for (std::int32_t k = 0; k < size(); ++k) {
        const Rigid& rigid = rigid_[slot(k)];
        double sum = size_of(rigid.centre) + size_of(rigid.velocity) + size_of(rigid.spin);
        sum += rigid.inverse_mass * (size_of(rigid.force) + size_of(rigid.torque));
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

void World::find_contacts(int threads) {
    if (found_.size() < pairs_.size()) found_.resize(pairs_.size());
    const bool looks_ahead = settings_.law == ContactLaw::hard;
    Pool::shared().for_blocks(pairs_.size(), kBlock, threads, [&](std::size_t begin, std::size_t end) {
        std::vector<PartPair> near;
        for (std::size_t k = begin; k < end; ++k) {
            const auto a = static_cast<std::size_t>(pairs_[k].first), b = static_cast<std::size_t>(pairs_[k].second);
            const double margin = looks_ahead ? rooms_[a] + rooms_[b] : 0.0;
            found_[k].clear();
            const Gap gap = find_contacts_of(pairs_[k], margin, near, found_[k]);
            if (bodies_[a]->has_surface() || bodies_[b]->has_surface()) drop_side_contacts(pairs_[k], found_[k]);
            if (gap.distance > 0.0 && !found_[k].empty() && !meet_within_step(pairs_[k], gap, margin)) found_[k].clear();
        }
    });
}

// Of bodies with many parts only those are looked at that their trees find near.
Gap World::find_contacts_of(const BodyPair& pair, double margin, std::vector<PartPair>& near,
                            std::vector<Contact>& found) const {
    const auto a = static_cast<std::size_t>(pair.first), b = static_cast<std::size_t>(pair.second);
    const ContactRules rules{.margin = margin, .only_near = true, .field_peaks = true};
    Work work;
    if (!part_trees_.has_tree(a) && !part_trees_.has_tree(b)) return contacts(placed_[a], placed_[b], rules, found, work);
    part_trees_.near(a, {placed_[a], rooms_[a]}, b, {placed_[b], rooms_[b]}, near);
    return contacts_of_parts(placed_[a], placed_[b], near, rules, found, work);
}

// A triangle that reaches only a little below a body is nearer to its side than to its top, though the surface goes on
// there: where some triangles are met face to face, those that are met from the side are left out.
void World::drop_side_contacts(const BodyPair& pair, std::vector<Contact>& found) const {
    const auto faces = [&](const Contact& contact) {
        const auto alignment = [&](std::int32_t body, std::int32_t part, std::int32_t triangle) {
            const auto k = static_cast<std::size_t>(body);
            const Part& one = bodies_[k]->parts()[static_cast<std::size_t>(part)];
            if (triangle < 0 || is_cloud(one)) return 1.0;
            const auto [corner] = surface_of(one)->mesh->triangle(triangle);
            const Vec3d across =
                poses_[k].rotation * (one.pose.rotation * cross(corner[1] - corner[0], corner[2] - corner[0]));
            return abs_of(dot(contact.normal, across)) * inverse_or_zero(norm(across));
        };
        return alignment(pair.first, contact.part_a, contact.triangle_a) >= kFaceToFace &&
               alignment(pair.second, contact.part_b, contact.triangle_b) >= kFaceToFace;
    };
    const auto sides = std::stable_partition(found.begin(), found.end(), faces);
    if (sides != found.begin()) found.erase(sides, found.end());
}

// Whether bodies that are still apart block each other's way. Contacts of bodies about to meet stand for planes that end
// nowhere: what would miss an edge, or only brush it, must not be stopped there. So they are moved to the end of the step
// first; if they overlap there, and the shortest way out leads back, they do. What is fast enough to be beyond by then is
// followed on its way.
bool World::meet_within_step(const BodyPair& pair, const Gap& gap, double margin) const {
    const auto a = static_cast<std::size_t>(pair.first), b = static_cast<std::size_t>(pair.second);
    const auto velocity_of = [&](std::size_t k) {
        const Rigid& rigid = rigid_[k + 1];
        const bool falls = rigid.motion == Motion::dynamic;
        return rigid.velocity + (falls ? settings_.step : 0.0) * (settings_.gravity + rigid.inverse_mass * rigid.force);
    };
    const Vec3d velocity = velocity_of(b) - velocity_of(a);
    const auto gap_after = [&](double time) {
        PlacedBody moved = placed_[b];
        moved.place({poses_[b].rotation, poses_[b].translation + time * velocity});
        Work work;
        std::vector<Contact> found;
        return contacts(placed_[a], moved, {.margin = margin, .only_near = true}, found, work);
    };
    const Gap last = gap_after(settings_.step);
    if (last.distance <= 0.0 && dot(last.normal, gap.normal) > kFaceToFace) return true;
    const double size = min_of(bodies_[a]->ball().radius, bodies_[b]->ball().radius);
    if (margin < kFast * size) return false;
    const double speed = norm(velocity), other_motion = margin - settings_.step * speed;
    double time = 0.0, distance = gap.distance;
    for (int k = 0; k < kMostAdvances && distance > max_of(kReached * size, other_motion); ++k) {
        time += distance / speed;
        if (time >= settings_.step) return false;
        distance = gap_after(time).distance;
    }
    return true;
}

void World::collect_patches() {
    contacts_.patches.clear();
    contacts_.points.clear();
    recalled_.assign(remembered_.size(), false);
    for (std::size_t k = 0; k < pairs_.size(); ++k)
        if (!found_[k].empty()) add_patches(pairs_[k].first, pairs_[k].second, found_[k]);
    work_.contacts = static_cast<std::int64_t>(contacts_.points.size());
}

// Contacts come part by part, and of surfaces triangle by triangle: each has a normal of its own.
void World::add_patches(std::int32_t a, std::int32_t b, std::span<const Contact> found) {
    const Material material = together(materials_[static_cast<std::size_t>(a)], materials_[static_cast<std::size_t>(b)]);
    for (std::size_t begin = 0; begin < found.size();) {
        const Contact& first = found[begin];
        const auto belongs = [&](const Contact& one) {
            return one.part_a == first.part_a && one.part_b == first.part_b && one.triangle_a == first.triangle_a &&
                   one.triangle_b == first.triangle_b;
        };
        std::size_t end = begin;
        const auto start = static_cast<std::int32_t>(contacts_.points.size());
        for (; end < found.size() && belongs(found[end]); ++end) {
            ContactPoint& point = contacts_.points.emplace_back();
            point.place = found[end].point, point.separation = -found[end].depth;
        }
        const auto [e, f] = tangents_of(first.normal);
        ContactPatch& patch =
            contacts_.patches.emplace_back(ContactPatch{a + 1, b + 1, first.part_a, first.part_b, first.normal, e, f,
                                                        material, start, static_cast<std::int32_t>(end - begin)});
        recall(patch);
        begin = end;
    }
}

// Begin with the impulses of the points that were nearest to these in the last step.
void World::recall(ContactPatch& patch) {
    const Remembered key{patch.a - 1, patch.b - 1, patch.part_a, patch.part_b, {}, 0.0, {}, {}};
    const auto [begin, end] = std::equal_range(remembered_.begin(), remembered_.end(), key);
    if (begin == end) return;
    const Rigid& body = rigid_[static_cast<std::size_t>(patch.a)];
    const double size = min_of(bodies_[static_cast<std::size_t>(patch.a - 1)]->ball().radius,
                               bodies_[static_cast<std::size_t>(patch.b - 1)]->ball().radius);
    for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
        ContactPoint& point = contacts_.points[static_cast<std::size_t>(k)];
        const Vec3d place = transposed_times(body.rotation, point.place - body.centre);
        double nearest = kSamePlace * kSamePlace * size * size;
        auto best = end;
        for (auto one = begin; one != end; ++one) {
            const double distance_sq = norm_sq(one->place - place);
            if (!recalled_[static_cast<std::size_t>(one - remembered_.begin())] && distance_sq < nearest)
                nearest = distance_sq, best = one;
        }
        if (best == end) continue;
        recalled_[static_cast<std::size_t>(best - remembered_.begin())] = true;
        point.normal_impulse = best->normal;
        point.friction_e = dot(patch.e, best->friction), point.friction_f = dot(patch.f, best->friction);
        patch.rolling_impulse = patch.rolling_impulse + best->rolling;
    }
}

void World::remember() {
    remembered_.clear();
    for (const ContactPatch& patch : contacts_.patches) {
        const Rigid& body = rigid_[static_cast<std::size_t>(patch.a)];
        for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
            const ContactPoint& point = contacts_.points[static_cast<std::size_t>(k)];
            remembered_.push_back({patch.a - 1, patch.b - 1, patch.part_a, patch.part_b,
                                   transposed_times(body.rotation, point.r_a), point.normal_impulse,
                                   point.friction_e * patch.e + point.friction_f * patch.f,
                                   k == patch.first ? patch.rolling_impulse : Vec3d{0, 0, 0}});
        }
    }
    std::stable_sort(remembered_.begin(), remembered_.end());
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
}

Energy World::energy() const {
    Energy energy;
    for (const Rigid& rigid : rigid_) {
        if (rigid.inverse_mass == 0.0) continue;
        energy.kinetic += rigid.kinetic_energy();
        energy.potential -= dot(settings_.gravity, rigid.centre) / rigid.inverse_mass;
    }
    if (settings_.law != ContactLaw::soft) return energy;
    for (const ContactPatch& patch : contacts_.patches) {
        const Rigid &a = rigid_[static_cast<std::size_t>(patch.a)], &b = rigid_[static_cast<std::size_t>(patch.b)];
        for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
            const ContactPoint& p = contacts_.points[static_cast<std::size_t>(k)];
            const double speed = dot(patch.normal, b.velocity_at(p.r_b) - a.velocity_at(p.r_a));
            const double depth = max_of(0.0, -(p.separation + settings_.step * speed));
            energy.elastic += 0.5 * patch.material.stiffness * depth * depth;
        }
    }
    return energy;
}

std::vector<Pressed> World::pressed() const {
    std::vector<Pressed> result;
    for (const ContactPatch& patch : contacts_.patches)
        for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
            const ContactPoint& p = contacts_.points[static_cast<std::size_t>(k)];
            const Vec3d impulse = p.normal_impulse * patch.normal + p.friction_e * patch.e + p.friction_f * patch.f;
            if (p.separation > 0.0 && p.normal_impulse == 0.0) continue;  // it came near, no more
            result.push_back(
                {patch.a - 1, patch.b - 1, p.place, patch.normal, (1.0 / settings_.step) * impulse, -p.separation});
        }
    return result;
}

}  // namespace clearance
