#pragma once

#include <cstddef>

namespace clearance {

// Pairs of elements of two fixed kinds, as arrays of vertices (3 doubles each) and radii. A stride of zero repeats one
// element against all others.
struct ElementArray {
    const double* vertices;
    const double* radii;
    std::size_t vertex_stride, radius_stride;  // in doubles, from one element to the next
};

// Where results go. The weights, of the three vertices of either core, may be left out (null).
struct GapArrays {
    double* distance;
    double* lower;
    double* upper;
    double* point_a;  // three per pair, as all below
    double* point_b;
    double* normal;
    double* weights_a = nullptr;
    double* weights_b = nullptr;
};

struct PairBatch {
    ElementArray a, b;
    GapArrays out;
    bool mirrored;  // the caller's a is our b: the arrays of a and b are swapped, normals to be negated
    bool checked;   // numbers come from outside: see checked_gaps_between
};

// Returns whether all numbers were fit, if it was asked to check them.
using GapKernel = bool (*)(const PairBatch& batch, std::size_t begin, std::size_t end);

// Points column by column in blocks of eight: eight x, eight y, eight z.
constexpr std::size_t kPointBlock = 8;

// The number of the point farthest along a direction; of several, the first in the first column of the blocks that has one.
using FarthestKernel = std::size_t (*)(const double* blocks, std::size_t count, double x, double y, double z);

enum class Simd { scalar, sse2, avx2, avx512 };

// The kernels of one instruction set, by the number of vertices of a and b less one; only a <= b is filled.
struct Kernels {
    GapKernel gaps[3][3];
    FarthestKernel farthest;
    Simd simd;
};

// The fastest kernels this machine can run, unless chosen otherwise. All of them give the same bits.
const Kernels& kernels();
Simd best_simd();
void choose_simd(Simd simd);

// Run the right kernel for cores of na and nb vertices, in either order.
void gaps_between(int na, const ElementArray& a, int nb, const ElementArray& b, const GapArrays& out, std::size_t begin,
                  std::size_t end);

// The same for numbers that may not be fit: finite, no larger than kLargestLength, and no radius negative. Rows with others
// get no result (nor do some of their neighbours), and the answer is false.
bool checked_gaps_between(int na, const ElementArray& a, int nb, const ElementArray& b, const GapArrays& out,
                          std::size_t begin, std::size_t end);

// A single pair, without the detour through lanes.
void gap_between(int na, const ElementArray& a, int nb, const ElementArray& b, const GapArrays& out);

}  // namespace clearance
