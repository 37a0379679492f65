#pragma once

#include <memory>
#include <string>
#include <vector>

#include "query/gap.hpp"

namespace clearance {

struct PairNames {
    std::vector<std::string> a, b;
};

// One row per watched pair, in the order of watching; column after column.
struct PairTable {
    std::shared_ptr<const PairNames> names;
    std::vector<double> distance, lower, upper;
    std::vector<double> point_a, point_b, normal;    // three per row, as the two below
    std::vector<double> origin_a, origin_b;          // where the frames of the two bodies stand
    std::vector<std::int32_t> feature_a, feature_b;  // which elements of the two bodies are closest
    Work work;

    std::size_t size() const { return distance.size(); }
    void resize(std::size_t rows);
    void set(std::size_t row, const Gap& gap, const Vec3d& origin_of_a, const Vec3d& origin_of_b);
};

}  // namespace clearance
