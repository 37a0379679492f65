#include "query/part.hpp"

namespace clearance {
namespace {

template <class Shape>
Part part_in(const Ball& ball, const Shape& shape, const Pose& pose) {
    return {shape, pose, ball, norm(ball.centre - pose.translation), pose == Pose{}};
}

}  // namespace

Part part_of(const Convex& convex, const Pose& pose) {
    if (const Element* e = std::get_if<Element>(&convex.core)) {
        const Element at{e->count, {pose * e->vertex[0], pose * e->vertex[1], pose * e->vertex[2]}, e->radius};
        return part_in(ball_around(at), Convex{at, e->radius}, Pose{});
    }
    const Ball ball = ball_around(convex.core);
    return part_in({pose * ball.centre, ball.radius + convex.radius}, convex, pose);
}

Part part_of(const HalfSpace& half_space, const Pose& pose) {
    return part_in({{0, 0, 0}, std::numeric_limits<double>::infinity()}, half_space, pose);
}

Part part_of(const Surface& surface, const Pose& pose) {
    const Ball& ball = surface.mesh->ball;
    return part_in({pose * ball.centre, ball.radius + surface.mesh->radius}, surface, pose);
}

Part moved(const Part& part, const Pose& by) {
    return std::visit(
        [&](const auto& shape) {
            return part_of(shape, Pose{by.rotation * part.pose.rotation, by * part.pose.translation});
        },
        part.shape);
}

}  // namespace clearance
