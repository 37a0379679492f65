#pragma once

#include <memory>
#include <mutex>

#include "query/box_around.hpp"
#include "query/distance.hpp"
#include "robot/hulls.hpp"
#include "robot/standing_tree.hpp"
#include "robot/tree.hpp"

namespace clearance {

// A link of the robot, or an obstacle.
struct CellBody {
    Body body;           // of a link: in the frame it moves with
    std::int32_t frame;  // 0: it stands still
    Pose stand;          // where, if it does
    OrientedBox box;
};

// Two bodies that must not come nearer to each other than a margin.
struct CellPair {
    std::int32_t a, b;
    double margin;
    std::int32_t depth_a = 0, depth_b = 0, ancestor_depth = 0;  // of their frames, and of the last that carries both
};

// Two bodies that stand still: their gap is known once and for all.
struct StandingPair {
    std::int32_t pair;
    Gap gap;
};

class Posture;

// A robot among obstacles, and which pairs of its bodies are checked. It does not change; several threads may ask it.
class Cell {
public:
    Cell(std::shared_ptr<const KinematicTree> tree, const Pose& base, std::vector<CellBody> bodies,
         std::vector<CellPair> pairs);
    ~Cell();

    const KinematicTree& tree() const { return *tree_; }
    const Pose& base() const { return base_; }
    std::span<const CellBody> bodies() const { return bodies_; }
    std::span<const CellPair> pairs() const { return pairs_; }
    std::span<const std::int32_t> moving() const { return moving_; }      // pairs of which a body moves,
    std::span<const StandingPair> standing() const { return standing_; }  // and the others
    double largest_margin() const { return largest_margin_; }
    std::span<const std::optional<Body>> hulls() const { return hulls_.of(bodies_); }

    // What a question about all moving pairs goes through: pairs without a bound; for every body others of consecutive
    // numbers; and for every moving body the tree of what stands still.
    struct Row {
        std::int32_t body, first;         // of the others
        std::vector<std::int32_t> pair;   // its number by number of the other, from the first on, or -1
        std::vector<float> absent;        // zero where there is a pair, infinite elsewhere; a multiple of eight of them
        std::vector<std::uint8_t> there;  // the same as bits
    };
    std::span<const std::int32_t> unbounded() const { return unbounded_; }
    std::span<const Row> rows() const { return rows_; }
    const StandingTree& obstacles() const { return obstacles_; }
    std::span<const Row> met() const { return met_; }

    // Room for one configuration, for as long as it is held; it is given back and used again.
    class Lease {
    public:
        explicit Lease(const Cell& cell);
        ~Lease();
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        Posture& operator*() const { return *posture_; }
        Posture* operator->() const { return posture_.get(); }

    private:
        const Cell& cell_;
        std::unique_ptr<Posture> posture_;
    };

private:
    void sort_pairs();
    void plant_obstacles();

    std::shared_ptr<const KinematicTree> tree_;
    Pose base_;
    std::vector<CellBody> bodies_;
    std::vector<CellPair> pairs_;
    std::vector<std::int32_t> moving_;
    std::vector<StandingPair> standing_;
    double largest_margin_ = 0.0;
    std::vector<std::int32_t> unbounded_;
    std::vector<Row> rows_, met_;
    StandingTree obstacles_;
    Hulls hulls_;
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Posture>> free_;
};

}  // namespace clearance
