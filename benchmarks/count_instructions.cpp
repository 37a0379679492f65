// Runs one kernel once over random pairs, for callgrind to count what happens inside `counted`.
//
//     count_instructions scalar|sse2|avx2 <vertices of a> <vertices of b> apart|crossing batch|single <pairs>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "closest/kernels.hpp"

using namespace clearance;

namespace {

struct Arguments {
    int na, nb;
    bool crossing, single;
    std::size_t pairs;
};

// splitmix64 (Steele, Lea, Flood 2014): the same pairs with every compiler.
double uniform(double low, double high) {
    static std::uint64_t state = 1;
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return low + (high - low) * std::ldexp(static_cast<double>((z ^ z >> 31) >> 11), -53);
}

struct Elements {
    std::vector<double> vertices, radii;

    // Vertices in a box about the origin, or with a point near their middle at the origin; then moved along x.
    Elements(const Arguments& asked, int count, double shift) {
        for (std::size_t k = 0; k < asked.pairs; ++k) {
            double corner[9], middle[3] = {0, 0, 0};
            for (int c = 0; c < 3 * count; ++c) {
                corner[c] = uniform(-0.1, 0.1);
                middle[c % 3] += corner[c] / count;
            }
            const double moved = asked.crossing ? 0.0 : shift * uniform(1.0, 1.8);
            for (int c = 0; c < 3 * count; ++c)
                vertices.push_back(corner[c] - (asked.crossing ? middle[c % 3] : 0.0) + (c % 3 == 0 ? moved : 0.0));
            radii.push_back(uniform(0.02, 0.12));
        }
    }
    ElementArray from(std::size_t row, int count) const {
        return {vertices.data() + 3 * row * count, radii.data() + row, 3 * static_cast<std::size_t>(count), 1};
    }
};

struct Results {
    std::vector<double> numbers;
    std::size_t pairs;

    explicit Results(std::size_t count) : numbers(18 * count), pairs(count) {}
    GapArrays from(std::size_t row) {
        double* const n = numbers.data();
        return {n + row,
                n + pairs + row,
                n + 2 * pairs + row,
                n + 3 * pairs + 3 * row,
                n + 6 * pairs + 3 * row,
                n + 9 * pairs + 3 * row,
                n + 12 * pairs + 3 * row,
                n + 15 * pairs + 3 * row};
    }
};

}  // namespace

// Visible, so that callgrind finds it by name.
[[gnu::noinline]] void counted(const Arguments& asked, const Elements& a, const Elements& b, Results& results) {
    if (!asked.single) {
        gaps_between(asked.na, a.from(0, asked.na), asked.nb, b.from(0, asked.nb), results.from(0), 0, asked.pairs);
        return;
    }
    for (std::size_t row = 0; row < asked.pairs; ++row)
        gap_between(asked.na, a.from(row, asked.na), asked.nb, b.from(row, asked.nb), results.from(row));
}

int main(int argc, char** argv) {
    if (argc != 7) return std::fputs("see the head of count_instructions.cpp\n", stderr), 2;
    const Simd sets[] = {Simd::scalar, Simd::sse2, Simd::avx2};
    const char* const names[] = {"scalar", "sse2", "avx2"};
    for (int k = 0; k < 3; ++k)
        if (std::strcmp(argv[1], names[k]) == 0) choose_simd(sets[k]);
    if (std::strcmp(argv[1], names[static_cast<int>(kernels().simd) % 3]) != 0)
        return std::fprintf(stderr, "%s cannot run here\n", argv[1]), 3;
    const Arguments asked{std::atoi(argv[2]), std::atoi(argv[3]), std::strcmp(argv[4], "crossing") == 0,
                          std::strcmp(argv[5], "single") == 0, static_cast<std::size_t>(std::atol(argv[6]))};
    const Elements a(asked, asked.na, 0.0), b(asked, asked.nb, 0.2);
    Results results(asked.pairs);
    counted(asked, a, b, results);
    double sum = 0.0;
    for (std::size_t row = 0; row < asked.pairs; ++row) sum += *results.from(row).distance;
    std::printf("%.17g\n", sum);
    return 0;
}
