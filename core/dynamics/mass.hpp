#pragma once

#include <optional>

#include "query/body.hpp"

namespace clearance {

// Integrals over a solid of density one, in some frame: of 1, of x, and of x x^T.
struct Moments {
    double volume = 0.0;
    Vec3d first{0, 0, 0};
    double xx = 0.0, yy = 0.0, zz = 0.0, xy = 0.0, xz = 0.0, yz = 0.0;
};

// How a rigid body resists: its mass, where the centre of it is, and the inertia about that centre, in the frame of the
// body.
struct Mass {
    double mass;
    Vec3d centre;
    Mat3 inertia;
};

// Parts that overlap count twice where they do. Nothing for surfaces, clouds and half-spaces, which have no inside that is
// known, and for bodies as flat as a sheet.
std::optional<Mass> mass_of(const Body& body, double density);

}  // namespace clearance
