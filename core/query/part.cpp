#include "query/part.hpp"

namespace clearance {

Part part_of(const Convex& convex, const Pose& pose) {
    if (const Element* e = std::get_if<Element>(&convex.core)) {
        const Element at{e->count, {pose * e->vertex[0], pose * e->vertex[1], pose * e->vertex[2]}, e->radius};
        return {Convex{at, e->radius}, Pose{}, ball_around(at), true};
    }
    const Ball ball = ball_around(convex.core);
    return {convex, pose, {pose * ball.centre, ball.radius + convex.radius}, pose == Pose{}};
}

Part part_of(const HalfSpace& half_space, const Pose& pose) {
    return {half_space, pose, {{0, 0, 0}, std::numeric_limits<double>::infinity()}, pose == Pose{}};
}

Part part_of(const Surface& surface, const Pose& pose) {
    const Ball& ball = surface.mesh->ball;
    return {surface, pose, {pose * ball.centre, ball.radius + surface.mesh->radius}, pose == Pose{}};
}

Part moved(const Part& part, const Pose& by) {
    return std::visit(
        [&](const auto& shape) {
            return part_of(shape, Pose{by.rotation * part.pose.rotation, by * part.pose.translation});
        },
        part.shape);
}

}  // namespace clearance
