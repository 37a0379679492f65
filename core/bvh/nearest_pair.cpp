#include "bvh/nearest_pair.hpp"

#include <algorithm>
#include <cmath>

namespace clearance {
namespace {

// The least float that is greater: what has a key below it may be as near.
float just_above(double length) {
    const float near = static_cast<float>(length);
    return near > length ? near : std::nextafter(near, std::numeric_limits<float>::infinity());
}

bool comes_first(const TrianglePair& a, const TrianglePair& b) {
    if (a.pair != b.pair) return a.pair < b.pair;
    return a.triangle_a != b.triangle_a ? a.triangle_a < b.triangle_a : a.triangle_b < b.triangle_b;
}

}  // namespace

NearestPair::NearestPair(std::span<const SurfacePair> forest, const ForestQuestion& question, SearchWork& work)
    : forest_(forest),
      question_(question),
      work_(work),
      least_(std::numeric_limits<double>::infinity()),
      upper_(question.at_most),
      bound_(just_above(question.at_most)),
      plateau_(forest),
      candidates_([]() -> std::vector<Candidate>& {
          // Room is kept between queries: no query allocates once it has grown.
          thread_local std::vector<Candidate> kept;
          kept.clear();
          return kept;
      }()) {
    for (const SurfacePair& pair : forest) least_ = min_of(least_, pair.depth().least);
}

template <class TreeType>
bool NearestPair::is_tie(const PairTree<TreeType>& tree, std::int32_t pair, std::int32_t a, std::int32_t b, float key) {
    constexpr int kPatience = 64;
    if (key < bound_ - 4.0f * tree.slack() || answer_.nearest.pair < 0 || ++ties_ < kPatience) return false;
    const double rounding = 32.0 * kEpsilon * tree.reach();
    const double apart = plateau_.separation(tree, pair, a, b, answer_.gap.normal);
    if (!(apart >= upper_ - rounding)) return false;
    answer_.lower = min_of(answer_.lower, max_of(apart - rounding, static_cast<double>(tree.least())));
    ++answer_.ties;
    return true;
}

template bool NearestPair::is_tie(const PairTree<WideTree>&, std::int32_t, std::int32_t, std::int32_t, float);
template bool NearestPair::is_tie(const PairTree<RssTree>&, std::int32_t, std::int32_t, std::int32_t, float);

void NearestPair::lower_bound_to(double most) {
    if (!(most < upper_)) return;
    upper_ = most;
    bound_ = just_above(most);
}

void NearestPair::evaluate(const TrianglePair& triangles) {
    take(triangles, measured(forest_[static_cast<std::size_t>(triangles.pair)], triangles, upper_));
}

double NearestPair::least_of(const TrianglePair& triangles) const {
    return forest_[static_cast<std::size_t>(triangles.pair)].depth().least;
}

void NearestPair::take(const TrianglePair& triangles, const TriangleGap& gap) {
    const double least = least_of(triangles), distance = max_of(gap.distance, least);
    answer_.lower = min_of(answer_.lower, max_of(gap.lower, least));
    if (!(distance <= upper_)) return;
    if (distance == best_ && !comes_first(triangles, answer_.nearest)) return;
    best_ = distance;
    answer_.nearest = triangles;
    answer_.gap = gap;
    upper_ = distance;
    // Surfaces that meet are as near as surfaces can be; then only balls may still be nearer.
    bound_ = distance == least ? static_cast<float>(distance) : just_above(distance);
    settled_ = distance <= max_of(question_.near_enough, least_);
}

void NearestPair::consider(const PairTree<WideTree>& tree, std::int32_t pair, std::int32_t slot_a, std::int32_t slot_b) {
    const WideLeaf& a = tree.a().leaf(slot_a);
    if (forest_[static_cast<std::size_t>(pair)].b == nullptr) return consider_solid(tree, pair, a);
    const WideLeaf& b = tree.b().leaf(slot_b);
    NearTriangles found;
    tree.near_triangles(slot_a, slot_b, bound_, found);
    const double most = static_cast<double>(found.upper) * tree.unit_b() * (1.0 + 1e-6) + tree.slack_above();
    lower_bound_to(max_of(static_cast<double>(tree.least()), most));  // in this order NaN stays NaN
    work_.triangle_tests += found.count;
    for (int k = 0; k < found.count && !settled_; ++k) {
        const int i = found.i[k], j = found.j[k];
        const TrianglePair triangles{pair, a.triangle[i], b.triangle[j]};
        if (tree.is_bounded())
            add(triangles, tree, found.a.vertex, i, b.vertex, j);
        else
            evaluate(triangles);
    }
    // Nothing is known yet: eight of them would be too many to wait for.
    if (answer_.nearest.pair < 0) look_at_waiting();
}

void NearestPair::add(const TrianglePair& triangles, const PairTree<WideTree>& tree, const float (*a)[8], int i,
                      const float (*b)[8], int j) {
    const int lane = waiting_count_++;
    waiting_[lane] = {triangles, tree.unit_b(), tree.slack_above(), {tree.unit_b(), tree.slack_below(), tree.least()}};
    for (int row = 0; row < 9; ++row) octet_.a[row][lane] = a[row][i], octet_.b[row][lane] = b[row][j];
    if (waiting_count_ == 8) look_at_waiting();
}

void NearestPair::look_at_waiting() {
    if (waiting_count_ == 0) return;
    float lower[8], upper[8];
    for (int lane = waiting_count_; lane < 8; ++lane)
        for (int row = 0; row < 9; ++row) octet_.a[row][lane] = octet_.a[row][0], octet_.b[row][lane] = octet_.b[row][0];
    bvh_kernels().look_closely(octet_, lower, upper);
    // The most promising first: in doubles it gives a bound without slack.
    int first = -1;
    float least = bound_;
    for (int k = 0; k < waiting_count_; ++k) {
        const float metres = upper[k] * waiting_[k].unit + waiting_[k].slack_above;
        if (metres < least) least = metres, first = k;
    }
    const int count = waiting_count_;
    waiting_count_ = 0;
    if (first >= 0) evaluate(waiting_[first].triangles);
    for (int k = 0; k < count && !settled_; ++k) {
        if (k == first) continue;
        const float key = key_of(lower[k], waiting_[k].rule);
        if (key >= bound_) continue;
        // Triangles that may meet settle the matter if they do.
        if (key <= waiting_[k].rule.least)
            evaluate(waiting_[k].triangles);
        else
            candidates_.push_back({waiting_[k].triangles, key});
    }
}

void NearestPair::consider_solid(const PairTree<WideTree>& tree, std::int32_t pair, const WideLeaf& leaf) {
    float key[kLeafTriangles];
    tree.keys_of_triangles(leaf, key);
    const SurfacePair& seen = forest_[static_cast<std::size_t>(pair)];
    while (!settled_) {
        const auto least = std::min_element(key, key + leaf.count);
        if (*least >= bound_) return;
        const auto k = static_cast<int>(least - key);
        const float raised = planes_.raised(tree, pair, leaf, k, *least);
        *least = std::numeric_limits<float>::infinity();
        if (raised >= bound_) continue;
        ++work_.triangle_tests;
        const TrianglePair triangles{pair, leaf.triangle[k], -1};
        const TriangleGap gap = measured(seen, triangles, upper_);
        planes_.add(tree, seen, pair, gap.normal);
        take(triangles, gap);
    }
}

void NearestPair::consider(const PairTree<RssTree>& tree, std::int32_t pair, std::int32_t slot_a, std::int32_t slot_b) {
    ++work_.triangle_tests;
    evaluate({pair, tree.a().leaf(slot_a).triangle, tree.b().leaf(slot_b).triangle});
}

void NearestPair::finish() {
    if (!settled_) look_at_waiting();
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& x, const Candidate& y) { return x.lower < y.lower; });
    // Eight at a time; the first of them settle how many of the others matter.
    TrianglePair some[kMostMeasured];
    TriangleGap gaps[kMostMeasured];
    for (auto next = candidates_.begin(); next != candidates_.end() && !settled_;) {
        std::size_t count = 0;
        for (; count < kMostMeasured && next != candidates_.end() && next->lower < bound_; ++next)
            some[count++] = next->triangles;
        if (count == 0) return;
        measure(forest_, {some, count}, gaps);
        for (std::size_t k = 0; k < count; ++k) take(some[k], gaps[k]);
    }
}

}  // namespace clearance
