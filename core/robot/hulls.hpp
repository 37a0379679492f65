#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "query/body.hpp"

namespace clearance {

struct CellBody;

// The convex hulls of bodies that are one mesh each, made when they are first asked for. Nothing of a mesh is nearer than
// its hull; and where the nearest points of the hulls lie on the meshes, nothing is farther.
class Hulls {
public:
    // By number of the body; null where it is anything else.
    std::span<const std::optional<Body>> of(std::span<const CellBody> bodies) const;

private:
    mutable std::once_flag is_made_;
    mutable std::vector<std::optional<Body>> made_;
};

// A body that is placed, and may have been measured by its hull.
struct HulledBody {
    const Body& body;
    const Pose& pose;
    bool has_hull;
};

// The gap of two bodies, from that of their hulls: the same where its points lie on the bodies. Else meshes are measured
// where they face each other. Nothing if the hulls meet, or if that would take too long.
std::optional<Gap> gap_by_hulls(const HulledBody& a, const HulledBody& b, const Gap& of_hulls, Work& work);

}  // namespace clearance
