#include "query/surface_contacts.hpp"

#include <cmath>

#include "bvh/extreme.hpp"
#include "bvh/meeting.hpp"
#include "query/solid.hpp"

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void add(Work& work, const SearchWork& counted) {
    work.volume_tests += counted.volume_tests;
    work.triangle_tests += counted.triangle_tests;
}

// Contacts of a surface with something else, the surface first.
class SurfaceContacts {
public:
    SurfaceContacts(const PlacedPart& surface, const PlacedPart& other, const ContactRules& rules,
                    std::vector<Contact>& found, Work& work)
        : surface_(surface), other_(other), rules_(rules), found_(found), work_(work) {}

    // The deepest, or at infinity if nothing touches.
    Gap find() {
        if (std::holds_alternative<HalfSpace>(other_.part.shape))
            with_plane();
        else if (is_cloud(other_.part) && surface_of(surface_.part)->solid_below)
            with_cloud_over_ground();
        else if (surface_of(other_.part) != nullptr)
            with_surface();
        else if (surface_of(surface_.part)->solid_below)
            with_ground();
        else
            with_solid();
        return deepest_;
    }

private:
    const Mesh& mesh() const { return *surface_of(surface_.part)->mesh; }
    SurfacePair seen() const {
        return {&mesh(), nullptr, nullptr, {surface_.rotation, surface_.origin}, {other_.rotation, other_.origin}};
    }

    void add_triangle(std::int32_t triangle, const PlacedPart& other, std::int32_t other_triangle) {
        const Part part = part_of(placed_element(surface_, triangle));
        const PlacedPart placed{part, kNoTurn, {0, 0, 0}};
        const Gap gap = gap_between(placed, other, {.at_most = 0.0, .method = rules_.method}, work_);
        if (gap.distance > 0.0) return;
        const std::size_t begin = found_.size();
        add_contacts(placed, other, gap, rules_.plane, 0.0, found_);
        name(begin, triangle, other_triangle);
        if (gap.distance < deepest_.distance) deepest_ = gap;
    }

    void name(std::size_t begin, std::int32_t triangle, std::int32_t other_triangle) {
        for (std::size_t k = begin; k < found_.size(); ++k)
            found_[k].triangle_a = triangle, found_[k].triangle_b = other_triangle;
    }

    void with_plane() {
        const auto& half_space = std::get<HalfSpace>(other_.part.shape);
        const Vec3d normal = other_.rotation * half_space.normal;
        const Vec3d up = transposed_times(surface_.rotation, normal);
        const double height = half_space.offset + dot(normal, other_.origin - surface_.origin) + mesh().radius;
        for (const std::int32_t triangle : triangles_below(mesh(), up, height)) add_triangle(triangle, other_, -1);
    }

    void with_surface() {
        SurfacePair pair = seen();
        pair.b = surface_of(other_.part)->mesh.get();
        std::vector<TrianglePair> meeting;
        SearchWork counted;
        meeting_triangles(pair, meeting, counted);
        add(work_, counted);
        for (const TrianglePair& triangles : meeting) {
            const Part other = part_of(placed_element(other_, triangles.triangle_b));
            add_triangle(triangles.triangle_a, {other, kNoTurn, {0, 0, 0}}, triangles.triangle_b);
        }
    }

    void with_solid() {
        const Question question{.method = rules_.method};
        SolidPart solid(other_, std::ldexp(mesh().boxes.unit, -20), question, work_);
        SurfacePair pair = seen();
        pair.solid = &solid.solid();
        std::vector<TrianglePair> meeting;
        SearchWork counted;
        meeting_triangles(pair, meeting, counted);
        add(work_, counted);
        for (const TrianglePair& triangles : meeting) add_triangle(triangles.triangle_a, other_, -1);
    }

    // Everything below the surface counts. Where the surface only grazes the body at an edge, no triangle has it below
    // itself: then it is the surface that touches.
    void with_ground() {
        const std::size_t before = found_.size();
        for (const std::int32_t number : triangles_over_solid()) {
            const Core<double, 3> triangle = placed_triangle(surface_, number);
            const Vec3d across = cross(triangle.vertex[1] - triangle.vertex[0], triangle.vertex[2] - triangle.vertex[0]);
            const Vec3d normal = inverse_or_zero(norm(across)) * across;
            const std::size_t begin = found_.size();
            add_contacts_above(triangle, normal, other_, found_);
            name(begin, number, -1);
            for (std::size_t k = begin; k < found_.size(); ++k)
                if (-found_[k].depth < deepest_.distance)
                    deepest_.distance = -found_[k].depth, deepest_.normal = found_[k].normal;
        }
        if (found_.size() == before || rules_.field_peaks) with_solid();
    }

    // Each ball by itself, but for those above the top of the field.
    void with_cloud_over_ground() {
        const Mesh& cloud = *surface_of(other_.part)->mesh;
        const Vec3d up = surface_.rotation * Vec3d{0, 0, 1};
        const double top = mesh().ball.centre.z + mesh().ball.radius + cloud.radius;
        const double height = top - dot(up, other_.origin - surface_.origin);
        for (const std::int32_t number : triangles_below(cloud, transposed_times(other_.rotation, up), height)) {
            const Part ball = part_of(placed_element(other_, number));
            const std::size_t begin = found_.size();
            const Gap gap = SurfaceContacts(surface_, {ball, kNoTurn, {0, 0, 0}}, rules_, found_, work_).find();
            for (std::size_t k = begin; k < found_.size(); ++k) found_[k].triangle_b = number;
            if (gap.distance < deepest_.distance) deepest_ = gap;
        }
    }

    // In the frame of the field: from the lowest point of the body up to the top of the field.
    std::vector<std::int32_t> triangles_over_solid() {
        const auto& convex = std::get<Convex>(other_.part.shape);
        const auto reach = [&](const Vec3d& along) {
            const Vec3d world = surface_.rotation * along;
            const Vec3d farthest =
                other_.rotation * support(convex.core, transposed_times(other_.rotation, world)) + other_.origin;
            return dot(world, farthest - surface_.origin) + convex.radius;
        };
        const Ball& ball = mesh().ball;
        const Vec3d low{-reach({-1, 0, 0}), -reach({0, -1, 0}), -reach({0, 0, -1})};
        const Vec3d high{reach({1, 0, 0}), reach({0, 1, 0}), max_of(reach({0, 0, 1}), ball.centre.z + ball.radius)};
        const Vec3d half = 0.5 * (high - low);
        const double unit = std::ldexp(1.0, std::ilogb(largest(half) + ball.radius) + 1), scale = (1.0 + 1e-6) / unit;
        Solid column{};
        column.volume = {
            {0, 0, 0},
            {static_cast<float>(scale * half.x), static_cast<float>(scale * half.y), static_cast<float>(scale * half.z)},
            {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
            0.0f};
        column.centre = low + half, column.unit = unit;
        SurfacePair pair = seen();
        pair.solid = &column, pair.at_b = pair.at_a;
        std::vector<std::int32_t> near;
        SearchWork counted;
        triangles_near(pair, near, counted);
        add(work_, counted);
        return near;
    }

    const PlacedPart &surface_, &other_;
    const ContactRules& rules_;
    std::vector<Contact>& found_;
    Work& work_;
    Gap deepest_ = farther_than_asked(kInfinity);
};

void mirror(Contact& contact) {
    contact.normal = -contact.normal;
    std::swap(contact.triangle_a, contact.triangle_b);
}

}  // namespace

Gap contacts_of_surfaces(const PlacedPart& a, const PlacedPart& b, const ContactRules& rules, std::vector<Contact>& found,
                         Work& work) {
    const bool swapped = surface_of(a.part) == nullptr || (is_cloud(a.part) && surface_of(b.part) != nullptr);
    const std::size_t begin = found.size();
    const Gap deepest =
        swapped ? SurfaceContacts(b, a, rules, found, work).find() : SurfaceContacts(a, b, rules, found, work).find();
    for (std::size_t k = begin; swapped && k < found.size(); ++k) mirror(found[k]);
    if (deepest.distance < kInfinity) return swapped ? mirrored(deepest) : deepest;
    PlacedPair apart{a, b, 0, 0};
    return nearest_surfaces({&apart, 1}, {}, {}, work).gap;
}

}  // namespace clearance
