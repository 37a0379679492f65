#include "robot/posture.hpp"

#include <algorithm>

#include "bvh/kernels.hpp"

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFloatRounding = 1e-6;  // of a bound between boxes, compared with their sizes and distance

void set_column(float (*column)[8], int lane, const float* values, int count) {
    for (int k = 0; k < count; ++k) column[k][lane] = values[k];
}

}  // namespace

Posture::Posture(const Cell& cell) : cell_(&cell), frames_(cell.tree().frames().size()), places_(cell.bodies().size()) {
    balls_.resize(places_.size());
    for (std::size_t k = 0; k < places_.size(); ++k) {
        const CellBody& body = cell.bodies()[k];
        bodies_.emplace_back(body.body);
        Place& place = places_[k];
        place.is_finite = body.body.is_finite(), place.is_single = body.body.parts().size() == 1;
        const Vec3d& half = body.box.half;
        place.size = norm(half);
        // Conversion must not make a box smaller.
        const double up = 1.0 + 1e-7;
        place.half[0] = static_cast<float>(up * half.x), place.half[1] = static_cast<float>(up * half.y);
        place.half[2] = static_cast<float>(up * half.z);
        put(k, body.stand);
    }
    boxes_ = {};
    extent_of_standing_ = extent_;
}

void Posture::put(std::size_t body, const Pose& pose) {
    const CellBody& of = cell_->bodies()[body];
    Place& place = places_[body];
    place.pose = pose;
    place.is_placed = false;
    place.ball_centre = pose * of.body.ball().centre;
    balls_.set(body, {place.ball_centre, of.body.ball().radius});
    extent_ = max_of(extent_, largest(place.ball_centre));
    place.box_centre = pose * of.box.centre;
    for (int k = 0; k < 3; ++k) {
        const Vec3d axis = pose.rotation * of.box.axis[k];
        place.axis[3 * k] = static_cast<float>(axis.x), place.axis[3 * k + 1] = static_cast<float>(axis.y);
        place.axis[3 * k + 2] = static_cast<float>(axis.z);
    }
}

void Posture::take(const double* q) {
    extent_ = extent_of_standing_;
    cell_->tree().place(q, cell_->base(), frames_.data());
    for (std::size_t k = 0; k < places_.size(); ++k) {
        const std::int32_t frame = cell_->bodies()[k].frame;
        if (frame > 0) put(k, frames_[static_cast<std::size_t>(frame)]);
    }
}

const PlacedBody& Posture::placed(std::int32_t body) {
    Place& place = place_at(body);
    PlacedBody& parts = bodies_[static_cast<std::size_t>(body)];
    if (!place.is_placed) parts.place(place.pose), place.is_placed = true;
    return parts;
}

bool Posture::proved_by_balls(std::int32_t pair, double limit) {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    const Vec3d &from = place_at(a).ball_centre, &to = place_at(b).ball_centre;
    const double reach = body_at(a).ball().radius + body_at(b).ball().radius + limit;
    const double rounding = 16.0 * kEpsilon * (largest(from) + largest(to) + reach);
    return norm_sq(to - from) > (reach + rounding) * (reach + rounding) && reach >= 0.0;
}

double Posture::ball_bound(std::int32_t pair) {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    const Vec3d &from = place_at(a).ball_centre, &to = place_at(b).ball_centre;
    const double radii = body_at(a).ball().radius + body_at(b).ball().radius;
    return norm(to - from) - radii - 16.0 * kEpsilon * (largest(from) + largest(to) + radii);
}

void Posture::add_boxes(std::int32_t pair, double limit, Work& work) {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    const Place &at_a = place_at(a), &at_b = place_at(b);
    if (!at_a.is_finite || !at_b.is_finite) {
        near_.push_back({pair, -kInfinity});
        return;
    }
    const Vec3d apart = at_b.box_centre - at_a.box_centre;
    const float way[3] = {static_cast<float>(apart.x), static_cast<float>(apart.y), static_cast<float>(apart.z)};
    const double rounding = 16.0 * kEpsilon * (largest(at_a.box_centre) + largest(at_b.box_centre));
    waits_[waiting_] = {pair, limit, kFloatRounding * (largest(apart) + at_a.size + at_b.size) + rounding};
    set_column(boxes_.half_a, waiting_, at_a.half, 3), set_column(boxes_.axis_a, waiting_, at_a.axis, 9);
    set_column(boxes_.half_b, waiting_, at_b.half, 3), set_column(boxes_.axis_b, waiting_, at_b.axis, 9);
    set_column(boxes_.apart, waiting_, way, 3);
    if (++waiting_ == 8) bound_boxes(work);
}

void Posture::bound_boxes(Work& work) {
    float bounds[8];
    bvh_kernels().box_bounds(boxes_, bounds);
    work.volume_tests += waiting_;
    for (int k = 0; k < waiting_; ++k)
        add_near(waits_[k].pair, static_cast<double>(bounds[k]) - waits_[k].slack, waits_[k].limit);
    waiting_ = 0;
}

// Boxes that meet say nothing about depth, but balls do.
void Posture::add_near(std::int32_t pair, double apart, double limit) {
    const double lower = apart > 0.0 ? apart : ball_bound(pair);
    if (!(lower > limit)) near_.push_back({pair, lower});
}

std::span<const NearPair> Posture::sorted() {
    std::sort(near_.begin(), near_.end(), [](const NearPair& one, const NearPair& other) {
        return one.lower < other.lower || (one.lower == other.lower && one.pair < other.pair);
    });
    return near_;
}

bool Posture::is_within(std::int32_t pair, double limit, Work& work) {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    if (place_at(a).is_single && place_at(b).is_single)
        return gap(pair, {.at_most = limit, .near_enough = limit}, work).distance <= limit;
    return within(placed(a), placed(b), limit, work);
}

Gap Posture::gap(std::int32_t pair, const Question& question, Work& work) {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    if (place_at(a).is_single && place_at(b).is_single)
        return distance(body_at(a), place_at(a).pose, body_at(b), place_at(b).pose, question, work);
    return distance(placed(a), placed(b), question, work);
}

// The least over parts that are no surfaces; pairs with surfaces wait.
bool Posture::open(std::int32_t pair, double at_most, Gap& found, Work& work) {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    if (!has_surface(pair)) {
        found = gap(pair, {.at_most = at_most}, work);
        return true;
    }
    const Vec3d origin = placed(a).origin();
    found = distance_of_solids(placed(a), placed(b), {.at_most = at_most}, surfaces_, work);
    found.point_a = found.point_a + origin, found.point_b = found.point_b + origin;
    owner_.resize(surfaces_.size(), pair);
    return found.distance < kInfinity;
}

// Where to begin: the pair whose balls overlap most, or come nearest, and a distance that one pair cannot exceed.
Posture::Start Posture::start() {
    Start start{-1, kInfinity};
    double least = kInfinity;
    for (const std::int32_t pair : cell_->moving()) {
        const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
        if (!place_at(a).is_finite || !place_at(b).is_finite) continue;
        const Vec3d &from = place_at(a).ball_centre, &to = place_at(b).ball_centre;
        const double radii = body_at(a).ball().radius + body_at(b).ball().radius;
        const double apart = norm(to - from);
        if (apart - radii < least) least = apart - radii, start.pair = pair;
        start.upper = min_of(start.upper, (apart + radii) * (1.0 + 1e-9) + 16.0 * kEpsilon * (largest(from) + largest(to)));
    }
    return start;
}

NearestPair Posture::nearest(double at_most, Work& work) {
    NearestPair best{farther_than_asked(kInfinity), -1};
    double lowest = kInfinity;
    surfaces_.clear(), owner_.clear();
    const auto look_at = [&](std::int32_t pair, double bound) {
        Gap found;
        const bool is_found = open(pair, bound, found, work);
        lowest = min_of(lowest, found.lower);
        if (is_found && found.distance <= bound && found.distance < best.gap.distance) best = {found, pair};
    };
    const Start first = start();
    const double within_reach = min_of(at_most, first.upper);
    const bool is_solid = first.pair >= 0 && !has_surface(first.pair);
    if (is_solid) look_at(first.pair, within_reach);
    const double most = min_of(within_reach, best.gap.distance);
    for (const NearPair& one : near_all([&](std::int32_t) { return most; }, most, work)) {
        const double bound = min_of(within_reach, best.gap.distance);
        if (one.lower > bound) break;
        if (!is_solid || one.pair != first.pair) look_at(one.pair, bound);
    }
    if (!surfaces_.empty() && best.gap.distance > least_distance(surfaces_)) {
        const Question question{.at_most = min_of(within_reach, best.gap.distance)};
        const NearestSurfaces found = nearest_surfaces(surfaces_, question, {}, work);
        lowest = min_of(lowest, found.gap.lower);
        if (found.pair >= 0 && found.gap.distance < best.gap.distance) {
            best = {found.gap, owner_[static_cast<std::size_t>(found.pair)]};
            const Vec3d origin = place_at(pair_at(best.pair).a).pose.translation;
            best.gap.point_a = best.gap.point_a + origin, best.gap.point_b = best.gap.point_b + origin;
        }
    }
    // What was passed over lies beyond the best, or beyond what was asked.
    if (best.pair >= 0)
        best.gap.lower = min_of(best.gap.lower, lowest);
    else
        best.gap = farther_than_asked(std::nextafter(at_most, kInfinity));
    return best;
}

}  // namespace clearance
