#include "bindings/numpy.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_20_API_VERSION
#include <numpy/arrayobject.h>

#include <stdexcept>

namespace clearance {
namespace {

// The array, if it is plain and has this many dimensions.
PyArrayObject* plain_array(PyObject* value, int dimensions) {
    if (!PyArray_CheckExact(value)) return nullptr;
    auto* array = reinterpret_cast<PyArrayObject*>(value);
    const bool plain = PyArray_TYPE(array) == NPY_DOUBLE && PyArray_NDIM(array) == dimensions && PyArray_ISCARRAY_RO(array);
    return plain ? array : nullptr;
}

}  // namespace

void import_numpy() {
    if (_import_array() < 0) throw std::runtime_error("NumPy could not be imported.");
}

const double* plain_matrix4(PyObject* value) {
    PyArrayObject* array = plain_array(value, 2);
    if (array == nullptr || PyArray_DIM(array, 0) != 4 || PyArray_DIM(array, 1) != 4) return nullptr;
    return static_cast<const double*>(PyArray_DATA(array));
}

const double* plain_vector3(PyObject* value) {
    PyArrayObject* array = plain_array(value, 1);
    if (array == nullptr || PyArray_DIM(array, 0) != 3) return nullptr;
    return static_cast<const double*>(PyArray_DATA(array));
}

const double* plain_row(PyObject* value, std::size_t& length) {
    PyArrayObject* array = plain_array(value, 1);
    if (array == nullptr) return nullptr;
    length = static_cast<std::size_t>(PyArray_DIM(array, 0));
    return static_cast<const double*>(PyArray_DATA(array));
}

}  // namespace clearance
