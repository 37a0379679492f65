#include "dynamics/broad_phase.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace clearance {
namespace {

constexpr double kLong = 5.0;   // times as long as wide
constexpr double kFlat = 20.0;  // times as long as high
constexpr double kLarge = 4.0;  // times as large as usual
constexpr double kMostCells = 1e6;

double median(std::vector<double> values) {
    if (values.empty()) return 1.0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// In the frame of a box along its own axes.
Vec3d seen_from(const OrientedBox& box, const Pose& pose, const Vec3d& point) {
    const Vec3d local = transposed_times(pose.rotation, point - pose.translation) - box.centre;
    return {dot(box.axis[0], local), dot(box.axis[1], local), dot(box.axis[2], local)};
}

bool is_field(const Part& part) { return surface_of(part) != nullptr && surface_of(part)->solid_below; }

}  // namespace

void BroadPhase::add_fields(std::int32_t k) {
    for (const Part& part : at(k).body->parts()) {
        if (!is_field(part)) continue;
        const std::vector<Vec3d>& vertices = surface_of(part)->mesh->vertices;
        Vec3d low = vertices.front(), high = low;
        for (const Vec3d& v : vertices) {
            low = {min_of(low.x, v.x), min_of(low.y, v.y), min_of(low.z, v.z)};
            high = {max_of(high.x, v.x), max_of(high.y, v.y), max_of(high.z, v.z)};
        }
        fields_.push_back({k, part.pose, low, high});
    }
}

bool BroadPhase::is_over_field(std::int32_t apart, const Vec3d& point, double reach, const Pose& pose) const {
    return std::any_of(fields_.begin(), fields_.end(), [&](const Field& field) {
        if (field.body != apart) return false;
        const Pose at = pose * field.part;
        const Vec3d seen = transposed_times(at.rotation, point - at.translation);
        return seen.x >= field.low.x - reach && seen.x <= field.high.x + reach && seen.y >= field.low.y - reach &&
               seen.y <= field.high.y + reach && seen.z <= field.high.z + reach;
    });
}

// Balls around long thin bodies would take in the whole scene.
bool BroadPhase::belongs_apart(std::int32_t k, double usual_radius) const {
    const Body& body = *at(k).body;
    if (!body.is_finite() || std::any_of(body.parts().begin(), body.parts().end(), is_field)) return true;
    if (body.ball().radius <= kLarge * usual_radius) return false;
    const Vec3d& h = boxes_[static_cast<std::size_t>(k)].half;
    double sides[3] = {h.x, h.y, h.z};
    std::sort(sides, sides + 3);
    return sides[2] >= kLong * sides[1] || sides[2] >= kFlat * sides[0];
}

void BroadPhase::build(std::vector<BroadBody> bodies, std::span<const Ball> balls) {
    bodies_ = std::move(bodies);
    boxes_.clear(), apart_.clear(), usual_.clear(), sets_.clear(), fields_.clear();
    std::vector<double> radii;
    for (const BroadBody& body : bodies_) {
        boxes_.push_back(box_around(*body.body));
        if (body.body->is_finite()) radii.push_back(body.body->ball().radius);
    }
    const double usual_radius = median(std::move(radii));
    std::vector<std::int32_t> fixed;
    std::map<std::int32_t, std::vector<std::int32_t>> groups;
    const auto count = static_cast<std::int32_t>(bodies_.size());
    std::int32_t alone = count;
    for (std::int32_t k = 0; k < count; ++k) {
        if (!at(k).collides) continue;
        if (belongs_apart(k, usual_radius)) {
            apart_.push_back(k);
            add_fields(k);
            continue;
        }
        usual_.push_back(k);
        if (at(k).is_fixed)
            fixed.push_back(k);
        else
            groups[at(k).group >= 0 ? at(k).group : alone++].push_back(k);
    }
    if (!fixed.empty()) sets_.push_back({BallTree(fixed, balls), true});
    for (const auto& [group, members] : groups) sets_.push_back({BallTree(members, balls), false});
    seen_by_.assign(bodies_.size(), -1);
    if (kind_ == BroadPhaseKind::combined) build_cells(balls);
}

void BroadPhase::find(const Places& places, std::vector<BodyPair>& pairs, std::int64_t& volume_tests) {
    const std::span<const Ball> balls = places.balls;
    pairs.clear();
    pairs_ = &pairs, tests_ = 0;
    if (kind_ == BroadPhaseKind::all) {
        find_all(balls);
    } else {
        for (Set& set : sets_)
            if (!set.is_fixed) set.tree.refit(balls);
        find_apart(places);
        if (kind_ == BroadPhaseKind::grid) {
            grid_.insert(balls, usual_);
            tests_ += grid_.for_meeting(
                0, grid_.size(), [&](std::int32_t i, std::int32_t j) { return may_meet(i, j); },
                [&](std::int32_t i, std::int32_t j) { add(i, j); });
        } else {
            find_among_moving();
        }
        if (kind_ == BroadPhaseKind::combined) find_in_cells(balls);
    }
    std::sort(pairs.begin(), pairs.end());
    volume_tests += tests_;
}

void BroadPhase::find_all(std::span<const Ball> balls) {
    const auto count = static_cast<std::int32_t>(balls.size());
    for (std::int32_t i = 0; i < count; ++i)
        for (std::int32_t j = i + 1; j < count; ++j) add(i, j);
}

// Planes see how high a ball is; long thin bodies see it from their own box.
bool BroadPhase::meets_apart(std::int32_t apart, const Ball& ball, const Places& places) const {
    const Body& body = *at(apart).body;
    const Pose& pose = places.poses[static_cast<std::size_t>(apart)];
    const double reach = ball.radius + places.rooms[static_cast<std::size_t>(apart)];
    const auto is_near = [&](const Part& part) {
        const auto* half_space = std::get_if<HalfSpace>(&part.shape);
        if (half_space == nullptr) return true;
        const Pose at = pose * part.pose;
        const Vec3d normal = at.rotation * half_space->normal;
        return dot(normal, ball.centre - at.translation) - half_space->offset <= reach;
    };
    if (!body.is_finite()) return std::any_of(body.parts().begin(), body.parts().end(), is_near);
    if (!fields_.empty() && is_over_field(apart, ball.centre, reach, pose)) return true;
    const OrientedBox& box = boxes_[static_cast<std::size_t>(apart)];
    const Vec3d seen = seen_from(box, pose, ball.centre);
    return abs_of(seen.x) <= box.half.x + reach && abs_of(seen.y) <= box.half.y + reach &&
           abs_of(seen.z) <= box.half.z + reach;
}

void BroadPhase::find_apart(const Places& places) {
    for (std::size_t m = 0; m < apart_.size(); ++m) {
        const std::int32_t one = apart_[m];
        for (std::size_t n = m + 1; n < apart_.size(); ++n) {
            const std::int32_t other = apart_[n];
            if (!may_meet(one, other)) continue;
            const bool is_finite = at(other).body->is_finite();
            ++tests_;
            if (meets_apart(is_finite ? one : other, places.balls[static_cast<std::size_t>(is_finite ? other : one)],
                            places))
                add(one, other);
        }
        for (const Set& set : sets_) {
            if (set.is_fixed && !at(one).is_movable) continue;
            tests_ += for_passing_leaves(
                set.tree, stack_, [&](const Ball& ball) { return meets_apart(one, ball, places); },
                [&](std::int32_t member) { add(one, member); });
        }
    }
}

void BroadPhase::find_among_moving() {
    for (std::size_t m = 0; m < sets_.size(); ++m) {
        if (sets_[m].is_fixed && kind_ == BroadPhaseKind::combined) continue;
        for (std::size_t n = m + 1; n < sets_.size(); ++n)
            tests_ +=
                for_meeting_leaves(sets_[m].tree, sets_[n].tree, stack_, [&](std::int32_t i, std::int32_t j) { add(i, j); });
    }
}

void BroadPhase::build_cells(std::span<const Ball> balls) {
    cells_ = {};
    if (sets_.empty() || !sets_.front().is_fixed) return;
    const BallTree& tree = sets_.front().tree;
    std::vector<double> radii;
    for (const Set& set : sets_) radii.push_back(set.tree.root().ball.radius);
    if (radii.size() > 1) radii.erase(radii.begin());
    const Ball& all = tree.root().ball;
    cells_.origin = all.centre - Vec3d{all.radius, all.radius, 0};
    cells_.size = max_of(2.0 * median(std::move(radii)), 2.0 * all.radius / std::sqrt(kMostCells));
    cells_.columns = cells_.rows = static_cast<std::int64_t>(2.0 * all.radius / cells_.size) + 1;
    cells_.members.resize(static_cast<std::size_t>(cells_.columns * cells_.rows));
    for (const BallTree::Node& node : tree.nodes()) {
        if (!node.is_leaf()) continue;
        const Ball& ball = balls[static_cast<std::size_t>(node.left)];
        const auto cell = [&](double x, double origin) {
            return std::clamp(static_cast<std::int64_t>(std::floor((x - origin) / cells_.size)), std::int64_t{0},
                              cells_.columns - 1);
        };
        for (std::int64_t x = cell(ball.centre.x - ball.radius, cells_.origin.x);
             x <= cell(ball.centre.x + ball.radius, cells_.origin.x); ++x)
            for (std::int64_t y = cell(ball.centre.y - ball.radius, cells_.origin.y);
                 y <= cell(ball.centre.y + ball.radius, cells_.origin.y); ++y)
                cells_.members[static_cast<std::size_t>(x * cells_.rows + y)].push_back(node.left);
    }
}

// Each tree of what moves, against what stands in the cells that it reaches.
void BroadPhase::find_in_cells(std::span<const Ball> balls) {
    if (cells_.members.empty()) return;
    std::fill(seen_by_.begin(), seen_by_.end(), -1);
    for (std::size_t m = 1; m < sets_.size(); ++m) {
        const Ball& root = sets_[m].tree.root().ball;
        const auto cell = [&](double x, double origin) {
            const double at = std::floor((x - origin) / cells_.size), last = static_cast<double>(cells_.columns - 1);
            return static_cast<std::int64_t>(min_of(max_of(at, 0.0), last));
        };
        for (std::int64_t x = cell(root.centre.x - root.radius, cells_.origin.x);
             x <= cell(root.centre.x + root.radius, cells_.origin.x); ++x)
            for (std::int64_t y = cell(root.centre.y - root.radius, cells_.origin.y);
                 y <= cell(root.centre.y + root.radius, cells_.origin.y); ++y)
                for (const std::int32_t one : cells_.members[static_cast<std::size_t>(x * cells_.rows + y)]) {
                    if (seen_by_[static_cast<std::size_t>(one)] == static_cast<std::int32_t>(m)) continue;
                    seen_by_[static_cast<std::size_t>(one)] = static_cast<std::int32_t>(m);
                    const Ball& ball = balls[static_cast<std::size_t>(one)];
                    tests_ += for_passing_leaves(
                        sets_[m].tree, stack_,
                        [&](const Ball& other) {
                            const double reach = ball.radius + other.radius;
                            return norm_sq(ball.centre - other.centre) <= reach * reach;
                        },
                        [&](std::int32_t member) { add(one, member); });
                }
    }
}

}  // namespace clearance
