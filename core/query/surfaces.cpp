#include "query/surfaces.hpp"

#include <cmath>

#include "bvh/extreme.hpp"
#include "query/solid.hpp"

namespace clearance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Stand stand_of(const PlacedPart& placed) { return {placed.rotation, placed.origin}; }

// The lowest corner or ball over the half-space tells all; below the plane it is inside.
Gap gap_above(const PlacedPart& plane, const PlacedPart& surface, Work& work) {
    const auto& half_space = std::get<HalfSpace>(plane.part.shape);
    const Vec3d normal = plane.rotation * half_space.normal;
    const Mesh& mesh = *surface_of(surface.part)->mesh;
    const LowestCorner lowest = lowest_corner(mesh, transposed_times(surface.rotation, normal));
    work.volume_tests += lowest.volume_tests;
    const Vec3d corner = surface.rotation * lowest.point + surface.origin, point = corner - mesh.radius * normal;
    const double height = dot(normal, corner - plane.origin) - half_space.offset - mesh.radius;
    const double rounding =
        16.0 * kEpsilon *
        (largest(corner - plane.origin) + surface.part.ball.radius + largest(lowest.point) + abs_of(half_space.offset));
    const double least = least_distance(plane.part, surface.part), distance = max_of(height, least);
    return {distance,
            max_of(height - rounding, least),
            max_of(height + rounding, least),
            point - distance * normal,
            point,
            normal,
            0,
            lowest.triangle};
}

bool is_plane(const PlacedPart& placed) { return std::holds_alternative<HalfSpace>(placed.part.shape); }

// Room that is kept between queries: no query allocates once it has grown.
struct Room {
    std::vector<SurfacePair> forest;
    std::vector<std::int32_t> source;  // which of the pairs it is
    std::vector<SolidPart> solids;
};

Room& room_of_thread() {
    thread_local Room room;
    room.forest.clear(), room.source.clear(), room.solids.clear();
    return room;
}

// One search: its pairs in the form the trees want, with the surface first.
class Forest {
public:
    Forest(std::span<PlacedPair> pairs, const Question& question, const SurfaceSearch& how, Work& work)
        : pairs_(pairs),
          question_(question),
          how_(how),
          work_(work),
          room_(room_of_thread()),
          forest_(room_.forest),
          source_(room_.source) {}

    // A front is for pairs of surfaces: they come last.
    NearestSurfaces nearest() {
        room_.solids.reserve(pairs_.size());
        for_pairs([&](PlacedPair& pair, std::int32_t number) { add_with_solid(pair, number); });
        const std::size_t solids = forest_.size();
        for_pairs([&](PlacedPair& pair, std::int32_t number) { add_two_surfaces(pair, number); });
        run(0, how_.front == nullptr ? forest_.size() : solids, nullptr);
        if (how_.front != nullptr) run(solids, forest_.size(), how_.front);
        return best_;
    }
    double lower() const { return lower_; }  // of all of them

private:
    template <class Visit>
    void for_pairs(const Visit& visit) {
        for (std::size_t k = 0; k < pairs_.size(); ++k) visit(pairs_[k], static_cast<std::int32_t>(k));
    }

    void add_with_solid(PlacedPair& pair, std::int32_t number) {
        const bool swapped = is_swapped(pair);
        const PlacedPart &surface = swapped ? pair.b : pair.a, &other = swapped ? pair.a : pair.b;
        if (surface_of(other.part) != nullptr) return;
        if (is_plane(other)) {
            const Gap above = gap_above(other, surface, work_);
            pair.lower = static_cast<float>(above.lower - 1e-7 * abs_of(above.lower));
            return keep(swapped ? above : mirrored(above), number);
        }
        const Mesh* mesh = surface_of(surface.part)->mesh.get();
        SolidPart& solid = room_.solids.emplace_back(other, std::ldexp(mesh->boxes.unit, -20), question_, work_);
        forest_.push_back({mesh, nullptr, &solid.solid(), stand_of(surface), stand_of(other)});
        source_.push_back(number);
    }

    void add_two_surfaces(const PlacedPair& pair, std::int32_t number) {
        const Surface *a = surface_of(pair.a.part), *b = surface_of(pair.b.part);
        if (a == nullptr || b == nullptr) return;
        forest_.push_back({a->mesh.get(), b->mesh.get(), nullptr, stand_of(pair.a), stand_of(pair.b)});
        source_.push_back(number);
    }

    static bool is_swapped(const PlacedPair& pair) { return surface_of(pair.a.part) == nullptr; }

    void run(std::size_t begin, std::size_t end, FrontSearch* front) {
        if (begin == end) return;
        const std::span<SurfacePair> part{forest_.data() + begin, end - begin};
        SearchWork counted;
        const ForestQuestion asked{min_of(question_.at_most, best_.pair < 0 ? kInfinity : best_.gap.distance),
                                   question_.near_enough};
        TrianglePair hint;
        const TrianglePair* first = as_hint(begin, end, hint) ? &hint : nullptr;
        const ForestAnswer found =
            front == nullptr ? search(part, asked, how_.order, first, counted) : front->search(part, asked, first, counted);
        work_.volume_tests += counted.volume_tests;
        work_.triangle_tests += counted.triangle_tests;
        work_.queue_operations += counted.queue_operations;
        for (std::size_t k = 0; k < part.size(); ++k) source_of(begin + k).lower = part[k].lower;
        lower_ = min_of(lower_, found.lower);
        if (found.nearest.pair >= 0) keep(begin, found);
    }

    PlacedPair& source_of(std::size_t tree) { return pairs_[static_cast<std::size_t>(source_[tree])]; }

    bool as_hint(std::size_t begin, std::size_t end, TrianglePair& hint) {
        for (std::size_t k = begin; k < end; ++k) {
            if (source_[k] != how_.first.pair) continue;
            const bool swapped = is_swapped(source_of(k));
            hint = {static_cast<std::int32_t>(k - begin), swapped ? how_.first.triangle_b : how_.first.triangle_a,
                    swapped ? how_.first.triangle_a : how_.first.triangle_b};
            const auto exists = [](const Mesh* mesh, std::int32_t triangle) {
                return mesh == nullptr || (triangle >= 0 && static_cast<std::size_t>(triangle) < mesh->faces.size());
            };
            return exists(forest_[k].a, hint.triangle_a) && exists(forest_[k].b, hint.triangle_b);
        }
        return false;
    }

    void keep(const Gap& gap, std::int32_t source) {
        lower_ = min_of(lower_, gap.lower);
        if (best_.pair < 0 || gap.distance < best_.gap.distance) best_ = {gap, source};
        best_.gap.lower = lower_;
    }

    void keep(std::size_t begin, const ForestAnswer& found) {
        const std::size_t tree = begin + static_cast<std::size_t>(found.nearest.pair);
        const PlacedPair& pair = source_of(tree);
        const bool swapped = is_swapped(pair);
        const TriangleGap& gap = found.gap;
        const double least = pair.least();
        Gap answer{max_of(gap.distance, least),
                   found.lower,
                   max_of(gap.upper, least),
                   gap.point_a,
                   gap.point_b,
                   gap.normal,
                   found.nearest.triangle_a,
                   found.nearest.triangle_b,
                   gap.converged || least == 0.0};
        if (gap.distance <= least)
            answer.point_a = answer.point_b =
                swapped ? meeting_point(pair.b, pair.a, found) : meeting_point(pair.a, pair.b, found);
        keep(swapped ? mirrored(answer) : answer, source_[tree]);
    }

    // A point that a surface has in common with what it meets. The centre of a ball is nearest to one of them.
    static Vec3d meeting_point(const PlacedPart& first, const PlacedPart& other, const ForestAnswer& found) {
        if (is_cloud(first.part)) return found.gap.point_b;
        if (is_cloud(other.part)) return found.gap.point_a;
        const Core<double, 3> triangle = placed_triangle(first, found.nearest.triangle_a);
        if (surface_of(other.part) == nullptr) return common_point(triangle, other, found.gap.point_a);
        return common_point(triangle, placed_triangle(other, found.nearest.triangle_b));
    }

    std::span<PlacedPair> pairs_;
    const Question& question_;
    const SurfaceSearch& how_;
    Work& work_;
    Room& room_;
    std::vector<SurfacePair>& forest_;
    std::vector<std::int32_t>& source_;
    NearestSurfaces best_;
    double lower_ = kInfinity;
};

}  // namespace

double upper_bound(const PlacedPair& pair, std::int32_t feature_a, std::int32_t feature_b, Work& work) {
    const auto exists = [](const Part& part, std::int32_t triangle) {
        const Surface* surface = surface_of(part);
        return surface == nullptr || (triangle >= 0 && static_cast<std::size_t>(triangle) < surface->mesh->faces.size());
    };
    if (!exists(pair.a.part, feature_a) || !exists(pair.b.part, feature_b)) return kInfinity;
    const auto stands = [&](const PlacedPart& placed, std::int32_t triangle) {
        return surface_of(placed.part) == nullptr ? placed.part : part_of(placed_element(placed, triangle));
    };
    if (is_plane(pair.a) && is_plane(pair.b)) return kInfinity;
    const Part a = stands(pair.a, feature_a), b = stands(pair.b, feature_b);
    const auto at = [&](const PlacedPart& placed, const Part& part) {
        if (surface_of(placed.part) == nullptr) return placed;
        return PlacedPart{part, kNoTurn, {0, 0, 0}};
    };
    return max_of(gap_between(at(pair.a, a), at(pair.b, b), {}, work).upper, pair.least());
}

NearestSurfaces nearest_surfaces(std::span<PlacedPair> pairs, const Question& question, const SurfaceSearch& how,
                                 Work& work) {
    Forest forest(pairs, question, how, work);
    NearestSurfaces found = forest.nearest();
    if (found.pair < 0 || found.gap.lower > question.at_most) {
        const double farther = std::nextafter(question.at_most, kInfinity);
        return {farther_than_asked(max_of(forest.lower(), farther)), -1};
    }
    const PlacedPair& pair = pairs[static_cast<std::size_t>(found.pair)];
    found.gap.part_a = pair.part_a, found.gap.part_b = pair.part_b;
    if (surface_of(pair.a.part) == nullptr) found.gap.feature_a = pair.part_a;
    if (surface_of(pair.b.part) == nullptr) found.gap.feature_b = pair.part_b;
    return found;
}

}  // namespace clearance
