#pragma once

#include <span>

#include "bvh/front.hpp"
#include "query/pair.hpp"

namespace clearance {

inline bool has_surface(const Part& a, const Part& b) { return surface_of(a) != nullptr || surface_of(b) != nullptr; }

// Two parts of two bodies, at least one of them a surface. All origins are about one point.
struct PlacedPair {
    PlacedPart a, b;
    std::int32_t part_a, part_b;
    float lower = 0.0f;  // after a search: they are not nearer than this
};

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

// The least distance of a forest: never negative, since a surface has no inside.
NearestSurfaces nearest_surfaces(std::span<PlacedPair> pairs, const Question& question, const SurfaceSearch& how,
                                 Work& work);

}  // namespace clearance
