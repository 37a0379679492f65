#pragma once

#include <Python.h>

namespace clearance {

// Reading an array through a general protocol takes longer than a distance of two spheres. These look at NumPy arrays
// directly, and only at plain ones: doubles, contiguous, of exactly the class ndarray. Anything else is null.
void import_numpy();
const double* plain_matrix4(PyObject* value);
const double* plain_vector3(PyObject* value);
const double* plain_row(PyObject* value, std::size_t& length);

}  // namespace clearance
