#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "bindings/kept_blocks.hpp"
#include "math/pose.hpp"

namespace clearance {

namespace nb = nanobind;
using namespace nb::literals;

using Vector3 = nb::ndarray<const double, nb::shape<3>, nb::c_contig, nb::device::cpu>;
using Matrix4 = nb::ndarray<const double, nb::shape<4, 4>, nb::c_contig, nb::device::cpu>;
using Matrices4 = nb::ndarray<const double, nb::shape<-1, 4, 4>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumpyArray = nb::ndarray<nb::numpy, double>;

// A new array that owns its numbers. The numbers are not initialised.
template <class T = double>
nb::ndarray<nb::numpy, T> new_array(std::initializer_list<std::size_t> shape) {
    std::size_t count = 1;
    for (const std::size_t length : shape) count *= length;
    if (count * sizeof(T) < kKeptFrom) {
        auto* const few = new T[count];
        const nb::capsule owner(few, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        return {few, shape.size(), shape.begin(), owner};
    }
    auto* const many = new KeptRows<T>(count);
    const nb::capsule owner(many, [](void* p) noexcept { delete static_cast<KeptRows<T>*>(p); });
    return {many->data(), shape.size(), shape.begin(), owner};
}

inline NumpyArray array_of(const Vec3d& v) {
    NumpyArray result = new_array({3});
    result.data()[0] = v.x, result.data()[1] = v.y, result.data()[2] = v.z;
    return result;
}

inline NumpyArray array_of(const Pose& pose) {
    NumpyArray result = new_array({4, 4});
    double* to = result.data();
    for (int i = 0; i < 3; ++i) {
        const Vec3d& row = pose.rotation.row[i];
        const Vec3d& t = pose.translation;
        *to++ = row.x, *to++ = row.y, *to++ = row.z, *to++ = i == 0 ? t.x : i == 1 ? t.y : t.z;
    }
    *to++ = 0.0, *to++ = 0.0, *to++ = 0.0, *to = 1.0;
    return result;
}

// The shortest digits that give the number again.
inline std::string printed_number(double number) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

inline void check_coordinates(const Vec3d& v, const char* what) {
    for (const double coordinate : {v.x, v.y, v.z})
        if (!(abs_of(coordinate) <= kLargestLength))
            throw std::invalid_argument(std::string(what) + " must be finite and below 1e30, but it is (" +
                                        printed_number(v.x) + ", " + printed_number(v.y) + ", " + printed_number(v.z) +
                                        ").");
}

// A point from an array, or from anything NumPy makes an array of.
inline Vec3d point_from(nb::handle value, const char* name) {
    Vector3 array;
    if (!nb::try_cast(value, array)) {
        try {
            const nb::object converted = nb::module_::import_("clearance.poses").attr("as_floats")(value, name);
            array = nb::cast<Vector3>(converted);
        } catch (const nb::cast_error&) {
            throw std::invalid_argument(std::string(name) + " must have 3 coordinates, but it is " +
                                        nb::cast<std::string>(nb::repr(value)) + ".");
        }
    }
    const Vec3d point{array(0), array(1), array(2)};
    check_coordinates(point, name);
    return point;
}

}  // namespace clearance
