#include "bvh/split.hpp"

#include <algorithm>

namespace clearance {
namespace {

constexpr int kBins = 16;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Bounds {
    float low[3] = {kInfinity, kInfinity, kInfinity}, high[3] = {-kInfinity, -kInfinity, -kInfinity};

    void add(const float* l, const float* h) {
        for (int k = 0; k < 3; ++k) low[k] = min_of(low[k], l[k]), high[k] = max_of(high[k], h[k]);
    }
    float half_area() const {
        const float x = high[0] - low[0], y = high[1] - low[1], z = high[2] - low[2];
        return x >= 0.0f ? x * y + y * z + z * x : 0.0f;
    }
};

float middle(const TriangleBox& box, int axis) { return box.low[axis] + box.high[axis]; }

struct Bin {
    Bounds bounds;
    std::int64_t count = 0;
};

struct Cut {
    float cost = kInfinity;
    int axis = 0, bin = 0;
};

// Along one axis: the bins on the left of the cut against those on the right.
void consider_cuts(const Bin* bins, int axis, int leaf, Cut& best) {
    const auto cost = [leaf](const Bounds& bounds, std::int64_t count) {
        return bounds.half_area() * static_cast<float>((count + leaf - 1) / leaf);
    };
    float cost_right[kBins];
    Bounds bounds;
    std::int64_t count = 0;
    for (int k = kBins - 1; k > 0; --k) {
        bounds.add(bins[k].bounds.low, bins[k].bounds.high);
        count += bins[k].count;
        cost_right[k] = count > 0 ? cost(bounds, count) : kInfinity;
    }
    bounds = {};
    count = 0;
    for (int k = 1; k < kBins; ++k) {
        bounds.add(bins[k - 1].bounds.low, bins[k - 1].bounds.high);
        count += bins[k - 1].count;
        const float here = count > 0 ? cost(bounds, count) + cost_right[k] : kInfinity;
        if (here < best.cost) best = {here, axis, k};
    }
}

struct Binning {
    float low[3], scale[3];

    explicit Binning(const Bounds& centres) {
        for (int k = 0; k < 3; ++k) {
            const float extent = centres.high[k] - centres.low[k];
            low[k] = centres.low[k];
            scale[k] = extent > 0.0f ? 0.9999f * static_cast<float>(kBins) / extent : 0.0f;
            if (!(scale[k] < kInfinity)) scale[k] = 0.0f;
        }
    }
    int bin(const TriangleBox& box, int axis) const {
        return static_cast<int>((middle(box, axis) - low[axis]) * scale[axis]);
    }
};

// Triangles that cannot be told apart are halved as they stand, in whole leaves.
std::size_t halved(std::size_t count, int leaf) {
    const std::size_t whole = static_cast<std::size_t>(leaf);
    const std::size_t half = (count / 2 + whole - 1) / whole * whole;
    return half < count ? half : count / 2;
}

}  // namespace

std::size_t split(std::span<TriangleBox> triangles, int leaf) {
    Bounds centres;
    for (const TriangleBox& box : triangles) {
        const float centre[3] = {middle(box, 0), middle(box, 1), middle(box, 2)};
        centres.add(centre, centre);
    }
    const Binning binning(centres);
    Bin bins[3][kBins];
    for (const TriangleBox& box : triangles)
        for (int axis = 0; axis < 3; ++axis) {
            Bin& bin = bins[axis][binning.bin(box, axis)];
            bin.bounds.add(box.low, box.high);
            ++bin.count;
        }
    Cut best;
    for (int axis = 0; axis < 3; ++axis) consider_cuts(bins[axis], axis, leaf, best);
    if (!(best.cost < kInfinity)) return halved(triangles.size(), leaf);
    const auto rest = std::partition(triangles.begin(), triangles.end(),
                                     [&](const TriangleBox& box) { return binning.bin(box, best.axis) < best.bin; });
    return static_cast<std::size_t>(rest - triangles.begin());
}

float half_area_of(std::span<const TriangleBox> triangles) {
    Bounds bounds;
    for (const TriangleBox& box : triangles) bounds.add(box.low, box.high);
    return bounds.half_area();
}

}  // namespace clearance
