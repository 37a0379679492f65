// Rays: closed forms agree with the general way for convex bodies, trees leave out nothing, all instruction sets give the
// same bits, nothing passes between triangles that share an edge, and neither hints nor company change an answer.
//
//     rays [effort = 1] [seed = 1]
#include <algorithm>
#include <cstring>

#include "mesh_samples.hpp"
#include "query/raycast.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using BodyPointer = std::shared_ptr<const Body>;

template <class PartShape>
BodyPointer body_of(const PartShape& shape) {
    return std::make_shared<const Body>(std::vector<Part>{part_of(shape, Pose{})});
}
BodyPointer body_of(const Mesh& mesh) { return body_of(Surface{std::make_shared<const Mesh>(mesh), false}); }

ConvexCore core_of_kind(Draw& draw, int kind, double scale) {
    const auto side = [&] { return scale * draw.power(-2, 0); };
    if (kind == 0) return Box{{side(), side(), side()}};
    if (kind == 1) return Cylinder{side(), side()};
    if (kind == 2) return Cone{side(), side()};
    if (kind == 3) return worn_ellipsoid({side(), side(), side()});
    const auto point = [&] { return scale * draw.in_cube(); };
    return Element{kind - 3, {point(), point(), point()}, 0.0};
}

Convex convex_of_kind(Draw& draw, int kind, double scale) {
    ConvexCore core = core_of_kind(draw, kind, scale);
    double radius = 0.0;
    if (const auto* ellipsoid = std::get_if<Ellipsoid>(&core)) radius = ellipsoid->taken;
    if (auto* element = std::get_if<Element>(&core)) {
        radius = element->radius = scale * draw.power(-2, 0);
        for (int k = element->count; k < 3; ++k) element->vertex[k] = element->vertex[element->count - 1];
    }
    return {core, radius};
}

Chord closed_form(const ConvexCore& core, const Line& line) {
    return std::visit(
        [&](const auto& one) -> Chord {
            if constexpr (requires { chord_of(one, line); })
                return chord_of(one, line);
            else
                return kNoChord;
        },
        core);
}

// Where both hit they hit at the same place, and what only one of them hits is grazed.
void check_closed_forms(Draw& draw) {
    const int kind = draw.below(7);
    const double scale = draw.power(-6, 6);
    const Convex convex = convex_of_kind(draw, kind, scale);
    for (int k = 0; k < 20; ++k) {
        const Vec3d along = draw.direction(), from = scale * draw.power(-2, 0.3) * draw.direction();
        const Line line{from - dot(from, along) * along, along};
        const Chord chord = closed_form(convex.core, line);
        const Entry entry = entry_of(convex.core, convex.radius, line, -10.0 * scale, 10.0 * scale);
        const bool both = !chord.is_empty() && entry.is_hit;
        const double off = both ? abs_of(chord.first - entry.at) : chord.is_empty() ? 0.0 : chord.last - chord.first;
        tally.expect(off <= (both ? 1e-7 : 1e-4) * scale, "the closed form agrees with the general way",
                     "kind %d scale %.3g: %.17g and %.17g (%d)", kind, scale, chord.first, entry.at, int(entry.is_hit));
        if (chord.is_empty()) continue;
        const Vec3d normal = std::visit(
            [&](const auto& one) -> Vec3d {
                if constexpr (requires { normal_of(one, line, chord); })
                    return normal_of(one, line, chord);
                else
                    return {0, 0, 0};
            },
            convex.core);
        tally.expect(abs_of(norm(normal) - 1.0) < 1e-12 && dot(normal, along) <= 1e-6, "normals are against the ray",
                     "kind %d: length %.17g, along the ray %.3g", kind, norm(normal), dot(normal, along));
    }
}

// Rays in columns, and what they hit.
struct Rays {
    std::vector<double> origins, directions, ranges;

    void add(const Vec3d& origin, const Vec3d& direction, double range = kInfinity) {
        origins.insert(origins.end(), {origin.x, origin.y, origin.z});
        directions.insert(directions.end(), {direction.x, direction.y, direction.z});
        ranges.push_back(range);
    }
    std::size_t count() const { return ranges.size(); }
};

struct Answers {
    std::vector<double> distance, point, normal;
    std::vector<std::int32_t> index, feature;

    explicit Answers(std::size_t count)
        : distance(count), point(3 * count), normal(3 * count), index(count), feature(count) {}
    bool operator==(const Answers& other) const {
        const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
            return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
        };
        return same(distance, other.distance) && same(point, other.point) && same(normal, other.normal) &&
               index == other.index && feature == other.feature;
    }
};

Answers answers(const RayTarget& target, const Rays& rays, RayRules rules = {}) {
    Answers found(rays.count());
    Work work;
    const RayRows rows{rays.origins.data(), rays.directions.data(), rays.ranges.data(), 3, 3, 1, rays.count()};
    const std::size_t bad = target.cast(
        rows, rules,
        {found.distance.data(), found.point.data(), found.normal.data(), found.index.data(), found.feature.data()}, work);
    tally.expect(bad == rays.count(), "rays are rays");
    return found;
}

Rays drawn(Draw& draw, double scale, const Vec3d& middle, int count) {
    Rays rays;
    for (int k = 0; k < count; ++k) {
        const Vec3d origin = middle + scale * draw.power(-1, 3) * draw.direction();
        const Vec3d towards = middle + scale * draw.in_cube() - origin;
        rays.add(origin, draw.power(-3, 3) * towards, draw.chance(0.8) ? kInfinity : norm(towards) * draw.uniform(0.0, 2.0));
    }
    return rays;
}

// All triangles one after the other, each as a mesh of its own would give it.
void check_mesh(Draw& draw, const Sample& sample) {
    tally.context = sample.name;
    const Mesh mesh = sample.built(VolumeKind::obb);
    const Rays rays = drawn(draw, mesh.ball.radius, mesh.ball.centre, 64);
    const Answers found = answers(RayTarget({body_of(mesh)}, {Pose{}}), rays);
    for (std::size_t row = 0; row < rays.count(); ++row) {
        const Vec3d origin{rays.origins[3 * row], rays.origins[3 * row + 1], rays.origins[3 * row + 2]};
        Vec3d along{rays.directions[3 * row], rays.directions[3 * row + 1], rays.directions[3 * row + 2]};
        along = std::ldexp(1.0, -std::ilogb(largest(along))) * along;
        const Vec3d from = origin - mesh.boxes.centre;
        const double offset = -dot(from, along) * (1.0 / norm_sq(along));
        MeshRays one{};
        one.line[0] = {from + offset * along, along}, one.offset[0] = offset;
        one.best[0] = {kInfinity, std::numeric_limits<std::int32_t>::max(), {}};
        for (std::int32_t k = 0; k < static_cast<std::int32_t>(mesh.faces.size()); ++k) meet_feature(mesh, k, 0, one);
        double distance = one.best[0].at * norm(along);
        if (distance > rays.ranges[row]) distance = kInfinity;
        tally.expect(found.distance[row] == distance, "the tree leaves out no triangle", "%.17g instead of %.17g",
                     found.distance[row], distance);
        tally.expect(found.feature[row] == (distance < kInfinity ? one.best[0].feature : -1), "the lowest of equals wins",
                     "%d instead of %d", found.feature[row], one.best[0].feature);
    }
}

// From inside of a closed mesh nothing gets out, also not through corners and edges.
void check_closed(Draw& draw) {
    tally.context = "closed";
    constexpr int kSectors = 10;
    Sample ball = bumpy(draw, 6, kSectors);
    for (auto& pole : {ball.vertices.begin(), ball.vertices.end() - kSectors}) std::fill(pole, pole + kSectors, *pole);
    const Sample sample = scaled(ball, draw.power(-5, 5), draw.power(-3, 3) * draw.in_cube());
    const Mesh mesh = sample.built(VolumeKind::obb);
    const Pose pose{draw.rotation_of_parts(), draw.power(-2, 4) * draw.in_cube()};
    const RayTarget target({body_of(mesh)}, {pose});
    const Vec3d inside = pose * (mesh.boxes.centre + 0.1 * mesh.ball.radius * draw.in_cube());
    Rays rays;
    for (const Face& face : sample.faces)
        for (int k = 0; k < 3; ++k) {
            const auto corner = [&](int c) { return pose * sample.vertices[static_cast<std::size_t>(face[c % 3])]; };
            rays.add(inside, corner(k) - inside);
            const double t = draw.uniform(0.0, 1.0);
            rays.add(inside, (1.0 - t) * corner(k) + t * corner(k + 1) - inside);
        }
    const Answers found = answers(target, rays);
    for (std::size_t row = 0; row < rays.count(); ++row)
        tally.expect(found.index[row] == 0, "no ray gets out of a closed mesh", "ray %d", int(row));
}

// Bodies of all kinds here and there.
struct Yard {
    std::vector<BodyPointer> bodies;
    std::vector<Pose> poses;

    Yard(Draw& draw, int count) {
        for (int k = 0; k < count; ++k) {
            const int kind = draw.below(10);
            if (kind < 7) bodies.push_back(body_of(convex_of_kind(draw, kind, 0.5)));
            if (kind == 7) bodies.push_back(body_of(bumpy(draw, 4, 6).built(VolumeKind::obb)));
            if (kind == 8) bodies.push_back(body_of(build_cloud({draw.in_cube(), draw.in_cube(), draw.in_cube()}, 0.1)));
            if (kind == 9) bodies.push_back(hull(draw));
        }
        bodies.push_back(body_of(HalfSpace{{0, 0, 1}, -6.0}));
        move(draw);
    }
    static BodyPointer hull(Draw& draw) {
        std::vector<Vec3d> points(12);
        for (Vec3d& point : points) point = 0.5 * draw.in_cube();
        return body_of(Convex{std::make_shared<const Hull>(points), draw.chance(0.5) ? 0.0 : 0.1});
    }
    void move(Draw& draw) {
        poses.clear();
        for (std::size_t k = 0; k < bodies.size(); ++k) poses.push_back({draw.rotation(), 4.0 * draw.in_cube()});
        poses.back() = Pose{};
        if (draw.chance(0.3)) poses.front().translation = 1e7 * draw.in_cube();
    }
};

void check_yard(Draw& draw) {
    tally.context = "yard";
    Yard yard(draw, 1 + draw.below(60));
    RayTarget target(yard.bodies, yard.poses);
    const Rays rays = drawn(draw, 4.0, {0, 0, 0}, 600);
    const Answers found = answers(target, rays);

    choose_simd(Simd::sse2);
    tally.expect(answers(target, rays) == found, "all instruction sets give the same bits");
    choose_simd(best_simd());
    RayRules rules;
    rules.threads = 1;
    tally.expect(answers(target, rays, rules) == found, "threads change nothing");
    rules.hint_index = found.index.data(), rules.hint_feature = found.feature.data();
    tally.expect(answers(target, rays, rules) == found, "hints change nothing");

    // Alone, every body is hit no earlier than all of them are, and the one that was hit just there.
    std::vector<Answers> alone;
    for (std::size_t k = 0; k < yard.bodies.size(); ++k)
        alone.push_back(answers(RayTarget({yard.bodies[k]}, {yard.poses[k]}), rays));
    for (std::size_t row = 0; row < rays.count(); ++row) {
        double least = kInfinity;
        for (const Answers& one : alone) least = min_of(least, one.distance[row]);
        tally.expect(found.distance[row] == least, "the first of all bodies is hit", "%.17g instead of %.17g",
                     found.distance[row], least);
    }
    rules = {};
    rules.any = true;
    const Answers any = answers(target, rays, rules);
    for (std::size_t row = 0; row < rays.count(); ++row)
        tally.expect((any.index[row] >= 0) == (found.index[row] >= 0), "any hit is found where there is one");

    yard.move(draw);
    target.move(yard.poses);
    tally.expect(answers(target, rays) == answers(RayTarget(yard.bodies, yard.poses), rays),
                 "moved bodies are where they are");
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    tally.context = "closed forms";
    for (int k = 0; k < 2000 * effort; ++k) check_closed_forms(draw);
    for (int k = 0; k < 10 * effort; ++k) {
        for (const Sample& sample : all_kinds(draw)) check_mesh(draw, scaled(sample, draw.power(-4, 4), draw.in_cube()));
        check_mesh(draw, bumpy(draw, 20, 30));
    }
    for (int k = 0; k < 30 * effort; ++k) check_closed(draw);
    for (int k = 0; k < 20 * effort; ++k) check_yard(draw);
    return tally.finish();
}
