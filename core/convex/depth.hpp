#pragma once

#include <optional>

#include "math/vec3.hpp"

namespace clearance {

// How deep two cores are in each other, as a bracket of their signed distance.
struct Depth {
    Vec3d normal;         // from a to b: moving b along it by the depth parts the cores
    double lower, upper;  // a farthest point proves lower, the faces of a polytope inside A - B prove upper
    int iterations;
    std::optional<Vec3d> point_a = std::nullopt;  // the witness on a that goes with the normal, once it is known
};

}  // namespace clearance
