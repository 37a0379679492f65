#pragma once

#include "math/lanes.hpp"

namespace clearance {

// What a rotation by an angle is made of: sin(angle) and 1 - cos(angle).
template <class Real>
struct Turn {
    Real sine, versine;
};

// Beyond this, taking off quarter turns would cost digits.
constexpr double kLargestAngle = 1e5;

// The nearest integer, of numbers far below 2^51: there is no room for a fraction beside 1.5 * 2^52.
template <class Real>
CLEARANCE_INLINE Real rounded(Real a) {
    const Real wide(0x1.8p52);
    return (a + wide) - wide;
}

// To about a unit in the last place. Whole quarter turns are taken off in three steps, of which the first two are exact
// (Cody and Waite); the polynomials are those of fdlibm, for angles of up to an eighth of a turn.
template <class Real>
CLEARANCE_INLINE Turn<Real> turn_of(Real angle) {
    const Real quarters = rounded(Real(0x1.45f306dc9c883p-1) * angle);
    const Real rest = ((angle - quarters * Real(1.57079632673412561417e+00)) - quarters * Real(6.07710050630396597660e-11)) -
                      quarters * Real(2.02226624879595063154e-21);
    const Real z = rest * rest;
    const Real s = Real(-1.66666666666666324348e-01) +
                   z * (Real(8.33333333332248946124e-03) +
                        z * (Real(-1.98412698298579493134e-04) +
                             z * (Real(2.75573137070700676789e-06) +
                                  z * (Real(-2.50507602534068634195e-08) + z * Real(1.58969099521155010221e-10)))));
    const Real c = Real(4.16666666666666019037e-02) +
                   z * (Real(-1.38888888888741095749e-03) +
                        z * (Real(2.48015872894767294178e-05) +
                             z * (Real(-2.75573143513906633035e-07) +
                                  z * (Real(2.08757232129817482790e-09) + z * Real(-1.13596475577881948265e-11)))));
    const Real sine = rest + rest * (z * s), versine = Real(0.5) * z - z * (z * c);

    // Which quarter it is: -2, -1, 0, 1 or 2.
    const Real which = quarters - Real(4.0) * rounded(Real(0.25) * quarters);
    const Real one(1.0), sign = select(which > Real(0.5), -one, one);
    const auto is_odd = both(abs_of(which) > Real(0.5), abs_of(which) < Real(1.5));
    const auto is_half = abs_of(which) > Real(1.5);
    const Real odd_sine = -sign * (one - versine), odd_versine = one - sign * sine;
    return {select(is_odd, odd_sine, select(is_half, -sine, sine)),
            select(is_odd, odd_versine, select(is_half, Real(2.0) - versine, versine))};
}

}  // namespace clearance
