#include "guard/model.hpp"

#include <algorithm>
#include <stdexcept>

namespace clearance {
namespace {

Body body_of(const SweptPoints& swept) {
    const std::vector<Vec3d>& p = swept.points;
    if (p.size() > 3) return Body({part_of(Convex{std::make_shared<const Hull>(p), swept.radius}, Pose{})});
    Element element{static_cast<int>(p.size()), {p[0], p[0], p[0]}, swept.radius};
    for (std::size_t k = 1; k < p.size(); ++k) element.vertex[k] = p[k];
    return Body({part_of(Convex{element, swept.radius}, Pose{})});
}

HalfSpace moved(const HalfSpace& plane, const Pose& by) {
    const Vec3d normal = by.rotation * plane.normal;
    return {normal, plane.offset + dot(normal, by.translation)};
}

// Margins and limits of surfaces are those of their hull for links, which are known to be small; of obstacles they are not.
void check(const Part& part, bool is_obstacle, bool moves) {
    if (is_obstacle && surface_of(part) != nullptr)
        throw std::invalid_argument(
            "the guard needs convex obstacles, but this is a mesh, a height field or a point cloud: split it into convex "
            "parts.");
    if (std::holds_alternative<HalfSpace>(part.shape) && (!is_obstacle || moves))
        throw std::invalid_argument("a half-space can only stand still.");
}

}  // namespace

GuardModel::GuardModel(const Cell& cell, const Options& options) {
    std::vector<SweptBody> bodies = add_parts(cell, options);
    add_pairs(cell, options.speeds);
    const std::vector<std::int32_t> last = last_frames(cell, bodies.size());
    SweepPlan::PointsOfOne points_of_one;
    if (options.points_of_one.empty()) {
        points_of_one = choose_points(cell.tree(), bodies, last, options.typical, options.most_points);
    } else {
        for (const GuardPart& part : parts_)
            if (part.swept >= 0) points_of_one.push_back(options.points_of_one[static_cast<std::size_t>(part.cell_body)]);
        limit_points(cell.tree(), bodies, last, options.most_points, points_of_one);
    }
    plan_ = std::make_unique<const SweepPlan>(cell.tree(), std::move(bodies), points_of_one, last);
    for (GuardPair& pair : pairs_) {
        pair.volume_a = plan_->volume(parts_[static_cast<std::size_t>(pair.part_a)].swept, pair.frame);
        const std::int32_t other = parts_[static_cast<std::size_t>(pair.part_b)].swept;
        pair.volume_b = other < 0 ? -1 : plan_->volume(other, pair.frame);
    }
}

std::vector<SweptBody> GuardModel::add_parts(const Cell& cell, const Options& options) {
    std::vector<SweptBody> bodies;
    for (std::size_t k = 0; k < cell.bodies().size(); ++k) {
        const CellBody& body = cell.bodies()[k];
        const Pose stand = body.frame == 0 ? inverse_times(cell.base(), body.stand) : Pose{};
        first_part_.push_back(parts_.size());
        for (const Part& part : body.body.parts()) {
            check(part, k >= options.links, options.speeds[k] > 0.0);
            if (const auto* plane = std::get_if<HalfSpace>(&part.shape)) {
                parts_.push_back(
                    {Body({part}), static_cast<std::int32_t>(k), 0, stand, -1, moved(*plane, stand * part.pose)});
                continue;
            }
            const SweptPoints swept = swept_points(part);
            parts_.push_back({body_of(swept),
                              static_cast<std::int32_t>(k),
                              body.frame,
                              stand,
                              static_cast<std::int32_t>(bodies.size()),
                              {}});
            bodies.push_back({swept.points, swept.radius, body.frame});
        }
    }
    first_part_.push_back(parts_.size());
    return bodies;
}

void GuardModel::add_pairs(const Cell& cell, const std::vector<double>& speeds) {
    const auto moves = [&](const GuardPart& part) {
        return part.frame > 0 || speeds[static_cast<std::size_t>(part.cell_body)] > 0.0;
    };
    const auto add = [&](std::size_t pair, std::size_t a, std::size_t b) {
        if (!moves(parts_[a]) && !moves(parts_[b])) return;
        const bool is_mirrored = parts_[a].swept < 0;
        if (is_mirrored) std::swap(a, b);
        pairs_.push_back({static_cast<std::int32_t>(pair), static_cast<std::int32_t>(a), static_cast<std::int32_t>(b),
                          cell.tree().common_ancestor(parts_[a].frame, parts_[b].frame), -1, -1, is_mirrored,
                          cell.pairs()[pair].margin});
    };
    for (std::size_t pair = 0; pair < cell.pairs().size(); ++pair) {
        const auto a = static_cast<std::size_t>(cell.pairs()[pair].a), b = static_cast<std::size_t>(cell.pairs()[pair].b);
        for (std::size_t i = first_part_[a]; i < first_part_[a + 1]; ++i)
            for (std::size_t j = first_part_[b]; j < first_part_[b + 1]; ++j) add(pair, i, j);
    }
}

// Volumes are needed down to the frame in which a body meets the most distant of its relatives.
std::vector<std::int32_t> GuardModel::last_frames(const Cell& cell, std::size_t bodies) const {
    std::vector<std::int32_t> last(bodies);
    for (const GuardPart& part : parts_)
        if (part.swept >= 0) last[static_cast<std::size_t>(part.swept)] = part.frame;
    const auto depth = [&](std::int32_t frame) { return cell.tree().frames()[static_cast<std::size_t>(frame)].depth; };
    for (const GuardPair& pair : pairs_)
        for (const std::int32_t number : {pair.part_a, pair.part_b}) {
            const GuardPart& part = parts_[static_cast<std::size_t>(number)];
            if (part.swept < 0) continue;
            std::int32_t& frame = last[static_cast<std::size_t>(part.swept)];
            if (depth(pair.frame) < depth(frame)) frame = pair.frame;
        }
    return last;
}

}  // namespace clearance
