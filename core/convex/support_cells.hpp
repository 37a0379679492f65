#pragma once

#include <cstdint>
#include <vector>

#include "math/vec3.hpp"

namespace clearance {

// Directions sorted into the cells of a grid on the faces of a cube, and for each of them the points of a hull that can be
// farthest along a direction of that cell: a few of many.
class SupportCells {
public:
    static constexpr int kSide = 6, kCells = 6 * kSide * kSide;

    // A direction of any length but zero.
    static CLEARANCE_INLINE int cell_of(const Vec3d& along) {
        const double c[5] = {along.x, along.y, along.z, along.x, along.y};
        const double x = abs_of(along.x), y = abs_of(along.y), z = abs_of(along.z);
        const int minor = y > x ? 1 : 0, axis = z > max_of(x, y) ? 2 : minor;
        const double third = (1.0 / 3.0) * abs_of(c[axis]);
        const int u = column(c[axis + 1], third), v = column(c[axis + 2], third);
        return ((2 * axis + (c[axis] < 0.0 ? 1 : 0)) * kSide + u) * kSide + v;
    }

    // The numbers of the points that can be farthest in a cell, ascending. Of points that a neighbour exceeds wherever the
    // cell may lie, none is needed.
    static std::vector<std::size_t> points_for(int cell, const std::vector<Vec3d>& points);

private:
    static CLEARANCE_INLINE int column(double at, double third) {
        return (at > -2.0 * third) + (at > -third) + (at > 0.0) + (at > third) + (at > 2.0 * third);  // for NaN, too
    }
};

}  // namespace clearance
