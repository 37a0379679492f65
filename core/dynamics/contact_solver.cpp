#include "dynamics/contact_solver.hpp"

#include <algorithm>
#include <cmath>

#include "convex/curvature.hpp"

namespace clearance {
namespace {

constexpr double kContactDamping = 10.0;    // ratio: overlaps are undone without a bounce
constexpr double kContactFrequency = 0.25;  // of the rate of steps: as stiff as steps can resolve

double squared(double x) { return x * x; }

// The impulse along a row that `mass` answers to, given its velocity and what was done before.
double more_impulse(const Softness& soft, double mass, double velocity, double before) {
    return -soft.mass_scale * mass * velocity - soft.impulse_scale * before;
}

// Of a symmetric matrix of two rows.
double largest_eigenvalue(double ee, double ef, double ff) {
    const double half = 0.5 * (ee - ff);
    return 0.5 * (ee + ff) + std::sqrt(half * half + ef * ef);
}

// Springs one after the other give way together.
double in_series(double a, double b) { return a > 0.0 && b > 0.0 ? a * b / (a + b) : max_of(a, b); }

}  // namespace

Material together(const Material& a, const Material& b) {
    return {std::sqrt(a.friction * b.friction), max_of(a.restitution, b.restitution), max_of(a.rolling, b.rolling),
            in_series(a.stiffness, b.stiffness), in_series(a.damping, b.damping)};
}

void ContactSolver::prepare(std::span<Rigid> bodies, const ContactSettings& settings) {
    settings_ = settings;
    for (ContactPatch& patch : patches) prepare_patch(patch, bodies);
}

void ContactSolver::prepare_patch(ContactPatch& patch, std::span<Rigid> bodies) {
    const Rigid &a = bodies[static_cast<std::size_t>(patch.a)], &b = bodies[static_cast<std::size_t>(patch.b)];
    const Vec3d& n = patch.normal;
    for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
        ContactPoint& p = points[static_cast<std::size_t>(k)];
        p.r_a = p.place - a.centre, p.r_b = p.place - b.centre;
        const Mat3 answer =
            response(p.r_a, a.inverse_inertia, a.inverse_mass) + response(p.r_b, b.inverse_inertia, b.inverse_mass);
        const Vec3d along = answer * n, e = answer * patch.e, f = answer * patch.f;
        p.normal_mass = 1.0 / dot(n, along);
        p.friction_mass = 1.0 / largest_eigenvalue(dot(patch.e, e), dot(patch.e, f), dot(patch.f, f));
        p.approach = dot(n, b.velocity_at(p.r_b) - a.velocity_at(p.r_a));
        const double step = settings_.step;
        p.is_hit = p.approach < -settings_.slowest_bounce && p.separation <= -p.approach * step;
        p.softness = settings_.law == ContactLaw::soft
                         ? softness_of(patch.material.stiffness, patch.material.damping, p.normal_mass, step)
                         : softness_of(kContactFrequency / step, kContactDamping, step);
    }
    if (patch.material.rolling > 0.0) patch.rolling_mass = 1.0 / largest_response(a.inverse_inertia + b.inverse_inertia);
}

void ContactSolver::warm_start(std::span<Rigid> bodies) const {
    for (const ContactPatch& patch : patches) {
        Rigid &a = bodies[static_cast<std::size_t>(patch.a)], &b = bodies[static_cast<std::size_t>(patch.b)];
        for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
            const ContactPoint& p = points[static_cast<std::size_t>(k)];
            const Vec3d impulse = p.normal_impulse * patch.normal + p.friction_e * patch.e + p.friction_f * patch.f;
            a.push(-impulse, p.r_a), b.push(impulse, p.r_b);
        }
        a.twist(-patch.rolling_impulse), b.twist(patch.rolling_impulse);
    }
}

double ContactSolver::solve(std::span<Rigid> bodies) {
    double largest = 0.0;
    for (ContactPatch& patch : patches) largest = max_of(largest, solve_patch<false>(patch, bodies));
    return largest;
}

double ContactSolver::relax(std::span<Rigid> bodies) {
    double largest = 0.0;
    for (ContactPatch& patch : patches) largest = max_of(largest, solve_patch<true>(patch, bodies));
    return largest;
}

template <bool is_relaxing>
double ContactSolver::solve_patch(ContactPatch& patch, std::span<Rigid> bodies) {
    double largest_sq = 0.0;
    Rigid &a = bodies[static_cast<std::size_t>(patch.a)], &b = bodies[static_cast<std::size_t>(patch.b)];
    const Material& material = patch.material;
    const auto velocity_at = [&](const ContactPoint& p) { return b.velocity_at(p.r_b) - a.velocity_at(p.r_a); };
    for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
        ContactPoint& p = points[static_cast<std::size_t>(k)];
        const double v = dot(patch.normal, velocity_at(p));
        Softness soft;
        double target = 0.0;  // what is taken off the velocity
        if (settings_.law == ContactLaw::soft) {
            soft = p.softness;
            target = soft.bias_rate * p.separation;
        } else if (is_relaxing && material.restitution > 0.0 && p.is_hit) {
            target = material.restitution * p.approach;
        } else if (p.separation > 0.0) {
            target = p.separation / settings_.step;  // it may still come this close
        } else if (!is_relaxing) {
            soft = p.softness;
            target = max_of(soft.bias_rate * p.separation, -settings_.fastest_recovery);
        }
        const double impulse =
            max_of(0.0, p.normal_impulse + more_impulse(soft, p.normal_mass, v + target, p.normal_impulse));
        const double change = impulse - p.normal_impulse;
        p.normal_impulse = impulse;
        a.push(-change * patch.normal, p.r_a), b.push(change * patch.normal, p.r_b);
        largest_sq = max_of(largest_sq, squared(change / p.normal_mass));
    }
    double pressed = 0.0;
    // One mass for all directions lets friction end up opposite to the slip, where it takes out most.
    for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
        ContactPoint& p = points[static_cast<std::size_t>(k)];
        pressed += p.normal_impulse;
        const Vec3d v = velocity_at(p);
        const double ve = dot(patch.e, v), vf = dot(patch.f, v);
        double e = p.friction_e - p.friction_mass * ve, f = p.friction_f - p.friction_mass * vf;
        const double most = material.friction * p.normal_impulse, size = std::sqrt(e * e + f * f);
        if (size > most) e *= most / size, f *= most / size;
        const Vec3d impulse = (e - p.friction_e) * patch.e + (f - p.friction_f) * patch.f;
        p.friction_e = e, p.friction_f = f;
        a.push(-impulse, p.r_a), b.push(impulse, p.r_b);
        largest_sq = max_of(largest_sq, norm_sq(impulse) / squared(p.friction_mass));
    }
    if (material.rolling > 0.0) {
        Vec3d impulse = patch.rolling_impulse - patch.rolling_mass * (b.spin - a.spin);
        const double most = material.rolling * pressed, size = norm(impulse);
        if (size > most) impulse = (most / size) * impulse;
        const Vec3d change = impulse - patch.rolling_impulse;
        patch.rolling_impulse = impulse;
        a.twist(-change), b.twist(change);
        largest_sq = max_of(largest_sq, norm_sq(change) / squared(patch.rolling_mass));
    }
    return std::sqrt(largest_sq);
}

void ContactSolver::reflect(std::span<Rigid> bodies) {
    for (const ContactPatch& patch : patches) {
        Rigid &a = bodies[static_cast<std::size_t>(patch.a)], &b = bodies[static_cast<std::size_t>(patch.b)];
        Vec3d place{0, 0, 0};
        for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
            ContactPoint& p = points[static_cast<std::size_t>(k)];
            place = place + (1.0 / patch.count) * p.place;
            p.normal_impulse = p.friction_e = p.friction_f = 0.0;
        }
        const Vec3d r_a = place - a.centre, r_b = place - b.centre;
        const double approach = dot(patch.normal, b.velocity_at(r_b) - a.velocity_at(r_a));
        if (approach >= 0.0) continue;
        const Mat3 answer =
            response(r_a, a.inverse_inertia, a.inverse_mass) + response(r_b, b.inverse_inertia, b.inverse_mass);
        const double impulse = -2.0 * approach / dot(patch.normal, answer * patch.normal);
        points[static_cast<std::size_t>(patch.first)].normal_impulse = impulse;
        a.push(-impulse * patch.normal, r_a), b.push(impulse * patch.normal, r_b);
    }
}

}  // namespace clearance
