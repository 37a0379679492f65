#include "dynamics/contact_memory.hpp"

namespace clearance {
namespace {

// The patch that was added last.
void recall(ContactSolver& solver, const Rigid& a, std::span<ContactMemory> memories, double nearby) {
    ContactPatch& patch = solver.patches.back();
    const PatchOrigin& origin = solver.patch_origins.back();
    for (std::int32_t k = patch.first; k < patch.first + patch.count; ++k) {
        ContactPoint& point = solver.points[static_cast<std::size_t>(k)];
        const Vec3d place = transposed_times(a.rotation, point.r_a);
        double nearest = nearby * nearby;
        ContactMemory* best = nullptr;
        for (ContactMemory& one : memories) {
            if (one.is_used || one.part_a != origin.part_a || one.part_b != origin.part_b) continue;
            const double distance_sq = norm_sq(one.place - place);
            if (distance_sq < nearest) nearest = distance_sq, best = &one;
        }
        if (best == nullptr) continue;
        best->is_used = true;
        point.normal_impulse = best->normal;
        point.friction = best->friction - dot(patch.normal, best->friction) * patch.normal;
        patch.rolling_impulse = patch.rolling_impulse + best->rolling;
    }
}

bool are_of_one_patch(const Contact& one, const Contact& other) {
    return one.part_a == other.part_a && one.part_b == other.part_b && one.triangle_a == other.triangle_a &&
           one.triangle_b == other.triangle_b;
}

}  // namespace

void add_patches(ContactSolver& solver, std::span<const Rigid> bodies, const Meeting& meeting,
                 std::span<ContactMemory> memories, double nearby) {
    const std::span<const Contact> found = meeting.found;
    const Rigid& a = bodies[static_cast<std::size_t>(meeting.a)];
    const Vec3d centre_b = bodies[static_cast<std::size_t>(meeting.b)].centre + meeting.shift_b;
    for (std::size_t k = 0; k < found.size();) {
        const Contact& first = found[k];
        solver.add_patch(meeting.a, meeting.b, first.normal, {first.part_a, first.part_b, meeting.material});
        for (; k < found.size() && are_of_one_patch(found[k], first); ++k) {
            const Vec3d half_gap = (meeting.at_surfaces ? max_of(0.0, -0.5 * found[k].depth) : 0.0) * first.normal;
            const Vec3d r_a = found[k].point - half_gap - a.centre, r_b = found[k].point + half_gap - centre_b;
            solver.add_point({found[k].point, -found[k].depth}, r_a, r_b);
        }
        if (!memories.empty()) recall(solver, a, memories, nearby);
    }
}

void remember(const ContactSolver& solver, std::size_t patch, const Rigid& a, std::vector<ContactMemory>& memories) {
    const ContactPatch& one = solver.patches[patch];
    const PatchOrigin& origin = solver.patch_origins[patch];
    for (std::int32_t k = one.first; k < one.first + one.count; ++k) {
        const ContactPoint& point = solver.points[static_cast<std::size_t>(k)];
        memories.push_back({origin.part_a, origin.part_b, transposed_times(a.rotation, point.r_a), point.normal_impulse,
                            point.friction, k == one.first ? one.rolling_impulse : Vec3d{0, 0, 0}});
    }
}

}  // namespace clearance
