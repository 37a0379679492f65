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
inline double reach_from(const Vec3d& centre, const Element& element) {
    double reach = 0.0;
    for (int k = 0; k < element.count; ++k) reach = max_of(reach, norm(element.vertex[k] - centre));
    return reach;
}

// The least ball around a triangle stands over its longest edge, or else all three corners lie on it.
inline Ball core_ball_around_triangle(const Element& element) {
    const Vec3d &p = element.vertex[0], &q = element.vertex[1], &r = element.vertex[2];
    const Vec3d along = q - p, other = r - p, turn = cross(along, other);
    const double half = norm_sq(turn) > 0.0 ? 0.5 / norm_sq(turn) : 0.0;
    const Vec3d amid = p + (half * norm_sq(along)) * cross(other, turn) + (half * norm_sq(other)) * cross(turn, along);
    Ball least{0.5 * (p + q), reach_from(0.5 * (p + q), element)};
    for (const Vec3d& centre : {0.5 * (p + r), 0.5 * (q + r), amid}) {
        const double reach = reach_from(centre, element);
        if (reach < least.radius) least = {centre, reach};
    }
    return least;
}

inline Ball ball_around(const Element& element) {
    Ball ball{element.vertex[0], 0.0};
    if (element.count == 2) ball.centre = 0.5 * (element.vertex[0] + element.vertex[1]);
    if (element.count == 2) ball.radius = reach_from(ball.centre, element);
    if (element.count == 3) ball = core_ball_around_triangle(element);
    return {ball.centre, ball.radius + element.radius};
}

}  // namespace clearance
