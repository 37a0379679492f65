#include "scene/pair_table.hpp"

namespace clearance {
namespace {

void set3(std::vector<double>& column, std::size_t row, const Vec3d& v) {
    column[3 * row] = v.x;
    column[3 * row + 1] = v.y;
    column[3 * row + 2] = v.z;
}

}  // namespace

void PairTable::resize(std::size_t rows) {
    for (auto* column : {&distance, &lower, &upper}) column->resize(rows);
    for (auto* column : {&point_a, &point_b, &normal, &origin_a, &origin_b}) column->resize(3 * rows);
    feature_a.resize(rows);
    feature_b.resize(rows);
}

void PairTable::set(std::size_t row, const Gap& gap, const Vec3d& origin_of_a, const Vec3d& origin_of_b) {
    distance[row] = gap.distance;
    lower[row] = gap.lower;
    upper[row] = gap.upper;
    set3(point_a, row, gap.point_a);
    set3(point_b, row, gap.point_b);
    set3(normal, row, gap.normal);
    set3(origin_a, row, origin_of_a);
    set3(origin_b, row, origin_of_b);
    feature_a[row] = gap.feature_a;
    feature_b[row] = gap.feature_b;
}

}  // namespace clearance
