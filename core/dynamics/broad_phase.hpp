#pragma once

#include "dynamics/ball_tree.hpp"
#include "dynamics/hash_grid.hpp"
#include "query/box_around.hpp"

namespace clearance {

// How pairs that may touch are found: by trees of balls around the members of each group; by a grid of cubes; by trees for
// what moves and a coarse grid for what stands; or not at all. The answer is the same: only the work differs.
enum class BroadPhaseKind { all, hierarchy, grid, combined };

// What the search is told of a body, besides the ball around it. Bodies of one group never meet; nor do two that are fixed.
struct BroadBody {
    const Body* body;
    std::int32_t group;  // negative: alone
    bool is_movable;     // by others
    bool is_fixed;
    bool collides;  // at all
};

using BodyPair = std::pair<std::int32_t, std::int32_t>;

class BroadPhase {
public:
    explicit BroadPhase(BroadPhaseKind kind) : kind_(kind) {}

    // Anew, whenever bodies come, go, or change how they take part.
    void build(std::vector<BroadBody> bodies, std::span<const Ball> balls);

    // Where bodies are: the balls around them have room for what may come, as much as `rooms` says.
    struct Places {
        std::span<const Pose> poses;
        std::span<const Ball> balls;
        std::span<const double> rooms;
    };

    // Pairs whose balls overlap, smaller numbers first, in order.
    void find(const Places& places, std::vector<BodyPair>& pairs, std::int64_t& volume_tests);

    bool may_meet(std::int32_t i, std::int32_t j) const {
        const BroadBody &a = at(i), &b = at(j);
        return a.collides && b.collides && (a.is_movable || b.is_movable) && (a.group < 0 || a.group != b.group);
    }

private:
    const BroadBody& at(std::int32_t k) const { return bodies_[static_cast<std::size_t>(k)]; }
    bool belongs_apart(std::int32_t k, double usual_radius) const;
    void add_fields(std::int32_t k);
    bool is_over_field(std::int32_t apart, const Vec3d& point, double reach, const Pose& pose) const;
    bool meets_apart(std::int32_t apart, const Ball& ball, const Places& places) const;
    void add(std::int32_t i, std::int32_t j) {
        if (may_meet(i, j)) pairs_->emplace_back(std::min(i, j), std::max(i, j));
    }
    void find_all(std::span<const Ball> balls);
    void find_apart(const Places& places);
    void find_among_moving();
    void find_in_cells(std::span<const Ball> balls);
    void build_cells(std::span<const Ball> balls);

    // Ground that is solid below, as deep as anything gets: in the frame of the part.
    struct Field {
        std::int32_t body;
        Pose part;
        Vec3d low, high;
    };

    struct Set {
        BallTree tree;
        bool is_fixed;
    };

    BroadPhaseKind kind_;
    std::vector<BroadBody> bodies_;
    std::vector<OrientedBox> boxes_;           // around bodies, in their frames
    std::vector<std::int32_t> apart_, usual_;  // infinite, or long and thin; all others
    std::vector<Set> sets_;  // of the others: the fixed ones, one for each group and for each that is alone
    std::vector<Field> fields_;
    HashGrid grid_;

    // Of what is fixed, seen from above.
    struct Cells {
        double size = 1.0;
        Vec3d origin{0, 0, 0};
        std::int64_t columns = 0, rows = 0;
        std::vector<std::vector<std::int32_t>> members;
    };
    Cells cells_;
    std::vector<std::int32_t> seen_by_;  // the last set that each body was tested with

    std::vector<BodyPair>* pairs_ = nullptr;
    std::int64_t tests_ = 0;
    std::vector<BodyPair> stack_;
};

}  // namespace clearance
