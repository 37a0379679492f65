#pragma once

#include <numbers>

namespace clearance {

// A constraint that gives way: with the velocity v and the error c of what should be zero, one step of the impulse is
//     -mass_scale * mass * (v + bias_rate * c) - impulse_scale * (impulse so far).
// That is the implicit Euler step of a spring and damper, which takes energy out and never puts any in.
struct Softness {
    double bias_rate = 0.0, mass_scale = 1.0, impulse_scale = 0.0;
};

// As stiff as a frequency [Hz] with a damping ratio, whatever the mass.
inline Softness softness_of(double frequency, double damping_ratio, double step) {
    const double omega = 2.0 * std::numbers::pi * frequency;
    const double a = 2.0 * damping_ratio + step * omega, b = step * omega * a;
    return {omega / a, b / (1.0 + b), 1.0 / (1.0 + b)};
}

// A spring of a stiffness [N/m] with a damper [N s/m], for an effective mass [kg].
inline Softness softness_of(double stiffness, double damping, double mass, double step) {
    const double give = 1.0 / (step * (damping + step * stiffness));
    const double softened = 1.0 / (1.0 + mass * give);
    return {stiffness / (damping + step * stiffness), softened, mass * give * softened};
}

}  // namespace clearance
