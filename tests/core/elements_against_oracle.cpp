// The kernels of swept points, segments and triangles against the oracle, on cases most of which are nearly degenerate.
//
//     elements_against_oracle [cases per pair = 100000] [seed = 1] [pair, such as 23]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "element_checks.hpp"

using namespace clearance;
using namespace clearance::elements;

namespace {

// ---- Reporting

std::mutex printing;
int printed[kChecks] = {};
constexpr int kPrints = 4;  // per check

void print_hull(const char* name, const Hull& hull, double radius) {
    std::printf("    %s radius %a vertices", name, radius);
    for (int k = 0; k < hull.count; ++k)
        std::printf(" {%a, %a, %a}", double(hull.vertex[k].x), double(hull.vertex[k].y), double(hull.vertex[k].z));
    std::printf("\n");
}

void print_failure(const Subject& s, const Observed& seen, Family family, unsigned failed) {
    const std::lock_guard lock(printing);
    int first = 0;
    while (!(failed >> first & 1)) ++first;
    if (printed[first]++ >= kPrints) return;
    const Row& r = seen.found;
    std::printf("FAILED %d%d %s:", s.a.count, s.b.count, kFamilyNames[family]);
    for (int c = 0; c < kChecks; ++c)
        if (failed >> c & 1) std::printf(" [%s]", kCheckNames[c]);
    std::printf("\n");
    print_hull("a", s.a, s.radius_a);
    print_hull("b", s.b, s.radius_b);
    std::printf("    size %g, oracle %.17g, error %g\n", s.size, double(s.distance), double(r.distance - s.distance));
    std::printf("    distance %.17g in [%.17g, %.17g], normal {%.17g, %.17g, %.17g}\n", r.distance, r.lower, r.upper,
                r.normal.x, r.normal.y, r.normal.z);
    std::printf("    along normal %.17g, moved by %g: %.17g\n",
                double(oracle::separation_along(quad(r.normal), s.a, s.b) - s.radius_a - s.radius_b), seen.step, seen.moved);
    std::printf("    point_a {%.17g, %.17g, %.17g}, outside a by %g\n", r.point_a.x, r.point_a.y, r.point_a.z,
                outside(r.point_a, s.a, s.radius_a));
    std::printf("    point_b {%.17g, %.17g, %.17g}, outside b by %g\n", r.point_b.x, r.point_b.y, r.point_b.z,
                outside(r.point_b, s.b, s.radius_b));
}

// ---- The whole test of a pair

const unsigned kThreads = std::max(1u, std::thread::hardware_concurrency());

void in_parallel(std::size_t rows, const std::function<void(std::size_t, std::size_t, unsigned)>& work) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) threads.emplace_back(work, rows * t / kThreads, rows * (t + 1) / kThreads, t);
    for (std::thread& thread : threads) thread.join();
}

// All that one order of the pair gives: the gaps, the gaps once b has moved, and whether each Simd agrees.
struct Order {
    Results gaps;
    std::vector<double> step, moved;
    std::vector<char> same_bits;

    Order(const Elements& a, const Elements& b, const std::vector<double>& sizes)
        : gaps(run(Simd::scalar, a, b)), step(sizes.size()), same_bits(sizes.size(), 1) {
        for (int simd = int(Simd::scalar) + 1; simd <= int(best_simd()); ++simd) {
            const Results other = run(Simd(simd), a, b);
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                const Row ours = gaps.row(i), theirs = other.row(i);
                same_bits[i] &= std::memcmp(&ours, &theirs, sizeof ours) == 0;
            }
        }
        Elements shifted = b;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            step[i] = 0.1 * sizes[i];
            const double* const normal = &gaps.normal[3 * i];
            for (int k = 0; k < 3 * b.count; ++k) shifted.vertices[3 * b.count * i + k] += step[i] * normal[k % 3];
        }
        moved = run(Simd::scalar, a, shifted).distance;
    }
    Observed observed(std::size_t i) const { return {gaps.row(i), moved[i], step[i], same_bits[i] != 0}; }
};

Tally test_chunk(int na, int nb, std::uint64_t seed, std::size_t rows) {
    Elements a(na, rows), b(nb, rows);
    std::vector<Family> family(rows);
    std::vector<Subject> subjects(rows);
    std::vector<double> sizes(rows);
    in_parallel(rows, [&](std::size_t begin, std::size_t end, unsigned) {
        for (std::size_t i = begin; i < end; ++i) {
            const Case c = drawn_case(seed + i, na, nb);
            a.set(i, c.a);
            b.set(i, c.b);
            family[i] = c.family;
            subjects[i] = subject_of(a, b, i);
            sizes[i] = subjects[i].size;
        }
    });

    // The choice of Simd is global, so kernels run from one thread.
    const Order forward(a, b, sizes), backward(b, a, sizes);

    std::vector<Tally> tallies(kThreads);
    in_parallel(rows, [&](std::size_t begin, std::size_t end, unsigned thread) {
        Tally& tally = tallies[thread];
        for (std::size_t i = begin; i < end; ++i) {
            for (const bool mirrored : {false, true}) {
                const Subject subject = mirrored ? swapped(subjects[i]) : subjects[i];
                const Observed seen = (mirrored ? backward : forward).observed(i);
                double witness_outside = 0.0;
                const unsigned failed = failures_of(subject, seen, witness_outside);
                measure(subject, seen.found, witness_outside, family[i], tally);
                ++(failed ? tally.failed : tally.passed);
                for (int c = 0; c < kChecks; ++c) tally.failures[family[i]][c] += failed >> c & 1;
                if (failed) print_failure(subject, seen, family[i], failed);
            }
        }
    });
    Tally sum;
    for (const Tally& tally : tallies) sum.add(tally);
    return sum;
}

struct Pair {
    int na, nb;
};
constexpr Pair kPairs[] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}};

void print_table(const char* title, const std::vector<Pair>& pairs, const std::vector<Tally>& tallies,
                 double Worst::* error) {
    std::printf("\n%s\n%-12s", title, "");
    for (const Pair& pair : pairs) std::printf("      %d%d  ", pair.na, pair.nb);
    for (int f = 0; f < kFamilies; ++f) {
        std::printf("\n%-12s", kFamilyNames[f]);
        for (const Tally& tally : tallies) std::printf("  %8.1e", tally.worst[f].*error);
    }
    std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t cases = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    const int only = argc > 3 ? std::atoi(argv[3]) : 0;
    constexpr std::size_t kChunk = 10000;

    std::vector<Pair> pairs;
    std::vector<Tally> tallies;
    for (const Pair& pair : kPairs) {
        const int name = 10 * pair.na + pair.nb;
        if (only != 0 && name != only) continue;
        pairs.push_back(pair);
        tallies.emplace_back();
        for (std::size_t begin = 0; begin < cases; begin += kChunk)
            tallies.back().add(
                test_chunk(pair.na, pair.nb, (seed * 100 + name) << 32 | begin, std::min(kChunk, cases - begin)));
    }

    for (std::size_t p = 0; p < pairs.size(); ++p)
        for (int f = 0; f < kFamilies; ++f)
            for (int c = 0; c < kChecks; ++c)
                if (tallies[p].failures[f][c] > 0)
                    std::printf("%d%d %-10s  %-28s fails %ld times\n", pairs[p].na, pairs[p].nb, kFamilyNames[f],
                                kCheckNames[c], tallies[p].failures[f][c]);

    print_table("largest error of the distance / size, beyond 8 epsilon of the distance from the origin", pairs, tallies,
                &Worst::beyond_rounding);
    print_table("largest error of the distance / size, where coordinates are no larger than ten sizes", pairs, tallies,
                &Worst::near_origin);
    std::printf("\n%-12s", "bracket");
    for (const Tally& tally : tallies) std::printf("  %8.1e", tally.widest);
    std::printf("\n%-12s", "witness");
    for (const Tally& tally : tallies) std::printf("  %8.1e", tally.farthest);
    const auto share = [](long part, const Tally& tally) {
        return 100.0 * double(part) / double(tally.passed + tally.failed);
    };
    std::printf("\n%-12s", "colliding");
    for (const Tally& tally : tallies) std::printf("  %6.0f %%", share(tally.colliding, tally));
    std::printf("\n%-12s", "cores meet");
    for (const Tally& tally : tallies) std::printf("  %6.0f %%", share(tally.cores_meeting, tally));
    std::printf("\n");

    long passed = 0, failed = 0;
    for (const Tally& tally : tallies) {
        passed += tally.passed;
        failed += tally.failed;
        // Cases that all collide, or never, would test little; few of them say nothing about it.
        const double hits = share(tally.colliding, tally);
        if (cases >= 1000) ++(30.0 <= hits && hits <= 70.0 ? passed : failed);
    }
    std::printf("%ld passed, %ld failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
