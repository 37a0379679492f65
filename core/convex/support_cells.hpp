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

    // Of directions of any length but zero, as numbers without a fraction.
    template <class Real>
    static CLEARANCE_INLINE Real cells_of(const Vec3<Real>& along) {
        Real x = abs_of(along.x), y = abs_of(along.y), z = abs_of(along.z);
        auto is_z = z > max_of(x, y), is_y = but_not(y > x, is_z);
        const auto one_of = [&](Real if_x, Real if_y, Real if_z) { return select(is_z, if_z, select(is_y, if_y, if_x)); };
        Real main = one_of(along.x, along.y, along.z), third = Real(1.0 / 3.0) * abs_of(main);
        Real u = column(one_of(along.y, along.z, along.x), third), v = column(one_of(along.z, along.x, along.y), third);
        Real axis = one_of(Real(0.0), Real(2.0), Real(4.0)), side(kSide);
        return ((axis + one_if(main < Real(0.0), Real(0.0))) * side + u) * side + v;
    }

    // The same for a single direction, where looking things up takes less time than choosing in lanes.
    static CLEARANCE_INLINE int cell_of(const Vec3d& along) {
        const double c[5] = {along.x, along.y, along.z, along.x, along.y};
        const double x = abs_of(along.x), y = abs_of(along.y), z = abs_of(along.z);
        const int minor = y > x ? 1 : 0, axis = z > max_of(x, y) ? 2 : minor;
        const double third = (1.0 / 3.0) * abs_of(c[axis]), two_thirds = third + third;
        const auto column_of = [&](double at) {
            return (at > -two_thirds) + (at > -third) + (at > 0.0) + (at > third) + (at > two_thirds);  // for NaN, too
        };
        const int u = column_of(c[axis + 1]), v = column_of(c[axis + 2]);
        return ((2 * axis + (c[axis] < 0.0 ? 1 : 0)) * kSide + u) * kSide + v;
    }

    // The numbers of the points that can be farthest in a cell, ascending. Of points that a neighbour exceeds wherever the
    // cell may lie, none is needed.
    static std::vector<std::size_t> points_for(int cell, const std::vector<Vec3d>& points);

private:
    // One more where something holds.
    template <class Real, class Mask>
    static CLEARANCE_INLINE Real one_if(Mask holds, Real count) {
        return select(holds, count + Real(1.0), count);
    }
    template <class Real>
    static CLEARANCE_INLINE Real column(Real at, Real third) {
        Real two_thirds = third + third, zero(0.0);
        Real count = one_if(at > -third, one_if(at > -two_thirds, zero));
        return one_if(at > two_thirds, one_if(at > third, one_if(at > zero, count)));
    }
};

}  // namespace clearance
