#include "dynamics/contact_solver.hpp"

#include <algorithm>
#include <cmath>

#include "convex/curvature.hpp"

namespace clearance {
namespace {

constexpr double kContactDamping = 10.0;    // ratio: overlaps are undone without a bounce
constexpr double kContactFrequency = 0.25;  // of the rate of steps: as stiff as steps can resolve
constexpr std::size_t kOpenGroups = 4;      // that are looked through for room

double squared(double x) { return x * x; }

// A copy of how a body moves, that goes back to it in the end. What cannot be moved is only read, so that several threads
// may push on the same wall.
struct Moving {
    Rigid& body;
    Vec3d velocity, spin;
    const bool is_movable;

    explicit Moving(Rigid& of) : body(of), velocity(of.velocity), spin(of.spin), is_movable(of.inverse_mass > 0.0) {}
    Moving(const Moving&) = delete;
    Moving& operator=(const Moving&) = delete;
    ~Moving() {
        if (is_movable) body.velocity = velocity, body.spin = spin;
    }

    Vec3d velocity_at(const Vec3d& r) const { return velocity + cross(spin, r); }
    void push(const Vec3d& impulse, const Vec3d& r) {
        velocity = velocity + body.inverse_mass * impulse;
        spin = spin + body.inverse_inertia * cross(r, impulse);
    }
    void twist(const Vec3d& angular_impulse) { spin = spin + body.inverse_inertia * angular_impulse; }
};

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

void ContactSolver::clear() {
    patches.clear(), points.clear();
    patch_origins.clear(), point_origins.clear();
    others_.clear(), groups_.clear();
}

void ContactSolver::add_patch(std::int32_t a, std::int32_t b, const Vec3d& normal, const PatchOrigin& origin) {
    const Material& material = origin.material;
    const auto first = static_cast<std::int32_t>(points.size());
    patches.push_back({a, b, first, 0, normal, material.friction, material.rolling});
    patch_origins.push_back(origin);
}

void ContactSolver::add_point(const PointOrigin& origin, const Vec3d& r_a, const Vec3d& r_b) {
    ContactPoint& point = points.emplace_back();
    point.r_a = r_a, point.r_b = r_b;
    point_origins.push_back(origin);
    ++patches.back().count;
}

void ContactSolver::prepare(std::span<const Rigid> bodies, const ContactSettings& settings) {
    settings_ = settings;
    for (std::size_t k = 0; k < patches.size(); ++k) prepare_patch(patches[k], patch_origins[k].material, bodies);
    if (settings.law != ContactLaw::elastic) arrange(bodies);
}

// Into groups what can be solved side by side; each goes to the first of a few groups that are not full and have none of
// its bodies.
void ContactSolver::arrange(std::span<const Rigid> bodies) {
    others_.clear(), groups_.clear();
    const auto is_simple = [&](std::int32_t body) {
        const Rigid& one = bodies[static_cast<std::size_t>(body)];
        return one.inverse_mass == 0.0 || one.is_round();
    };
    const auto has_body = [&](const PointGroup& group, std::int32_t body) {
        return bodies[static_cast<std::size_t>(body)].inverse_mass > 0.0 &&
               (std::find(group.a, group.a + group.count, body) != group.a + group.count ||
                std::find(group.b, group.b + group.count, body) != group.b + group.count);
    };
    std::size_t first_open = 0;
    for (std::size_t k = 0; k < patches.size(); ++k) {
        const ContactPatch& patch = patches[k];
        if (patch.count != 1 || patch.rolling > 0.0 || !is_simple(patch.a) || !is_simple(patch.b)) {
            others_.push_back(k);
            continue;
        }
        while (first_open < groups_.size() && groups_[first_open].count == PointGroup::kLanes) ++first_open;
        if (groups_.size() > kOpenGroups) first_open = std::max(first_open, groups_.size() - kOpenGroups);
        std::size_t fit = first_open;
        while (fit < groups_.size() && (groups_[fit].count == PointGroup::kLanes || has_body(groups_[fit], patch.a) ||
                                        has_body(groups_[fit], patch.b)))
            ++fit;
        if (fit == groups_.size()) groups_.push_back(PointGroup{});
        put(k, bodies, groups_[fit]);
    }
}

void ContactSolver::put(std::size_t number, std::span<const Rigid> bodies, PointGroup& group) const {
    const ContactPatch& patch = patches[number];
    const ContactPoint& p = points[static_cast<std::size_t>(patch.first)];
    const Rigid &a = bodies[static_cast<std::size_t>(patch.a)], &b = bodies[static_cast<std::size_t>(patch.b)];
    const int k = group.count++;
    const auto set = [&](double(*column)[PointGroup::kLanes], const Vec3d& v) {
        column[0][k] = v.x, column[1][k] = v.y, column[2][k] = v.z;
    };
    group.a[k] = patch.a, group.b[k] = patch.b, group.patch[k] = static_cast<std::int32_t>(number);
    set(group.normal, patch.normal), set(group.r_a, p.r_a), set(group.r_b, p.r_b), set(group.answer, p.answer);
    group.inverse_mass_a[k] = a.inverse_mass, group.inverse_mass_b[k] = b.inverse_mass;
    group.inverse_inertia_a[k] = a.inverse_inertia.row[0].x, group.inverse_inertia_b[k] = b.inverse_inertia.row[0].x;
    group.normal_mass[k] = p.normal_mass, group.softened_mass[k] = p.softened_mass;
    group.kept[k] = 1.0 - p.impulse_scale;
    group.target[k] = p.target, group.relaxed_target[k] = p.relaxed_target;
    group.friction_mass[k] = p.friction_mass, group.coefficient[k] = patch.friction;
    group.normal_rate[k] = 1.0 / p.normal_mass, group.friction_rate[k] = 1.0 / p.friction_mass;
    group.normal_impulse[k] = p.normal_impulse, set(group.friction, p.friction);
}

void ContactSolver::finish() {
    for (const PointGroup& group : groups_)
        for (int k = 0; k < group.count; ++k) {
            const ContactPatch& patch = patches[static_cast<std::size_t>(group.patch[k])];
            ContactPoint& p = points[static_cast<std::size_t>(patch.first)];
            p.normal_impulse = group.normal_impulse[k];
            p.friction = {group.friction[0][k], group.friction[1][k], group.friction[2][k]};
        }
}

void ContactSolver::prepare_patch(ContactPatch& patch, const Material& material, std::span<const Rigid> bodies) {
    const Rigid &a = bodies[static_cast<std::size_t>(patch.a)], &b = bodies[static_cast<std::size_t>(patch.b)];
    const Vec3d& n = patch.normal;
    const auto [e, f] = tangents_of(n);
    for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
        ContactPoint& p = points[static_cast<std::size_t>(k)];
        const Mat3 answer =
            response(p.r_a, a.inverse_inertia, a.inverse_mass) + response(p.r_b, b.inverse_inertia, b.inverse_mass);
        const Vec3d along_e = answer * e, along_f = answer * f;
        p.answer = answer * n;
        p.normal_mass = 1.0 / dot(n, p.answer);
        p.friction_mass = 1.0 / largest_eigenvalue(dot(e, along_e), dot(e, along_f), dot(f, along_f));
        prepare_point(static_cast<std::size_t>(k), dot(n, b.velocity_at(p.r_b) - a.velocity_at(p.r_a)), material);
    }
    if (patch.rolling > 0.0) patch.rolling_mass = 1.0 / largest_response(a.inverse_inertia + b.inverse_inertia);
}

// What is apart may still come as close as it is. What is fast enough to bounce, and gets there within the step, does so
// while relaxing.
void ContactSolver::prepare_point(std::size_t k, double approach, const Material& material) {
    ContactPoint& p = points[k];
    const double separation = point_origins[k].separation, step = settings_.step;
    Softness soft;
    if (settings_.law == ContactLaw::soft) {
        soft = softness_of(material.stiffness, material.damping, p.normal_mass, step);
        p.target = p.relaxed_target = soft.bias_rate * separation;
    } else if (separation > 0.0) {
        p.target = p.relaxed_target = separation / step;
    } else {
        soft = softness_of(kContactFrequency / step, kContactDamping, step);
        p.target = max_of(soft.bias_rate * separation, -settings_.fastest_recovery);
        p.relaxed_target = 0.0;
    }
    p.softened_mass = soft.mass_scale * p.normal_mass, p.impulse_scale = soft.impulse_scale;
    const bool is_hit = approach < -settings_.slowest_bounce && separation <= -approach * step;
    if (settings_.law == ContactLaw::hard && material.restitution > 0.0 && is_hit)
        p.relaxed_target = material.restitution * approach;
}

void ContactSolver::warm_start(std::span<Rigid> bodies) const {
    point_kernels().warm_start(groups_, bodies);
    for (const std::size_t number : others_) {
        const ContactPatch& patch = patches[number];
        Moving a(bodies[static_cast<std::size_t>(patch.a)]), b(bodies[static_cast<std::size_t>(patch.b)]);
        for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
            const ContactPoint& p = points[static_cast<std::size_t>(k)];
            const Vec3d impulse = p.normal_impulse * patch.normal + p.friction;
            a.push(-impulse, p.r_a), b.push(impulse, p.r_b);
        }
        a.twist(-patch.rolling_impulse), b.twist(patch.rolling_impulse);
    }
}

namespace {

template <bool is_relaxing>
double normal_impulse(const ContactPoint& p, double v) {
    const double before = p.normal_impulse;
    return max_of(0.0, is_relaxing ? before - p.normal_mass * (v + p.relaxed_target)
                                   : (1.0 - p.impulse_scale) * before - p.softened_mass * (v + p.target));
}

// One mass for all directions lets friction end up opposite to the slip, where it takes out most.
Vec3d friction(const ContactPatch& patch, const ContactPoint& p, const Vec3d& v) {
    const Vec3d wanted = p.friction - p.friction_mass * (v - dot(patch.normal, v) * patch.normal);
    const double most = patch.friction * p.normal_impulse, size_sq = norm_sq(wanted);
    return size_sq > most * most ? (most / std::sqrt(size_sq)) * wanted : wanted;
}

// Against rolling and spinning. Returns the square of the change of the spin.
double resist_rolling(ContactPatch& patch, double pressed, Moving& a, Moving& b) {
    Vec3d impulse = patch.rolling_impulse - patch.rolling_mass * (b.spin - a.spin);
    const double most = patch.rolling * pressed, size = norm(impulse);
    if (size > most) impulse = (most / size) * impulse;
    const Vec3d change = impulse - patch.rolling_impulse;
    patch.rolling_impulse = impulse;
    a.twist(-change), b.twist(change);
    return norm_sq(change) / squared(patch.rolling_mass);
}

}  // namespace

template <bool is_relaxing>
double ContactSolver::solve_point(ContactPatch& patch, std::span<Rigid> bodies) {
    Moving a(bodies[static_cast<std::size_t>(patch.a)]), b(bodies[static_cast<std::size_t>(patch.b)]);
    ContactPoint& p = points[static_cast<std::size_t>(patch.first)];
    const Vec3d v = b.velocity_at(p.r_b) - a.velocity_at(p.r_a);
    const double pressed = normal_impulse<is_relaxing>(p, dot(patch.normal, v));
    const double pressed_more = pressed - p.normal_impulse;
    p.normal_impulse = pressed;
    const Vec3d rubbed = friction(patch, p, v + pressed_more * p.answer), rubbed_more = rubbed - p.friction;
    p.friction = rubbed;
    const Vec3d impulse = pressed_more * patch.normal + rubbed_more;
    a.push(-impulse, p.r_a), b.push(impulse, p.r_b);
    const double changed_sq = max_of(squared(pressed_more / p.normal_mass), norm_sq(rubbed_more) / squared(p.friction_mass));
    return patch.rolling > 0.0 ? max_of(changed_sq, resist_rolling(patch, pressed, a, b)) : changed_sq;
}

template <bool is_relaxing>
double ContactSolver::solve_patch(ContactPatch& patch, std::span<Rigid> bodies) {
    if (patch.count == 1) return solve_point<is_relaxing>(patch, bodies);
    double largest_sq = 0.0, pressed = 0.0;
    Moving a(bodies[static_cast<std::size_t>(patch.a)]), b(bodies[static_cast<std::size_t>(patch.b)]);
    const std::span<ContactPoint> own(points.data() + patch.first, static_cast<std::size_t>(patch.count));
    for (ContactPoint& p : own) {
        const double impulse =
            normal_impulse<is_relaxing>(p, dot(patch.normal, b.velocity_at(p.r_b) - a.velocity_at(p.r_a)));
        const double change = impulse - p.normal_impulse;
        p.normal_impulse = impulse;
        a.push(-change * patch.normal, p.r_a), b.push(change * patch.normal, p.r_b);
        largest_sq = max_of(largest_sq, squared(change / p.normal_mass));
    }
    for (ContactPoint& p : own) {
        pressed += p.normal_impulse;
        const Vec3d rubbed = friction(patch, p, b.velocity_at(p.r_b) - a.velocity_at(p.r_a));
        const Vec3d change = rubbed - p.friction;
        p.friction = rubbed;
        a.push(-change, p.r_a), b.push(change, p.r_b);
        largest_sq = max_of(largest_sq, norm_sq(change) / squared(p.friction_mass));
    }
    if (patch.rolling > 0.0) largest_sq = max_of(largest_sq, resist_rolling(patch, pressed, a, b));
    return largest_sq;
}

double ContactSolver::solve(std::span<Rigid> bodies) {
    double largest_sq = point_kernels().solve(groups_, bodies);
    for (const std::size_t k : others_) largest_sq = max_of(largest_sq, solve_patch<false>(patches[k], bodies));
    return std::sqrt(largest_sq);
}

double ContactSolver::relax(std::span<Rigid> bodies) {
    double largest_sq = point_kernels().relax(groups_, bodies);
    for (const std::size_t k : others_) largest_sq = max_of(largest_sq, solve_patch<true>(patches[k], bodies));
    return std::sqrt(largest_sq);
}

void ContactSolver::reflect(std::span<Rigid> bodies) {
    for (const ContactPatch& patch : patches) {
        Moving a(bodies[static_cast<std::size_t>(patch.a)]), b(bodies[static_cast<std::size_t>(patch.b)]);
        Vec3d r_a{0, 0, 0}, r_b{0, 0, 0};
        for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
            ContactPoint& p = points[static_cast<std::size_t>(k)];
            r_a = r_a + (1.0 / patch.count) * p.r_a, r_b = r_b + (1.0 / patch.count) * p.r_b;
            p.normal_impulse = 0.0, p.friction = {0, 0, 0};
        }
        const double approach = dot(patch.normal, b.velocity_at(r_b) - a.velocity_at(r_a));
        if (approach >= 0.0) continue;
        const Mat3 answer = response(r_a, a.body.inverse_inertia, a.body.inverse_mass) +
                            response(r_b, b.body.inverse_inertia, b.body.inverse_mass);
        const double impulse = -2.0 * approach / dot(patch.normal, answer * patch.normal);
        points[static_cast<std::size_t>(patch.first)].normal_impulse = impulse;
        a.push(-impulse * patch.normal, r_a), b.push(impulse * patch.normal, r_b);
    }
}

}  // namespace clearance
