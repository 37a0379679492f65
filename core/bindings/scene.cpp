#include "scene/scene.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "bindings/gaps.hpp"
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

// Settings of a search, and the front that it leaves behind.
struct SearchObject {
    SearchSettings settings;
    FrontSearch front;
    std::unique_ptr<std::mutex> mutex = std::make_unique<std::mutex>();  // one search at a time
};

SearchSettings settings_of(const std::string& order, const std::optional<std::string>& front, const std::string& raising,
                           bool reset) {
    SearchSettings settings;
    if (order != "best" && order != "depth")
        throw std::invalid_argument("order must be 'best' or 'depth', but it is '" + order + "'.");
    if (front && *front != "implicit" && *front != "explicit")
        throw std::invalid_argument("front must be None, 'implicit' or 'explicit', but it is '" + *front + "'.");
    if (raising != "single" && raising != "recursive")
        throw std::invalid_argument("raising must be 'single' or 'recursive', but it is '" + raising + "'.");
    settings.order = order == "best" ? SearchOrder::best : SearchOrder::depth;
    if (front) settings.front = *front == "implicit" ? FrontKind::implicit_nodes : FrontKind::explicit_nodes;
    settings.raise_recursively = raising == "recursive";
    settings.reset = reset;
    return settings;
}

NearestRules rules_of(SearchObject* search, double at_most) {
    if (at_most != at_most) throw std::invalid_argument("at_most must be a number, but it is NaN.");
    NearestRules rules{.at_most = at_most};
    if (search == nullptr) return rules;
    rules.order = search->settings.order;
    rules.starts_from_last = rules.passes_over = false;
    if (search->settings.front != FrontKind::none) rules.front = &search->front;
    return rules;
}

FrontSize size_of(const SearchObject& search) {
    const nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> alone(*search.mutex);
    return search.front.size();
}

struct NearestResult : GapResult {
    std::string body_a, body_b;
};

NearestResult nearest(GuardedScene& self, const std::vector<std::string>& a, const std::vector<std::string>& b,
                      SearchObject* search, double at_most, const NearestResult* hint) {
    NearestRules rules = rules_of(search, at_most);
    if (hint != nullptr) rules.starts_from_last = true;
    Scene::NamedNearest start;
    if (hint != nullptr) start = {{hint->gap, -1, -1, {}}, hint->body_a, hint->body_b};
    Scene::NamedNearest found = guarded(self, [&](Scene& scene) {
        std::unique_lock<std::mutex> alone;
        if (search != nullptr) alone = std::unique_lock(*search->mutex);
        Scene::NamedNearest nearest = scene.nearest(a, b, rules, hint == nullptr ? nullptr : &start);
        if (rules.front != nullptr) {
            const FrontSize size = search->front.size();
            nearest.nearest.work.front_size = static_cast<std::int64_t>(size.nodes);
            nearest.nearest.work.front_bytes = static_cast<std::int64_t>(size.bytes);
        }
        return nearest;
    });
    return {{found.nearest.gap, found.nearest.work}, std::move(found.a), std::move(found.b)};
}

// Columns of a batch: those of distance_batch, and numbers of bodies in the two groups.
nb::tuple nearest_of_rows(GuardedScene& self, const std::vector<std::string>& a, const std::vector<std::string>& b,
                          const nb::dict& poses_by_name, std::size_t rows, double at_most, int threads) {
    const NearestRules rules = rules_of(nullptr, at_most);
    std::vector<Scene::Motion> motions;
    for (const auto& [name, matrices] : poses_by_name) {
        const auto array = nb::cast<Matrices4>(matrices);
        Scene::Motion motion{nb::cast<std::string>(name), std::vector<Pose>(rows)};
        for (std::size_t k = 0; k < rows; ++k) motion.poses[k] = pose_from_matrix(array.data() + 16 * k);
        motions.push_back(std::move(motion));
    }
    const std::vector<NearestBodies> found =
        guarded(self, [&](Scene& scene) { return scene.nearest_of_rows(a, b, rules, motions, rows, threads); });
    GapRows gaps(rows);
    std::vector<std::int32_t> number_a(rows), number_b(rows);
    Work total;
    for (std::size_t k = 0; k < rows; ++k) {
        gaps.set(k, found[k].gap);
        number_a[k] = found[k].a, number_b[k] = found[k].b;
        total += found[k].work;
    }
    return nb::make_tuple(gaps.columns(), total, int32_array(number_a), int32_array(number_b));
}

void bind_search(nb::module_& m) {
    nb::class_<SearchObject>(m, "Search", "How a forest is searched, and the front that the last search left behind.")
        .def(
            "__init__",
            [](SearchObject* self, const std::string& order, const std::optional<std::string>& front,
               const std::string& raising, bool reset) {
                const SearchSettings settings = settings_of(order, front, raising, reset);
                new (self) SearchObject{settings, FrontSearch(settings)};
            },
            "order"_a = "best", "front"_a.none() = nb::none(), "raising"_a = "single", "reset"_a = true)
        .def_prop_ro("order", [](const SearchObject& s) { return s.settings.order == SearchOrder::best ? "best" : "depth"; })
        .def_prop_ro("front",
                     [](const SearchObject& s) -> std::optional<std::string> {
                         if (s.settings.front == FrontKind::none) return std::nullopt;
                         return s.settings.front == FrontKind::implicit_nodes ? "implicit" : "explicit";
                     })
        .def_prop_ro("raising", [](const SearchObject& s) { return s.settings.raise_recursively ? "recursive" : "single"; })
        .def_prop_ro("reset", [](const SearchObject& s) { return s.settings.reset; })
        .def_prop_ro(
            "front_size", [](const SearchObject& s) { return size_of(s).nodes; }, "Pairs of volumes in the front.")
        .def_prop_ro(
            "leaf_front_size", [](const SearchObject& s) { return size_of(s).leaves; }, "Pairs of leaves among them.")
        .def_prop_ro(
            "front_bytes", [](const SearchObject& s) { return size_of(s).bytes; }, "What the front takes in memory.")
        .def(
            "clear",
            [](SearchObject& s) {
                const nb::gil_scoped_release release;
                const std::lock_guard<std::mutex> alone(*s.mutex);
                s.front.clear();
            },
            "Forget the front.")
        .def("__repr__", [](const SearchObject& s) {
            const std::string front = s.settings.front == FrontKind::none             ? "None"
                                      : s.settings.front == FrontKind::implicit_nodes ? "'implicit'"
                                                                                      : "'explicit'";
            return std::string("Search(order='") + (s.settings.order == SearchOrder::best ? "best" : "depth") +
                   "', front=" + front + ", raising='" + (s.settings.raise_recursively ? "recursive" : "single") +
                   "', reset=" + (s.settings.reset ? "True" : "False") + ")";
        });
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

    bind_search(m);
    nb::class_<NearestResult, GapResult>(m, "Nearest", "The gap between the nearest bodies of two groups.")
        .def_ro("body_a", &NearestResult::body_a, "Name of the body of the first group; empty where none is near enough.")
        .def_ro("body_b", &NearestResult::body_b, "Name of the body of the second group.")
        .def("__repr__",
             [](const NearestResult& r) {
                 return "Nearest(distance=" + printed_number(r.gap.distance) + ", body_a='" + r.body_a + "', body_b='" +
                        r.body_b + "')";
             })
        .def(
            "__getstate__", [](const NearestResult& r) { return nb::make_tuple(state_of(r), r.body_a, r.body_b); },
            nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
        .def(
            "__setstate__",
            [](NearestResult& r, nb::handle s) {
                new (&r) NearestResult{gap_from_state(s[0]), nb::cast<std::string>(s[1]), nb::cast<std::string>(s[2])};
            },
            nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"));

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
            "threads"_a, "at_most"_a)
        .def(
            "nearest", &nearest, "group_a"_a, "group_b"_a, "search"_a.none(), "at_most"_a, "hint"_a.none(),
            nb::sig("def nearest(self, group_a: list[str], group_b: list[str], search: Search | None, at_most: float, hint: "
                    "Nearest | None) -> Nearest"))
        .def("nearest_of_rows", &nearest_of_rows, "group_a"_a, "group_b"_a, "poses_by_name"_a, "rows"_a, "at_most"_a,
             "threads"_a,
             nb::sig(
                 "def nearest_of_rows(self, group_a: list[str], group_b: list[str], poses_by_name: dict[str, typing.Any], "
                 "rows: int, at_most: float, threads: int) -> tuple[typing.Any, ...]"));
}

}  // namespace clearance
