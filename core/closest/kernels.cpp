#include "closest/kernels.hpp"

#include <atomic>
#include <utility>

namespace clearance {

extern const Kernels kScalarKernels;
#if defined(CLEARANCE_X86)
extern const Kernels kSse2Kernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

Simd best_simd() {
#if defined(CLEARANCE_X86)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return Simd::avx512;
    return __builtin_cpu_supports("avx2") ? Simd::avx2 : Simd::sse2;
#else
    return Simd::scalar;
#endif
}

namespace {

const Kernels* kernels_for(Simd simd) {
#if defined(CLEARANCE_X86)
    if (simd == Simd::avx512) return &kAvx512Kernels;
    if (simd == Simd::avx2) return &kAvx2Kernels;
    if (simd == Simd::sse2) return &kSse2Kernels;
#endif
    return &kScalarKernels;
}

std::atomic<const Kernels*> chosen{nullptr};

}  // namespace

const Kernels& kernels() {
    const Kernels* found = chosen.load(std::memory_order_relaxed);
    if (found == nullptr) {
        found = kernels_for(best_simd());
        chosen.store(found, std::memory_order_relaxed);
    }
    return *found;
}

void choose_simd(Simd simd) {
    const Simd best = best_simd();
    chosen.store(kernels_for(static_cast<int>(simd) < static_cast<int>(best) ? simd : best), std::memory_order_relaxed);
}

namespace {

struct Rows {
    std::size_t begin, end;
    bool checked;
};

bool run(const Kernels& with, int na, const ElementArray& a, int nb, const ElementArray& b, const GapArrays& out,
         const Rows& rows) {
    const bool mirrored = na > nb;
    PairBatch batch{mirrored ? b : a, mirrored ? a : b, out, mirrored, rows.checked};
    if (mirrored) {
        std::swap(batch.out.point_a, batch.out.point_b);
        std::swap(batch.out.weights_a, batch.out.weights_b);
    }
    return with.gaps[(mirrored ? nb : na) - 1][(mirrored ? na : nb) - 1](batch, rows.begin, rows.end);
}

}  // namespace

void gaps_between(int na, const ElementArray& a, int nb, const ElementArray& b, const GapArrays& out, std::size_t begin,
                  std::size_t end) {
    run(kernels(), na, a, nb, b, out, {begin, end, false});
}

bool checked_gaps_between(int na, const ElementArray& a, int nb, const ElementArray& b, const GapArrays& out,
                          std::size_t begin, std::size_t end) {
    return run(kernels(), na, a, nb, b, out, {begin, end, true});
}

void gap_between(int na, const ElementArray& a, int nb, const ElementArray& b, const GapArrays& out) {
    run(kScalarKernels, na, a, nb, b, out, {0, 1, false});
}

}  // namespace clearance
