#pragma once

#include <cmath>
#include <limits>

#include "math/lanes.hpp"

namespace clearance {

// Of a normal of a solid of revolution, from -90 to 90 degrees. As a unit vector in the half-plane of the axis: `level`
// across it, `rise` along it.
struct Latitude {
    double level, rise;
};
inline Latitude latitude_of(double tangent) {
    const double level = 1.0 / std::sqrt(1.0 + tangent * tangent);
    return {level, tangent * level};
}
inline double middle(double tangent, double other) {
    const Latitude one = latitude_of(tangent),
                   two = other < std::numeric_limits<double>::infinity() ? latitude_of(other) : Latitude{0.0, 1.0};
    return (one.rise + two.rise) / (one.level + two.level);
}
inline double halfway_up(const Latitude& from) {
    return from.rise < 0.0 ? from.level / (1.0 - from.rise) : (1.0 + from.rise) / from.level;
}
// Whether b is farther up than a; both are less than half a turn apart.
inline bool is_beyond(const Latitude& b, const Latitude& a) { return a.level * b.rise > a.rise * b.level; }

// Latitudes along which the vector (out, up) reaches as far as `reach`, if `proved` is among them: the last of these.
// True if they go on up to the pole.
inline bool extends(double out, double up, double reach, Latitude& proved) {
    if (!(proved.level * out + proved.rise * up >= reach)) return false;
    const double length_sq = out * out + up * up;
    if (reach <= 0.0 && reach * reach >= length_sq) return true;
    if (out < 0.0 && reach < 0.0) return false;  // not all in one piece
    if (out < 0.0 && up > 0.0) return true;
    const double aside = std::sqrt(max_of(0.0, length_sq - reach * reach));
    const Latitude last{(out * reach - up * aside) / length_sq, (up * reach + out * aside) / length_sq};
    if (last.level <= 0.0 && (last.rise > 0.0 || reach < 0.0)) return true;
    if (is_beyond(last, proved)) proved = last;
    return false;
}

}  // namespace clearance
