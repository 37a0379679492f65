#pragma once

#include <span>

#include "bvh/front.hpp"
#include "query/pair.hpp"

namespace clearance {

inline bool has_surface(const Part& a, const Part& b) { return surface_of(a) != nullptr || surface_of(b) != nullptr; }

// Surfaces are met and no more; clouds may lie in each other and in solids.
inline double least_distance(const Part& a, const Part& b) {
    const auto is_met = [](const Part& part) { return surface_of(part) != nullptr && !is_cloud(part); };
    return is_met(a) || is_met(b) ? 0.0 : -std::numeric_limits<double>::infinity();
}

// Two parts of two bodies, at least one of them a surface. All origins are about one point.
struct PlacedPair {
    PlacedPart a, b;
    std::int32_t part_a, part_b;
    float lower = 0.0f;  // after a search: they are not nearer than this

    double least() const { return least_distance(a.part, b.part); }
};

// What none of them can be nearer than.
inline double least_distance(std::span<const PlacedPair> pairs) {
    double least = std::numeric_limits<double>::infinity();
    for (const PlacedPair& pair : pairs) least = min_of(least, pair.least());
    return least;
}

struct NearestSurfaces {
    Gap gap;
    std::int32_t pair = -1;  // which of them it is; -1 where none is as near as asked
};

// How far two parts are apart at most: the distance of one triangle each, of a solid as a whole. Triangles that do not exist
// are infinitely far away.
double upper_bound(const PlacedPair& pair, std::int32_t feature_a, std::int32_t feature_b, Work& work);

// How to go about it: `first` is a pair of triangles to begin with (triangles that do not exist are passed over), and a
// front takes the pairs of two surfaces.
struct SurfaceSearch {
    SearchOrder order = SearchOrder::best;
    FrontSearch* front = nullptr;
    TrianglePair first{-1, -1, -1};
};

// The least distance of a forest. Pairs with a mesh or height field are never negative, since a surface has no inside.
NearestSurfaces nearest_surfaces(std::span<PlacedPair> pairs, const Question& question, const SurfaceSearch& how,
                                 Work& work);

}  // namespace clearance
