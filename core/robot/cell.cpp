#include "robot/cell.hpp"

#include "robot/posture.hpp"

namespace clearance {

Cell::Cell(std::shared_ptr<const KinematicTree> tree, const Pose& base, std::vector<CellBody> bodies,
           std::vector<CellPair> pairs)
    : tree_(std::move(tree)), base_(base), bodies_(std::move(bodies)), pairs_(std::move(pairs)) {
    sort_pairs();
    plant_obstacles();
}

// Few obstacles are compared one by one as fast.
constexpr std::size_t kFew = 3;

void Cell::sort_pairs() {
    const auto body = [this](std::int32_t number) -> const CellBody& { return bodies_[static_cast<std::size_t>(number)]; };
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
        const CellBody &a = body(pairs_[k].a), &b = body(pairs_[k].b);
        const auto depth = [this](std::int32_t of) { return tree_->frames()[static_cast<std::size_t>(of)].depth; };
        pairs_[k].depth_a = depth(a.frame), pairs_[k].depth_b = depth(b.frame);
        pairs_[k].ancestor_depth = depth(tree_->common_ancestor(a.frame, b.frame));
        const auto number = static_cast<std::int32_t>(k);
        if (a.frame > 0 || b.frame > 0) {
            moving_.push_back(number);
            largest_margin_ = max_of(largest_margin_, pairs_[k].margin);
            continue;
        }
        Work work;
        standing_.push_back({number, distance(a.body, a.stand, b.body, b.stand, {}, work)});
    }
}

void Cell::plant_obstacles() {
    std::vector<StandingTree::Box> boxes;
    for (std::size_t k = 0; k < bodies_.size(); ++k) {
        const CellBody& body = bodies_[k];
        if (body.frame > 0 || !body.body.is_finite()) continue;
        OrientedBox box = body.box;
        box.centre = body.stand * box.centre;
        for (Vec3d& axis : box.axis) axis = body.stand.rotation * axis;
        boxes.push_back({box, static_cast<std::int32_t>(k)});
    }
    const bool has_few = boxes.size() <= kFew;
    std::vector<Met> met(bodies_.size());
    for (const std::int32_t number : moving_) {
        const CellPair& pair = pairs_[static_cast<std::size_t>(number)];
        const auto is_planted = [&](std::int32_t k) {
            const CellBody& body = bodies_[static_cast<std::size_t>(k)];
            return body.frame == 0 && body.body.is_finite();
        };
        const bool meets_a = is_planted(pair.a), meets_b = is_planted(pair.b);
        if (has_few || (!meets_a && !meets_b)) {
            listed_.push_back(number);
            continue;
        }
        const std::int32_t mover = meets_a ? pair.b : pair.a, stander = meets_a ? pair.a : pair.b;
        Met& of = met[static_cast<std::size_t>(mover)];
        of.body = mover;
        if (of.pair.empty()) of.pair.assign(bodies_.size(), -1);
        of.pair[static_cast<std::size_t>(stander)] = number;
    }
    for (Met& of : met)
        if (!of.pair.empty()) met_.push_back(std::move(of));
    if (!has_few) obstacles_ = StandingTree(std::move(boxes));
}

Cell::~Cell() = default;

Cell::Lease::Lease(const Cell& cell) : cell_(cell) {
    {
        const std::lock_guard<std::mutex> lock(cell.mutex_);
        if (!cell.free_.empty()) posture_ = std::move(cell.free_.back()), cell.free_.pop_back();
    }
    if (!posture_) posture_ = std::make_unique<Posture>(cell);
}

Cell::Lease::~Lease() {
    const std::lock_guard<std::mutex> lock(cell_.mutex_);
    cell_.free_.push_back(std::move(posture_));
}

}  // namespace clearance
