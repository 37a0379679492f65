#pragma once

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "query/body.hpp"
#include "scene/nearest.hpp"
#include "scene/pair_table.hpp"

namespace clearance {

struct UnknownName : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// Named rigid bodies, and which of their pairs are watched. Names that are not there throw UnknownName; names and pairs
// that are there already, and pairs of a body with itself, throw std::invalid_argument.
class Scene {
public:
    void add(const std::string& name, Body body, const Pose& pose);
    void remove(const std::string& name);
    void rename(const std::string& from, const std::string& to);

    void watch(const std::string& a, const std::string& b);
    void watch_all();  // every pair of the bodies present that is not ignored and has a distance
    void ignore(const std::string& a, const std::string& b);

    void move(const std::string& name, const Pose& pose);
    const Pose& pose(const std::string& name) const { return find(name).pose; }
    const Body& body(const std::string& name) const { return find(name).body; }
    std::vector<std::string> names() const;
    std::vector<std::pair<std::string, std::string>> pairs() const;
    std::vector<std::pair<std::string, std::string>> ignored() const;

    // Distances of all watched pairs. Only pairs with a body that moved since their last evaluation are computed again. A
    // table that somebody still holds is never written to again.
    std::shared_ptr<const PairTable> distances(int threads, double at_most);

    // The nearest two bodies of two groups of names. What a group's last answer was is remembered unless rules say
    // otherwise, or unless bodies were added or removed; a hint takes its place.
    using Group = std::vector<std::string>;
    struct NamedNearest {
        NearestBodies nearest;
        std::string a, b;  // names, empty where none are as near as asked
    };
    NamedNearest nearest(const Group& a, const Group& b, const NearestRules& rules, const NamedNearest* hint);

    // The same for many poses of some of the bodies: row k of the columns of poses. The others stay where they are.
    struct Motion {
        std::string name;
        std::vector<Pose> poses;
    };
    std::vector<NearestBodies> nearest_of_rows(const Group& a, const Group& b, const NearestRules& rules,
                                               const std::vector<Motion>& motions, std::size_t rows, int threads) const;

private:
    struct Member {
        std::string name;
        Body body;
        Pose pose;
        PlacedBody placed;
        bool moved;  // since the last evaluation
    };
    struct Pair {
        Member *a, *b;
        Gap known;  // what the last evaluation found, which may be only a bound
        bool known_at_all;
        Work work;  // of the last evaluation
    };
    using Key = std::pair<const Member*, const Member*>;
    using Members = std::vector<const Member*>;

    struct GroupPair {
        Group names_a, names_b;
        Members a, b;
        NearestQuery query;
        std::vector<Pose> poses_a, poses_b;
    };

    Members members_of(const Group& group, const char* which) const;
    GroupPair& group_pair(const Group& a, const Group& b);
    Member& find(const std::string& name) const;
    Key key_of(const std::string& a, const std::string& b) const;
    void add_pair(Member& a, Member& b);
    void place_moved_bodies(int threads);
    void choose_rows(double at_most);
    void evaluate_rows(int threads, double at_most);
    void prepare_table();
    void write_row(std::size_t row, double at_most);

    std::vector<std::unique_ptr<Member>> members_;
    std::unordered_map<std::string, Member*> by_name_;
    std::vector<Pair> pairs_;
    std::set<Key> watched_, ignored_;
    std::vector<Member*> moved_;                // what this evaluation has to place,
    std::vector<std::size_t> stale_;            // and to compute
    std::shared_ptr<PairTable> table_, spare_;  // the one handed out last, and one to write the next into
    bool pairs_changed_ = true;                 // the rows of the table are not those of pairs_
    double table_at_most_ = 0.0;
    std::vector<std::unique_ptr<GroupPair>> group_pairs_;  // the one asked for last comes first
};

}  // namespace clearance
