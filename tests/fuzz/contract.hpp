#pragma once

// What every answer has to keep to, whatever the question was. Whoever breaks it ends the program, which is what a fuzzer
// looks for.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "query/gap.hpp"

namespace clearance::fuzz {

template <class... Values>
void require(bool holds, const char* what, const char* format = "", Values... values) {
    if (holds) return;
    std::fprintf(stderr, "NOT SO: %s; ", what);
    if constexpr (sizeof...(values) > 0) std::fprintf(stderr, format, values...);
    std::fprintf(stderr, "\n");
    std::abort();
}

inline bool is_finite(const Vec3d& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

inline void require_unit(const Vec3d& normal, const char* what) {
    require(std::fabs(norm(normal) - 1.0) <= 1e-14, what, "its length is %.17g", norm(normal));
}

// Of two brackets of the same distance, both of which hold. `slack` is what rounding can do to what they are about.
inline void require_common(const Gap& one, const Gap& other, double slack, const char* what) {
    require(one.lower <= other.upper + slack && other.lower <= one.upper + slack, what,
            "[%.17g, %.17g] and [%.17g, %.17g], off by %.3g of %.3g", one.lower, one.upper, other.lower, other.upper,
            std::fmax(one.lower - other.upper, other.lower - one.upper), slack);
}

// A gap by itself. `rounding` is what the coordinates of its points may be off by.
inline void require_contract(const Gap& gap, double rounding) {
    require(std::isfinite(gap.distance) && std::isfinite(gap.lower) && std::isfinite(gap.upper), "a gap is finite",
            "distance %g in [%g, %g]", gap.distance, gap.lower, gap.upper);
    require(is_finite(gap.point_a) && is_finite(gap.point_b) && is_finite(gap.normal), "points and normals are finite");
    require(gap.lower <= gap.distance && gap.distance <= gap.upper, "a distance lies in its bracket",
            "%.17g in [%.17g, %.17g]", gap.distance, gap.lower, gap.upper);
    require_unit(gap.normal, "a normal has length one");
    const double off = norm(gap.point_b - gap.point_a - gap.distance * gap.normal);
    require(off <= rounding + 8.0 * kEpsilon * std::fabs(gap.distance), "points are joined by the normal",
            "off by %.3g of %.3g", off, rounding);
}

}  // namespace clearance::fuzz
