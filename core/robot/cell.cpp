#include "robot/cell.hpp"

#include "robot/posture.hpp"

namespace clearance {

Cell::Cell(std::shared_ptr<const KinematicTree> tree, const Pose& base, std::vector<CellBody> bodies,
           std::vector<CellPair> pairs)
    : tree_(std::move(tree)), base_(base), bodies_(std::move(bodies)), pairs_(std::move(pairs)) {
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
        const CellBody &a = bodies_[static_cast<std::size_t>(pairs_[k].a)], &b = bodies_[static_cast<std::size_t>(pairs_[k].b)];
        const auto number = static_cast<std::int32_t>(k);
        if (a.frame > 0 || b.frame > 0) {
            moving_.push_back(number);
            continue;
        }
        Work work;
        standing_.push_back({number, distance(a.body, a.stand, b.body, b.stand, {}, work)});
    }
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
