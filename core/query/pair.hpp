#pragma once

#include "query/gap.hpp"
#include "query/part.hpp"

namespace clearance {

enum class DepthMethod { epa, mpr };

// What a query asks of every pair.
struct Question {
    double at_most = std::numeric_limits<double>::infinity();       // farther than this need not be known any closer,
    double near_enough = -std::numeric_limits<double>::infinity();  // nor nearer than that
    double tolerance = 0.0;                                         // of the bracket, relative to size; 0: as documented
    Vec3d towards_b{0, 0, 0};                                       // a normal to begin with, if there is a guess,
    const Gap* nearest_before = nullptr;                            // and triangles
    Vec3d parting{0, 0, 0};  // a direction that may prove at once that they are farther apart than `at_most`
    DepthMethod method = DepthMethod::epa;
    bool has_shortcuts = true;  // closed forms where there are any
};

// A part turned into the axes of the world. Origins are about whatever point the caller likes.
struct PlacedPart {
    const Part& part;
    Mat3 rotation;
    Vec3d origin;
};

// The gap between two parts that are not both half-spaces, and neither of them a surface.
Gap gap_between(const PlacedPart& a, const PlacedPart& b, const Question& question, Work& work);

// Sum of the bounding radii of what is finite: what tolerances are relative to.
inline double size_of(const Part& a, const Part& b) {
    const auto finite = [](double radius) { return radius < std::numeric_limits<double>::infinity() ? radius : 0.0; };
    return finite(a.ball.radius) + finite(b.ball.radius);
}

}  // namespace clearance
