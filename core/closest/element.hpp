#pragma once

#include "math/vec3.hpp"

namespace clearance {

// A swept point, segment or triangle in its own frame. Vertices beyond `count` repeat the last one.
struct Element {
    int count;
    Vec3d vertex[3];
    double radius;
};

struct Ball {
    Vec3d centre;
    double radius;
};

// A ball that contains the element.
inline Ball ball_around(const Element& element) {
    Vec3d centre = element.vertex[0];
    if (element.count == 2) centre = 0.5 * (element.vertex[0] + element.vertex[1]);
    if (element.count == 3) centre = (1.0 / 3.0) * (element.vertex[0] + element.vertex[1] + element.vertex[2]);
    double reach = 0.0;
    for (int k = 0; k < element.count; ++k) reach = max_of(reach, norm(element.vertex[k] - centre));
    return {centre, reach + element.radius};
}

}  // namespace clearance
