#pragma once

#include "bvh/forest.hpp"
#include "query/pair.hpp"

namespace clearance {

// A convex part as the trees see it. It refers to the part, the question and the counters, which must outlive it.
struct SolidPart {
    SolidPart(const PlacedPart& placed, double least_unit, const Question& question, Work& work);

    // It must not move while this is in use.
    const Solid& solid() {
        seen.context = this;
        return seen;
    }

    PlacedPart placed;
    const Question* question;
    Work* work;

private:
    Solid seen;
};

// A triangle of a surface or a ball of a cloud, in the axes of the world.
Element placed_element(const PlacedPart& placed, std::int32_t number);
Core<double, 3> placed_triangle(const PlacedPart& placed, std::int32_t number);

// An element as a part that stands where it is.
Part part_of(const Element& element);

// A point that a triangle and a convex part have in common, where they meet; `near` is one of the triangle to begin with.
Vec3d common_point(const Core<double, 3>& triangle, const PlacedPart& solid, const Vec3d& near);

// The same for two triangles.
Vec3d common_point(const Core<double, 3>& a, const Core<double, 3>& b);

}  // namespace clearance
