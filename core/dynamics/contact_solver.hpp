#pragma once

#include <span>
#include <vector>

#include "dynamics/point_groups.hpp"
#include "dynamics/softness.hpp"
#include "query/part_contacts.hpp"

namespace clearance {

// What the surfaces of a body are like; two of them together: roots of products, the larger of restitutions and of rolling,
// and springs one after the other.
struct Material {
    double friction = 0.5, restitution = 0.0;
    double rolling = 0.0;                   // torque against rolling and spinning, in metres times the normal force
    double stiffness = 0.0, damping = 0.0;  // of each point of soft contacts [N/m, N s/m]
};
Material together(const Material& a, const Material& b);

enum class ContactLaw { hard, soft, elastic };

struct ContactSettings {
    ContactLaw law = ContactLaw::hard;
    int iterations = 20;
    double step = 1e-3;
    double stiffest = 0.0;          // frequency at which overlaps are undone, at most [Hz]; 0: as steps can resolve
    double slowest_bounce = 0.0;    // approaching slower than this, bodies come to rest
    double fastest_recovery = 3.0;  // at which overlaps are undone [m/s]
    bool bounces_last = false;      // by `bounce`, after several steps without looking for contacts; else while relaxing
};

// A place where two bodies touch, or may touch before the step is over: what the solver goes through again and again.
struct ContactPoint {
    Vec3d r_a, r_b;         // from the centres of mass
    Vec3d answer{0, 0, 0};  // of the velocity of b against a to an impulse of one along the normal
    double separation = 0.0;
    double normal_mass = 0.0, softened_mass = 0.0, impulse_scale = 0.0;
    double target = 0.0, relaxed_target = 0.0;  // velocities along the normal are driven to minus these
    double friction_mass = 0.0;                 // the least in any direction across
    double normal_impulse = 0.0, most_pressed = 0.0;
    Vec3d friction{0, 0, 0};  // impulse, across the normal
};

// All that one pair of parts has in common, along one normal.
struct ContactPatch {
    std::int32_t a, b;          // bodies
    std::int32_t first, count;  // points
    Vec3d normal;               // from a to b
    double friction, rolling;   // coefficients
    double rolling_mass = 0.0;  // the least about any axis [kg m^2]
    Vec3d rolling_impulse{0, 0, 0};
};

// Where a patch and a point come from: what is looked at once in a step.
struct PatchOrigin {
    std::int32_t part_a, part_b;
    Material material;
};
struct PointOrigin {
    Vec3d place;  // in the world
    double separation;
    double approach = 0.0;  // velocity along the normal before the step
};

// Impulses that keep bodies from passing through each other, found one after the other until they agree: all that a row
// changes is at once seen by the next.
class ContactSolver {
public:
    std::vector<ContactPatch> patches;
    std::vector<ContactPoint> points;
    std::vector<PatchOrigin> patch_origins;
    std::vector<PointOrigin> point_origins;

    void clear();
    // A patch without points yet; those that are added next are its own.
    void add_patch(std::int32_t a, std::int32_t b, const Vec3d& normal, const PatchOrigin& origin);
    void add_point(const PointOrigin& origin, const Vec3d& r_a, const Vec3d& r_b);

    void prepare(std::span<const Rigid> bodies, const ContactSettings& settings);
    void warm_start(std::span<Rigid> bodies);
    // Both return the largest change of a velocity.
    double solve(std::span<Rigid> bodies);       // with overlaps undone
    double relax(std::span<Rigid> bodies);       // without, so that undoing them leaves no speed behind; with bounces
    void follow(std::span<const Rigid> bodies);  // hard contacts, to where bodies get with their velocities in a step
    void bounce(std::span<Rigid> bodies);        // what hit since contacts were found
    void reflect(std::span<Rigid> bodies);       // elastic contacts: every pair once, by one impulse
    void finish();                               // impulses are where they belong only then

private:
    void prepare_patch(ContactPatch& patch, const Material& material, std::span<const Rigid> bodies);
    void prepare_point(std::size_t k, const Material& material);
    void aim(ContactPoint& point, double separation) const;
    void arrange(std::span<const Rigid> bodies);
    void put(std::size_t patch, std::span<const Rigid> bodies, PointGroup& group) const;
    void put(std::size_t patch, std::span<const Rigid> bodies, PatchGroup& group);
    // Both return the square of the largest change of a velocity.
    template <bool is_relaxing>
    double solve_point(ContactPatch& patch, std::span<Rigid> bodies);  // the only one of a patch
    template <bool is_relaxing>
    double solve_patch(ContactPatch& patch, std::span<Rigid> bodies);

    ContactSettings settings_;
    Softness softness_;                // of hard contacts
    std::vector<std::size_t> others_;  // patches that are in no group
    std::vector<PointGroup> groups_;
    std::vector<PatchGroup> patch_groups_;
    std::vector<PointRow> rows_;
};

}  // namespace clearance
