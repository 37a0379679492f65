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
        const double scale = 0.5 * kSide / max_of(abs_of(c[axis]), std::numeric_limits<double>::min());
        const int u = column(scale * c[axis + 1]), v = column(scale * c[axis + 2]);
        return ((2 * axis + (c[axis] < 0.0 ? 1 : 0)) * kSide + u) * kSide + v;
    }

    // The numbers of the points that can be farthest in a cell, ascending. Of points that a neighbour exceeds wherever the
    // cell may lie, none is needed.
    static std::vector<std::size_t> points_for(int cell, const std::vector<Vec3d>& points);

private:
    static CLEARANCE_INLINE int column(double at) {
        const double k = at + 0.5 * kSide;
        return k > 0.0 ? k < kSide ? static_cast<int>(k) : kSide - 1 : 0;  // for NaN, too
    }
};

}  // namespace clearance
