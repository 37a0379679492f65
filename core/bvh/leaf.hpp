#pragma once

#include "bvh/fit.hpp"
#include "bvh/tree.hpp"

namespace clearance {

// What the two kinds of tree do differently: a null pointer tells which is meant.

constexpr std::size_t leaf_size(const WideTree*) { return kLeafTriangles; }
constexpr std::size_t leaf_size(const RssTree*) { return 1; }

WideLeaf leaf_of(const WideTree*, std::span<const TriangleBox> triangles, const Corners& corners);
inline OneTriangle leaf_of(const RssTree*, std::span<const TriangleBox> triangles, const Corners&) {
    return {triangles.front().triangle};
}

inline Volume<float> fitted(const WideTree*, std::span<const TriangleBox> triangles, const Moments& moments,
                            const Corners& corners) {
    return fitted_box(triangles, moments, corners);
}
inline Volume<float> fitted(const RssTree*, std::span<const TriangleBox> triangles, const Moments& moments,
                            const Corners& corners) {
    return fitted_rss(triangles, moments, corners);
}

}  // namespace clearance
