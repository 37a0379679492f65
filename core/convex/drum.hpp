#pragma once

#include <optional>

#include "convex/distance.hpp"

namespace clearance {

// A drum is two discs about one axis and all that is between them: a cylinder, or a cone, whose upper disc is a point. Its
// gap to a solid that has a closed form for points (box, cylinder, cone) is a problem in one unknown.
//
// Put a ball with its centre on the axis through the rim of a disc. Along all normals of one latitude, measured from the
// plane of the disc, the ball reaches as far as the disc, and the closed form tells which normal is the best for the ball.
// So only the latitude is sought: that at which the normal that is best for the ball has this very latitude. The normal
// proves `lower` as any normal does, and where the bodies are apart the two points prove `upper`.
//
// Where they overlap, every point of the axis proves something: that normals of certain latitudes do not part the bodies
// with less than a certain depth. When these latitudes cover everything, no normal does, and `upper` is proved.
//
// Nothing is returned where this does not work; then the general path has to be taken.
std::optional<CoreGap<double>> drum_gap(const CorePair& pair, const CoreQuestion& question, int& iterations);

}  // namespace clearance
