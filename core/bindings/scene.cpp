#include "scene/scene.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "bindings/shapes.hpp"

namespace clearance {
namespace {

// A scene that several Python threads may hold: one of them at a time gets in.
struct GuardedScene {
    Scene scene;
    std::mutex mutex;
};

template <class Action>
auto guarded(GuardedScene& self, Action action) {
    const nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock(self.mutex);
    return action(self.scene);
}

// Either all bodies move, or none does and an error says why.
void move_many(GuardedScene& self, const nb::dict& poses_by_name) {
    std::vector<std::pair<std::string, Pose>> moves;
    moves.reserve(nb::len(poses_by_name));
    const nb::object single_pose = nb::module_::import_("clearance.scene").attr("_single_pose");
    for (const auto& [name, value] : poses_by_name) {
        std::string body;
        if (!nb::try_cast(name, body))
            throw nb::type_error(
                ("a body has a string for a name, not " + nb::cast<std::string>(nb::repr(name)) + ".").c_str());
        Matrix4 matrix;
        if (!nb::try_cast(value, matrix, false)) matrix = nb::cast<Matrix4>(single_pose(value));
        moves.emplace_back(std::move(body), pose_from_matrix(matrix.data()));
    }
    guarded(self, [&](Scene& scene) {
        for (const auto& move : moves) scene.pose(move.first);
        for (const auto& move : moves) scene.move(move.first, move.second);
        return 0;
    });
}

using Table = std::shared_ptr<const PairTable>;

// Columns are handed out without copying; the array keeps the table alive.
template <class Number>
nb::object column(nb::handle table, const std::vector<Number>& numbers, std::size_t width) {
    const std::size_t rows = numbers.size() / width;
    if (width == 1) return nb::cast(nb::ndarray<nb::numpy, const Number>(numbers.data(), {rows}, table));
    return nb::cast(nb::ndarray<nb::numpy, const Number>(numbers.data(), {rows, width}, table));
}

struct TableObject {
    Table table;
};

template <auto Member, std::size_t Width>
nb::object column_of(nb::handle self) {
    return column(self, nb::cast<const TableObject&>(self).table.get()->*Member, Width);
}

}  // namespace

void bind_scene(nb::module_& m) {
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const UnknownName& error) {
            PyErr_SetString(PyExc_KeyError, error.what());
        }
    });

    nb::class_<TableObject>(m, "PairTable", "Columns of the distances of watched pairs.")
        .def_prop_ro("name_a", [](const TableObject& self) { return self.table->names->a; })
        .def_prop_ro("name_b", [](const TableObject& self) { return self.table->names->b; })
        .def_prop_ro("distance", &column_of<&PairTable::distance, 1>,
                     nb::sig("def distance(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("lower", &column_of<&PairTable::lower, 1>,
                     nb::sig("def lower(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("upper", &column_of<&PairTable::upper, 1>,
                     nb::sig("def upper(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("point_a", &column_of<&PairTable::point_a, 3>,
                     nb::sig("def point_a(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("point_b", &column_of<&PairTable::point_b, 3>,
                     nb::sig("def point_b(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("normal", &column_of<&PairTable::normal, 3>,
                     nb::sig("def normal(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("origin_a", &column_of<&PairTable::origin_a, 3>,
                     nb::sig("def origin_a(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("origin_b", &column_of<&PairTable::origin_b, 3>,
                     nb::sig("def origin_b(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("feature_a", &column_of<&PairTable::feature_a, 1>,
                     nb::sig("def feature_a(self) -> numpy.typing.NDArray[numpy.int32]"))
        .def_prop_ro("feature_b", &column_of<&PairTable::feature_b, 1>,
                     nb::sig("def feature_b(self) -> numpy.typing.NDArray[numpy.int32]"))
        .def_prop_ro("work", [](const TableObject& self) { return self.table->work; })
        .def("__len__", [](const TableObject& self) { return self.table->size(); });

    nb::class_<GuardedScene>(m, "Scene", "Named rigid bodies and watched pairs.")
        .def(nb::init<>())
        .def(
            "add",
            [](GuardedScene& self, const std::string& name, const Shape& shape, const Matrix4& pose) {
                const Pose at = pose_from_matrix(pose.data());
                guarded(self, [&](Scene& scene) { return scene.add(name, *shape.body, at), 0; });
            },
            "name"_a, "shape"_a, "pose"_a)
        .def(
            "remove",
            [](GuardedScene& self, const std::string& name) {
                guarded(self, [&](Scene& scene) { return scene.remove(name), 0; });
            },
            "name"_a)
        .def(
            "rename",
            [](GuardedScene& self, const std::string& old, const std::string& name) {
                guarded(self, [&](Scene& scene) { return scene.rename(old, name), 0; });
            },
            "old"_a, "new"_a)
        .def(
            "watch",
            [](GuardedScene& self, const std::string& a, const std::string& b) {
                guarded(self, [&](Scene& scene) { return scene.watch(a, b), 0; });
            },
            "a"_a, "b"_a)
        .def("watch_all", [](GuardedScene& self) { guarded(self, [](Scene& scene) { return scene.watch_all(), 0; }); })
        .def(
            "ignore",
            [](GuardedScene& self, const std::string& a, const std::string& b) {
                guarded(self, [&](Scene& scene) { return scene.ignore(a, b), 0; });
            },
            "a"_a, "b"_a)
        .def(
            "move",
            [](GuardedScene& self, const std::string& name, const Matrix4& pose) {
                const Pose to = pose_from_matrix(pose.data());
                guarded(self, [&](Scene& scene) { return scene.move(name, to), 0; });
            },
            "name"_a, "pose"_a)
        .def("move_many", &move_many, "poses_by_name"_a,
             nb::sig("def move_many(self, poses_by_name: dict[str, typing.Any]) -> None"))
        .def(
            "pose",
            [](GuardedScene& self, const std::string& name) {
                return array_of(guarded(self, [&](Scene& scene) { return scene.pose(name); }));
            },
            "name"_a, nb::sig("def pose(self, name: str) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("names", [](GuardedScene& self) { return guarded(self, [](Scene& scene) { return scene.names(); }); })
        .def_prop_ro("pairs", [](GuardedScene& self) { return guarded(self, [](Scene& scene) { return scene.pairs(); }); })
        .def_prop_ro("ignored",
                     [](GuardedScene& self) { return guarded(self, [](Scene& scene) { return scene.ignored(); }); })
        .def(
            "distances",
            [](GuardedScene& self, int threads, double at_most) {
                if (at_most != at_most) throw std::invalid_argument("at_most must be a number, but it is NaN.");
                return TableObject{guarded(self, [&](Scene& scene) { return scene.distances(threads, at_most); })};
            },
            "threads"_a, "at_most"_a);
}

}  // namespace clearance
