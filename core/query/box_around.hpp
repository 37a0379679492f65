#pragma once

#include "query/body.hpp"

namespace clearance {

// A box along axes of its own; infinite around a half-space.
struct OrientedBox {
    Vec3d centre, half;
    Vec3d axis[3];
};

// A small box around a body, in its frame: along the axes of the frame, of a part, or along its principal axes.
OrientedBox box_around(const Body& body);

}  // namespace clearance
