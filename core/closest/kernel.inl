// The batch loop, included by one file per instruction set. Everything here has internal linkage, and no standard container
// is used, so that no code of this instruction set can leak into the rest of the library.
#include "closest/careful.hpp"
#include "closest/kernels.hpp"
#include "closest/pairs.hpp"
#include "closest/swept.hpp"

namespace clearance {
namespace {

template <class Real>
constexpr std::size_t kLanes = LaneTraits<Real>::count;

CLEARANCE_INLINE ElementArray from_row(const ElementArray& array, std::size_t row) {
    return {array.vertices + row * array.vertex_stride, array.radii + row * array.radius_stride, array.vertex_stride,
            array.radius_stride};
}

CLEARANCE_INLINE GapArrays from_row(const GapArrays& out, std::size_t row) {
    return {out.distance + row,
            out.lower + row,
            out.upper + row,
            out.point_a + 3 * row,
            out.point_b + 3 * row,
            out.normal + 3 * row,
            out.weights_a == nullptr ? nullptr : out.weights_a + 3 * row,
            out.weights_b == nullptr ? nullptr : out.weights_b + 3 * row};
}

template <class Real, int N>
CLEARANCE_INLINE Core<Real, N> gathered(const ElementArray& from) {
    Core<Real, N> core;
    CLEARANCE_UNROLL
    for (int k = 0; k < N; ++k) {
        Vec3<Real>& to = core.vertex[k];
        LaneTraits<Real>::gather3(from.vertices + 3 * k, from.vertex_stride, to.x, to.y, to.z);
    }
    return core;
}

template <class Real>
CLEARANCE_INLINE void store3(double* to, const Vec3<Real>& v) {
    LaneTraits<Real>::store3(to, v.x, v.y, v.z);
}

// Write a group of lanes to consecutive rows. Mirrored pairs have had their arrays swapped already; what is left of
// mirroring is the sign of the normal.
template <class Real>
CLEARANCE_INLINE void write(const SweptGap<Real>& gap, const GapArrays& out, bool mirrored) {
    LaneTraits<Real>::store(out.distance, gap.distance);
    LaneTraits<Real>::store(out.lower, gap.lower);
    LaneTraits<Real>::store(out.upper, gap.upper);
    store3(out.point_a, gap.point_a);
    store3(out.point_b, gap.point_b);
    store3(out.normal, Real(mirrored ? -1.0 : 1.0) * gap.normal);
    const Weights<Real>& at = gap.at;
    if (out.weights_a != nullptr) LaneTraits<Real>::store3(out.weights_a, Real(1.0) - at.a1 - at.a2, at.a1, at.a2);
    if (out.weights_b != nullptr) LaneTraits<Real>::store3(out.weights_b, Real(1.0) - at.b1 - at.b2, at.b1, at.b2);
}

template <int NA, int NB>
[[gnu::noinline]] void careful_lanes(unsigned careful, const PairBatch& group) {
    for (std::size_t lane = 0; careful >> lane != 0; ++lane) {
        if ((careful >> lane & 1u) == 0) continue;
        const ElementArray a = from_row(group.a, lane), b = from_row(group.b, lane);
        const CarefulGap found = careful_gap(gathered<double, NA>(a), gathered<double, NB>(b));
        write(swept(found.gap, found.at, *a.radii, *b.radii), from_row(group.out, lane), group.mirrored);
    }
}

// As many pairs as there are lanes.
template <class Real, int NA, int NB>
CLEARANCE_INLINE void gaps_of_group(const PairBatch& group) {
    const Core<Real, NA> a = gathered<Real, NA>(group.a);
    const Core<Real, NB> b = gathered<Real, NB>(group.b);
    const Weights<Real> at = closest(a, b);
    const Certified<Real> certified = certify(a, b, at);
    const Real radius_a = LaneTraits<Real>::gather(group.a.radii, group.a.radius_stride);
    const Real radius_b = LaneTraits<Real>::gather(group.b.radii, group.b.radius_stride);
    write(swept(certified.gap, at, radius_a, radius_b), group.out, group.mirrored);

    unsigned careful = bits_of(certified.doubtful);
    if constexpr (NA > 1 && NB > 2) careful |= bits_of(faces_are_parallel(a, b));
    if (careful != 0) careful_lanes<NA, NB>(careful, group);
}

// A group of its own for the pairs at the end of a batch that do not fill one. Lanes without a pair repeat the last.
template <class Real, int NA, int NB>
class LastGroup {
public:
    LastGroup(const PairBatch& batch, std::size_t row, std::size_t used) : out_(from_row(batch.out, row)), used_(used) {
        group_ = {{a_, radius_a_, 3 * NA, 1}, {b_, radius_b_, 3 * NB, 1}, room(), batch.mirrored};
        for (std::size_t lane = 0; lane < kLanes<Real>; ++lane) {
            const std::size_t pair = row + (lane < used ? lane : used - 1);
            put(from_row(batch.a, pair), 3 * NA, a_ + lane * 3 * NA, radius_a_ + lane);
            put(from_row(batch.b, pair), 3 * NB, b_ + lane * 3 * NB, radius_b_ + lane);
        }
    }
    const PairBatch& group() const { return group_; }

    void copy_results() const {
        const GapArrays from = group_.out;
        copy(from.distance, out_.distance, used_);
        copy(from.lower, out_.lower, used_);
        copy(from.upper, out_.upper, used_);
        copy(from.point_a, out_.point_a, 3 * used_);
        copy(from.point_b, out_.point_b, 3 * used_);
        copy(from.normal, out_.normal, 3 * used_);
        if (out_.weights_a != nullptr) copy(from.weights_a, out_.weights_a, 3 * used_);
        if (out_.weights_b != nullptr) copy(from.weights_b, out_.weights_b, 3 * used_);
    }

private:
    static void copy(const double* from, double* to, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) to[k] = from[k];
    }
    static void put(const ElementArray& element, std::size_t count, double* vertices, double* radius) {
        copy(element.vertices, vertices, count);
        *radius = *element.radii;
    }
    GapArrays room() {
        double* const r = results_;
        constexpr std::size_t n = kLanes<Real>;
        return {r,
                r + n,
                r + 2 * n,
                r + 3 * n,
                r + 6 * n,
                r + 9 * n,
                out_.weights_a == nullptr ? nullptr : r + 12 * n,
                out_.weights_b == nullptr ? nullptr : r + 15 * n};
    }

    double a_[3 * NA * kLanes<Real>], b_[3 * NB * kLanes<Real>], radius_a_[kLanes<Real>], radius_b_[kLanes<Real>];
    double results_[18 * kLanes<Real>];
    GapArrays out_;
    std::size_t used_;
    PairBatch group_;
};

template <class Real, int NA, int NB>
void gaps(const PairBatch& batch, std::size_t begin, std::size_t end) {
    constexpr std::size_t lanes = kLanes<Real>;
    PairBatch group{from_row(batch.a, begin), from_row(batch.b, begin), from_row(batch.out, begin), batch.mirrored};
    std::size_t row = begin;
    for (; row + lanes <= end; row += lanes) {
        gaps_of_group<Real, NA, NB>(group);
        group = {from_row(group.a, lanes), from_row(group.b, lanes), from_row(group.out, lanes), group.mirrored};
    }
    if (row == end) return;
    LastGroup<Real, NA, NB> last(batch, row, end - row);
    gaps_of_group<Real, NA, NB>(last.group());
    last.copy_results();
}

template <class Real>
bool are_within(const double* numbers, std::size_t count, double least, double most) {
    const auto inside = [=](auto x) { return both(x >= decltype(x)(least), x <= decltype(x)(most)); };
    constexpr std::size_t lanes = kLanes<Real>;
    auto good = Real(0.0) <= Real(0.0);
    std::size_t k = 0;
    for (; k + lanes <= count; k += lanes) good = both(good, inside(LaneTraits<Real>::load(numbers + k)));
    bool all_good = bits_of(good) == (1u << lanes) - 1;
    for (; k < count; ++k) all_good = all_good && inside(numbers[k]);
    return all_good;
}

constexpr double kFirstNumbers[kPointBlock] = {0, 1, 2, 3, 4, 5, 6, 7};

CLEARANCE_INLINE std::size_t lowest_bit(unsigned bits) { return static_cast<std::size_t>(__builtin_ctz(bits | 1u << 31)); }

template <class Real>
std::size_t farthest(const double* blocks, std::size_t count, double x, double y, double z) {
    constexpr std::size_t lanes = kLanes<Real>, groups = kPointBlock / lanes;
    const Real along[3] = {Real(x), Real(y), Real(z)};
    Real best[groups], at[groups], number[groups];
    for (std::size_t g = 0; g < groups; ++g) {
        best[g] = Real(-std::numeric_limits<double>::infinity()), at[g] = Real(0.0);
        number[g] = LaneTraits<Real>::load(kFirstNumbers + g * lanes);
    }
    for (std::size_t block = 0; block < count; ++block) {
        const double* from = blocks + 3 * kPointBlock * block;
        for (std::size_t g = 0; g < groups; ++g, from += lanes) {
            const Real height = along[0] * LaneTraits<Real>::load(from) +
                                along[1] * LaneTraits<Real>::load(from + kPointBlock) +
                                along[2] * LaneTraits<Real>::load(from + 2 * kPointBlock);
            at[g] = select(height > best[g], number[g], at[g]);
            best[g] = max_of(height, best[g]);
            number[g] = number[g] + Real(static_cast<double>(kPointBlock));
        }
    }
    // Which of the columns wins cannot be foreseen, so there is no branch for that.
    double height[kPointBlock], numbers[kPointBlock];
    for (std::size_t g = 0; g < groups; ++g) {
        LaneTraits<Real>::store(height + g * lanes, best[g]);
        LaneTraits<Real>::store(numbers + g * lanes, at[g]);
    }
    const Real highest(max_of(max_of(max_of(height[0], height[1]), max_of(height[2], height[3])),
                              max_of(max_of(height[4], height[5]), max_of(height[6], height[7]))));
    unsigned winners = 0;
    for (std::size_t g = 0; g < groups; ++g) winners |= bits_of(best[g] >= highest) << (g * lanes);
    return static_cast<std::size_t>(numbers[lowest_bit(winners)]);
}

template <class Real>
constexpr Kernels kernels_of(Simd simd) {
    return {{{gaps<Real, 1, 1>, gaps<Real, 1, 2>, gaps<Real, 1, 3>},
             {nullptr, gaps<Real, 2, 2>, gaps<Real, 2, 3>},
             {nullptr, nullptr, gaps<Real, 3, 3>}},
            are_within<Real>,
            farthest<Real>,
            simd};
}

}  // namespace
}  // namespace clearance
