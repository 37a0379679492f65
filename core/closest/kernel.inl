// The batch loop, included by one file per instruction set. Everything here has internal linkage, and no standard container
// is used, so that no code of this instruction set can leak into the rest of the library.
//
// Lanes in local variables are not const, here and in the headers of closest/: gcc 12 keeps every const structure in
// memory, and copies it from there again and again.
#include "closest/careful.hpp"
#include "closest/farthest.hpp"
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

// Coordinates come in pairs, also across vertices; the last one of an odd number comes with the one before it once more.
template <class Real, int N>
CLEARANCE_INLINE Core<Real, N> gathered(const double* from, std::size_t stride) {
    Real at[3 * N], before;
    CLEARANCE_UNROLL
    for (int k = 0; k + 1 < 3 * N; k += 2) LaneTraits<Real>::gather2(from + k, stride, at[k], at[k + 1]);
    if constexpr (N % 2 == 1) LaneTraits<Real>::gather2(from + 3 * N - 2, stride, before, at[3 * N - 1]);
    Core<Real, N> core;
    CLEARANCE_UNROLL
    for (int k = 0; k < N; ++k) core.vertex[k] = {at[3 * k], at[3 * k + 1], at[3 * k + 2]};
    return core;
}

// Most often elements lie one after the other; with a stride that the compiler knows there are no addresses to compute.
template <class Real, int N>
CLEARANCE_INLINE Core<Real, N> gathered(const ElementArray& from) {
    if (from.vertex_stride == 3 * N) return gathered<Real, N>(from.vertices, 3 * N);
    return gathered<Real, N>(from.vertices, from.vertex_stride);
}

template <class Real>
CLEARANCE_INLINE Real gathered_radii(const ElementArray& from) {
    if (from.radius_stride == 1) return LaneTraits<Real>::load(from.radii);
    return LaneTraits<Real>::gather(from.radii, from.radius_stride);
}

template <class Real>
CLEARANCE_INLINE void store3(double* to, const Vec3<Real>& v) {
    LaneTraits<Real>::store3(to, v.x, v.y, v.z);
}

template <int N, class Real>
CLEARANCE_INLINE void store_weights(double* to, Real w1, Real w2) {
    Real one(1.0);
    if constexpr (N < 3)
        LaneTraits<Real>::store3(to, one - w1, w1);
    else
        LaneTraits<Real>::store3(to, one - w1 - w2, w1, w2);
}

// Write a group of lanes to consecutive rows. Mirrored pairs have had their arrays swapped already; what is left of
// mirroring is the sign of the normal.
template <int NA, int NB, class Real>
CLEARANCE_INLINE void write(const SweptGap<Real>& gap, const GapArrays& out, bool mirrored) {
    LaneTraits<Real>::store(out.distance, gap.distance);
    LaneTraits<Real>::store(out.lower, gap.lower);
    LaneTraits<Real>::store(out.upper, gap.upper);
    store3(out.point_a, gap.point_a);
    store3(out.point_b, gap.point_b);
    store3(out.normal, Real(mirrored ? -1.0 : 1.0) * gap.normal);
    if (out.weights_a != nullptr) store_weights<NA>(out.weights_a, gap.at.a1, gap.at.a2);
    if (out.weights_b != nullptr) store_weights<NB>(out.weights_b, gap.at.b1, gap.at.b2);
}

// Lanes whose numbers may be such as nobody should send: not finite, too large, or a negative radius. A sum passes on what
// is not finite, and the distance depends on all coordinates.
template <class Real, int NA, int NB>
CLEARANCE_INLINE unsigned may_be_unfit(const Core<Real, NA>& a, const Core<Real, NB>& b, Real distance, Real radius_a,
                                       Real radius_b) {
    Real size = reach_of(a, b, extent_of(a, b)) + distance + (radius_a + radius_b);
    auto fit = both(size <= Real(0.1 * kLargestLength), min_of(radius_a, radius_b) >= Real(0.0));
    return bits_of(fit) ^ ((1u << kLanes<Real>)-1);
}

template <int N>
bool is_fit(const ElementArray& element) {
    bool fit = *element.radii >= 0.0 && *element.radii <= kLargestLength;
    for (int k = 0; k < 3 * N; ++k) fit &= abs_of(element.vertices[k]) <= kLargestLength;
    return fit;
}

template <int NA, int NB>
[[gnu::noinline]] bool are_fit(ElementArray a, ElementArray b, unsigned lanes) {
    for (std::size_t lane = 0; lanes >> lane != 0; ++lane)
        if (!is_fit<NA>(from_row(a, lane)) || !is_fit<NB>(from_row(b, lane))) return false;
    return true;
}

template <int NA, int NB>
[[gnu::noinline]] void careful_lanes(unsigned careful, const PairBatch& batch, std::size_t first) {
    for (std::size_t lane = 0; careful >> lane != 0; ++lane) {
        if ((careful >> lane & 1u) == 0) continue;
        const ElementArray a = from_row(batch.a, first + lane), b = from_row(batch.b, first + lane);
        const CarefulGap found = careful_gap(gathered<double, NA>(a), gathered<double, NB>(b));
        write<NA, NB>(swept(found.gap, found.at, *a.radii, *b.radii), from_row(batch.out, first + lane), batch.mirrored);
    }
}

struct GroupOutcome {
    bool fit;          // or else nothing was written
    unsigned careful;  // lanes to be computed again on the careful path
};

// As many pairs as there are lanes, from this row on.
template <class Real, int NA, int NB>
CLEARANCE_INLINE GroupOutcome gaps_of_group(const PairBatch& batch, std::size_t row) {
    ElementArray from_a = from_row(batch.a, row), from_b = from_row(batch.b, row);
    Core<Real, NA> a = gathered<Real, NA>(from_a);
    Core<Real, NB> b = gathered<Real, NB>(from_b);
    Weights<Real> at = closest(a, b);
    Certified<Real> certified = certify(a, b, at);
    Real radius_a = gathered_radii<Real>(from_a), radius_b = gathered_radii<Real>(from_b);
    // What is checked here is in registers already; a check of its own would read everything twice.
    unsigned unfit = may_be_unfit(a, b, certified.gap.distance, radius_a, radius_b);
    if (unfit != 0 && batch.checked && !are_fit<NA, NB>(from_a, from_b, unfit)) return {false, 0};

    write<NA, NB>(swept(certified.gap, at, radius_a, radius_b), from_row(batch.out, row), batch.mirrored);
    unsigned careful = bits_of(certified.doubtful);
    if constexpr (NA > 1 && NB > 2) careful |= bits_of(faces_are_parallel(a, b));
    return {true, careful};
}

// A group of its own for the pairs at the end of a batch that do not fill one. Lanes without a pair repeat the last.
template <class Real, int NA, int NB>
class LastGroup {
public:
    LastGroup(const PairBatch& batch, std::size_t row, std::size_t used) : out_(from_row(batch.out, row)), used_(used) {
        group_ = {{a_, radius_a_, 3 * NA, 1}, {b_, radius_b_, 3 * NB, 1}, room(), batch.mirrored, batch.checked};
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
bool gaps(const PairBatch& batch, std::size_t begin, std::size_t end) {
    constexpr std::size_t lanes = kLanes<Real>;
    PairBatch here = batch;  // whose address nobody has, so that its pointers stay in registers
    bool all_fit = true;
    std::size_t row = begin;
    for (; row + lanes <= end; row += lanes) {
        GroupOutcome outcome = gaps_of_group<Real, NA, NB>(here, row);
        all_fit &= outcome.fit;
        if (outcome.careful != 0) careful_lanes<NA, NB>(outcome.careful, batch, row);
    }
    if (row == end) return all_fit;
    LastGroup<Real, NA, NB> last(batch, row, end - row);
    GroupOutcome outcome = gaps_of_group<Real, NA, NB>(last.group(), 0);
    if (outcome.careful != 0) careful_lanes<NA, NB>(outcome.careful, last.group(), 0);
    if (outcome.fit) last.copy_results();
    return all_fit && outcome.fit;
}

template <class Real>
std::size_t farthest(const double* blocks, std::size_t count, double x, double y, double z) {
    return farthest_in<Real>(blocks, count, {x, y, z});
}

template <class Real>
constexpr Kernels kernels_of(Simd simd) {
    return {{{gaps<Real, 1, 1>, gaps<Real, 1, 2>, gaps<Real, 1, 3>},
             {nullptr, gaps<Real, 2, 2>, gaps<Real, 2, 3>},
             {nullptr, nullptr, gaps<Real, 3, 3>}},
            farthest<Real>,
            simd};
}

}  // namespace
}  // namespace clearance
