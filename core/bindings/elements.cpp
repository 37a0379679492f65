#include <nanobind/stl/string.h>

#include "bindings/arrays.hpp"
#include "closest/kernels.hpp"
#include "parallel/pool.hpp"

namespace clearance {
namespace {

using CoreArray = nb::ndarray<const double, nb::shape<-1, -1, 3>, nb::c_contig, nb::device::cpu>;
using Column = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Column3 = nb::ndarray<double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

// An array with one element is repeated for all rows.
ElementArray elements_of(const CoreArray& cores, const Doubles& radii) {
    return {cores.data(), radii.data(), cores.shape(0) == 1 ? 0 : 3 * cores.shape(1),
            radii.shape(0) == 1 ? std::size_t{0} : 1};
}

void check_rows(std::size_t found, std::size_t rows, const char* name, bool may_be_one) {
    if (found == rows || (may_be_one && found == 1)) return;
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(found) + " rows, but " + std::to_string(rows) +
                                " were expected.");
}

void check_numbers(const double* numbers, std::size_t count, const char* name, bool is_radius) {
    for (std::size_t k = 0; k < count; ++k)
        if (!(abs_of(numbers[k]) <= kLargestLength) || (is_radius && numbers[k] < 0.0))
            throw std::invalid_argument(
                std::string(name) +
                (is_radius ? " must be zero or positive and below 1e30" : " must be finite and below 1e30") +
                ", but entry " + std::to_string(k) + " is " + printed_number(numbers[k]) + ".");
}

void closest(const CoreArray& a, const Doubles& radius_a, const CoreArray& b, const Doubles& radius_b, Column distance,
             Column lower, Column upper, Column3 point_a, Column3 point_b, Column3 normal, Column3 weights_a,
             Column3 weights_b, int threads) {
    const std::size_t rows = distance.shape(0), na = a.shape(1), nb_ = b.shape(1);
    if (na < 1 || na > 3 || nb_ < 1 || nb_ > 3)
        throw std::invalid_argument("cores have 1, 2 or 3 vertices, but these have " + std::to_string(na) + " and " +
                                    std::to_string(nb_) + ".");
    check_rows(a.shape(0), rows, "a", true);
    check_rows(b.shape(0), rows, "b", true);
    check_rows(radius_a.shape(0), rows, "radius_a", true);
    check_rows(radius_b.shape(0), rows, "radius_b", true);
    for (const std::size_t found : {lower.shape(0), upper.shape(0), point_a.shape(0), point_b.shape(0), normal.shape(0),
                                    weights_a.shape(0), weights_b.shape(0)})
        check_rows(found, rows, "an array for results", false);
    check_numbers(a.data(), a.size(), "a", false);
    check_numbers(b.data(), b.size(), "b", false);
    check_numbers(radius_a.data(), radius_a.size(), "radius_a", true);
    check_numbers(radius_b.data(), radius_b.size(), "radius_b", true);
    const GapArrays out{distance.data(), lower.data(),  upper.data(),     point_a.data(),
                        point_b.data(),  normal.data(), weights_a.data(), weights_b.data()};
    const ElementArray from_a = elements_of(a, radius_a), from_b = elements_of(b, radius_b);
    const nb::gil_scoped_release release;
    Pool::shared().for_blocks(rows, 1024, threads, [&](std::size_t begin, std::size_t end) {
        gaps_between(static_cast<int>(na), from_a, static_cast<int>(nb_), from_b, out, begin, end);
    });
}

const char* const kSimdNames[] = {"scalar", "sse2", "avx2", "avx512"};

std::string use_simd(const std::string& name) {
    const std::string before = kSimdNames[static_cast<int>(kernels().simd)];
    for (int k = 0; k < 4; ++k) {
        if (name != kSimdNames[k]) continue;
        choose_simd(static_cast<Simd>(k));
        return before;
    }
    throw std::invalid_argument("instruction sets are scalar, sse2, avx2 and avx512, not '" + name + "'.");
}

}  // namespace

void bind_elements(nb::module_& m) {
    m.def("closest", &closest, "a"_a, "radius_a"_a, "b"_a, "radius_b"_a, "distance"_a.noconvert(), "lower"_a.noconvert(),
          "upper"_a.noconvert(), "point_a"_a.noconvert(), "point_b"_a.noconvert(), "normal"_a.noconvert(),
          "weights_a"_a.noconvert(), "weights_b"_a.noconvert(), "threads"_a,
          "Gaps between rows of swept cores, written into the given arrays.");
    m.def("simd", [] { return std::string(kSimdNames[static_cast<int>(kernels().simd)]); }, "The instruction set in use.");
    m.def("use_simd", &use_simd, "name"_a, "Use another instruction set, if this machine has it; returns the one before.");
    m.def("core_count", &core_count, "Cores this process may use.");
}

}  // namespace clearance
