#pragma once

#include "bindings/arrays.hpp"
#include "motion/swept_hull.hpp"

namespace clearance {

// (n, 3)
inline NumpyArray points_of(const SweptHull& hull) {
    NumpyArray points = new_array({static_cast<std::size_t>(hull.count), 3});
    for (std::size_t k = 0; k < static_cast<std::size_t>(hull.count); ++k) {
        const Vec3d p = hull.point(k);
        points.data()[3 * k] = p.x, points.data()[3 * k + 1] = p.y, points.data()[3 * k + 2] = p.z;
    }
    return points;
}

}  // namespace clearance
