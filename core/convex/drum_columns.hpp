#pragma once

#include <cstddef>

#include "convex/drum.hpp"

namespace clearance {

// Cylinders that are to be brought to touch others, column by column: drums, seen in the frames of solids.
struct DrumColumns {
    static constexpr std::size_t kRoom = 128;
    using Column = double[kRoom];

    Column axis[3], centre[3], radius, half_length;
    Column solid_radius, solid_half_length;
    Column size;

    CLEARANCE_INLINE void set(std::size_t row, const Vec3d& axis_of_drum, const Vec3d& centre_of_drum, const Cylinder& drum,
                              const Cylinder& solid, double size_of_pair) {
        axis[0][row] = axis_of_drum.x, axis[1][row] = axis_of_drum.y, axis[2][row] = axis_of_drum.z;
        centre[0][row] = centre_of_drum.x, centre[1][row] = centre_of_drum.y, centre[2][row] = centre_of_drum.z;
        radius[row] = drum.radius, half_length[row] = drum.half_length;
        solid_radius[row] = solid.radius, solid_half_length[row] = solid.half_length;
        size[row] = size_of_pair;
    }
    // Lanes that have nothing else to do take the first row.
    CLEARANCE_INLINE void repeat_first(std::size_t row) {
        set(row, {axis[0][0], axis[1][0], axis[2][0]}, {centre[0][0], centre[1][0], centre[2][0]},
            {radius[0], half_length[0]}, {solid_radius[0], solid_half_length[0]}, size[0]);
    }
};

// Where they touch; not known where that takes more care.
struct TouchColumns {
    using Column = DrumColumns::Column;

    Column normal[3], on_drum[3], on_solid[3], height, separation;
    Column end, at_pole, looks;
    bool is_known[DrumColumns::kRoom];

    FoundTouch found(std::size_t row) const {
        const auto at = [row](const Column(&of)[3]) { return Vec3d{of[0][row], of[1][row], of[2][row]}; };
        const bool is_at_pole = at_pole[row] != 0.0;
        const Touch touch{at(normal), at(on_drum),    at(on_solid), height[row], static_cast<int>(end[row]),
                          is_at_pole, separation[row]};
        return {touch, static_cast<int>(looks[row])};
    }
};

}  // namespace clearance
