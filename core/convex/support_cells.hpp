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
    static CLEARANCE_INLINE int cell_of(const Vec3d& along) { return static_cast<int>(cells_of(along)); }

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
