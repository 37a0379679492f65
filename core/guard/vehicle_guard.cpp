#include "guard/vehicle_guard.hpp"

#include <algorithm>
#include <limits>

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFarthest = 1e30;
constexpr std::size_t kStride = 16;
constexpr std::uint32_t kNoPiece = std::numeric_limits<std::uint32_t>::max();

PlanarGap gap_between(const DiscSweptHull& hull, const Vec2& a, const Vec2& b) {
    return a == b ? hull.gap_to(a) : hull.gap_to(a, b);
}

// Whether a ray from the point along x leaves the outline more often than it enters.
bool is_inside(const Outline& outline, const Vec2& point) {
    bool inside = false;
    for (std::size_t k = 0; k < outline.size(); ++k) {
        const Vec2 &a = outline[k], &b = outline[(k + 1) % outline.size()];
        if ((a.y > point.y) == (b.y > point.y)) continue;
        if (point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x)) inside = !inside;
    }
    return inside;
}

Vec2 nearest_on(const Outline& outline, const Vec2& point) {
    Vec2 best = outline[0];
    for (std::size_t k = 0; k < outline.size(); ++k) {
        const Vec2 on = nearest_on(outline[k], outline[(k + 1) % outline.size()], point);
        if (norm_sq(on - point) < norm_sq(best - point)) best = on;
    }
    return best;
}

}  // namespace

void VehicleGuard::Points::reserve(std::size_t count) { x.reserve(count), y.reserve(count), index.reserve(count); }

VehicleGuard::VehicleGuard(PlanarSweep sweep, std::span<const Outline> obstacles, Settings settings)
    : sweep_(std::move(sweep)), settings_(settings) {
    for (std::size_t k = 0; k < obstacles.size(); ++k) {
        const Outline& outline = obstacles[k];
        for (const Vec2& corner : outline) extent_ = std::max(extent_, norm(corner));
        if (outline.size() == 1) posts_.add(outline[0], k);
        if (outline.size() > 2) solids_.push_back({outline, k});
        const std::size_t sides = outline.size() > 2 ? outline.size() : outline.size() - 1;
        for (std::size_t i = 0; i < sides; ++i) walls_.push_back({outline[i], outline[(i + 1) % outline.size()], k});
    }
    posts_here_.reserve(posts_.x.size());
    walls_here_.reserve(walls_.size());
    lowers_.reserve(posts_.x.size()), first_pieces_.reserve(posts_.x.size());
}

void VehicleGuard::set_scan(const double* points, std::size_t count) {
    scan_.clear();
    scan_.reserve(count), lowers_.reserve(count), first_pieces_.reserve(count);
    for (std::size_t k = 0; k < count; ++k) {
        const Vec2 point{points[2 * k], points[2 * k + 1]};
        if (std::fabs(point.x) <= kFarthest && std::fabs(point.y) <= kFarthest) scan_.add(point, k);
    }
}

const VehicleFinding& VehicleGuard::look(const PlanarPose& pose, const Twist& velocity,
                                         const std::optional<Twist>& command) {
    pose_ = pose, velocity_ = velocity, command_ = command;
    heading_ = unit_at(pose.yaw);
    rounding_ = 1e-14 * (norm(pose.position) + extent_);
    posts_here_.clear(), walls_here_.clear();
    for (std::size_t k = 0; k < posts_.x.size(); ++k)
        posts_here_.add(body_from({posts_.x[k], posts_.y[k]}), posts_.index[k]);
    for (const Target& wall : walls_) walls_here_.push_back({body_from(wall.a), body_from(wall.b), wall.index});
    look_everywhere(velocity);
    if (finding_.index < 0) return finding_;
    if (!is_inside_solid_) finding_.present = present_lower(critical_, finding_.is_scanned);
    PlanarGap& gap = finding_.gap;
    gap.point = world_from(gap.point), gap.other = world_from(gap.other), gap.normal = heading_ * gap.normal;
    return finding_;
}

double VehicleGuard::clear_factor(int halvings) {
    const auto is_clear_at = [&](double factor) {
        look_everywhere({factor * velocity_[0], factor * velocity_[1], factor * velocity_[2]});
        return finding_.proof != Proof::none;
    };
    double low = 0.0, high = 1.0;
    if (is_clear_at(1.0)) return 1.0;
    const bool may_stand = is_clear_at(0.0);
    for (int k = 0; may_stand && k < halvings; ++k) {
        const double middle = 0.5 * (low + high);
        (is_clear_at(middle) ? low : high) = middle;
    }
    sweep_.set(velocity_, command_);
    return low;
}

void VehicleGuard::look_everywhere(const Twist& velocity) {
    sweep_.set(velocity, command_);
    finding_ = {Proof::clear, false, -1, kInfinity, kInfinity, kInfinity, {kInfinity, {}, {}, {}}};
    is_inside_solid_ = false;
    look_at_points(scan_, true);
    look_at_points(posts_here_, false);
    look_at_walls();
    if (finding_.index >= 0) finding_.gap = nearest_gap(critical_, finding_.is_scanned);
    look_at_solids();
}

// By how much what is told of a hull must be larger. A pose that is off by e and a yaw by s moves a point at the distance r
// from the origin of the body by no more than |e| + 2 sin(s/2) r; a scan is taken from the vehicle itself.
double VehicleGuard::grown(const DiscSweptHull& hull, bool is_scanned) const {
    if (is_scanned) return settings_.scan_radius;
    const auto [x, y, yaw] = settings_.uncertainty;
    return std::sqrt(x * x + y * y) + std::min(yaw, 2.0) * hull.reach() + rounding_;
}

// What is farther away matters to nobody.
double VehicleGuard::limit() const { return std::max(finding_.lower, settings_.margin); }

// A few points first: what they leave to be looked at is little.
void VehicleGuard::look_at_points(const Points& points, bool is_scanned) {
    const std::size_t count = points.x.size();
    lowers_.assign(count, kInfinity), first_pieces_.assign(count, kNoPiece);
    double best = limit();
    for (const std::size_t stride : {kStride, std::size_t{1}})
        for (std::size_t piece = 0; piece < sweep_.pieces().size(); ++piece)
            best = look_at_piece(points, is_scanned, piece, stride, best);
    for (std::size_t k = 0; k < count; ++k)
        if (lowers_[k] <= limit()) settle(points.at(k), is_scanned, lowers_[k], first_pieces_[k]);
}

// Looks at points that are no farther than the best, and gives the new best.
double VehicleGuard::look_at_piece(const Points& points, bool is_scanned, std::size_t piece, std::size_t stride,
                                   double best) {
    const DiscSweptHull& hull = sweep_.pieces()[piece];
    const double more = grown(hull, is_scanned), centre_x = hull.centre().x, centre_y = hull.centre().y;
    const auto squared = [](double length) { return length * length; };
    double within_sq = squared(best + hull.size() + more);
    for (std::size_t k = 0; k < points.x.size(); k += stride) {
        const double x = points.x[k] - centre_x, y = points.y[k] - centre_y;
        if (x * x + y * y > within_sq) continue;
        const double lower = hull.lower_to({points.x[k], points.y[k]}, best + more) - more;
        if (lower > best) continue;
        lowers_[k] = std::min(lowers_[k], lower);
        if (lower <= settings_.margin) first_pieces_[k] = std::min(first_pieces_[k], static_cast<std::uint32_t>(piece));
        best = std::max(lower, settings_.margin);
        within_sq = squared(best + hull.size() + more);
    }
    return best;
}

void VehicleGuard::look_at_walls() {
    const std::span<const DiscSweptHull> pieces = sweep_.pieces();
    for (const Target& wall : walls_here_) {
        double lower = kInfinity;
        std::size_t first = kNoPiece;
        for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
            const DiscSweptHull& hull = pieces[piece];
            const double more = grown(hull, false), within = limit() + hull.size() + more;
            if (norm(nearest_on(wall.a, wall.b, hull.centre()) - hull.centre()) > within) continue;
            const double here = gap_between(hull, wall.a, wall.b).distance - more;
            lower = std::min(lower, here);
            if (here <= settings_.margin) first = std::min(first, piece);
        }
        if (lower <= limit()) settle(wall, false, lower, first);
    }
}

// Sides of a solid are walls; what is left is a piece that lies inside and meets no side.
void VehicleGuard::look_at_solids() {
    for (const Solid& solid : solids_)
        for (const DiscSweptHull& hull : sweep_.pieces()) {
            const Vec2 corner = world_from(hull.corners()[0]);
            if (!is_inside(solid.outline, corner)) continue;
            const Vec2 on = body_from(nearest_on(solid.outline, corner));
            const Vec2 inward = hull.corners()[0] - on;
            const double depth = norm(inward), lower = -depth - hull.radius();
            if (finding_.proof == Proof::none && lower >= finding_.lower) continue;
            const Vec2 normal = depth > 0.0 ? (1.0 / depth) * inward : Vec2{1.0, 0.0};
            is_inside_solid_ = true;
            finding_ = {Proof::none, false, static_cast<std::int64_t>(solid.index), lower, lower, 0.0, {}};
            finding_.gap = {lower, hull.corners()[0] + hull.radius() * normal, on, normal};
        }
}

// What is in the way outranks what recedes, and that what is clear.
void VehicleGuard::settle(const Target& target, bool is_scanned, double lower, std::size_t first_piece) {
    Proof proof = Proof::clear;
    if (lower <= settings_.margin) proof = recedes(target, is_scanned) ? Proof::receding : Proof::none;
    if (proof == Proof::none) {
        const double gap = present_lower(target, is_scanned) - settings_.margin;
        const double by_speed = gap > 0.0 ? gap / std::max(sweep_.top_speed(), 1e-300) : 0.0;
        finding_.time = std::min(finding_.time, std::max(sweep_.time_of(first_piece), by_speed));
    }
    if (proof < finding_.proof || (proof == finding_.proof && !(lower < finding_.lower))) return;
    critical_ = target;
    finding_.proof = proof, finding_.is_scanned = is_scanned, finding_.lower = lower;
    finding_.index = static_cast<std::int64_t>(target.index);
}

// A plane across the gap to a part keeps the target on its far side. If no point of the part gets nearer to it, the gap
// stays as wide as it is; a part that is farther away may come as close as the nearest. Where the pose is uncertain the gaps
// to obstacles of the world, and with them the planes, are not known.
bool VehicleGuard::recedes(const Target& target, bool is_scanned) const {
    const bool is_certain = settings_.uncertainty == Twist{};
    if (!is_scanned && !is_certain) return false;
    double present = kInfinity;
    for (const DiscSweptHull& part : sweep_.footprint())
        present = std::min(present, gap_between(part, target.a, target.b).distance);
    if (!(present - grown(sweep_.footprint()[0], is_scanned) > 0.0)) return false;
    for (std::size_t k = 0; k < sweep_.footprint().size(); ++k) {
        const PlanarGap gap = gap_between(sweep_.footprint()[k], target.a, target.b);
        if (!sweep_.never_advances_along(k, gap.normal, gap.distance - present)) return false;
    }
    return true;
}

double VehicleGuard::present_lower(const Target& target, bool is_scanned) const {
    double lower = kInfinity;
    for (const DiscSweptHull& part : sweep_.footprint())
        lower = std::min(lower, gap_between(part, target.a, target.b).distance - grown(part, is_scanned));
    return lower;
}

PlanarGap VehicleGuard::nearest_gap(const Target& target, bool is_scanned) const {
    PlanarGap best{kInfinity, {}, {}, {}};
    double lower = kInfinity;
    for (const DiscSweptHull& hull : sweep_.pieces()) {
        const PlanarGap gap = gap_between(hull, target.a, target.b);
        if (gap.distance - grown(hull, is_scanned) < lower) lower = gap.distance - grown(hull, is_scanned), best = gap;
    }
    return best;
}

}  // namespace clearance
