#include "robot/cell.hpp"

#include <algorithm>

#include "robot/posture.hpp"

namespace clearance {

Cell::Cell(std::shared_ptr<const KinematicTree> tree, const Pose& base, std::vector<CellBody> bodies,
           std::vector<CellPair> pairs)
    : tree_(std::move(tree)), base_(base), bodies_(std::move(bodies)), pairs_(std::move(pairs)) {
    sort_pairs();
    plant_obstacles();
}

namespace {

// Few obstacles are compared one by one as fast.
constexpr std::size_t kFew = 3;

// Eight others at a time: which of them there are.
Cell::Row row_of(std::size_t body, std::size_t first, std::vector<std::int32_t> pair) {
    const std::size_t octets = (pair.size() + 7) / 8;
    Cell::Row row{static_cast<std::int32_t>(body), static_cast<std::int32_t>(first), std::move(pair), {}, {}};
    row.absent.assign(8 * octets, std::numeric_limits<float>::infinity());
    row.there.assign(octets, 0);
    for (std::size_t k = 0; k < row.pair.size(); ++k) {
        if (row.pair[k] < 0) continue;
        row.absent[k] = 0.0f;
        row.there[k / 8] = static_cast<std::uint8_t>(row.there[k / 8] | 1u << k % 8);
    }
    return row;
}

// Rows from the first number that there is to the last.
std::vector<Cell::Row> trimmed(const std::vector<std::vector<std::int32_t>>& rows) {
    std::vector<Cell::Row> found;
    const auto is_there = [](std::int32_t pair) { return pair >= 0; };
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const auto first = std::find_if(rows[k].begin(), rows[k].end(), is_there);
        if (first == rows[k].end()) continue;
        const auto last = std::find_if(rows[k].rbegin(), rows[k].rend(), is_there).base();
        found.push_back(row_of(k, static_cast<std::size_t>(first - rows[k].begin()), {first, last}));
    }
    return found;
}

}  // namespace

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
    const auto body = [this](std::int32_t number) -> const CellBody& { return bodies_[static_cast<std::size_t>(number)]; };
    const auto is_planted = [&](std::int32_t k) { return !has_few && body(k).frame == 0 && body(k).body.is_finite(); };
    std::vector<std::vector<std::int32_t>> near(bodies_.size()), met(bodies_.size());
    const auto put = [this](std::vector<std::int32_t>& row, std::int32_t other, std::int32_t pair) {
        if (row.empty()) row.assign(bodies_.size(), -1);
        row[static_cast<std::size_t>(other)] = pair;
    };
    for (const std::int32_t number : moving_) {
        const CellPair& pair = pairs_[static_cast<std::size_t>(number)];
        if (!body(pair.a).body.is_finite() || !body(pair.b).body.is_finite())
            unbounded_.push_back(number);
        else if (is_planted(pair.a))
            put(met[static_cast<std::size_t>(pair.b)], pair.a, number);
        else if (is_planted(pair.b))
            put(met[static_cast<std::size_t>(pair.a)], pair.b, number);
        else
            put(near[static_cast<std::size_t>(pair.a)], pair.b, number);
    }
    rows_ = trimmed(near), met_ = trimmed(met);
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
