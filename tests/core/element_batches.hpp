#pragma once

// Swept elements in rows, and what the kernels say of them.
#include <cstddef>
#include <cstring>
#include <vector>

#include "closest/kernels.hpp"
#include "element_cases.hpp"

namespace clearance::elements {

struct Elements {
    int count;  // vertices of each
    std::vector<double> vertices, radii;

    Elements(int vertex_count, std::size_t rows) : count(vertex_count), vertices(3 * vertex_count * rows), radii(rows) {}
    const double* at(std::size_t row) const { return &vertices[3 * count * row]; }
    void set(std::size_t row, const Element& e) {
        std::memcpy(&vertices[3 * count * row], e.vertex, 3 * count * sizeof(double));
        radii[row] = e.radius;
    }
    ElementArray array() const { return {vertices.data(), radii.data(), std::size_t(3 * count), 1}; }
};

struct Row {
    double distance, lower, upper;
    Vec3d point_a, point_b, normal, weights_a, weights_b;
};

struct Results {
    std::vector<double> distance, lower, upper, point_a, point_b, normal, weights_a, weights_b;

    explicit Results(std::size_t rows)
        : distance(rows),
          lower(rows),
          upper(rows),
          point_a(3 * rows),
          point_b(3 * rows),
          normal(3 * rows),
          weights_a(3 * rows),
          weights_b(3 * rows) {}
    Row row(std::size_t i) const {
        const auto at = [i](const std::vector<double>& v) { return Vec3d{v[3 * i], v[3 * i + 1], v[3 * i + 2]}; };
        return {distance[i], lower[i], upper[i], at(point_a), at(point_b), at(normal), at(weights_a), at(weights_b)};
    }
};

// In two parts, so that lanes are left over in the middle as well.
inline Results run(Simd simd, const Elements& a, const Elements& b) {
    const std::size_t rows = a.radii.size(), part = rows / 3;
    Results out(rows);
    const GapArrays arrays{out.distance.data(), out.lower.data(),  out.upper.data(),     out.point_a.data(),
                           out.point_b.data(),  out.normal.data(), out.weights_a.data(), out.weights_b.data()};
    choose_simd(simd);
    gaps_between(a.count, a.array(), b.count, b.array(), arrays, 0, part);
    gaps_between(a.count, a.array(), b.count, b.array(), arrays, part, rows);
    return out;
}

}  // namespace clearance::elements
