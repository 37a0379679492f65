#include <nanobind/stl/string.h>

#include <atomic>

#include "bindings/arrays.hpp"
#include "closest/kernels.hpp"
#include "parallel/pool.hpp"

namespace clearance {
namespace {

using CoreArray = nb::ndarray<const double, nb::shape<-1, -1, 3>, nb::c_contig, nb::device::cpu>;
using Column = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Column3 = nb::ndarray<double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

void check_rows(std::size_t found, std::size_t rows, const char* name, bool may_be_one) {
    if (found == rows || (may_be_one && found == 1)) return;
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(found) + " rows, but " + std::to_string(rows) +
                                " were expected.");
}

// The numbers must be finite and not too large; and not negative, for radii.
void refuse_first_bad(const double* numbers, std::size_t count, const char* name, double least) {
    const char* expected = least < 0.0 ? " must be finite and below 1e30" : " must be zero or positive and below 1e30";
    for (std::size_t k = 0; k < count; ++k)
        if (!(numbers[k] >= least && numbers[k] <= kLargestLength))
            throw std::invalid_argument(name + std::string(expected) + ", but entry " + std::to_string(k) + " is " +
                                        printed_number(numbers[k]) + ".");
}

// One side of a batch: cores and radii, either of them possibly one for all rows.
struct Input {
    const CoreArray& cores;
    const Doubles& radii;
    const char *name, *radius_name;

    ElementArray elements() const {
        return {cores.data(), radii.data(), cores.shape(0) == 1 ? 0 : 3 * cores.shape(1),
                radii.shape(0) == 1 ? std::size_t{0} : 1};
    }
    void refuse() const {
        refuse_first_bad(cores.data(), cores.size(), name, -kLargestLength);
        refuse_first_bad(radii.data(), radii.size(), radius_name, 0.0);
    }
    void check_shapes(std::size_t rows) const {
        if (cores.shape(1) < 1 || cores.shape(1) > 3)
            throw std::invalid_argument(std::string(name) + " must have cores of 1, 2 or 3 vertices, but they have " +
                                        std::to_string(cores.shape(1)) + ".");
        check_rows(cores.shape(0), rows, name, true);
        check_rows(radii.shape(0), rows, radius_name, true);
    }
};

void closest(const CoreArray& a, const Doubles& radius_a, const CoreArray& b, const Doubles& radius_b, Column distance,
             Column lower, Column upper, Column3 point_a, Column3 point_b, Column3 normal, Column3 weights_a,
             Column3 weights_b, int threads) {
    const std::size_t rows = distance.shape(0);
    const Input in_a{a, radius_a, "a", "radius_a"}, in_b{b, radius_b, "b", "radius_b"};
    in_a.check_shapes(rows);
    in_b.check_shapes(rows);
    for (const std::size_t found : {lower.shape(0), upper.shape(0), point_a.shape(0), point_b.shape(0), normal.shape(0),
                                    weights_a.shape(0), weights_b.shape(0)})
        check_rows(found, rows, "an array for results", false);
    const GapArrays out{distance.data(), lower.data(),  upper.data(),     point_a.data(),
                        point_b.data(),  normal.data(), weights_a.data(), weights_b.data()};
    const int count_a = static_cast<int>(a.shape(1)), count_b = static_cast<int>(b.shape(1));
    std::atomic<bool> all_fit{true};
    {
        const nb::gil_scoped_release release;
        Pool::shared().for_rows(rows, 512, threads, [&](std::size_t begin, std::size_t end) {
            if (!checked_gaps_between(count_a, in_a.elements(), count_b, in_b.elements(), out, begin, end)) all_fit = false;
        });
    }
    if (all_fit) return;
    in_a.refuse();
    in_b.refuse();
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
