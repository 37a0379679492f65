#pragma once

#include <cstdint>
#include <span>

#include "dynamics/rigid.hpp"

namespace clearance {

// Four contacts side by side, of one point each, between bodies that turn like balls, none of them in two of the four: they
// can be solved at the same time as well as one after the other. Lanes without a contact have no mass, and press nothing.
struct alignas(64) PointGroup {
    static constexpr int kLanes = 4;

    std::int32_t a[kLanes], b[kLanes];  // bodies
    std::int32_t patch[kLanes], count;
    double normal[3][kLanes], r_a[3][kLanes], r_b[3][kLanes], answer[3][kLanes];
    double inverse_mass_a[kLanes], inverse_mass_b[kLanes], inverse_inertia_a[kLanes], inverse_inertia_b[kLanes];
    double normal_mass[kLanes], softened_mass[kLanes], kept[kLanes];  // of the impulse so far, while overlaps are undone
    double target[kLanes], relaxed_target[kLanes];
    double friction_mass[kLanes], coefficient[kLanes];  // of friction
    double normal_rate[kLanes], friction_rate[kLanes];  // changes of velocities by impulses
    double normal_impulse[kLanes], friction[3][kLanes];
};

// Everything that depends on the instruction set. What comes out does not.
struct PointKernels {
    void (*warm_start)(std::span<const PointGroup> groups, std::span<Rigid> bodies);
    // Both return the square of the largest change of a velocity.
    double (*solve)(std::span<PointGroup> groups, std::span<Rigid> bodies);
    double (*relax)(std::span<PointGroup> groups, std::span<Rigid> bodies);
};

const PointKernels& point_kernels();

}  // namespace clearance
