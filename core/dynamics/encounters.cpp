#include "dynamics/encounters.hpp"

#include <algorithm>

namespace clearance {
namespace {

constexpr double kFast = 0.1;        // of the smaller body, in a step
constexpr double kReached = 1e-3;    // of the smaller body: nearer is there
constexpr double kFaceToFace = 0.7;  // cosine between a contact and the normal of its triangle
constexpr int kMostAdvances = 30;

// Between a contact and the normal of the triangle it is on.
double alignment(const Passing& one, const Contact& contact, std::int32_t part, std::int32_t triangle) {
    const Part& met = one.body.parts()[static_cast<std::size_t>(part)];
    if (triangle < 0 || is_cloud(met)) return 1.0;
    const auto [corner] = surface_of(met)->mesh->triangle(triangle);
    const Vec3d across = one.pose.rotation * (met.pose.rotation * cross(corner[1] - corner[0], corner[2] - corner[0]));
    return abs_of(dot(contact.normal, across)) * inverse_or_zero(norm(across));
}

}  // namespace

void drop_side_contacts(const Passing& a, const Passing& b, std::vector<Contact>& found) {
    const auto faces = [&](const Contact& contact) {
        return alignment(a, contact, contact.part_a, contact.triangle_a) >= kFaceToFace &&
               alignment(b, contact, contact.part_b, contact.triangle_b) >= kFaceToFace;
    };
    const auto sides = std::stable_partition(found.begin(), found.end(), faces);
    if (sides != found.begin()) found.erase(sides, found.end());
}

bool meet_within_step(const Passing& a, const Passing& b, const Gap& gap, double margin, double step) {
    const Vec3d velocity = b.velocity - a.velocity;
    if (gap.lower + step * dot(velocity, gap.normal) > 0.0) return false;  // what parts them now still does so then
    const auto gap_after = [&](double time) {
        PlacedBody moved = b.placed;
        moved.place({b.pose.rotation, b.pose.translation + time * velocity});
        Work work;
        std::vector<Contact> found;
        return contacts(a.placed, moved, {.margin = margin, .only_near = true}, found, work);
    };
    const Gap last = gap_after(step);
    if (last.distance <= 0.0 && dot(last.normal, gap.normal) > kFaceToFace) return true;
    const double size = min_of(a.body.ball().radius, b.body.ball().radius);
    if (margin < kFast * size) return false;
    const double speed = norm(velocity), other_motion = margin - step * speed;
    double time = 0.0, distance = gap.distance;
    for (int k = 0; k < kMostAdvances && distance > max_of(kReached * size, other_motion); ++k) {
        time += distance / speed;
        if (time >= step) return false;
        distance = gap_after(time).distance;
    }
    return true;
}

}  // namespace clearance
