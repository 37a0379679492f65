#pragma once

#include <optional>

#include "convex/distance.hpp"
#include "convex/drum.hpp"

namespace clearance {

// The gap between a cylinder or a cone and a solid that has a closed form for points: a box, a cylinder, a cone. The normal
// proves `lower` as any normal does. Where the bodies are apart the two points prove `upper`, where they overlap all
// latitudes of normals do. Nothing is returned where this does not work; then the general path has to be taken.
// The touch of a, as a drum, and b may have been found beside those of other pairs.
std::optional<CoreGap<double>> drum_gap(const CorePair& pair, const CoreQuestion& question, int& iterations,
                                        const FoundTouch* touched = nullptr);

// Where a stands as a drum in the frame of b.
inline Vec3d axis_of_drum(const CorePair& pair) { return pair.a_from_b.row[2]; }
inline Vec3d centre_of_drum(const CorePair& pair) { return -transposed_times(pair.a_from_b, pair.b_origin); }

}  // namespace clearance
