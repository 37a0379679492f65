#pragma once

#include <span>
#include <vector>

#include "dynamics/rigid.hpp"
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
    double slowest_bounce = 0.0;    // approaching slower than this, bodies come to rest
    double fastest_recovery = 3.0;  // at which overlaps are undone [m/s]
};

// A place where two bodies touch, or may touch before the step is over.
struct ContactPoint {
    Vec3d place;  // in the world
    double separation;
    Vec3d r_a, r_b;  // from the centres of mass
    double normal_mass = 0.0, normal_impulse = 0.0;
    double friction_mass = 0.0;                 // the least in any direction across
    double friction_e = 0.0, friction_f = 0.0;  // impulses
    double approach = 0.0;                      // velocity along the normal before the step
    bool is_hit = false;                        // fast enough to bounce, and it gets there within the step
    Softness softness;
};

// All that one pair of parts has in common, along one normal.
struct ContactPatch {
    std::int32_t a, b;  // bodies
    std::int32_t part_a, part_b;
    Vec3d normal, e, f;  // from a to b; across
    Material material;
    std::int32_t first, count;  // points
    double rolling_mass = 0.0;  // the least about any axis [kg m^2]
    Vec3d rolling_impulse{0, 0, 0};
};

// Impulses that keep bodies from passing through each other, found one after the other until they agree: all that a row
// changes is at once seen by the next.
class ContactSolver {
public:
    std::vector<ContactPatch> patches;
    std::vector<ContactPoint> points;

    void prepare(std::span<Rigid> bodies, const ContactSettings& settings);
    void warm_start(std::span<Rigid> bodies) const;
    // Both return the largest change of a velocity.
    double solve(std::span<Rigid> bodies);  // with overlaps undone
    double relax(std::span<Rigid> bodies);  // without, so that undoing them leaves no speed behind; with bounces
    void reflect(std::span<Rigid> bodies);  // elastic contacts: every pair once, by one impulse

private:
    void prepare_patch(ContactPatch& patch, std::span<Rigid> bodies);
    template <bool is_relaxing>
    double solve_patch(ContactPatch& patch, std::span<Rigid> bodies);

    ContactSettings settings_;
};

}  // namespace clearance
