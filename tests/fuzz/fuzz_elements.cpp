// Swept points, segments and triangles: all instruction sets give the same bits, one by one and in batches, and no point or
// plane tells otherwise.
#include <cstring>
#include <vector>

#include "bodies.hpp"
#include "closest/kernels.hpp"
#include "contract.hpp"

using namespace clearance;
using namespace clearance::fuzz;

namespace {

constexpr std::size_t kRows = 9;  // more than the widest lanes

struct Columns {
    std::vector<double> numbers = std::vector<double>(12 * kRows, -7.0);

    GapArrays arrays() {
        double* at = numbers.data();
        return {at, at + kRows, at + 2 * kRows, at + 3 * kRows, at + 6 * kRows, at + 9 * kRows};
    }
    Gap row(std::size_t k) {
        const GapArrays out = arrays();
        const auto at = [k](const double* v) { return Vec3d{v[3 * k], v[3 * k + 1], v[3 * k + 2]}; };
        return {out.distance[k], out.lower[k], out.upper[k], at(out.point_a), at(out.point_b), at(out.normal), 0, 0};
    }
};

struct Elements {
    int count;
    std::vector<double> vertices, radii;

    Elements(Bytes& bytes, double size) : count(1 + bytes.below(3)) {
        for (std::size_t row = 0; row < kRows; ++row) {
            const Vec3d shift = bytes.flag() ? size * bytes.power(-3, 3) * bytes.in_cube() : Vec3d{0, 0, 0};
            std::vector<Vec3d> corners = points(bytes, size, count);
            corners.resize(3, corners.back());
            for (const Vec3d& p : corners)
                for (const double x : {p.x + shift.x, p.y + shift.y, p.z + shift.z}) vertices.push_back(x);
            radii.push_back(radius(bytes, size));
        }
    }
    ElementArray array() const { return {vertices.data(), radii.data(), 9, 1}; }
    ElementArray from(std::size_t row) const { return {vertices.data() + 9 * row, radii.data() + row, 9, 1}; }
    Vec3d corner(std::size_t row, int k) const {
        const double* v = vertices.data() + 9 * row + 3 * k;
        return {v[0], v[1], v[2]};
    }
    double largest_of(std::size_t row) const {
        double most = radii[row];
        for (int k = 0; k < 3; ++k) most = max_of(most, largest(corner(row, k)));
        return most;
    }
    // The highest point along a unit vector.
    double height(std::size_t row, const Vec3d& along, const Vec3d& about) const {
        double highest = dot(along, corner(row, 0) - about);
        for (int k = 1; k < count; ++k) highest = max_of(highest, dot(along, corner(row, k) - about));
        return highest + radii[row];
    }
};

void check_row(const Elements& a, const Elements& b, std::size_t row, const Gap& gap, Bytes& bytes) {
    const double rounding = 64.0 * kEpsilon * (a.largest_of(row) + b.largest_of(row));
    require_contract(gap, rounding);
    const Vec3d about = a.corner(row, 0);
    const auto separation = [&](const Vec3d& n) { return -b.height(row, -n, about) - a.height(row, n, about); };
    require(separation(gap.normal) >= gap.lower - rounding, "the normal separates", "by %.17g, not %.17g",
            separation(gap.normal), gap.lower);
    for (int k = 0; k < 2; ++k) {
        const Vec3d along = bytes.direction();
        require(gap.upper >= separation(along) - rounding, "no plane separates farther", "%.17g, not %.17g",
                separation(along), gap.upper);
    }
    // Points inside of the cores.
    const auto inner = [&](const Elements& of) {
        const double s = 0.5 + 0.5 * bytes.unit(), t = (1.0 - s) * (0.5 + 0.5 * bytes.unit());
        const Vec3d first = of.corner(row, 0);
        return first + s * (of.corner(row, 1) - first) + t * (of.corner(row, 2) - first);
    };
    const double between = norm(inner(b) - inner(a)) - a.radii[row] - b.radii[row];
    require(gap.lower <= between + rounding, "no points are nearer", "%.17g, not %.17g", between, gap.lower);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Bytes bytes(data, size);
    const double scale = bytes.power(-12, 12);
    const Elements a(bytes, scale), b(bytes, scale * bytes.power(-6, 6));
    Columns expected;
    for (const Simd simd : {Simd::scalar, Simd::sse2, Simd::avx2, Simd::avx512}) {
        if (simd > best_simd()) continue;
        choose_simd(simd);
        Columns batch, single, mirrored;
        gaps_between(a.count, a.array(), b.count, b.array(), batch.arrays(), 0, kRows);
        for (std::size_t row = 0; row < kRows; ++row) {
            Columns one;
            gap_between(a.count, a.from(row), b.count, b.from(row), one.arrays());
            const Gap found = one.row(0), same = batch.row(row);
            require(std::memcmp(&found, &same, 12 * sizeof(double)) == 0, "batches give the same bits",
                    "row %d: %.17g, %.17g", int(row), found.distance, same.distance);
        }
        if (simd == Simd::scalar) expected = batch;
        require(std::memcmp(batch.numbers.data(), expected.numbers.data(), 12 * kRows * sizeof(double)) == 0,
                "instruction sets give the same bits", "%d", int(simd));
        gaps_between(b.count, b.array(), a.count, a.array(), mirrored.arrays(), 0, kRows);
        for (std::size_t row = 0; row < kRows; ++row)
            require_common(batch.row(row), mirrored.row(row), 0.0, "brackets of both orders meet");
    }
    choose_simd(best_simd());
    for (std::size_t row = 0; row < kRows; ++row) check_row(a, b, row, expected.row(row), bytes);
    return 0;
}
