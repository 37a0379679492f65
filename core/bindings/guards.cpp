#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>

#include "bindings/gaps.hpp"
#include "bindings/robots.hpp"
#include "bindings/shapes.hpp"
#include "bindings/sweeps.hpp"
#include "guard/guard.hpp"

namespace clearance {
namespace {

struct GuardObject {
    GuardObject(const CellObject& cell, const GuardModel::Options& model, const GuardOptions& options)
        : names(cell.names), links(cell.links), guard(*cell.cell, model, options) {}

    std::vector<std::string> names;  // of bodies
    std::size_t links;
    Guard guard;
    std::atomic_flag is_used = ATOMIC_FLAG_INIT;
};

// A guard has one user at a time: for as long as this lives nobody else may come.
class Use {
public:
    explicit Use(GuardObject& object) : object_(object) {
        if (object.is_used.test_and_set(std::memory_order_acquire))
            throw std::runtime_error("this guard is in use by another thread; make one for each.");
    }
    ~Use() { object_.is_used.clear(std::memory_order_release); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

private:
    GuardObject& object_;
};

struct VerdictObject {
    GuardVerdict verdict;
    std::string a, b;
};

const char* name_of(GuardReason reason) {
    switch (reason) {
        case GuardReason::clear:
            return "clear";
        case GuardReason::receding:
            return "receding";
        case GuardReason::pair:
            return "pair";
        case GuardReason::budget:
            return "budget";
        case GuardReason::input:
            return "input";
        case GuardReason::stale:
            break;
    }
    return "stale";
}

GuardReason reason_from(int number) {
    if (number < 0 || number > static_cast<int>(GuardReason::stale))
        throw nb::value_error("the reason of a verdict must be a number from 0 to 5.");
    return static_cast<GuardReason>(number);
}

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Columns = std::vector<std::vector<double>>;  // of Braking, in its order

Braking braking_of(const KinematicTree& tree, const Columns& columns) {
    if (columns.size() != 5) throw std::invalid_argument("braking has five columns.");
    for (const std::vector<double>& column : columns)
        if (column.size() != static_cast<std::size_t>(tree.velocities()))
            throw std::invalid_argument("braking has a number per velocity.");
    return {columns[0], columns[1], columns[2], columns[3], columns[4]};
}

void check_velocities(const KinematicTree& tree, const char* what, std::size_t count) {
    if (count != static_cast<std::size_t>(tree.velocities()))
        throw std::invalid_argument(std::string(what) + " must have " + std::to_string(tree.velocities()) +
                                    " values, but it has " + std::to_string(count) + ".");
}

std::pair<JointBox, double> braking_box_of(const KinematicTree& tree, const Columns& braking,
                                           const std::vector<double>& lower, const std::vector<double>& upper,
                                           const Doubles& q, const Doubles& qd, const std::optional<Doubles>& command) {
    check_width(tree, q.shape(0)), check_row(tree, q.data(), 0);
    check_velocities(tree, "qd", qd.shape(0));
    if (command) check_velocities(tree, "command", command->shape(0));
    JointBox box(tree);
    const auto check = [](const char* what, const double* numbers, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k)
            if (!(abs_of(numbers[k]) <= kLargestLength))
                throw std::invalid_argument(std::string(what) + " must be finite, but value " + std::to_string(k) + " is " +
                                            printed_number(numbers[k]) + ".");
    };
    check("qd", qd.data(), qd.shape(0));
    if (command) check("command", command->data(), command->shape(0));
    const double time = braking_box(tree, braking_of(tree, braking), lower.data(), upper.data(), q.data(), qd.data(),
                                    command ? command->data() : nullptr, box);
    check("the interval", box.low.data(), box.low.size()), check("the interval", box.high.data(), box.high.size());
    return {box, time};
}

void make_guard(GuardObject* self, const CellObject& cell, const Columns& braking,
                const std::pair<std::vector<double>, std::vector<double>>& limits, const JointBox& typical,
                const std::optional<std::vector<int>>& points_of_one, std::int32_t most_points,
                const std::vector<std::int32_t>& movers, const std::vector<double>& speeds, double margin,
                std::optional<std::int64_t> budget, double seconds, double timeout) {
    const KinematicTree& tree = cell.cell->tree();
    if (speeds.size() != movers.size()) throw std::invalid_argument("there is a speed per body that may move.");
    GuardOptions options{braking_of(tree, braking), limits.first, limits.second, margin};
    if (budget) options.budget = *budget;
    options.seconds = seconds, options.timeout = timeout, options.speeds = speeds;
    GuardModel::Options model{{}, most_points, typical, cell.links, movers};
    if (points_of_one) model.points_of_one.assign(cell.names.size(), *points_of_one);
    new (self) GuardObject(cell, model, options);
}

VerdictObject update(GuardObject& self, const std::optional<Doubles>& q, const std::optional<Doubles>& qd,
                     const std::optional<Doubles>& command, std::optional<double> time,
                     const std::vector<std::tuple<std::int32_t, Matrix4>>& moving) {
    const Use use(self);
    const KinematicTree& tree = self.guard.cell().tree();
    if (q) check_width(tree, q->shape(0));
    if (qd) check_velocities(tree, "qd", qd->shape(0));
    if (command) check_velocities(tree, "command", command->shape(0));
    std::vector<GuardInput::Seen> seen;
    for (const auto& [body, pose] : moving) seen.push_back({body, pose_from_matrix(pose.data())});
    const auto data = [](const std::optional<Doubles>& numbers) { return numbers ? numbers->data() : nullptr; };
    VerdictObject result{self.guard.update({data(q), data(qd), data(command), time, seen}), {}, {}};
    if (result.verdict.pair < 0) return result;
    const CellPair& pair = self.guard.cell().pairs()[static_cast<std::size_t>(result.verdict.pair)];
    result.a = self.names[static_cast<std::size_t>(pair.a)], result.b = self.names[static_cast<std::size_t>(pair.b)];
    return result;
}

// Many cycles, one after the other, and how long each took.
nb::tuple replay(GuardObject& self, const Rows& q, const Rows& qd, const std::optional<Rows>& command,
                 const std::optional<Doubles>& times) {
    const Use use(self);
    const KinematicTree& tree = self.guard.cell().tree();
    check_width(tree, q.shape(1)), check_velocities(tree, "qd", qd.shape(1));
    if (command) check_velocities(tree, "command", command->shape(1));
    const std::size_t count = q.shape(0);
    if (qd.shape(0) != count || (command && command->shape(0) != count) || (times && times->shape(0) != count))
        throw std::invalid_argument("q, qd, command and time must be of the same length.");
    std::vector<std::int32_t> reasons(count), pairs(count);
    NumpyArray lower = new_array({count}), distance = new_array({count}), contact = new_array({count}),
               work = new_array({count}), seconds = new_array({count});
    const auto row = [](const Rows& rows, std::size_t k) { return rows.data() + k * rows.shape(1); };
    const nb::gil_scoped_release release;
    for (std::size_t k = 0; k < count; ++k) {
        GuardInput input{row(q, k), row(qd, k)};
        if (command) input.command = row(*command, k);
        if (times) input.time = times->data()[k];
        const auto began = std::chrono::steady_clock::now();
        const GuardVerdict verdict = self.guard.update(input);
        seconds.data()[k] = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        reasons[k] = static_cast<std::int32_t>(verdict.reason), pairs[k] = verdict.pair;
        lower.data()[k] = verdict.lower;
        distance.data()[k] = verdict.pair < 0 ? std::numeric_limits<double>::quiet_NaN() : verdict.present.distance;
        contact.data()[k] = verdict.time_to_contact;
        work.data()[k] = static_cast<double>(verdict.work);
    }
    const nb::gil_scoped_acquire acquire;
    return nb::make_tuple(int32_array(reasons), int32_array(pairs), lower, distance, contact, work, seconds);
}

NumpyArray vector_of(const VerdictObject& v, const Vec3d& vector) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return array_of(v.verdict.pair < 0 ? Vec3d{nan, nan, nan} : vector);
}

// The volumes of links in the last cycle as (link, frame, points, radius).
nb::list swept_of(GuardObject& self) {
    const Use use(self);
    nb::list volumes;
    const Guard& guard = self.guard;
    for (const GuardPart& part : guard.model().parts()) {
        if (part.swept < 0 || static_cast<std::size_t>(part.cell_body) >= self.links) continue;
        const SweepPlan& plan = guard.model().plan();
        for (std::int32_t k = plan.first_volume(part.swept); k < plan.first_volume(part.swept + 1); ++k) {
            const SweptHull& hull = guard.swept().hull(k);
            volumes.append(nb::make_tuple(part.cell_body, plan.volumes()[static_cast<std::size_t>(k)].frame, points_of(hull),
                                          hull.radius));
        }
    }
    return volumes;
}

std::vector<double> bounds_of(GuardObject& self) {
    const Use use(self);
    std::vector<double> bounds;
    for (std::size_t k = 0; k < self.guard.cell().pairs().size(); ++k)
        bounds.push_back(self.guard.bound(static_cast<std::int32_t>(k)));
    return bounds;
}

}  // namespace

void bind_guards(nb::module_& m) {
    nb::class_<VerdictObject>(m, "Verdict", "What a guard says in one cycle.")
        .def_prop_ro(
            "stop", [](const VerdictObject& v) { return v.verdict.stop; }, "Whether the robot has to brake now.")
        .def_prop_ro(
            "reason", [](const VerdictObject& v) { return name_of(v.verdict.reason); },
            "'clear', 'receding', 'pair', 'budget', 'input' or 'stale'.")
        .def_prop_ro(
            "lower", [](const VerdictObject& v) { return v.verdict.lower; },
            "No two parts of the critical pair come nearer than this before the robot stands still.")
        .def_prop_ro(
            "pair", [](const VerdictObject& v) { return std::pair{v.a, v.b}; }, "Names of the critical pair.")
        .def_prop_ro(
            "distance",
            [](const VerdictObject& v) {
                return v.verdict.pair < 0 ? std::numeric_limits<double>::quiet_NaN() : v.verdict.present.distance;
            },
            "How far the critical pair is apart now.")
        .def_prop_ro(
            "normal", [](const VerdictObject& v) { return vector_of(v, v.verdict.present.normal); }, nb::rv_policy::move,
            nb::sig("def normal(self) -> numpy.typing.NDArray[numpy.float64]"), "From the first of the pair to the second.")
        .def_prop_ro(
            "point_a", [](const VerdictObject& v) { return vector_of(v, v.verdict.present.point_a); }, nb::rv_policy::move,
            nb::sig("def point_a(self) -> numpy.typing.NDArray[numpy.float64]"), "Where the first is nearest now.")
        .def_prop_ro(
            "point_b", [](const VerdictObject& v) { return vector_of(v, v.verdict.present.point_b); }, nb::rv_policy::move,
            nb::sig("def point_b(self) -> numpy.typing.NDArray[numpy.float64]"), "Where the second is nearest now.")
        .def_prop_ro(
            "time_to_contact", [](const VerdictObject& v) { return v.verdict.time_to_contact; },
            "Seconds until the critical pair would meet if all joints went on as fast as now; infinite if it does not.")
        .def_prop_ro(
            "stopping_time", [](const VerdictObject& v) { return v.verdict.stopping_time; },
            "Seconds until all joints stand still if they brake.")
        .def_prop_ro(
            "work", [](const VerdictObject& v) { return v.verdict.work; }, "Operations that counted towards the budget.")
        .def_prop_ro(
            "iterations", [](const VerdictObject& v) { return v.verdict.iterations; }, "Steps of GJK.")
        .def("__bool__",
             [](const VerdictObject&) -> bool {
                 throw nb::type_error("a verdict is neither true nor false; ask for its attribute `stop`.");
             })
        .def(
            "__getstate__",
            [](const VerdictObject& v) {
                const GuardVerdict& of = v.verdict;
                return nb::make_tuple(of.stop, static_cast<int>(of.reason), of.lower, of.pair,
                                      state_of(GapResult{of.present, {}}), of.time_to_contact, of.stopping_time, of.work,
                                      of.iterations, v.a, v.b);
            },
            nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
        .def(
            "__setstate__",
            [](VerdictObject& v, nb::handle s) {
                new (&v) VerdictObject{{nb::cast<bool>(s[0]), reason_from(nb::cast<int>(s[1])), nb::cast<double>(s[2]),
                                        nb::cast<std::int32_t>(s[3]), gap_from_state(s[4]).gap, nb::cast<double>(s[5]),
                                        nb::cast<double>(s[6]), nb::cast<std::int64_t>(s[7]), nb::cast<std::int64_t>(s[8])},
                                       nb::cast<std::string>(s[9]),
                                       nb::cast<std::string>(s[10])};
            },
            nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"))
        .def("__repr__", [](const VerdictObject& v) {
            return std::string("Verdict(stop=") + (v.verdict.stop ? "True" : "False") + ", reason='" +
                   name_of(v.verdict.reason) + "', lower=" + printed_number(v.verdict.lower) + ", pair=('" + v.a + "', '" +
                   v.b + "'))";
        });

    nb::class_<GuardObject>(m, "Guard", "Watches a robot: the table of bounds and the volumes of the last cycle.")
        .def("__init__", &make_guard, "cell"_a, "braking"_a, "limits"_a, "typical"_a, "points_of_one"_a.none(),
             "most_points"_a, "movers"_a, "speeds"_a, "margin"_a, "budget"_a.none(), "seconds"_a, "timeout"_a,
             nb::keep_alive<1, 2>())
        .def("update", &update, "q"_a.none(), "qd"_a.none(), "command"_a.none(), "time"_a.none(), "moving"_a,
             nb::sig(
                 "def update(self, q: numpy.typing.NDArray[numpy.float64] | None, qd: numpy.typing.NDArray[numpy.float64] "
                 "| None, command: numpy.typing.NDArray[numpy.float64] | None, time: float | None, moving: "
                 "list[tuple[int, "
                 "numpy.typing.NDArray[numpy.float64]]]) -> Verdict"))
        .def(
            "replay", &replay, "q"_a, "qd"_a, "command"_a.none(), "time"_a.none(),
            nb::sig("def replay(self, q: numpy.typing.NDArray[numpy.float64], qd: numpy.typing.NDArray[numpy.float64], "
                    "command: numpy.typing.NDArray[numpy.float64] | None, time: numpy.typing.NDArray[numpy.float64] | None) "
                    "-> tuple[numpy.typing.NDArray[typing.Any], ...]"))
        .def("reset",
             [](GuardObject& self) {
                 const Use use(self);
                 self.guard.reset();
             })
        .def_prop_ro("box", [](const GuardObject& self) { return self.guard.box(); })
        .def_prop_ro("points", [](const GuardObject& self) { return self.guard.model().plan().points(); })
        .def_prop_ro("volumes", [](const GuardObject& self) { return self.guard.model().plan().volumes().size(); })
        .def("swept", &swept_of,
             nb::sig("def swept(self) -> list[tuple[int, int, numpy.typing.NDArray[numpy.float64], float]]"))
        .def_prop_ro("bounds", &bounds_of);
    m.def("braking_box", &braking_box_of, "tree"_a, "braking"_a, "lower"_a, "upper"_a, "q"_a, "qd"_a, "command"_a.none(),
          nb::sig("def braking_box(tree: KinematicTree, braking: list[list[float]], lower: list[float], upper: list[float], "
                  "q: numpy.typing.NDArray[numpy.float64], qd: numpy.typing.NDArray[numpy.float64], command: "
                  "numpy.typing.NDArray[numpy.float64] | None) -> tuple[JointBox, float]"));
}

}  // namespace clearance
