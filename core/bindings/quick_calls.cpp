#include "bindings/quick_calls.hpp"

#include <structmember.h>

#include <cstddef>

namespace clearance {
namespace {

namespace nb = nanobind;

// As Python sees it. It has attributes of its own, so that functools.update_wrapper makes it look like the function.
struct QuickCall {
    PyObject head;
    vectorcallfunc call;
    QuickAnswer answer;
    PyObject *function, *attributes, *weak_references;
};

QuickCall* quick(PyObject* self) { return reinterpret_cast<QuickCall*>(self); }

// What goes wrong here goes wrong in the function, too, which says what it is.
PyObject* answered(QuickAnswer answer, PyObject* const* given, std::size_t count) noexcept {
    try {
        return answer(given, count);
    } catch (...) {
        return nullptr;
    }
}

PyObject* call(PyObject* self, PyObject* const* given, std::size_t count_and_flag, PyObject* names) {
    if (names == nullptr)
        if (PyObject* found = answered(quick(self)->answer, given, PyVectorcall_NARGS(count_and_flag))) return found;
    return PyObject_Vectorcall(quick(self)->function, given, count_and_flag, names);
}

// Like a function, it becomes a method where it is found in a class.
PyObject* bound(PyObject* self, PyObject* instance, PyObject*) {
    if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
    PyObject* const types = PyImport_ImportModule("types");
    if (types == nullptr) return nullptr;
    PyObject* const method = PyObject_CallMethod(types, "MethodType", "OO", self, instance);
    Py_DECREF(types);
    return method;
}

// Like a function, it is pickled by its name.
PyObject* reduced(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__qualname__"); }

PyObject* printed(PyObject* self) { return PyObject_Repr(quick(self)->function); }

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(quick(self)->function);
    Py_VISIT(quick(self)->attributes);
    return 0;
}

int clear(PyObject* self) {
    Py_CLEAR(quick(self)->function);
    Py_CLEAR(quick(self)->attributes);
    return 0;
}

void dealloc(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (quick(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
    clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(QuickCall, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(QuickCall, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(QuickCall, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyMethodDef methods[] = {
    {"__reduce__", reduced, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bound)},
    {Py_tp_repr, reinterpret_cast<void*>(printed)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, nullptr},
};

PyType_Spec spec{"clearance._core.QuickCall", sizeof(QuickCall), 0,
                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                     Py_TPFLAGS_IMMUTABLETYPE,
                 slots};

}  // namespace

nb::object quick_call(QuickAnswer answer, nb::handle function) {
    static PyObject* const type = PyType_FromSpec(&spec);
    if (type == nullptr) nb::raise_python_error();
    PyObject* const made = PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type), 0);
    if (made == nullptr) nb::raise_python_error();
    quick(made)->call = call;
    quick(made)->answer = answer;
    quick(made)->function = Py_NewRef(function.ptr());
    return nb::steal(made);
}

}  // namespace clearance
