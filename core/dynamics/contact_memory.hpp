#pragma once

#include "dynamics/contact_solver.hpp"

namespace clearance {

// What a contact point pressed with in the last step, and where, for the next one to begin with.
struct ContactMemory {
    std::int32_t part_a, part_b;
    Vec3d place;  // from the centre of mass of a, in its frame
    double normal;
    Vec3d friction, rolling;  // in the world; rolling stands at the first point of a patch
    bool is_used = false;
};

// Add the contacts of two bodies. They come part by part, and of surfaces triangle by triangle: each has a normal of its
// own. Each point begins with what the nearest one of the last step pressed with, on the same parts, unless that is farther
// than `nearby`.
struct Meeting {
    std::int32_t a, b;
    std::span<const Contact> found;
    Material material;
    Vec3d shift_b{0, 0, 0};    // from where b is to where it is met
    bool at_surfaces = false;  // what is apart meets at its surfaces; else halfway, which keeps the angular momentum
};
void add_patches(ContactSolver& solver, std::span<const Rigid> bodies, const Meeting& meeting,
                 std::span<ContactMemory> memories, double nearby);

// What is to be remembered of a patch, point by point.
void remember(const ContactSolver& solver, std::size_t patch, const Rigid& a, std::vector<ContactMemory>& memories);

}  // namespace clearance
