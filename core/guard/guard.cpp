#include "guard/guard.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "query/distance.hpp"

namespace clearance {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kPresent = 4000;                  // operations that the present distance of a pair counts for
constexpr std::int64_t kBalls = 12, kBallPerPoint = 15;  // operations to compare two balls, and to find one
constexpr double kNarrow = 1e-6;                         // a bracket that need not be narrower, in metres

bool are_finite(const double* numbers, int count) {
    return std::all_of(numbers, numbers + count, [](double x) { return abs_of(x) <= kLargestLength; });
}

bool are_finite(const Pose& pose) {
    const Vec3d* rows = pose.rotation.row;
    return are_finite(&rows[0].x, 9) && are_finite(&pose.translation.x, 3);
}

void check_sizes(const KinematicTree& tree, const GuardOptions& options) {
    const auto dof = static_cast<std::size_t>(tree.dof()), velocities = static_cast<std::size_t>(tree.velocities());
    const Braking& braking = options.braking;
    for (const std::vector<double>* column :
         {&braking.latency, &braking.acceleration, &braking.deceleration, &braking.uncertainty, &braking.command_error})
        if (column->size() != velocities) throw std::invalid_argument("braking has a number per velocity.");
    if (options.lower.size() != dof || options.upper.size() != dof)
        throw std::invalid_argument("there are limits for every value.");
}

bool turns(const KinematicTree& tree, const double* q) {
    for (const Frame& frame : tree.frames()) {
        if (!has_quaternion(frame.kind)) continue;
        const double* at = q + frame.value + values_before_quaternion(frame.kind);
        if (!(at[0] * at[0] + at[1] * at[1] + at[2] * at[2] + at[3] * at[3] > 1e-200)) return false;
    }
    return true;
}

}  // namespace

Guard::Guard(const Cell& cell, const GuardModel::Options& model, GuardOptions options)
    : cell_(&cell),
      model_(cell, model),
      options_(std::move(options)),
      one_(model_.plan()),
      other_(model_.plan()),
      tangent_a_(model_.plan(), one_),
      tangent_b_(model_.plan(), one_),
      box_(cell.tree()),
      q_(static_cast<std::size_t>(cell.tree().dof())),
      middle_(static_cast<std::size_t>(cell.tree().dof())),
      row_(static_cast<std::size_t>(cell.tree().velocities())),
      frames_(cell.tree().frames().size()),
      middle_frames_(cell.tree().frames().size()),
      entries_(model_.pairs().size()),
      bounds_(model_.pairs().size()),
      changes_(model_.plan().volumes().size()),
      balls_(model_.plan().volumes().size()) {
    check_sizes(cell.tree(), options_);
    if (options_.speeds.size() != model.movers.size()) throw std::invalid_argument("there is a speed per mover.");
    obstacles_.resize(cell.bodies().size());
    for (std::size_t k = 0; k < model.movers.size(); ++k)
        obstacles_[static_cast<std::size_t>(model.movers[k])].speed = options_.speeds[k];
    for (const GuardPart& part : model_.parts())
        if (part.swept >= 0)
            for (Sweep* sweep : {&one_, &other_})
                sweep->place(part.swept, part.stand, model_.plan().bodies()[static_cast<std::size_t>(part.swept)].radius);
    for (const GuardPair& pair : model_.pairs())
        for (const std::int32_t volume : {pair.volume_a, pair.volume_b})
            if (volume >= 0) compared_.push_back(volume);
    std::sort(compared_.begin(), compared_.end());
    compared_.erase(std::unique(compared_.begin(), compared_.end()), compared_.end());
    reset();
}

void Guard::reset() {
    has_bounds_ = false;
    std::fill(bounds_.begin(), bounds_.end(), -inf);
    start_ = turn_ = 0;
    last_time_.reset();
    for (Obstacle& obstacle : obstacles_) obstacle.is_known = false;
    for (Entry& entry : entries_) entry = Entry{{}, -1, -inf, false};
}

GuardReason Guard::check(const GuardInput& input) const {
    const KinematicTree& tree = cell_->tree();
    if (input.q == nullptr || input.qd == nullptr || !are_finite(input.q, tree.dof()) ||
        !are_finite(input.qd, tree.velocities()) || !turns(tree, input.q))
        return GuardReason::input;
    if (input.command != nullptr && !are_finite(input.command, tree.velocities())) return GuardReason::input;
    for (const GuardInput::Seen& seen : input.moving)
        if (!model_.may_move(seen.body) || !are_finite(seen.pose)) return GuardReason::input;
    if (!input.time) return options_.timeout == inf ? GuardReason::clear : GuardReason::input;
    if (!(abs_of(*input.time) < inf)) return GuardReason::input;
    if (!last_time_) return GuardReason::clear;
    const double passed = *input.time - *last_time_;
    return passed >= 0.0 && passed <= options_.timeout ? GuardReason::clear : GuardReason::stale;
}

// An obstacle may be where it was seen last, or as far from there as it can have gone since, and until the robot stands
// still.
bool Guard::place_obstacles(const GuardInput& input) {
    for (const GuardInput::Seen& seen : input.moving) {
        Obstacle& obstacle = obstacles_[static_cast<std::size_t>(seen.body)];
        obstacle.is_known = true, obstacle.seen = input.time.value_or(kUnknown);
        for (GuardPart& part : model_.parts())
            if (part.cell_body == seen.body) part.stand = inverse_times(cell_->base(), seen.pose);
    }
    const auto was_seen_now = [&](std::int32_t body) {
        return std::any_of(input.moving.begin(), input.moving.end(), [&](const auto& seen) { return seen.body == body; });
    };
    for (const GuardPart& part : model_.parts()) {
        const Obstacle& obstacle = obstacles_[static_cast<std::size_t>(part.cell_body)];
        if (!model_.may_move(part)) continue;
        const bool is_there = obstacle.speed == 0.0 || was_seen_now(part.cell_body);
        const double age = is_there ? 0.0 : input.time.value_or(kUnknown) - obstacle.seen;
        if (!obstacle.is_known || !(age >= 0.0)) return false;
        const double own = model_.plan().bodies()[static_cast<std::size_t>(part.swept)].radius;
        now_->place(part.swept, part.stand, own + obstacle.speed * (age + stopping_time_));
    }
    return true;
}

void Guard::carry_over() {
    for (const std::int32_t volume : compared_) changes_[static_cast<std::size_t>(volume)] = now_->change(volume, *before_);
    for (std::size_t k = 0; k < bounds_.size(); ++k) {
        const GuardPair& pair = model_.pairs()[k];
        const double other = pair.volume_b < 0 ? 0.0 : changes_[static_cast<std::size_t>(pair.volume_b)];
        const double change = changes_[static_cast<std::size_t>(pair.volume_a)] + other;
        bounds_[k] = has_bounds_ ? bounds_[k] - change - 4.0 * kEpsilon * (abs_of(bounds_[k]) + change) : -inf;
    }
    has_bounds_ = true;
}

bool Guard::can_afford(std::int64_t operations) const {
    if (operations > options_.budget - work_) return false;
    return options_.seconds == inf ||
           std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count() <= options_.seconds;
}

std::int64_t Guard::operations(const GuardPair& pair) const {
    const SweptHull& a = now_->hull(pair.volume_a);
    return pair.volume_b < 0 ? Pursuit::operations(a) : Pursuit::operations(a, now_->hull(pair.volume_b));
}

// About the middle of a box around the points.
const Ball& Guard::ball_around(std::int32_t volume) {
    BallAround& around = balls_[static_cast<std::size_t>(volume)];
    if (around.cycle == cycle_) return around.ball;
    const SweptHull& hull = now_->hull(volume);
    work_ += kBallPerPoint * hull.count;
    const auto count = static_cast<std::size_t>(hull.count);
    Vec3d low = hull.point(0), high = low;
    for (std::size_t k = 1; k < count; ++k) {
        const Vec3d p = hull.point(k);
        low = {min_of(low.x, p.x), min_of(low.y, p.y), min_of(low.z, p.z)};
        high = {max_of(high.x, p.x), max_of(high.y, p.y), max_of(high.z, p.z)};
    }
    const Vec3d centre = 0.5 * (low + high);
    double radius_sq = 0.0;
    for (std::size_t k = 0; k < count; ++k) radius_sq = max_of(radius_sq, norm_sq(hull.point(k) - centre));
    around = {{centre, std::sqrt(radius_sq) + hull.radius + 16.0 * kEpsilon * hull.extent}, cycle_};
    return around.ball;
}

// Most pairs are far enough apart for the balls around their volumes to show it.
void Guard::step_by_balls(std::size_t k) {
    const GuardPair& pair = model_.pairs()[k];
    if (pair.volume_b < 0) return;
    const std::int64_t points = now_->hull(pair.volume_a).count + now_->hull(pair.volume_b).count;
    if (!can_afford(kBalls + kBallPerPoint * points)) return;
    work_ += kBalls;
    const Ball &a = ball_around(pair.volume_a), &b = ball_around(pair.volume_b);
    const double apart = norm(b.centre - a.centre) * (1.0 - 4.0 * kEpsilon) - a.radius - b.radius;
    bounds_[k] = max_of(bounds_[k], apart);
}

void Guard::step(std::size_t k) {
    const GuardPair& pair = model_.pairs()[k];
    Entry& entry = entries_[k];
    work_ += operations(pair), ++iterations_;
    const SweptHull& a = now_->hull(pair.volume_a);
    if (pair.volume_b < 0) {
        const HalfSpace& plane = part(pair.part_b).plane;
        bounds_[k] = max_of(bounds_[k], entry.pursuit.step(a, plane.normal, plane.offset));
        entry.renewed = cycle_;
        return;
    }
    const SweptHull& b = now_->hull(pair.volume_b);
    if (entry.renewed != cycle_) entry.pursuit.renew(a, b), entry.renewed = cycle_;
    bounds_[k] = max_of(bounds_[k], entry.pursuit.step(a, b));
}

// Steps until a pair is proved, or nothing more is gained. False if the budget does not allow for that.
bool Guard::pursue(std::size_t k) {
    const Entry& entry = entries_[k];
    while (!is_proved(k) && !(entry.renewed == cycle_ && entry.pursuit.has_converged())) {
        if (!can_afford(operations(model_.pairs()[k]))) return false;
        step(k);
    }
    return true;
}

// The distance of the swept volumes is known and too small, but they are larger than what is really swept.
bool Guard::look_closer(std::size_t k) {
    const GuardPair& pair = model_.pairs()[k];
    Entry& entry = entries_[k];
    if (!bound_by_tangents(k)) return false;
    if (entry.extra > margin(k)) return true;
    if (!may_recede(pair)) return true;
    if (!can_afford(kPresent)) return false;
    work_ += kPresent;
    const Gap gap = present(pair);
    const Vec3d normal = transposed_times(frames_[static_cast<std::size_t>(pair.frame)].rotation, gap.normal);
    const double apart = kept_apart(pair, normal);
    if (apart < gap.lower - kNarrow) return true;  // nearer than now, for all that is known
    entry.extra = max_of(entry.extra, apart);
    entry.is_receding = !(entry.extra > margin(k));
    return true;
}

// How far apart two parts stay along a direction if neither advances; if one does, nothing is known.
double Guard::kept_apart(const GuardPair& pair, const Vec3d& normal) const {
    const GuardPart& b = part(pair.part_b);
    if (!tangent_a_.never_advances(normal) || (b.swept >= 0 && !tangent_b_.never_advances(-normal))) return -inf;
    const SweptHull& hull_a = now_->hull(model_.plan().first_volume(part(pair.part_a).swept));
    const double apart = -tangent_a_.height(normal) - hull_a.radius - 64.0 * kEpsilon * hull_a.extent;
    if (b.swept < 0) return apart - b.plane.offset;
    const SweptHull& hull_b = now_->hull(model_.plan().first_volume(b.swept));
    return apart - tangent_b_.height(-normal) - hull_b.radius - 64.0 * kEpsilon * hull_b.extent;
}

// False if the budget does not allow for that.
bool Guard::prove_all() {
    const std::size_t count = entries_.size();
    for (std::size_t visited = 0; visited < count; ++visited) {
        const std::size_t k = (start_ + visited) % count;
        if (!is_proved(k)) step_by_balls(k);
        if (is_proved(k)) continue;
        if (pursue(k) && (is_proved(k) || look_closer(k))) continue;
        start_ = k;  // goes on here in the next cycle
        return false;
    }
    return true;
}

// What is left of the budget prepares for later: one step for every pair in turn.
void Guard::go_round() {
    const std::size_t count = entries_.size();
    for (std::size_t idle = 0; idle < count; turn_ = (turn_ + 1) % count) {
        const Entry& entry = entries_[turn_];
        if (entry.renewed == cycle_ && entry.pursuit.has_converged()) {
            ++idle;
            continue;
        }
        if (!can_afford(operations(model_.pairs()[turn_]))) return;
        step(turn_);
        idle = 0;
    }
}

void Guard::place_middle() {
    const KinematicTree& tree = cell_->tree();
    for (std::size_t k = 0; k < middle_.size(); ++k) middle_[k] = 0.5 * box_.low[k] + 0.5 * box_.high[k];
    for (const Frame& frame : tree.frames()) {
        if (!has_quaternion(frame.kind)) continue;
        const auto at = frame.value + values_before_quaternion(frame.kind);
        std::copy_n(box_.low.begin() + at, 4, middle_.begin() + at);
    }
    tree.place(middle_.data(), Pose{}, middle_frames_.data());
    has_middle_ = true;
}

// GJK on what both parts sweep along their tangents. False if the budget does not allow for that.
bool Guard::bound_by_tangents(std::size_t k) {
    const GuardPair& pair = model_.pairs()[k];
    if (!has_middle_) place_middle();
    const auto set_up = [&](TangentSweep& sweep, std::int32_t swept) {
        return sweep.set_up(swept, pair.frame, middle_.data(), middle_frames_.data(), box_);
    };
    const GuardPart &a = part(pair.part_a), &b = part(pair.part_b);
    double& best = entries_[k].extra;
    if (!set_up(tangent_a_, a.swept) || (b.swept >= 0 && !set_up(tangent_b_, b.swept))) return true;
    const std::int64_t operations = tangent_a_.operations() + (b.swept < 0 ? 0 : tangent_b_.operations() + Pursuit::kStep);
    const double radii = tangent_a_.radius() + (b.swept < 0 ? 0.0 : tangent_b_.radius());
    Simplex simplex;
    Vec3d towards = entries_[k].pursuit.normal();
    while (can_afford(operations)) {
        work_ += operations, ++iterations_;
        const Vec3d on_a = tangent_a_.farthest(towards);
        if (b.swept < 0) {
            best = dot(b.plane.normal, on_a) - b.plane.offset - radii;
            return true;
        }
        const Vec3d on_b = tangent_b_.farthest(-towards), w = on_a - on_b;
        best = max_of(best, -dot(towards, w) - radii);
        const bool is_nearer = !simplex.has(w) && simplex.extend({w, on_a, on_b});
        if (best > margin(k) || !is_nearer || simplex.distance() == 0.0) return true;
        if (simplex.distance() - radii <= best + kNarrow) return true;
        towards = simplex.direction();
    }
    return false;
}

// Whether it is worth asking if two parts come no nearer: joints that can go both ways bring them nearer one way or other.
bool Guard::may_recede(const GuardPair& pair) {
    const GuardPart &a = part(pair.part_a), &b = part(pair.part_b);
    if (model_.may_move(a) || model_.may_move(b)) return false;
    if (!a.is_exact || !b.is_exact) return false;  // what is around a part may recede while that does not
    const auto goes_one_way = [&](TangentSweep& sweep, std::int32_t number) {
        const GuardPart& one = part(number);
        if (one.swept < 0) return true;
        return sweep.set_up(one.swept, pair.frame, q_.data(), frames_.data(), box_) && sweep.goes_one_way();
    };
    return goes_one_way(tangent_a_, pair.part_a) && goes_one_way(tangent_b_, pair.part_b);
}

// Seen from the base.
Gap Guard::present(const GuardPair& pair) const {
    const GuardPart &a = part(pair.part_a), &b = part(pair.part_b);
    const auto pose = [&](const GuardPart& one) { return frames_[static_cast<std::size_t>(one.frame)] * one.stand; };
    Work work;
    return distance(a.body, pose(a), b.body, pose(b), Question{}, work);
}

double Guard::closing_speed(const GuardPair& pair, const Gap& gap, const double* qd) {
    const KinematicTree& tree = cell_->tree();
    std::fill(row_.begin(), row_.end(), 0.0);
    tree.add_velocity(frames_.data(), part(pair.part_a).frame, gap.point_a, gap.normal, 1.0, row_.data());
    tree.add_velocity(frames_.data(), part(pair.part_b).frame, gap.point_b, gap.normal, -1.0, row_.data());
    const auto own_speed = [&](std::int32_t k) { return obstacles_[static_cast<std::size_t>(part(k).cell_body)].speed; };
    double speed = own_speed(pair.part_a) + own_speed(pair.part_b);
    for (std::size_t k = 0; k < row_.size(); ++k) speed += row_[k] * qd[k];
    return speed;
}

// The pair that has least to spare.
std::size_t Guard::critical() const {
    std::size_t worst = 0;
    double least = inf;
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        const double spare = max_of(bounds_[k], entries_[k].extra) - margin(k);
        if (spare < least || (spare == least && !is_proved(k) && is_proved(worst))) least = spare, worst = k;
    }
    return worst;
}

GuardVerdict Guard::verdict(const GuardInput& input, bool is_decided) {
    GuardVerdict verdict;
    verdict.work = work_, verdict.iterations = iterations_, verdict.stopping_time = stopping_time_;
    bool is_receding = false;
    verdict.reason = GuardReason::clear;
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        is_receding = is_receding || entries_[k].is_receding;
        if (!is_proved(k)) verdict.reason = is_decided ? GuardReason::pair : GuardReason::budget;
    }
    verdict.stop = verdict.reason != GuardReason::clear;
    verdict.lower = inf;
    for (const StandingPair& standing : cell_->standing()) {
        const double wanted = cell_->pairs()[static_cast<std::size_t>(standing.pair)].margin + options_.margin;
        if (!(standing.gap.lower > wanted)) is_receding = true;
        if (entries_.empty()) verdict.lower = min_of(verdict.lower, standing.gap.lower);
    }
    if (!verdict.stop && is_receding) verdict.reason = GuardReason::receding;
    if (entries_.empty()) return verdict;
    const std::size_t k = critical();
    const GuardPair& pair = model_.pairs()[k];
    verdict.lower = max_of(max_of(bounds_[k], entries_[k].extra), -inf);  // where it is no number, too
    verdict.pair = pair.pair;
    const Gap gap = present(pair);
    const double closing = closing_speed(pair, gap, input.qd);
    if (closing > 0.0) verdict.time_to_contact = max_of(gap.distance, 0.0) / closing;
    verdict.present = pair.is_mirrored ? mirrored(gap) : gap;
    const Pose& base = cell_->base();
    verdict.present.point_a = base * verdict.present.point_a, verdict.present.point_b = base * verdict.present.point_b;
    verdict.present.normal = base.rotation * verdict.present.normal;
    return verdict;
}

GuardVerdict Guard::update(const GuardInput& input) {
    began_ = std::chrono::steady_clock::now();
    ++cycle_, work_ = 0, iterations_ = 0;
    has_middle_ = false;
    const GuardReason bad = check(input);
    if (input.time && abs_of(*input.time) < inf) last_time_ = input.time;
    if (bad != GuardReason::clear) return {.reason = bad};
    const KinematicTree& tree = cell_->tree();
    stopping_time_ = braking_box(tree, options_.braking, options_.lower.data(), options_.upper.data(), input.q, input.qd,
                                 input.command, box_);
    if (!are_finite(box_.low.data(), tree.dof()) || !are_finite(box_.high.data(), tree.dof()))
        return {.reason = GuardReason::input};
    std::swap(now_, before_);
    tangent_a_.use(*now_), tangent_b_.use(*now_);
    std::copy_n(input.q, q_.size(), q_.begin());
    tree.place(input.q, Pose{}, frames_.data());
    if (!place_obstacles(input)) {
        has_bounds_ = false;
        return {.reason = GuardReason::input};
    }
    now_->take(box_);
    carry_over();
    for (Entry& entry : entries_) entry.extra = -inf, entry.is_receding = false;
    const bool is_decided = prove_all();
    go_round();
    return verdict(input, is_decided);
}

double Guard::bound(std::int32_t pair) const {
    double least = inf;
    for (const StandingPair& standing : cell_->standing())
        if (standing.pair == pair) least = standing.gap.lower;
    for (std::size_t k = 0; k < bounds_.size(); ++k)
        if (model_.pairs()[k].pair == pair) least = min_of(least, bounds_[k]);
    return least;
}

}  // namespace clearance
