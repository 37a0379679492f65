#include "guard/pursuit.hpp"

namespace clearance {
namespace {

constexpr double kWidth = 1e-9;  // of a bracket that is narrow enough, compared with coordinates

Difference difference(const SweptHull& a, std::size_t of_a, const SweptHull& b, std::size_t of_b) {
    const Vec3d on_a = a.point(of_a), on_b = b.point(of_b);
    return {on_a - on_b, on_a, on_b, static_cast<std::int32_t>(of_a), static_cast<std::int32_t>(of_b)};
}

}  // namespace

void Pursuit::renew(const SweptHull& a, const SweptHull& b) {
    simplex_.renew([&](const Difference& vertex) {
        return difference(a, static_cast<std::size_t>(vertex.number_a), b, static_cast<std::size_t>(vertex.number_b));
    });
    best_ = -std::numeric_limits<double>::infinity();
    has_converged_ = false;
    if (!simplex_.vertices().empty() && simplex_.distance() > 0.0 && !simplex_.holds_origin())
        towards_ = simplex_.direction();
    else
        towards_ = normal_;
}

double Pursuit::step(const SweptHull& a, const SweptHull& b) {
    const double reach = a.extent + b.extent;
    const Difference farthest = difference(a, a.farthest(towards_), b, b.farthest(-towards_));
    const double separation = -dot(towards_, farthest.w);
    if (separation > best_) best_ = separation, normal_ = towards_;
    const bool is_nearer = !simplex_.holds_origin() && !simplex_.has(farthest.w) && simplex_.extend(farthest);
    has_converged_ = !is_nearer || simplex_.distance() == 0.0 || simplex_.distance() - best_ <= kWidth * reach;
    if (!has_converged_) towards_ = simplex_.direction();
    return separation - a.radius - b.radius - 16.0 * kEpsilon * reach;
}

double Pursuit::step(const SweptHull& a, const Vec3d& normal, double offset) {
    normal_ = -normal;
    has_converged_ = true;
    const double height = dot(normal, a.point(a.farthest(normal_))) - offset;
    return height - a.radius - 16.0 * kEpsilon * (a.extent + abs_of(offset));
}

}  // namespace clearance
