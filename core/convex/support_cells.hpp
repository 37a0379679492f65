#pragma once

#include <cstdint>
#include <vector>

#include "math/vec3.hpp"

namespace clearance {

// Directions sorted into the cells of a grid on the faces of a cube, and for squares of them the points of a hull that can
// be farthest along a direction of that square: a few of many.
class SupportCells {
public:
    static constexpr int kSide = 12, kCells = 6 * kSide * kSide;

    // Where the points of a cell lie.
    struct Blocks {
        std::uint32_t first, count;
    };

    // Of directions of any length but zero, as numbers without a fraction.
    template <class Real>
    static CLEARANCE_INLINE Real cells_of(const Vec3<Real>& along) {
        Real x = abs_of(along.x), y = abs_of(along.y), z = abs_of(along.z);
        auto is_z = z > max_of(x, y), is_y = but_not(y > x, is_z);
        const auto one_of = [&](Real if_x, Real if_y, Real if_z) { return select(is_z, if_z, select(is_y, if_y, if_x)); };
        Real main = one_of(along.x, along.y, along.z), scale = columns_per(main);
        Real u = column(one_of(along.y, along.z, along.x), scale), v = column(one_of(along.z, along.x, along.y), scale);
        Real face = one_of(Real(0.0), Real(2.0), Real(4.0)) + select(main < Real(0.0), Real(1.0), Real(0.0)), side(kSide);
        return (face * side + u) * side + v;
    }

    // The same for a single direction, where looking things up takes less time than choosing in lanes.
    static CLEARANCE_INLINE int cell_of(const Vec3d& along) {
        const double c[5] = {along.x, along.y, along.z, along.x, along.y};
        const double x = abs_of(along.x), y = abs_of(along.y), z = abs_of(along.z);
        const int is_y = y > x, is_z = z > max_of(x, y), axis = 2 * is_z + (is_y & ~is_z);
        const double scale = columns_per(c[axis]);
        const int u = static_cast<int>(column(c[axis + 1], scale)), v = static_cast<int>(column(c[axis + 2], scale));
        return ((2 * axis + (c[axis] < 0.0 ? 1 : 0)) * kSide + u) * kSide + v;
    }

    // So many cells from one on, along both sides of its face.
    struct Square {
        int face, u, v, across;
        int cell() const { return (face * kSide + u) * kSide + v; }
    };

    // The numbers of the points that can be farthest in a square, ascending. Of points that a neighbour exceeds wherever the
    // direction may lie, none is needed.
    static std::vector<std::size_t> points_for(const Square& square, const std::vector<Vec3d>& points);

private:
    template <class Real>
    static CLEARANCE_INLINE Real columns_per(Real main) {
        Real length = abs_of(main);
        return Real(0.5 * kSide) / select(length > Real(0.0), length, Real(1.0));
    }
    // Between whole numbers either will do: the points of both are listed. NaN is in the first.
    template <class Real>
    static CLEARANCE_INLINE Real column(Real at, Real scale) {
        constexpr double kWhole = 0x1p52;  // numbers as large as this have no fraction
        Real inside = min_of(max_of(at * scale + Real(0.5 * kSide - 0.5), Real(0.0)), Real(kSide - 1.0));
        return (inside + Real(kWhole)) - Real(kWhole);
    }
};

}  // namespace clearance
