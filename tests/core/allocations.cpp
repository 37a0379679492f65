// No query of elements touches the heap: a control loop may call them where allocation is forbidden.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "closest/kernels.hpp"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}

void* counted(std::size_t size, std::align_val_t alignment) {
    ++allocations;
    const std::size_t step = static_cast<std::size_t>(alignment);
    if (void* const memory = std::aligned_alloc(step, (size / step + 1) * step)) return memory;
    throw std::bad_alloc();
}
}  // namespace

// The array and nothrow forms of the standard library end up in these. Kept out of line: a compiler that sees malloc()
// next to delete warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) { return counted(size); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) { return counted(size, alignment); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

using namespace clearance;

// Apart, piercing, crossing, parallel faces above each other, coplanar, touching, collinear and coinciding: rows 1 to 7 take
// the careful path for at least one pair.
constexpr std::size_t kRows = 8;
constexpr double kA[kRows][9] = {{0, 0, 0, 1, 0, 0, 0, 1, 0},
                                 {0.2, 0.2, -1, 0.3, 0.2, 1, 4, 0.2, 1},
                                 {-1, 0.5, 0, 1, 0.5, 0, 0, 3, 1},
                                 {0, 0, 1, 1, 0, 1, 0, 1, 1},
                                 {0.1, 0.1, 0, 0.5, 0.2, 0, 0.2, 0.5, 0},
                                 {0, 0, 0, -1, 0, 0, 0, -1, 2},
                                 {-3, 0, 0, -1, 0, 0, 0.5, 0, 0},
                                 {0, 0, 0, 0, 0, 0, 0, 0, 0}};
constexpr double kB[kRows][9] = {{5, 1, 2, 6, 1, 2, 5, 3, 2}, {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, -1, 0, 0, 1, 0, 2, 0, 3},
                                 {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 0, 0, 1, 0, 0, 0, 1, 0},
                                 {0, 0, 0, 1, 0, 0, 2, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0}};
constexpr double kRadii[kRows] = {0.0, 0.1, 0.2, 0.0, 0.3, 0.1, 0.0, 0.5};

bool runs_without_allocation(Simd simd, int na, int nb) {
    static double distance[kRows], lower[kRows], upper[kRows];
    static double point_a[3 * kRows], point_b[3 * kRows], normal[3 * kRows];
    static double weights_a[3 * kRows], weights_b[3 * kRows];
    const GapArrays out{distance, lower, upper, point_a, point_b, normal, weights_a, weights_b};
    const long before = allocations;
    choose_simd(simd);
    gaps_between(na, {kA[0], kRadii, 9, 1}, nb, {kB[0], kRadii, 9, 1}, out, 0, kRows);
    return allocations == before;
}

}  // namespace

int main() {
    int passed = 0, failed = 0;
    const auto check = [&](bool holds, const char* what, int simd, int na, int nb) {
        ++(holds ? passed : failed);
        if (!holds) std::printf("FAILED %d%d, Simd %d: %s\n", na, nb, simd, what);
    };

    const long before = allocations;
    ::operator delete(::operator new(1));  // a new-expression might be optimised away
    check(allocations == before + 1, "the counter sees an allocation", 0, 0, 0);

    for (int simd = 0; simd <= int(best_simd()); ++simd)
        for (int na = 1; na <= 3; ++na)
            for (int nb = 1; nb <= 3; ++nb)
                check(runs_without_allocation(Simd(simd), na, nb), "gaps_between allocates", simd, na, nb);

    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
