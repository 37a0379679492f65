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

constexpr std::size_t kMostElements = 2000;

// A surface of a link counts as its hull. One around the robot counts as its triangles or balls, as long as they are few.
std::vector<SweptPoints> convex_parts(const Part& part, bool is_obstacle) {
    const Surface* surface = surface_of(part);
    if (surface == nullptr || !is_obstacle) return {swept_points(part)};
    const Mesh& mesh = *surface->mesh;
    if (mesh.faces.size() > kMostElements)
        throw std::invalid_argument("the guard takes surfaces of up to " + std::to_string(kMostElements) +
                                    " elements around a robot, but one has " + std::to_string(mesh.faces.size()) +
                                    ": split it into convex parts.");
    std::vector<SweptPoints> parts;
    for (std::size_t k = 0; k < mesh.faces.size(); ++k) {
        const Element element = mesh.element(static_cast<std::int32_t>(k));
        parts.push_back({{element.vertex, element.vertex + element.count}, element.radius});
        for (Vec3d& p : parts.back().points) p = part.pose * p;
    }
    return parts;
}

}  // namespace

GuardModel::GuardModel(const Cell& cell, const Options& options) : may_move_(cell.bodies().size()) {
    for (const std::int32_t body : options.movers) {
        if (body < static_cast<std::int32_t>(options.links) || static_cast<std::size_t>(body) >= may_move_.size())
            throw std::invalid_argument("a mover is an obstacle of the cell.");
        may_move_[static_cast<std::size_t>(body)] = true;
    }
    std::vector<SweptBody> bodies = add_parts(cell, options);
    add_pairs(cell);
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
        const auto number = static_cast<std::int32_t>(k);
        first_part_.push_back(parts_.size());
        for (const Part& part : body.body.parts()) {
            if (const auto* plane = std::get_if<HalfSpace>(&part.shape)) {
                if (k < options.links || may_move_[k]) throw std::invalid_argument("a half-space can only stand still.");
                parts_.push_back({Body({part}), number, 0, stand, -1, moved(*plane, stand * part.pose)});
                continue;
            }
            for (const SweptPoints& swept : convex_parts(part, k >= options.links)) {
                const auto body_number = static_cast<std::int32_t>(bodies.size());
                parts_.push_back({body_of(swept), number, body.frame, stand, body_number, {}, swept.is_exact});
                bodies.push_back({swept.points, swept.radius, body.frame});
            }
        }
    }
    first_part_.push_back(parts_.size());
    return bodies;
}

void GuardModel::add_pairs(const Cell& cell) {
    const auto moves = [&](const GuardPart& part) { return part.frame > 0 || may_move(part); };
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
