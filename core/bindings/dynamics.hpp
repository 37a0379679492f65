#pragma once

#include "bindings/arrays.hpp"
#include "dynamics/contact_solver.hpp"

namespace clearance {

using Matrix3 = nb::ndarray<const double, nb::shape<3, 3>, nb::c_contig, nb::device::cpu>;

inline Vec3d vector_of(const Vector3& v) { return {v(0), v(1), v(2)}; }

inline Mat3 matrix_of(const Matrix3& m) {
    return {{{m(0, 0), m(0, 1), m(0, 2)}, {m(1, 0), m(1, 1), m(1, 2)}, {m(2, 0), m(2, 1), m(2, 2)}}};
}

inline void put(double* to, const Vec3d& v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

inline Material material_of(const Doubles& numbers) {
    if (numbers.shape(0) != 5) throw std::invalid_argument("a material has 5 numbers.");
    return {numbers(0), numbers(1), numbers(2), numbers(3), numbers(4)};
}

inline ContactLaw law_named(const std::string& name) {
    return name == "soft" ? ContactLaw::soft : name == "elastic" ? ContactLaw::elastic : ContactLaw::hard;
}

}  // namespace clearance
