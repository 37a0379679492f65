#pragma once

#include "bvh/mesh.hpp"
#include "convex/convex.hpp"

namespace clearance {

// A core swept by a sphere.
struct Convex {
    ConvexCore core;
    double radius;
};

// All points x with normal.x <= offset; the normal has length one.
struct HalfSpace {
    Vec3d normal;
    double offset;
};

// A soup of triangles without an inside, of which the ground below a height field counts in contacts; or a cloud of balls.
struct Surface {
    std::shared_ptr<const Mesh> mesh;
    bool solid_below;
};

// A piece of a rigid body, at its place in the frame of the body. Elements stand at the identity: their vertices move.
struct Part {
    std::variant<Convex, HalfSpace, Surface> shape;
    Pose pose;
    Ball ball;        // around it, in the frame of the body; of infinite radius around a half-space
    double offset;    // of the middle of that from the origin of the pose
    bool is_centred;  // the pose is the identity
};

Part part_of(const Convex& convex, const Pose& pose);
Part part_of(const HalfSpace& half_space, const Pose& pose);
Part part_of(const Surface& surface, const Pose& pose);
Part moved(const Part& part, const Pose& by);

inline const Surface* surface_of(const Part& part) { return std::get_if<Surface>(&part.shape); }
inline bool is_cloud(const Part& part) { return surface_of(part) != nullptr && surface_of(part)->mesh->is_cloud(); }

// The element that a part is, or null.
inline const Element* element_of(const Part& part) {
    const auto* convex = std::get_if<Convex>(&part.shape);
    return convex == nullptr ? nullptr : std::get_if<Element>(&convex->core);
}

}  // namespace clearance
