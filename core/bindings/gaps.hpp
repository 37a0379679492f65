#pragma once

#include "bindings/arrays.hpp"
#include "query/distance.hpp"

namespace clearance {

// What Python knows as a Gap.
struct GapResult {
    Gap gap;
    Work work;
};

// For pickling.
inline nb::tuple state_of(const GapResult& r) {
    const Gap& g = r.gap;
    return nb::make_tuple(g.distance, g.lower, g.upper, g.point_a.x, g.point_a.y, g.point_a.z, g.point_b.x, g.point_b.y,
                          g.point_b.z, g.normal.x, g.normal.y, g.normal.z, g.feature_a, g.feature_b, g.part_a, g.part_b,
                          r.work);
}
inline GapResult gap_from_state(nb::handle s) {
    const auto number = [&s](int k) { return nb::cast<double>(s[k]); };
    const auto integer = [&s](int k) { return nb::cast<std::int32_t>(s[k]); };
    const auto vector = [&](int k) { return Vec3d{number(k), number(k + 1), number(k + 2)}; };
    return {{number(0), number(1), number(2), vector(3), vector(6), vector(9), integer(12), integer(13), true, integer(14),
             integer(15)},
            nb::cast<Work>(s[16])};
}

using Int32Array = nb::ndarray<nb::numpy, std::int32_t>;

inline Int32Array zeros(std::size_t rows) {
    Int32Array result = new_array<std::int32_t>({rows});
    std::fill_n(result.data(), rows, 0);
    return result;
}

// A column of numbers as an array of its own.
inline Int32Array int32_array(const std::vector<std::int32_t>& from) {
    Int32Array result = new_array<std::int32_t>({from.size()});
    std::copy(from.begin(), from.end(), result.data());
    return result;
}

// Gaps of a batch, column by column. Rows may be set by several threads.
class GapRows {
public:
    explicit GapRows(std::size_t rows)
        : distance_(new_array({rows})),
          lower_(new_array({rows})),
          upper_(new_array({rows})),
          point_a_(new_array({rows, 3})),
          point_b_(new_array({rows, 3})),
          normal_(new_array({rows, 3})),
          feature_a_(zeros(rows)),
          feature_b_(zeros(rows)),
          part_a_(zeros(rows)),
          part_b_(zeros(rows)),
          out{distance_.data(), lower_.data(), upper_.data(), point_a_.data(), point_b_.data(), normal_.data()} {}

    void set(std::size_t row, const Gap& gap) {
        out.distance[row] = gap.distance, out.lower[row] = gap.lower, out.upper[row] = gap.upper;
        set3(out.point_a, row, gap.point_a), set3(out.point_b, row, gap.point_b), set3(out.normal, row, gap.normal);
        feature_a_.data()[row] = gap.feature_a, feature_b_.data()[row] = gap.feature_b;
        part_a_.data()[row] = gap.part_a, part_b_.data()[row] = gap.part_b;
    }

    // In the order of the fields of clearance.Gaps.
    nb::tuple columns() const {
        return nb::make_tuple(distance_, lower_, upper_, point_a_, point_b_, normal_, feature_a_, feature_b_, part_a_,
                              part_b_);
    }

private:
    static void set3(double* column, std::size_t row, const Vec3d& v) {
        column[3 * row] = v.x, column[3 * row + 1] = v.y, column[3 * row + 2] = v.z;
    }

    NumpyArray distance_, lower_, upper_, point_a_, point_b_, normal_;
    Int32Array feature_a_, feature_b_, part_a_, part_b_;

public:
    const GapColumns out;
};

}  // namespace clearance
