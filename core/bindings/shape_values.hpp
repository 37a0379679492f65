#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/shapes.hpp"

namespace clearance {

inline const nb::sig kReduceSignature("def __reduce__(self) -> tuple[typing.Any, ...]");

// Whether two bodies are made of the same numbers, and a hash of them.
bool same(const Body& a, const Body& b);
std::int64_t hash_of(const Body& body);

// As a literal that makes the value again.
std::string printed(nb::handle value);

// Shapes are rebuilt from the arguments of their constructor: for pickling, copying and printing.
template <class T>
nb::tuple arguments_of(const T& shape);

template <class T>
void def_equality(nb::class_<T, Shape>& type) {
    type.def(
        "__eq__",
        [](const T& self, nb::handle other) {
            return nb::isinstance<T>(other) && same(*self.body, *nb::cast<const T&>(other).body);
        },
        nb::arg().none());
    type.def("__hash__", [](const T& self) { return hash_of(*self.body); });
}

template <class T>
void def_value_methods(nb::class_<T, Shape>& type, const char* name) {
    type.def(
        "__reduce__", [](nb::handle self) { return nb::make_tuple(self.type(), arguments_of(nb::cast<const T&>(self))); },
        kReduceSignature);
    type.def("__repr__", [name](const T& self) {
        std::string text = std::string(name) + "(";
        const char* separator = "";
        for (nb::handle argument : arguments_of(self)) {
            text += separator + printed(argument);
            separator = ", ";
        }
        return text + ")";
    });
    def_equality(type);
}

}  // namespace clearance
