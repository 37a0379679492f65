#include "scene/scene.hpp"

#include <algorithm>
#include <functional>

#include "parallel/pool.hpp"
#include "query/distance.hpp"

namespace clearance {
namespace {

// Handing work to a thread that waits for it costs a microsecond or two, but tens of them if it has fallen asleep, as in
// a loop with pauses. Below this much work sharing can make things worse.
constexpr double kWorthSharing_ns = 40000.0;

double expected_ns(const Body& a, const Body& b) {
    const double parts = static_cast<double>(a.parts().size()) * static_cast<double>(b.parts().size());
    return 300.0 + 8.0 * parts + (a.has_surface() || b.has_surface() ? 20000.0 : 0.0);
}

// Two half-spaces have none.
bool have_distance(const Body& a, const Body& b) { return a.is_finite() || b.is_finite(); }

}  // namespace

Scene::Member& Scene::find(const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) throw UnknownName("the scene has no body named '" + name + "'.");
    return *found->second;
}

Scene::Key Scene::key_of(const std::string& a, const std::string& b) const {
    const Member *first = &find(a), *second = &find(b);
    if (first == second) throw std::invalid_argument("a pair needs two bodies, but both are '" + a + "'.");
    return std::less<>{}(first, second) ? Key{first, second} : Key{second, first};
}

void Scene::add(const std::string& name, Body body, const Pose& pose) {
    if (by_name_.count(name) != 0) throw std::invalid_argument("the scene already has a body named '" + name + "'.");
    PlacedBody placed(body);
    members_.push_back(std::make_unique<Member>(Member{name, std::move(body), pose, std::move(placed), true}));
    by_name_[name] = members_.back().get();
    group_pairs_.clear();
    moved_.reserve(members_.size());
}

void Scene::remove(const std::string& name) {
    const Member* gone = &find(name);
    const auto has_it = [gone](const auto& pair) { return pair.first == gone || pair.second == gone; };
    std::erase_if(watched_, has_it);
    std::erase_if(ignored_, has_it);
    std::erase_if(pairs_, [gone](const Pair& pair) { return pair.a == gone || pair.b == gone; });
    by_name_.erase(name);
    group_pairs_.clear();
    std::erase_if(members_, [gone](const auto& member) { return member.get() == gone; });
    pairs_changed_ = true;
}

void Scene::rename(const std::string& from, const std::string& to) {
    Member& member = find(from);
    if (from == to) return;
    if (by_name_.count(to) != 0) throw std::invalid_argument("the scene already has a body named '" + to + "'.");
    by_name_.erase(from);
    by_name_[to] = &member;
    member.name = to;
    group_pairs_.clear();
    pairs_changed_ = true;
}

void Scene::add_pair(Member& a, Member& b) {
    pairs_.push_back({&a, &b, farther_than_asked(-std::numeric_limits<double>::infinity()), false, {}});
    stale_.reserve(pairs_.size());
    pairs_changed_ = true;
}

void Scene::watch(const std::string& a, const std::string& b) {
    const Key key = key_of(a, b);
    if (!have_distance(find(a).body, find(b).body))
        throw std::invalid_argument("'" + a + "' and '" + b + "' both contain a half-space: they have no distance.");
    if (!watched_.insert(key).second) throw std::invalid_argument("the pair '" + a + "', '" + b + "' is already watched.");
    ignored_.erase(key);
    add_pair(find(a), find(b));
}

void Scene::watch_all() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        for (std::size_t j = i + 1; j < members_.size(); ++j) {
            const Key key = key_of(members_[i]->name, members_[j]->name);
            if (!have_distance(members_[i]->body, members_[j]->body)) continue;
            if (ignored_.count(key) == 0 && watched_.insert(key).second) add_pair(*members_[i], *members_[j]);
        }
    }
}

void Scene::ignore(const std::string& a, const std::string& b) {
    const Key key = key_of(a, b);
    ignored_.insert(key);
    if (watched_.erase(key) == 0) return;
    const Member *first = &find(a), *second = &find(b);
    std::erase_if(pairs_, [=](const Pair& pair) {
        return (pair.a == first && pair.b == second) || (pair.a == second && pair.b == first);
    });
    pairs_changed_ = true;
}

void Scene::move(const std::string& name, const Pose& pose) {
    Member& member = find(name);
    if (member.pose == pose) return;
    member.pose = pose;
    member.moved = true;
}

std::vector<std::string> Scene::names() const {
    std::vector<std::string> result;
    for (const auto& member : members_) result.push_back(member->name);
    return result;
}

std::vector<std::pair<std::string, std::string>> Scene::pairs() const {
    std::vector<std::pair<std::string, std::string>> result;
    for (const Pair& pair : pairs_) result.emplace_back(pair.a->name, pair.b->name);
    return result;
}

std::vector<std::pair<std::string, std::string>> Scene::ignored() const {
    std::vector<std::pair<std::string, std::string>> result;
    for (const Key& key : ignored_) result.emplace_back(key.first->name, key.second->name);
    return result;
}

void Scene::place_moved_bodies(int threads) {
    moved_.clear();
    double work_ns = 0.0;
    for (const auto& member : members_) {
        if (!member->moved) continue;
        moved_.push_back(member.get());
        work_ns += 45.0 * static_cast<double>(member->body.parts().size());
    }
    Pool::shared().for_blocks(moved_.size(), 4, work_ns < kWorthSharing_ns ? 1 : threads,
                              [this](std::size_t begin, std::size_t end) {
                                  for (std::size_t k = begin; k < end; ++k) {
                                      Member& member = *moved_[k];
                                      member.placed.place(member.pose);
                                  }
                              });
}

void Scene::choose_rows(double at_most) {
    stale_.clear();
    for (std::size_t row = 0; row < pairs_.size(); ++row) {
        const Pair& pair = pairs_[row];
        const bool only_a_bound = pair.known.distance == std::numeric_limits<double>::infinity();
        const bool enough = pair.known_at_all && !(only_a_bound && pair.known.lower <= at_most);
        if (pair.a->moved || pair.b->moved || !enough) stale_.push_back(row);
    }
}

void Scene::evaluate_rows(int threads, double at_most) {
    double work_ns = 0.0;
    for (const std::size_t row : stale_) work_ns += expected_ns(pairs_[row].a->body, pairs_[row].b->body);
    const int sharing = work_ns < kWorthSharing_ns ? 1 : threads > 0 ? threads : core_count();
    // Blocks small enough that the last one does not keep the others waiting.
    const std::size_t block = std::clamp<std::size_t>(stale_.size() / (16 * static_cast<std::size_t>(sharing)), 1, 16);
    Pool::shared().for_blocks(stale_.size(), block, sharing, [this, at_most](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            Pair& pair = pairs_[stale_[k]];
            pair.work = {};
            const Question question{.at_most = at_most, .nearest_before = pair.known_at_all ? &pair.known : nullptr};
            pair.known = distance(pair.a->placed, pair.b->placed, question, pair.work);
            pair.known_at_all = true;
        }
    });
    // Rows next to each other share cache lines in every column: long stretches, so that threads do not fight for them.
    Pool::shared().for_blocks(stale_.size(), 256, sharing, [this, at_most](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) write_row(stale_[k], at_most);
    });
    for (Member* member : moved_) member->moved = false;
}

// Make table_ one that nobody else holds, with the rows of the last one.
void Scene::prepare_table() {
    if (table_ == nullptr) table_ = std::make_shared<PairTable>();
    if (table_.use_count() > 1) {
        if (spare_ == nullptr || spare_.use_count() > 1) spare_ = std::make_shared<PairTable>();
        *spare_ = *table_;
        std::swap(table_, spare_);
    }
    if (!pairs_changed_) return;
    auto names = std::make_shared<PairNames>();
    for (const Pair& pair : pairs_) {
        names->a.push_back(pair.a->name);
        names->b.push_back(pair.b->name);
    }
    table_->names = std::move(names);
    table_->resize(pairs_.size());
}

void Scene::write_row(std::size_t row, double at_most) {
    const Pair& pair = pairs_[row];
    const bool too_far = pair.known.lower > at_most;
    table_->set(row, too_far ? farther_than_asked(pair.known.lower) : pair.known, pair.a->pose.translation,
                pair.b->pose.translation);
}

std::shared_ptr<const PairTable> Scene::distances(int threads, double at_most) {
    const bool all_rows_change = pairs_changed_ || at_most != table_at_most_;
    prepare_table();
    place_moved_bodies(threads);
    choose_rows(at_most);
    evaluate_rows(threads, at_most);
    if (all_rows_change)
        for (std::size_t row = 0; row < pairs_.size(); ++row) write_row(row, at_most);
    table_->work = {};
    for (const std::size_t row : stale_) table_->work += pairs_[row].work;
    pairs_changed_ = false;
    table_at_most_ = at_most;
    return table_;
}

Scene::Members Scene::members_of(const Group& group, const char* which) const {
    if (group.empty()) throw std::invalid_argument(std::string(which) + " has no bodies: it needs at least one name.");
    Members members;
    for (const std::string& name : group) members.push_back(&find(name));
    return members;
}

namespace {

template <class Members>
std::vector<const Body*> bodies_of(const Members& members) {
    std::vector<const Body*> bodies;
    for (const auto* member : members) bodies.push_back(&member->body);
    return bodies;
}

template <class Members>
void check_pairs(const Members& a, const Members& b) {
    bool any = false;
    for (const auto* one : a)
        for (const auto* other : b) {
            if (one == other) continue;
            any = true;
            if (!have_distance(one->body, other->body))
                throw std::invalid_argument("'" + one->name + "' and '" + other->name +
                                            "' both contain a half-space: they have no distance.");
        }
    if (!any) throw std::invalid_argument("the groups have no pair of different bodies.");
}

}  // namespace

// What is known of two groups. Whoever asks about very many groups is not remembered for ever.
Scene::GroupPair& Scene::group_pair(const Group& names_a, const Group& names_b) {
    constexpr std::size_t kMostPairs = 64;
    const auto found = std::find_if(group_pairs_.begin(), group_pairs_.end(), [&](const auto& known) {
        return known->names_a == names_a && known->names_b == names_b;
    });
    if (found != group_pairs_.end()) {
        std::rotate(group_pairs_.begin(), found, found + 1);
        return *group_pairs_.front();
    }
    const Members a = members_of(names_a, "group_a"), b = members_of(names_b, "group_b");
    check_pairs(a, b);
    if (group_pairs_.size() == kMostPairs) group_pairs_.pop_back();
    group_pairs_.insert(
        group_pairs_.begin(),
        std::make_unique<GroupPair>(GroupPair{names_a, names_b, a, b, NearestQuery(bodies_of(a), bodies_of(b)), {}, {}}));
    return *group_pairs_.front();
}

Scene::NamedNearest Scene::nearest(const Group& group_a, const Group& group_b, const NearestRules& rules,
                                   const NamedNearest* hint) {
    GroupPair& groups = group_pair(group_a, group_b);
    const auto number_of = [](const Group& names, const std::string& name) {
        const auto found = std::find(names.begin(), names.end(), name);
        return found == names.end() ? -1 : static_cast<std::int32_t>(found - names.begin());
    };
    if (hint != nullptr) {
        NearestBodies start = hint->nearest;
        start.a = number_of(groups.names_a, hint->a), start.b = number_of(groups.names_b, hint->b);
        groups.query.remember(start);
    }
    const auto take_poses = [](const Members& members, std::vector<Pose>& poses) {
        poses.clear();
        for (const Member* member : members) poses.push_back(member->pose);
    };
    take_poses(groups.a, groups.poses_a), take_poses(groups.b, groups.poses_b);
    NamedNearest result{groups.query.find(groups.poses_a, groups.poses_b, rules), {}, {}};
    if (result.nearest.a >= 0) {
        result.a = groups.names_a[static_cast<std::size_t>(result.nearest.a)];
        result.b = groups.names_b[static_cast<std::size_t>(result.nearest.b)];
    }
    return result;
}

std::vector<NearestBodies> Scene::nearest_of_rows(const Group& group_a, const Group& group_b, const NearestRules& rules,
                                                  const std::vector<Motion>& motions, std::size_t rows, int threads) const {
    // One answer starts from the one before it, within a block. Blocks must not depend on the number of threads; short
    // batches have short ones, so that there is something to share.
    const std::size_t block_size = std::clamp<std::size_t>(rows / 16, 4, 64);
    const Members a = members_of(group_a, "group_a"), b = members_of(group_b, "group_b");
    check_pairs(a, b);
    std::unordered_map<const Member*, const std::vector<Pose>*> moving;
    for (const Motion& motion : motions) moving[&find(motion.name)] = &motion.poses;
    const auto set_poses = [&](const Members& members, std::size_t row, std::vector<Pose>& poses) {
        poses.clear();
        for (const Member* member : members) {
            const auto found = moving.find(member);
            poses.push_back(found == moving.end() ? member->pose : (*found->second)[row]);
        }
    };
    std::vector<NearestBodies> answers(rows);
    Pool::shared().for_blocks(rows, block_size, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t first = begin; first < end; first += block_size) {
            NearestQuery query(bodies_of(a), bodies_of(b));
            std::vector<Pose> poses_a, poses_b;
            for (std::size_t row = first; row < end && row < first + block_size; ++row) {
                set_poses(a, row, poses_a), set_poses(b, row, poses_b);
                answers[row] = query.find(poses_a, poses_b, rules);
            }
        }
    });
    return answers;
}

}  // namespace clearance
