#include "motion/planar_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace clearance {
namespace {

using std::numbers::pi;

constexpr std::size_t kMostYawSteps = 4, kArcSides = 4, kTurnsOfACircle = 8;
constexpr double kRounding = 1e-12;  // of all lengths that were added up
constexpr double kFineness = 0.002;  // of the footprint: errors of chords that are not worth another step

double sinc(double x) { return std::fabs(x) < 1e-4 ? 1.0 - x * x / 6.0 : std::sin(x) / x; }

// The mean of e^(is) over s from 0 to t.
Vec2 mean_turn(double t) { return sinc(0.5 * t) * unit_at(0.5 * t); }

double largest_of(double low, double high) { return std::max(std::fabs(low), std::fabs(high)); }

double largest_of(const TwistBox& box, std::size_t axis) { return largest_of(box.low[axis], box.high[axis]); }

double longest_in(const TwistBox& box) { return std::hypot(largest_of(box, 0), largest_of(box, 1)); }

void set_box(double x0, double x1, double y0, double y1, Corners& points, Corners& box) {
    points.assign({{x0, y0}, {x1, y0}, {x0, y1}, {x1, y1}});
    hull_of(points, box);
}

// Points whose hull contains e^(is) for all s of a range shorter than half a turn: its ends, and where the tangents of
// equal parts meet.
void append_arc(double low, double high, std::size_t parts, const Vec2& times, Corners& points) {
    const double half = 0.5 * (high - low) / static_cast<double>(parts);
    points.push_back(times * unit_at(low));
    for (std::size_t k = 0; k < parts; ++k)
        points.push_back((1.0 / std::cos(half)) * (times * unit_at(low + (2.0 * static_cast<double>(k) + 1.0) * half)));
    points.push_back(times * unit_at(high));
}

// The integral of the part of v + at above zero, for t from 0 to the end.
double area_above(double v, double a, double end) {
    const double last = v + a * end;
    if (v >= 0.0 && last >= 0.0) return 0.5 * (v + last) * end;
    if (v <= 0.0 && last <= 0.0) return 0.0;
    const double highest = std::max(v, last);
    return 0.5 * highest * highest / std::fabs(a);
}

double braking_distance(double speed, double deceleration) { return speed > 0.0 ? 0.5 * speed * speed / deceleration : 0.0; }

}  // namespace

PlanarSweep::PlanarSweep(std::vector<FootprintPart> footprint, PlanarBraking braking, std::size_t pieces)
    : braking_(braking), count_(pieces) {
    std::size_t most = 1;
    for (FootprintPart& part : footprint) {
        hull_of(part.corners, hull_);
        most = std::max(most, hull_.size());
        footprint_.emplace_back().set(hull_, part.radius);
    }
    pieces_.resize(footprint_.size() * (count_ + 1 + kTurnsOfACircle));
    times_.resize(pieces_.size());
    // Corners of shifts lie on four arcs of up to five quarters; a turn makes three points of a corner; a level has two
    // turns before the arc, some yaw rates, and four velocities.
    const std::size_t shifts = 4 * (5 * kArcSides + 3), level = 2 * (kMostYawSteps + 1) * 4 * most;
    for (DiscSweptHull& piece : pieces_) piece.reserve(shifts + 2 * level + 8);
    for (Corners* corners : {&velocities_, &start_, &points_, &turned_, &shift_, &shifts_, &hull_, &level_, &next_level_})
        corners->reserve(std::max(shifts * (shifts + 3 * most), 8 * level));
}

void PlanarSweep::set(const Twist& velocity, const std::optional<Twist>& command) {
    now_ = velocity;
    used_ = 0;
    arc_ = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
        rates_.low[k] = command ? (*command)[k] - braking_.command_error[k] : -braking_.acceleration[k];
        rates_.high[k] = command ? (*command)[k] + braking_.command_error[k] : braking_.acceleration[k];
        reached_.low[k] = now_[k] + rates_.low[k] * braking_.latency;
        reached_.high[k] = now_[k] + rates_.high[k] * braking_.latency;
        arc_ = std::max(arc_, 0.5 * largest_of(reached_, k) / braking_.deceleration[k]);
    }
    const auto fastest = [&](std::size_t k) { return std::max(largest_of(reached_, k), std::fabs(now_[k])); };
    double reach = 0.0;
    for (const DiscSweptHull& part : footprint_) reach = std::max(reach, part.reach());
    top_speed_ = std::hypot(fastest(0), fastest(1)) + fastest(2) * reach;

    if (braking_.is_arc) {
        set_shifts(latency_travel(0), latency_travel(1), turned_in_latency());
        for (const DiscSweptHull& part : footprint_) add_free_motion(part, turned_in_latency(), 1);
        set_start();
        for (const DiscSweptHull& part : footprint_) add_arc(part);
    } else {
        const Travel yaw = whole_travel(2);
        const Range turn{-yaw.back, yaw.forth};
        set_shifts(whole_travel(0), whole_travel(1), turn);
        for (const DiscSweptHull& part : footprint_) add_free_motion(part, turn, count_);
    }
}

PlanarSweep::Travel PlanarSweep::latency_travel(std::size_t axis) const {
    return {area_above(now_[axis], rates_.high[axis], braking_.latency),
            area_above(-now_[axis], -rates_.low[axis], braking_.latency)};
}

PlanarSweep::Travel PlanarSweep::whole_travel(std::size_t axis) const {
    const Travel first = latency_travel(axis);
    return {first.forth + braking_distance(reached_.high[axis], braking_.deceleration[axis]),
            first.back + braking_distance(-reached_.low[axis], braking_.deceleration[axis])};
}

PlanarSweep::Range PlanarSweep::turned_in_latency() const {
    const Travel yaw = latency_travel(2);
    return {-yaw.back, yaw.forth};
}

// Where a body gets to whose twist may be anything, as long as its components travel no farther forth and back, and the body
// turns no farther: what a component travels forth is its length times a mean of turns, so it is in the hull of the arc of
// that length and of zero. The four add up.
void PlanarSweep::set_shifts(const Travel& x, const Travel& y, const Range& turn) {
    const Range within = turn.width() < 2.0 * pi ? turn : Range{-pi, pi};
    const auto quarters = 1 + static_cast<std::size_t>(within.width() / (0.5 * pi));
    shifts_.assign({Vec2{}});
    for (const Vec2& farthest : {Vec2{x.forth, 0.0}, Vec2{-x.back, 0.0}, Vec2{0.0, y.forth}, Vec2{0.0, -y.back}}) {
        if (farthest == Vec2{}) continue;
        points_.assign({Vec2{}});
        append_arc(within.low, within.high, quarters * kArcSides, farthest, points_);
        hull_of(points_, shift_);
        points_.clear();
        append_sums(shifts_, shift_, points_);
        hull_of(points_, shifts_);
    }
}

// A part that turns and is shifted at the same time, in pieces of equal turns.
void PlanarSweep::add_free_motion(const DiscSweptHull& part, const Range& turn, std::size_t count) {
    const Range within = turn.width() < 2.0 * pi ? turn : Range{-pi, pi};
    const auto needed = 1 + static_cast<std::size_t>(within.width() / (0.25 * pi + 1e-9));
    const std::size_t steps = within.width() > 0.0 ? std::max(count, needed) : 1;
    const double step = within.width() / static_cast<double>(steps);
    for (std::size_t k = 0; k < steps; ++k) {
        const double low = within.low + static_cast<double>(k) * step;
        points_.clear();
        for (const Vec2& corner : part.corners()) append_arc(low, low + step, 1, corner, points_);
        add_shifted(shifts_, part.radius(), 0.0);
    }
}

// Where the body is when the latency ends, and how fast. With the mean accelerations a(t) and b(t) of twist and yaw since
// the beginning, from their boxes, the twist is v + t a(t) and the body has turned by wt + t^2/2 b(t). So it is at
//
//     v T E(wT) + e^(iwT/2) T^2/2 a,  a somewhere in its box,
//
// up to |v| |b| T^3/6 and |a| (|b| T^4/8 + |w| T^3/8), for a turn that is off by s moves what it turns by s at most.
void PlanarSweep::set_start() {
    const double time = braking_.latency, time_sq = time * time, speed = std::hypot(now_[0], now_[1]);
    const double a = longest_in(rates_), b = largest_of(rates_, 2), w = now_[2];
    start_turn_ = {w * time + 0.5 * time_sq * rates_.low[2], w * time + 0.5 * time_sq * rates_.high[2]};
    start_radius_ = time * time_sq * (speed * b / 6.0 + a * (b * time + std::fabs(w)) / 8.0);
    set_box(rates_.low[0], rates_.high[0], rates_.low[1], rates_.high[1], points_, start_);
    const Vec2 middle = time * (Vec2{now_[0], now_[1]} * mean_turn(w * time));
    for (Vec2& corner : start_) corner = middle + 0.5 * time_sq * (corner * unit_at(0.5 * w * time));
    set_box(reached_.low[0], reached_.high[0], reached_.low[1], reached_.high[1], points_, velocities_);
}

void PlanarSweep::add_arc(const DiscSweptHull& part) {
    yaw_steps_ = 1;
    while (yaw_steps_ < kMostYawSteps && chord_error(part, arc_) > kFineness * part.reach()) ++yaw_steps_;
    const double step = arc_ / static_cast<double>(count_), yaw = largest_of(reached_, 2);
    double speed = 0.0;  // at which a corner moves along its arc
    for (const Vec2& corner : part.corners())
        for (const Vec2& v : velocities_)
            for (const double w : {reached_.low[2], reached_.high[2]})
                speed = std::max(speed, norm(v + w * Vec2{-corner.y, corner.x}));
    const double bulge = step * step / 8.0 * yaw * speed;
    set_level(part, 0.0, level_);
    for (std::size_t k = 0; k < count_; ++k) {
        const double begin = step * static_cast<double>(k), end = step * static_cast<double>(k + 1);
        set_level(part, end, next_level_);
        points_.assign(level_.begin(), level_.end());
        points_.insert(points_.end(), next_level_.begin(), next_level_.end());
        add_shifted(start_, part.radius() + bulge + chord_error(part, end) + start_radius_, braking_.latency + begin);
        std::swap(level_, next_level_);
    }
}

// By how much chords miss the arcs that corners describe when the yaw rate changes, or the turn that an arc begins with.
double PlanarSweep::chord_error(const DiscSweptHull& part, double length) const {
    const double yaw = (reached_.high[2] - reached_.low[2]) / static_cast<double>(yaw_steps_);
    const double turn = start_turn_.width(), speed = longest_in(reached_), reach = part.reach() - part.radius();
    return (yaw * yaw * length * length * (reach + length * speed / 3.0) + turn * turn * (reach + length * speed)) / 8.0;
}

// A hull of where corners are after the same length of all arcs.
void PlanarSweep::set_level(const DiscSweptHull& part, double length, Corners& level) {
    points_.clear();
    const double step = (reached_.high[2] - reached_.low[2]) / static_cast<double>(yaw_steps_);
    for (const double turn : {start_turn_.low, start_turn_.high})
        for (std::size_t k = 0; k <= yaw_steps_; ++k) {
            const double angle = length * (reached_.low[2] + step * static_cast<double>(k));
            const Vec2 turned = unit_at(turn + angle), shifted = length * (unit_at(turn) * mean_turn(angle));
            turned_.clear(), shift_.clear();
            for (const Vec2& corner : part.corners()) turned_.push_back(turned * corner);
            for (const Vec2& velocity : velocities_) shift_.push_back(shifted * velocity);
            append_sums(turned_, shift_, points_);
        }
    hull_of(points_, level);
}

void PlanarSweep::add_shifted(const Corners& shifts, double radius, double time) {
    hull_of(points_, turned_);
    points_.clear();
    append_sums(turned_, shifts, points_);
    hull_of(points_, hull_);
    double reach = 0.0;
    for (const Vec2& corner : hull_) reach = std::max(reach, std::fabs(corner.x) + std::fabs(corner.y));
    pieces_[used_].set(hull_, radius + kRounding * (radius + reach));
    times_[used_++] = time;
}

// The velocity of a point p of the body is e^(it)(v + iwp). Along a direction it is linear in v and w, and in t a wave that
// is nowhere positive between two angles less than half a turn apart where it is not: so corners of the boxes and both ends
// of the turn suffice. While a vehicle brakes on an arc, all velocities only shrink; when its components brake for
// themselves, each stays between zero and what it was.
bool PlanarSweep::never_advances_along(std::size_t part, const Vec2& direction, double beyond) const {
    const bool is_arc = braking_.is_arc;
    TwistBox all = reached_;
    for (std::size_t k = 0; k < 3; ++k) {
        const double rest = is_arc ? now_[k] : 0.0;
        all.low[k] = std::min({all.low[k], now_[k], rest}), all.high[k] = std::max({all.high[k], now_[k], rest});
    }
    const Travel latency = latency_travel(2), whole = whole_travel(2);
    const double forth = is_arc ? latency.forth + arc_ * std::max(reached_.high[2], 0.0) : whole.forth;
    const double back = is_arc ? latency.back + arc_ * std::max(-reached_.low[2], 0.0) : whole.back;
    if (forth + back >= 3.0) return false;
    const double time = braking_.latency + (is_arc ? arc_ : 2.0 * arc_);

    const std::span<const Vec2> corners = footprint_[part].corners();
    double farthest = dot(direction, corners[0]);
    for (const Vec2& corner : corners) farthest = std::max(farthest, dot(direction, corner));
    const Vec2 seen[2] = {direction * unit_at(back), direction * unit_at(-forth)};  // from the body
    for (const Vec2& corner : corners) {
        const Vec2 spin[2] = {all.low[2] * Vec2{-corner.y, corner.x}, all.high[2] * Vec2{-corner.y, corner.x}};
        double advance = 0.0;
        for (const Vec2& along : seen) {
            const double x = std::max(along.x * all.low[0], along.x * all.high[0]);
            const double y = std::max(along.y * all.low[1], along.y * all.high[1]);
            advance = std::max(advance, x + y + std::max(dot(along, spin[0]), dot(along, spin[1])));
        }
        if (advance * time > farthest - dot(direction, corner) + beyond) return false;
    }
    return true;
}

}  // namespace clearance
