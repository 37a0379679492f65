#pragma once

#include <memory>

#include "bindings/arrays.hpp"
#include "query/body.hpp"

namespace clearance {

// The Python shapes share an immutable body with everything made from them.
struct Shape {
    std::shared_ptr<const Body> body;
};

// A shape at one pose, or at many. The body is that of the shape, which keeps it.
struct Placed {
    nb::object shape;
    const Body* body;
    Pose pose;
};
struct PlacedBatch {
    nb::object shape;
    const Body* body;
    KeptRows<Pose> poses;
    nb::tuple dims;
};

// So many values that were let go are kept for the next ones, which are then made without a new place in memory.
constexpr std::uint32_t kPooled = 1024;

// The class that Python knows a type by; looking it up takes longer than to keep it.
template <class T>
nb::handle type_of() {
    static const nb::handle type = nb::type<T>();
    return type;
}

// Whether a value is a T, or of a class derived from it, that has been through its constructor.
template <class T>
bool is_made(nb::handle value) {
    auto *found = Py_TYPE(value.ptr()), *wanted = reinterpret_cast<PyTypeObject*>(type_of<T>().ptr());
    return (found == wanted || PyType_IsSubtype(found, wanted) != 0) && nb::inst_ready(value);
}

}  // namespace clearance
