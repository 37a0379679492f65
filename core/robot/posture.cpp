#include "robot/posture.hpp"

#include <algorithm>

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kFloatRounding = 1e-6;  // of a bound between boxes, compared with their sizes and distance

void set_column(float (*column)[8], int lane, const float* values, int count) {
    for (int k = 0; k < count; ++k) column[k][lane] = values[k];
}

Vec3d direction_of(const NearPair& near) { return {near.towards.x, near.towards.y, near.towards.z}; }

}  // namespace

Posture::Posture(const Cell& cell)
    : cell_(&cell),
      frames_(cell.tree().frames().size()),
      balls_(cell),
      places_(cell.bodies().size()),
      looked_at_(cell.pairs().size()) {
    for (std::size_t k = 0; k < places_.size(); ++k) {
        const CellBody& body = cell.bodies()[k];
        bodies_.emplace_back(body.body);
        has_surfaces_ = has_surfaces_ || body.body.has_surface();
        BoxPlace& place = places_[k];
        place.is_finite = body.body.is_finite(), place.is_single = body.body.parts().size() == 1;
        const Vec3d& half = body.box.half;
        place.size = norm(half);
        // Conversion must not make a box smaller.
        const double up = 1.0 + 1e-7;
        place.half[0] = static_cast<float>(up * half.x), place.half[1] = static_cast<float>(up * half.y);
        place.half[2] = static_cast<float>(up * half.z);
        place.placed_at = place.parts_placed = taken_;
        put_box(static_cast<std::int32_t>(k));
        bodies_[k].place(body.stand);
    }
    boxes_ = {};
}

void Posture::take(const double* q) {
    ++taken_;
    cell_->tree().place(q, cell_->base(), frames_.data());
    balls_.take(frames_.data());
}

void Posture::put_box(std::int32_t body) {
    const OrientedBox& box = cell_->bodies()[static_cast<std::size_t>(body)].box;
    BoxPlace& place = place_at(body);
    const Pose& at = pose(body);
    place.centre = at * box.centre;
    for (int k = 0; k < 3; ++k) {
        const Vec3d axis = at.rotation * box.axis[k];
        place.axis[3 * k] = static_cast<float>(axis.x), place.axis[3 * k + 1] = static_cast<float>(axis.y);
        place.axis[3 * k + 2] = static_cast<float>(axis.z);
    }
}

const Posture::BoxPlace& Posture::boxed(std::int32_t body) {
    BoxPlace& place = place_at(body);
    if (place.placed_at != taken_) put_box(body), place.placed_at = taken_;
    return place;
}

const PlacedBody& Posture::placed(std::int32_t body) {
    BoxPlace& place = place_at(body);
    PlacedBody& parts = bodies_[static_cast<std::size_t>(body)];
    if (place.parts_placed != taken_) parts.place(pose(body)), place.parts_placed = taken_;
    return parts;
}

bool Posture::proved_by_balls(std::int32_t pair, double limit) const {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    const Vec3d &from = balls_.centre(a), &to = balls_.centre(b);
    const double reach = body_at(a).ball().radius + body_at(b).ball().radius + limit;
    const double rounding = 16.0 * kEpsilon * (largest(from) + largest(to) + reach);
    return norm_sq(to - from) > (reach + rounding) * (reach + rounding) && reach >= 0.0;
}

double Posture::ball_bound(std::int32_t pair) const {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    const Vec3d &from = balls_.centre(a), &to = balls_.centre(b);
    const double radii = body_at(a).ball().radius + body_at(b).ball().radius;
    return norm(to - from) - radii - 16.0 * kEpsilon * (largest(from) + largest(to) + radii);
}

void Posture::add_boxes(std::int32_t pair, double limit, Work& work) {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    if (!place_at(a).is_finite || !place_at(b).is_finite) return add_unbounded(pair);
    const BoxPlace &at_a = boxed(a), &at_b = boxed(b);
    const Vec3d apart = at_b.centre - at_a.centre;
    const float way[3] = {static_cast<float>(apart.x), static_cast<float>(apart.y), static_cast<float>(apart.z)};
    const double rounding = 16.0 * kEpsilon * (largest(at_a.centre) + largest(at_b.centre));
    waits_[waiting_] = {pair, limit, kFloatRounding * (largest(apart) + at_a.size + at_b.size) + rounding};
    set_column(boxes_.half_a, waiting_, at_a.half, 3), set_column(boxes_.axis_a, waiting_, at_a.axis, 9);
    set_column(boxes_.half_b, waiting_, at_b.half, 3), set_column(boxes_.axis_b, waiting_, at_b.axis, 9);
    set_column(boxes_.apart, waiting_, way, 3);
    if (++waiting_ == 8) bound_boxes(work);
}

// Boxes of a size that floats do not reach say nothing, but balls do.
void Posture::bound_boxes(Work& work) {
    float bounds[8], towards[3][8];
    robot_kernels().box_separations(boxes_, bounds, towards);
    work.volume_tests += waiting_;
    for (int k = 0; k < waiting_; ++k) {
        const auto& [pair, limit, slack] = waits_[k];
        const double apart = static_cast<double>(bounds[k]) - slack;
        const bool is_known = apart < kInfinity;
        const double lower = is_known && apart > 0.0 ? apart : max_of(is_known ? apart : -kInfinity, ball_bound(pair));
        if (!(lower > limit)) near_.push_back({pair, {towards[0][k], towards[1][k], towards[2][k]}, lower});
    }
    waiting_ = 0;
}

std::span<const NearPair> Posture::sorted() {
    std::sort(near_.begin(), near_.end(), [](const NearPair& one, const NearPair& other) {
        return one.lower < other.lower || (one.lower == other.lower && one.pair < other.pair);
    });
    return near_;
}

bool Posture::is_within(const NearPair& near, double limit, Work& work) {
    const std::int32_t a = pair_at(near.pair).a, b = pair_at(near.pair).b;
    if (!is_single(near.pair)) return within(placed(a), placed(b), limit, work);
    const Question question{.at_most = limit, .near_enough = limit, .parting = direction_of(near)};
    return gap(near.pair, question, work).distance <= limit;
}

Gap Posture::gap(std::int32_t pair, const Question& question, Work& work) {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    if (is_single(pair)) return distance(body_at(a), pose(a), body_at(b), pose(b), question, work);
    return distance(placed(a), placed(b), question, work);
}

// A body as it is seen at first: a mesh by its hull.
const Body& Posture::seen(std::int32_t body) const {
    const std::optional<Body>& hull = cell_->hulls()[static_cast<std::size_t>(body)];
    return hull ? *hull : body_at(body);
}

const PlacedBody& Posture::placed_seen(std::int32_t body) {
    if (&seen(body) == &body_at(body)) return placed(body);
    SeenBody& hull = seen_bodies_[static_cast<std::size_t>(body)];
    if (!hull.placed) hull.placed.emplace(seen(body));
    if (hull.placed_at != taken_) hull.placed->place(pose(body)), hull.placed_at = taken_;
    return *hull.placed;
}

bool Posture::is_seen_by_hulls(std::int32_t pair) const {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    return has_surface(pair) && !seen(a).has_surface() && !seen(b).has_surface();
}

// What the hulls of a pair tell of it, or else the pair itself.
Gap Posture::gap_from(const Gap& of_hulls, std::int32_t pair, const Question& question, Work& work) {
    const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
    const HulledBody hulled_a{body_at(a), pose(a), &seen(a) != &body_at(a)};
    const HulledBody hulled_b{body_at(b), pose(b), &seen(b) != &body_at(b)};
    if (const std::optional<Gap> found = gap_by_hulls(hulled_a, hulled_b, of_hulls, work)) return *found;
    --work.pairs;  // it is counted when it is measured
    return gap(pair, question, work);
}

// Meshes are asked for the gap of their hulls, and for their own where that is not the same.
void Posture::ask(std::span<const std::int32_t> pairs, AskedGaps& gaps) {
    seen_bodies_.resize(bodies_.size());
    for (const std::int32_t pair : pairs) {
        const std::int32_t a = pair_at(pair).a, b = pair_at(pair).b;
        const bool by_hulls = is_seen_by_hulls(pair);
        const Question& question = gaps.question(by_hulls);
        if (is_single(pair))
            gaps.ask({by_hulls ? &seen(a) : &body_at(a), &pose(a), by_hulls ? &seen(b) : &body_at(b), &pose(b), &question});
        else if (by_hulls)
            gaps.ask({&placed_seen(a), &placed_seen(b), &question});
        else
            gaps.ask({&placed(a), &placed(b), &question});
    }
}

void Posture::take(std::span<const std::int32_t> pairs, AskedGaps& from, Gap* gaps, Work& work) {
    for (const std::int32_t pair : pairs) {
        const Gap& found = from.next(!is_single(pair));
        gaps[pair] = is_seen_by_hulls(pair) ? gap_from(found, pair, from.question(false), work) : found;
    }
}

// The least over parts that are no surfaces; pairs with surfaces wait.
bool Posture::open(const NearPair& near, double at_most, Gap& found, Work& work) {
    const std::int32_t pair = near.pair, a = pair_at(pair).a, b = pair_at(pair).b;
    if (!has_surface(pair)) {
        // A direction in which they overlap little may show that others overlap more.
        const Vec3d parting = near.lower < 0.0 && at_most < kInfinity ? direction_of(near) : Vec3d{0, 0, 0};
        found = gap(pair, {.at_most = at_most, .parting = parting}, work);
        return true;
    }
    const Vec3d origin = placed(a).origin();
    found = distance_of_solids(placed(a), placed(b), {.at_most = at_most}, surfaces_, work);
    found.point_a = found.point_a + origin, found.point_b = found.point_b + origin;
    owner_.resize(surfaces_.size(), pair);
    return found.distance < kInfinity;
}

// Where to begin: the pair whose balls overlap most, or come nearest, and a distance that one pair cannot exceed.
Posture::Start Posture::start() const {
    Start start{-1, kInfinity};
    double least = kInfinity;
    for (const Cell::Row& row : cell_->rows()) {
        const BallSieve::Nearest found = balls_.nearest(row);
        if (found.apart < least) least = found.apart, start.pair = found.pair;
        start.upper = min_of(start.upper, found.upper);
    }
    for (const Cell::Row& row : cell_->met())
        for (const std::int32_t pair : row.pair) {
            if (pair < 0) continue;
            const Ball a = ball(pair_at(pair).a), b = ball(pair_at(pair).b);
            const double radii = a.radius + b.radius, apart = norm(b.centre - a.centre);
            if (apart - radii < least) least = apart - radii, start.pair = pair;
            const double rounding = 16.0 * kEpsilon * (largest(a.centre) + largest(b.centre));
            start.upper = min_of(start.upper, (apart + radii) * (1.0 + 1e-9) + rounding);
        }
    return start;
}

// Looks at pairs in turn, as long as they may be nearer than the best so far.
struct Posture::Best {
    NearestPair best{farther_than_asked(kInfinity), -1};
    double lowest = kInfinity;
};

void Posture::look_at(const NearPair& near, double at_most, Best& best, Work& work) {
    std::uint64_t& looked_at = looked_at_[static_cast<std::size_t>(near.pair)];
    if (looked_at == asked_) return;
    looked_at = asked_;
    Gap found;
    const bool is_found = open(near, at_most, found, work);
    best.lowest = min_of(best.lowest, found.lower);
    if (is_found && found.distance <= at_most && found.distance < best.best.gap.distance) best.best = {found, near.pair};
}

// Of solids whose boxes and balls overlap one is the nearest, if any of them overlap themselves. All others are farther
// apart than what is returned.
double Posture::look_at_overlapping(double at_most, Best& best, Work& work) {
    const double most = min_of(at_most, 0.0);
    for (const NearPair& one : near_all([&](std::int32_t) { return most; }, most, work)) {
        const double bound = min_of(at_most, best.best.gap.distance);
        if (one.lower > bound) break;
        look_at(one, bound, best, work);
    }
    return most;
}

NearestPair Posture::nearest(double at_most, Work& work) {
    Best found_so_far;
    NearestPair& best = found_so_far.best;
    double& lowest = found_so_far.lowest;
    surfaces_.clear(), owner_.clear();
    ++asked_;
    const double others_beyond = has_surfaces_ ? kNaN : look_at_overlapping(at_most, found_so_far, work);
    double within_reach = at_most;
    if (best.pair < 0 && !(at_most <= others_beyond)) {
        const Start where = start();
        within_reach = min_of(at_most, where.upper);
        if (where.pair >= 0 && !has_surface(where.pair))
            look_at({where.pair, {0, 0, 0}, 0.0}, within_reach, found_so_far, work);
    }
    const double most = min_of(within_reach, best.gap.distance);
    if (!(most <= others_beyond))
        for (const NearPair& one : near_all([&](std::int32_t) { return most; }, most, work)) {
            const double bound = min_of(within_reach, best.gap.distance);
            if (one.lower > bound) break;
            look_at(one, bound, found_so_far, work);
        }
    if (!surfaces_.empty() && best.gap.distance > least_distance(surfaces_)) {
        const Question question{.at_most = min_of(within_reach, best.gap.distance)};
        const NearestSurfaces found = nearest_surfaces(surfaces_, question, {}, work);
        lowest = min_of(lowest, found.gap.lower);
        if (found.pair >= 0 && found.gap.distance < best.gap.distance) {
            best = {found.gap, owner_[static_cast<std::size_t>(found.pair)]};
            const Vec3d origin = pose(pair_at(best.pair).a).translation;
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
