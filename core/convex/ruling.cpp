#include "convex/ruling.hpp"

namespace clearance {
namespace {

// The line of a core that faces n, in the frame of the core; of no length for cores that have no such lines.
Vec3d ruling_facing(const ConvexCore& core, const Vec3d& n) {
    if (std::holds_alternative<Cylinder>(core)) return {0, 0, 1};
    const Cone* cone = std::get_if<Cone>(&core);
    return cone == nullptr ? Vec3d{0, 0, 0}
                           : Vec3d{0, 0, cone->half_length} - rim_point(cone->radius, -cone->half_length, n);
}

template <class Height>
bool has_both_ends(std::span<const Difference> points, const Height& height) {
    bool top = false, bottom = false;
    for (const Difference& point : points) (height(point) > 0.0 ? top : bottom) = true;
    return top && bottom;
}

}  // namespace

std::optional<Vec3d> ruling_in_use(const CorePair& pair, std::span<const Difference> points, const Vec3d& n) {
    const Vec3d on_a = ruling_facing(pair.a, n);
    const Vec3d on_b = pair.a_from_b * ruling_facing(pair.b, -transposed_times(pair.a_from_b, n));
    const Vec3d axis_b = pair.a_from_b * Vec3d{0, 0, 1};
    const bool uses_a = norm_sq(on_a) > 0.0 && has_both_ends(points, [](const Difference& d) { return d.a.z; });
    const bool uses_b =
        norm_sq(on_b) > 0.0 && has_both_ends(points, [&](const Difference& d) { return dot(axis_b, d.b - pair.b_origin); });
    if (uses_a == uses_b) return std::nullopt;
    return uses_a ? on_a : on_b;
}

}  // namespace clearance
