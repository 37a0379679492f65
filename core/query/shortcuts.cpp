#include "query/shortcuts.hpp"

#include "convex/point_solid.hpp"

namespace clearance {
namespace {

template <class Solid>
CoreGap<double> gap_to(const Solid& solid, const Vec3d& point) {
    const PointGap at = point_gap(solid, point, {0, 0, 1});
    return {point - at.distance * at.normal, at.normal, at.distance, at.distance, at.distance};
}

}  // namespace

std::optional<CoreGap<double>> gap_of_point(const ConvexCore& solid, const Vec3d& point) {
    if (const Box* box = std::get_if<Box>(&solid)) return gap_to(*box, point);
    if (const Cylinder* cylinder = std::get_if<Cylinder>(&solid)) return gap_to(*cylinder, point);
    if (const Cone* cone = std::get_if<Cone>(&solid)) return gap_to(*cone, point);
    return std::nullopt;
}

}  // namespace clearance
