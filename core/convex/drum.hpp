#pragma once

#include "convex/latitude.hpp"
#include "convex/minkowski.hpp"

namespace clearance {

struct Disc {
    double height, radius;
};

// Two discs about one axis and all that is between them: a cylinder, or a cone, whose upper disc is a point. Here it stands
// in the frame of a solid, with either end up.
struct Drum {
    Vec3d axis, centre;
    Disc upper, lower;
    double kink;  // tangent of the latitude of its side, along which both discs reach as far

    Drum(const Vec3d& axis_, const Vec3d& centre_, const Disc& upper_, const Disc& lower_)
        : axis(axis_),
          centre(centre_),
          upper(upper_),
          lower(lower_),
          kink((lower_.radius - upper_.radius) / (upper_.height - lower_.height)) {}

    Drum turned_over() const { return {-axis, centre, {-lower.height, lower.radius}, {-upper.height, upper.radius}}; }
    Vec3d point(double height) const { return centre + height * axis; }
    // Where the ball through a rim that touches the side, too, has its centre.
    double end_of_side() const { return upper.height - upper.radius * kink; }
    double start_of_side() const { return lower.height - lower.radius * kink; }

    double reach(const Vec3d& n) const {
        const double rise = dot(n, axis), level = norm(n - rise * axis);
        return dot(n, centre) +
               max_of(upper.height * rise + upper.radius * level, lower.height * rise + lower.radius * level);
    }
};

// When the search for a touch ends.
struct DrumSearch {
    static constexpr int kMostLooks = 40;
    static constexpr double kSettled = 1e-14;  // of the size: moving a witness by so much changes nothing
    static constexpr double kSteep = 1e12;     // a latitude whose tangent is larger is that of the pole
    static constexpr double kFarCentre = 8.0;  // centres that lie so many radii away are too uncertain to place a witness
};

// Where two bodies touch once they are moved together, or apart, along the normal.
struct Touch {
    Vec3d normal;  // from the drum to the solid
    Vec3d on_drum, on_solid;
    double height = 0.0;   // on the axis: centre of a ball that touches both there,
    int end = 0;           // of the drum: 1 for the upper disc, -1 for the lower, 0 for the side
    bool at_pole = false;  // or else the normal is the axis, and there is no such ball
    double separation = -std::numeric_limits<double>::infinity();
};

// One that was found beside those of other pairs.
struct FoundTouch {
    Touch touch;
    int looks;
};

}  // namespace clearance
