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
    others_.clear(), groups_.clear(), patch_groups_.clear(), rows_.clear();
}

void ContactSolver::add_patch(std::int32_t a, std::int32_t b, const Vec3d& normal, const PatchOrigin& origin) {
    const Material& material = origin.material;
    const auto first = static_cast<std::int32_t>(points.size());
    patches.push_back({a, b, first, 0, normal, material.friction, material.rolling});
    patch_origins.push_back(origin);
}

void ContactSolver::add_point(const PointOrigin& origin, const Vec3d& r_a, const Vec3d& r_b) {
    ContactPoint& point = points.emplace_back();
    point.r_a = r_a, point.r_b = r_b, point.separation = origin.separation;
    point_origins.push_back(origin);
    ++patches.back().count;
}

void ContactSolver::prepare(std::span<const Rigid> bodies, const ContactSettings& settings) {
    settings_ = settings;
    const double resolved = kContactFrequency / settings.step;
    const double frequency = settings.stiffest > 0.0 ? min_of(resolved, settings.stiffest) : resolved;
    softness_ = softness_of(frequency, kContactDamping, settings.step);
    for (std::size_t k = 0; k < patches.size(); ++k) prepare_patch(patches[k], patch_origins[k].material, bodies);
    if (settings.law != ContactLaw::elastic) arrange(bodies);
}

namespace {

// Of groups that are not full; only the last few are looked through.
class OpenGroups {
public:
    // The first group that has none of two bodies, or a new one.
    template <class Group>
    Group& fit(std::vector<Group>& groups, const ContactPatch& patch, std::span<const Rigid> bodies) {
        const auto has_body = [&](const Group& group, std::int32_t body) {
            return bodies[static_cast<std::size_t>(body)].inverse_mass > 0.0 &&
                   (std::find(group.a, group.a + group.count, body) != group.a + group.count ||
                    std::find(group.b, group.b + group.count, body) != group.b + group.count);
        };
        for (std::size_t k = 0; k < open_.size(); ++k) {
            Group& group = groups[open_[k]];
            if (has_body(group, patch.a) || has_body(group, patch.b)) continue;
            if (group.count == Group::kLanes - 1) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(k));
            return group;
        }
        if (open_.size() == kOpenGroups) open_.erase(open_.begin());
        open_.push_back(groups.size());
        return groups.emplace_back(Group{});
    }

private:
    std::vector<std::size_t> open_;
};

template <class Points>
void put_point(const ContactPoint& p, Points& points, int k) {
    points.normal_mass[k] = p.normal_mass, points.softened_mass[k] = p.softened_mass;
    points.kept[k] = 1.0 - p.impulse_scale;
    points.separation[k] = p.separation, points.target[k] = p.target, points.relaxed_target[k] = p.relaxed_target;
    points.friction_mass[k] = p.friction_mass;
    points.normal_rate[k] = 1.0 / p.normal_mass, points.friction_rate[k] = 1.0 / p.friction_mass;
    points.normal_impulse[k] = p.normal_impulse;
    points.friction[0][k] = p.friction.x, points.friction[1][k] = p.friction.y, points.friction[2][k] = p.friction.z;
}

template <class Points>
void take_point(const Points& points, int k, ContactPoint& p) {
    p.normal_impulse = points.normal_impulse[k];
    p.friction = {points.friction[0][k], points.friction[1][k], points.friction[2][k]};
}

// How many rows a patch takes: those of a group have the same.
int rows_of(const ContactPatch& patch) { return patch.count <= 2 ? patch.count : 4; }

}  // namespace

// Into groups what can be solved side by side.
void ContactSolver::arrange(std::span<const Rigid> bodies) {
    others_.clear(), groups_.clear(), patch_groups_.clear(), rows_.clear();
    const auto is_simple = [&](std::int32_t body) {
        const Rigid& one = bodies[static_cast<std::size_t>(body)];
        return one.inverse_mass == 0.0 || one.is_round();
    };
    OpenGroups open, open_of_rows[2][5];
    for (std::size_t k = 0; k < patches.size(); ++k) {
        const ContactPatch& patch = patches[k];
        const bool bounces = settings_.bounces_last && patch_origins[k].material.restitution > 0.0;
        if (bounces || patch.rolling > 0.0 || patch.count > 4) {
            others_.push_back(k);
            continue;
        }
        const bool are_simple = is_simple(patch.a) && is_simple(patch.b);
        if (patch.count == 1 && are_simple) {
            put(k, bodies, open.fit(groups_, patch, bodies));
        } else {
            const int rows = rows_of(patch);
            PatchGroup& group = open_of_rows[are_simple][rows].fit(patch_groups_, patch, bodies);
            if (group.count == 0) {
                group.first_row = static_cast<std::int32_t>(rows_.size()), group.rows = rows;
                group.is_round = are_simple;
                rows_.resize(rows_.size() + static_cast<std::size_t>(rows), PointRow{});
            }
            put(k, bodies, group);
        }
    }
}

void ContactSolver::put(std::size_t number, std::span<const Rigid> bodies, PatchGroup& group) {
    const ContactPatch& patch = patches[number];
    const Rigid &a = bodies[static_cast<std::size_t>(patch.a)], &b = bodies[static_cast<std::size_t>(patch.b)];
    const int k = group.count++;
    const auto set = [&](auto* column, const Vec3d& v) { column[0][k] = v.x, column[1][k] = v.y, column[2][k] = v.z; };
    const auto set_inertia = [&](auto* column, const Mat3& m) {
        set(column, {m.row[0].x, m.row[1].y, m.row[2].z}), set(column + 3, {m.row[0].y, m.row[0].z, m.row[1].z});
    };
    group.a[k] = patch.a, group.b[k] = patch.b, group.patch[k] = static_cast<std::int32_t>(number);
    set(group.normal, patch.normal), group.coefficient[k] = patch.friction;
    group.inverse_mass_a[k] = a.inverse_mass, group.inverse_mass_b[k] = b.inverse_mass;
    set_inertia(group.inverse_inertia_a, a.inverse_inertia), set_inertia(group.inverse_inertia_b, b.inverse_inertia);
    for (std::int32_t i = 0; i < patch.count; ++i) {
        const ContactPoint& p = points[static_cast<std::size_t>(patch.first + i)];
        PointRow& row = rows_[static_cast<std::size_t>(group.first_row + i)];
        set(row.r_a, p.r_a), set(row.r_b, p.r_b);
        put_point(p, row, k);
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
    group.coefficient[k] = patch.friction;
    put_point(p, group, k);
}

void ContactSolver::finish() {
    const auto point_of = [&](std::int32_t patch, std::int32_t k) -> ContactPoint& {
        return points[static_cast<std::size_t>(patches[static_cast<std::size_t>(patch)].first + k)];
    };
    for (const PointGroup& group : groups_)
        for (int k = 0; k < group.count; ++k) take_point(group, k, point_of(group.patch[k], 0));
    for (const PatchGroup& group : patch_groups_)
        for (int k = 0; k < group.count; ++k)
            for (std::int32_t i = 0; i < patches[static_cast<std::size_t>(group.patch[k])].count; ++i)
                take_point(rows_[static_cast<std::size_t>(group.first_row + i)], k, point_of(group.patch[k], i));
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
        point_origins[static_cast<std::size_t>(k)].approach = dot(n, b.velocity_at(p.r_b) - a.velocity_at(p.r_a));
        prepare_point(static_cast<std::size_t>(k), material);
    }
    if (patch.rolling > 0.0) patch.rolling_mass = 1.0 / largest_response(a.inverse_inertia + b.inverse_inertia);
}

// What is fast enough to bounce, and gets there within the step, does so while relaxing.
void ContactSolver::prepare_point(std::size_t k, const Material& material) {
    ContactPoint& p = points[k];
    const PointOrigin& origin = point_origins[k];
    if (settings_.law == ContactLaw::soft) {
        const Softness soft = softness_of(material.stiffness, material.damping, p.normal_mass, settings_.step);
        p.target = p.relaxed_target = soft.bias_rate * origin.separation;
        p.softened_mass = soft.mass_scale * p.normal_mass, p.impulse_scale = soft.impulse_scale;
        return;
    }
    aim(p, origin.separation);
    const bool is_hit =
        origin.approach < -settings_.slowest_bounce && origin.separation <= -origin.approach * settings_.step;
    if (material.restitution > 0.0 && is_hit && !settings_.bounces_last)
        p.relaxed_target = material.restitution * origin.approach;
}

// What is apart may still come as close as it is; overlaps are undone softly.
void ContactSolver::aim(ContactPoint& p, double separation) const {
    if (separation > 0.0) {
        p.target = p.relaxed_target = separation / settings_.step;
        p.softened_mass = p.normal_mass, p.impulse_scale = 0.0;
    } else {
        p.target = max_of(softness_.bias_rate * separation, -settings_.fastest_recovery), p.relaxed_target = 0.0;
        p.softened_mass = softness_.mass_scale * p.normal_mass, p.impulse_scale = softness_.impulse_scale;
    }
}

void ContactSolver::follow(std::span<const Rigid> bodies) {
    const Recovery recovery{settings_.step, settings_.fastest_recovery, softness_};
    point_kernels().follow(groups_, bodies, recovery);
    point_kernels().follow_patches({patch_groups_, rows_}, bodies, recovery);
    for (const std::size_t number : others_) {
        const ContactPatch& patch = patches[number];
        const Rigid &a = bodies[static_cast<std::size_t>(patch.a)], &b = bodies[static_cast<std::size_t>(patch.b)];
        for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
            ContactPoint& p = points[static_cast<std::size_t>(k)];
            const double v = dot(patch.normal, b.velocity_at(p.r_b) - a.velocity_at(p.r_a));
            p.separation += settings_.step * v;
            aim(p, p.separation);
        }
    }
}

void ContactSolver::bounce(std::span<Rigid> bodies) {
    for (const std::size_t number : others_) {
        const ContactPatch& patch = patches[number];
        const double restitution = patch_origins[number].material.restitution;
        if (restitution == 0.0) continue;
        Moving a(bodies[static_cast<std::size_t>(patch.a)]), b(bodies[static_cast<std::size_t>(patch.b)]);
        for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
            ContactPoint& p = points[static_cast<std::size_t>(k)];
            const double approach = point_origins[static_cast<std::size_t>(k)].approach;
            if (approach > -settings_.slowest_bounce || p.most_pressed == 0.0) continue;
            const double v = dot(patch.normal, b.velocity_at(p.r_b) - a.velocity_at(p.r_a));
            const double impulse = max_of(0.0, p.normal_impulse - p.normal_mass * (v + restitution * approach));
            const double change = impulse - p.normal_impulse;
            p.normal_impulse = impulse;
            a.push(-change * patch.normal, p.r_a), b.push(change * patch.normal, p.r_b);
        }
    }
}

void ContactSolver::warm_start(std::span<Rigid> bodies) {
    point_kernels().warm_start(groups_, bodies);
    point_kernels().warm_start_patches({patch_groups_, rows_}, bodies);
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
    p.normal_impulse = pressed, p.most_pressed = max_of(p.most_pressed, pressed);
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
        p.normal_impulse = impulse, p.most_pressed = max_of(p.most_pressed, impulse);
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
    double largest_sq =
        max_of(point_kernels().solve(groups_, bodies), point_kernels().solve_patches({patch_groups_, rows_}, bodies));
    for (const std::size_t k : others_) largest_sq = max_of(largest_sq, solve_patch<false>(patches[k], bodies));
    return std::sqrt(largest_sq);
}

double ContactSolver::relax(std::span<Rigid> bodies) {
    double largest_sq =
        max_of(point_kernels().relax(groups_, bodies), point_kernels().relax_patches({patch_groups_, rows_}, bodies));
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
