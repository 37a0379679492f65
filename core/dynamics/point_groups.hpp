#pragma once

#include <cstdint>
#include <span>

#include "dynamics/rigid.hpp"
#include "dynamics/softness.hpp"

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
    double separation[kLanes], target[kLanes], relaxed_target[kLanes];
    double friction_mass[kLanes], coefficient[kLanes];  // of friction
    double normal_rate[kLanes], friction_rate[kLanes];  // changes of velocities by impulses
    double normal_impulse[kLanes], friction[3][kLanes];
};

// Eight patches side by side, of bodies of any kind, none of them in two of the eight; and one point of each. Patches with
// fewer points than others have some without mass. The points of a patch wait for each other, which takes longer than their
// arithmetic: more patches fill the time.
struct alignas(64) PatchGroup {
    static constexpr int kLanes = 8;

    std::int32_t a[kLanes], b[kLanes];
    std::int32_t patch[kLanes], count;
    std::int32_t first_row, rows;
    bool is_round;  // all of these bodies turn like balls: of their inertia, only the first column counts
    double normal[3][kLanes], coefficient[kLanes];
    double inverse_mass_a[kLanes], inverse_mass_b[kLanes];
    double inverse_inertia_a[6][kLanes], inverse_inertia_b[6][kLanes];  // xx, yy, zz, xy, xz, yz
};
struct alignas(64) PointRow {
    static constexpr int kLanes = PatchGroup::kLanes;

    double r_a[3][kLanes], r_b[3][kLanes];
    double normal_mass[kLanes], softened_mass[kLanes], kept[kLanes];
    double separation[kLanes], target[kLanes], relaxed_target[kLanes];
    double friction_mass[kLanes], normal_rate[kLanes], friction_rate[kLanes];
    double normal_impulse[kLanes], friction[3][kLanes];
};
struct PatchGroups {
    std::span<PatchGroup> groups;
    std::span<PointRow> rows;
};

// How hard contacts undo overlaps.
struct Recovery {
    double step, fastest;
    Softness softness;
};

// Everything that depends on the instruction set. What comes out does not.
struct PointKernels {
    void (*warm_start)(std::span<const PointGroup> groups, std::span<Rigid> bodies);
    // Both return the square of the largest change of a velocity.
    double (*solve)(std::span<PointGroup> groups, std::span<Rigid> bodies);
    double (*relax)(std::span<PointGroup> groups, std::span<Rigid> bodies);
    void (*follow)(std::span<PointGroup> groups, std::span<const Rigid> bodies, const Recovery& recovery);

    void (*warm_start_patches)(const PatchGroups& patches, std::span<Rigid> bodies);
    double (*solve_patches)(const PatchGroups& patches, std::span<Rigid> bodies);
    double (*relax_patches)(const PatchGroups& patches, std::span<Rigid> bodies);
    void (*follow_patches)(const PatchGroups& patches, std::span<const Rigid> bodies, const Recovery& recovery);
};

const PointKernels& point_kernels();

}  // namespace clearance
