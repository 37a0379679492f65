#include "bvh/duplicates.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace clearance {
namespace {

bool same_box(const TriangleBox& a, const TriangleBox& b) {
    return std::memcmp(a.low, b.low, sizeof a.low) == 0 && std::memcmp(a.high, b.high, sizeof a.high) == 0;
}

// The corners in an order of their own, so that a triangle is the same whichever corner comes first.
struct Signature {
    std::array<std::array<double, 3>, 3> corner;
    std::int32_t triangle;

    Signature(std::int32_t number, const Corners& corners) : triangle(number) {
        Vec3d at[3];
        corners.get(number, at);
        for (std::size_t k = 0; k < 3; ++k) corner[k] = {at[k].x, at[k].y, at[k].z};
        std::sort(corner.begin(), corner.end());
    }
};

}  // namespace

std::span<TriangleBox> without_duplicates(std::span<TriangleBox> triangles, const Corners& corners) {
    for (const TriangleBox& box : triangles)
        if (!same_box(box, triangles.front())) return triangles;
    std::vector<Signature> signatures;
    for (const TriangleBox& box : triangles) signatures.emplace_back(box.triangle, corners);
    std::sort(signatures.begin(), signatures.end(), [](const Signature& x, const Signature& y) {
        return x.corner != y.corner ? x.corner < y.corner : x.triangle < y.triangle;
    });
    const auto end = std::unique(signatures.begin(), signatures.end(),
                                 [](const Signature& x, const Signature& y) { return x.corner == y.corner; });
    const auto count = static_cast<std::size_t>(end - signatures.begin());
    for (std::size_t k = 0; k < count; ++k) triangles[k].triangle = signatures[k].triangle;
    return triangles.first(count);
}

}  // namespace clearance
