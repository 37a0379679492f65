#pragma once

#include <cmath>
#include <limits>

#include "math/lanes.hpp"

namespace clearance {

// Of a normal of a solid of revolution, from -90 to 90 degrees. As a unit vector in the half-plane of the axis: `level`
// across it, `rise` along it.
template <class Real>
struct LatitudeOf {
    Real level, rise;
};
using Latitude = LatitudeOf<double>;

template <class Real>
CLEARANCE_INLINE LatitudeOf<Real> latitude_of(Real tangent) {
    Real level = Real(1.0) / sqrt_of(Real(1.0) + tangent * tangent);
    return {level, tangent * level};
}
// Half the way to another tangent, which may be infinite.
template <class Real>
CLEARANCE_INLINE Real middle(Real tangent, Real other) {
    auto is_finite = other < Real(std::numeric_limits<double>::infinity());
    LatitudeOf<Real> one = latitude_of(tangent), two = latitude_of(other);
    return (one.rise + select(is_finite, two.rise, Real(1.0))) / (one.level + select(is_finite, two.level, Real(0.0)));
}
// The tangent after a step of Newton's method; NaN where that leads nowhere. The normal that is best for a ball is off the
// latitude `here` by an angle with the sine `off` and the cosine `along`. When the latitude turns by `whole`, this normal
// turns by `bent`. Divisions take long: there is one.
template <class Real>
CLEARANCE_INLINE Real turned(const LatitudeOf<Real>& here, Real off, Real along, Real bent, Real whole) {
    Real over = off * whole, under = along * (whole - bent), across = here.level * under - here.rise * over;
    auto leads = both(both(bent<whole, along> Real(0.0)), across > Real(0.0));
    return select(leads, (here.rise * under + here.level * over) / select(leads, across, Real(1.0)),
                  Real(std::numeric_limits<double>::quiet_NaN()));
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
