#pragma once

#include <nanobind/nanobind.h>

namespace clearance {

// Answers a call with these positional arguments, or returns null where it is not one of the plain ones.
using QuickAnswer = PyObject* (*)(PyObject* const* given, std::size_t count);

// A callable that stands for a function written in Python: it answers plain calls itself, and leaves all others to the
// function. Entering a function of Python takes longer than the distance of two spheres.
nanobind::object quick_call(QuickAnswer answer, nanobind::handle function);

}  // namespace clearance
