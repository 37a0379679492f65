#pragma once

#include <optional>

#include "convex/distance.hpp"

namespace clearance {

// The gap between a cylinder or a cone and a solid that has a closed form for points: a box, a cylinder, a cone. The normal
// proves `lower` as any normal does. Where the bodies are apart the two points prove `upper`, where they overlap all
// latitudes of normals do. Nothing is returned where this does not work; then the general path has to be taken.
std::optional<CoreGap<double>> drum_gap(const CorePair& pair, const CoreQuestion& question, int& iterations);

}  // namespace clearance
