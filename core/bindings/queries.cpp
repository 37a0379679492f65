#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "bindings/gaps.hpp"
#include "bindings/operands.hpp"
#include "bindings/quick_calls.hpp"
#include "closest/kernels.hpp"
#include "parallel/pool.hpp"

namespace clearance {
namespace {

Question question_of(double at_most, double tolerance) {
    if (at_most != at_most) throw std::invalid_argument("at_most must be a number, but it is NaN.");
    if (!(tolerance >= 0.0 && tolerance < 1.0))
        throw std::invalid_argument("tolerance must be positive and below 1, but it is " + printed_number(tolerance) + ".");
    return {.at_most = at_most, .tolerance = tolerance};
}

// The normal of an earlier answer is where to begin; an answer that was cut off has none.
Vec3d direction_of(const Vec3d& normal) { return norm_sq(normal) > 0.0 ? normal : Vec3d{0, 0, 0}; }

[[noreturn]] void refuse_unconverged(double lower, double upper) {
    const nb::object type = nb::module_::import_("clearance.errors").attr("NotConverged");
    PyErr_SetObject(type.ptr(), type(lower, upper).ptr());
    throw nb::python_error();
}

// A gap, made where Python keeps it.
struct NewGap {
    nb::object made = nb::inst_alloc(type_of<GapResult>());
    GapResult& result = *new (nb::inst_ptr<GapResult>(made)) GapResult{};

    NewGap(const Operand& a, const Operand& b, const Question& question) {
        result.gap = distance(*a.body, *a.pose, *b.body, *b.pose, question, result.work);
        nb::inst_mark_ready(made);
    }
};

nb::object single_distance(nb::handle a, nb::handle b, double at_most, double tolerance, const GapResult* hint) {
    Question question = question_of(at_most, tolerance);
    if (hint != nullptr) question.towards_b = direction_of(hint->gap.normal), question.nearest_before = &hint->gap;
    const Operand one = operand_of(a, "a"), other = operand_of(b, "b");
    refuse_two_half_spaces(*one.body, *other.body);
    NewGap gap(one, other, question);
    if (!gap.result.gap.converged) refuse_unconverged(gap.result.gap.lower, gap.result.gap.upper);
    return std::move(gap.made);
}

// A pair that is farther apart than a margin by no more than rounding is measured in full: whether it is within depends on
// its distance, not on where a search was allowed to stop.
Gap gap_within(const Body& a, const Pose& pose_a, const Body& b, const Pose& pose_b, const Gap& found, double margin,
               Work& work) {
    const auto reach = [](const Body& body, const Pose& pose) {
        return body.is_finite() ? largest(pose.translation) + largest(body.ball().centre) + body.ball().radius : 0.0;
    };
    const double rounding = 64.0 * kEpsilon * (reach(a, pose_a) + reach(b, pose_b) + margin);
    if (found.distance <= margin || found.lower > margin + rounding) return found;
    return distance(a, pose_a, b, pose_b, {}, work);
}

bool are_within(const Operand& a, const Operand& b, double margin) {
    Work work;
    const Question question{.at_most = margin, .near_enough = margin};
    const Gap found = distance(*a.body, *a.pose, *b.body, *b.pose, question, work);
    return gap_within(*a.body, *a.pose, *b.body, *b.pose, found, margin, work).distance <= margin;
}

bool single_within(nb::handle a, nb::handle b, double margin) {
    const Operand one = operand_of(a, "a"), other = operand_of(b, "b");
    refuse_two_half_spaces(*one.body, *other.body);
    return are_within(one, other, margin);
}

// ---- The same for calls with nothing but what is needed.

struct OperandPair {
    Operand a, b;
};

bool are_operands(PyObject* const* given, OperandPair& found) {
    return is_operand(given[0], found.a) && is_operand(given[1], found.b) && !are_half_spaces(*found.a.body, *found.b.body);
}

PyObject* quick_distance(PyObject* const* given, std::size_t count) {
    OperandPair pair;
    if (count != 2 || !are_operands(given, pair)) return nullptr;
    NewGap gap(pair.a, pair.b, Question{});
    return gap.result.gap.converged ? gap.made.release().ptr() : nullptr;
}

PyObject* quick_within(PyObject* const* given, std::size_t count) {
    OperandPair pair;
    if (count != 3 || !PyFloat_CheckExact(given[2]) || !are_operands(given, pair)) return nullptr;
    const double margin = PyFloat_AsDouble(given[2]);
    return margin >= 0.0 ? PyBool_FromLong(are_within(pair.a, pair.b, margin)) : nullptr;
}

PyObject* quick_collides(PyObject* const* given, std::size_t count) {
    OperandPair pair;
    if (count != 2 || !are_operands(given, pair)) return nullptr;
    return PyBool_FromLong(are_within(pair.a, pair.b, 0.0));
}

const Element* only_element(const Body& body) {
    return body.parts().size() == 1 ? element_of(body.parts().front()) : nullptr;
}

using Rows3 = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// What an earlier batch found: normals, then features and parts of a and b.
using HintColumns = std::tuple<Rows3, Integers, Integers, Integers, Integers>;

Gap hint_at(const HintColumns& hint, std::size_t row) {
    const auto& [normal, feature_a, feature_b, part_a, part_b] = hint;
    Gap gap{};
    gap.normal = {normal(row, 0), normal(row, 1), normal(row, 2)};
    gap.feature_a = feature_a(row), gap.feature_b = feature_b(row), gap.part_a = part_a(row), gap.part_b = part_b(row);
    return gap;
}

struct HintedQuestion {
    HintedQuestion(const Question& asked, const Gap& hint) : before(hint), question(asked) {
        question.towards_b = direction_of(before.normal), question.nearest_before = &before;
    }
    HintedQuestion(const HintedQuestion&) = delete;  // points to itself

    Gap before;
    Question question;
};

constexpr std::size_t kRowsAtATime = 128;  // pairs that wait for each other,
constexpr std::size_t kLeastRows = 64;     // and as many as are worth another thread

struct HintedRows {
    std::optional<HintedQuestion> row[kRowsAtATime];
};

// Rows of two batches of equal length, or of one batch against one placed shape.
nb::tuple batch_distance(nb::handle a, nb::handle b, std::size_t rows, double at_most, double tolerance,
                         const std::optional<HintColumns>& hint, bool only_within, int threads) {
    Question asked = question_of(at_most, tolerance);
    if (only_within) asked.near_enough = at_most;
    OperandBatch side_a, side_b;
    fill(side_a, a, "a");
    fill(side_b, b, "b");
    refuse_two_half_spaces(*side_a.body, *side_b.body);
    GapRows gaps(rows);
    const GapColumns& out = gaps.out;
    std::atomic<std::size_t> unconverged = rows;
    const auto put = [&](std::size_t row, const Gap& gap) {
        gaps.set(row, gap);
        if (!gap.converged) lower_to(unconverged, row);
    };
    const Element *element_a = only_element(*side_a.body), *element_b = only_element(*side_b.body);
    const bool single_elements = element_a != nullptr && element_b != nullptr;
    const auto ask_rows = [&](std::size_t begin, std::size_t end, Work& work) {
        std::optional<HintedRows> hinted;  // most batches have no hints, and need not make room for them
        if (hint) hinted.emplace();
        AskedPair pairs[kRowsAtATime];
        Gap found[kRowsAtATime];
        for (std::size_t row = begin; row < end; ++row) {
            const std::size_t k = row - begin;
            if (hint) hinted->row[k].emplace(asked, hint_at(*hint, row));
            const Question* question = hint ? &hinted->row[k]->question : &asked;
            pairs[k] = {side_a.body, &side_a.pose(row), side_b.body, &side_b.pose(row), question};
        }
        distances({pairs, end - begin}, found, work);
        for (std::size_t k = 0; k < end - begin && only_within; ++k)
            found[k] = gap_within(*pairs[k].a, *pairs[k].pose_a, *pairs[k].b, *pairs[k].pose_b, found[k], at_most, work);
        for (std::size_t row = begin; row < end; ++row) put(row, found[row - begin]);
    };
    Work total;
    std::mutex adding;
    {
        const nb::gil_scoped_release release;
        Pool::shared().for_rows(rows, kLeastRows, threads, [&](std::size_t begin, std::size_t end) {
            Work work;
            if (single_elements) {
                distances(*element_a, side_a.poses, *element_b, side_b.poses, out, begin, end);
                work.pairs = work.element_tests = static_cast<std::int64_t>(end - begin);
                for (std::size_t row = begin; row < end; ++row)
                    if (out.lower[row] > at_most) put(row, farther_than_asked(out.lower[row]));
            } else {
                for (std::size_t row = begin; row < end; row += kRowsAtATime)
                    ask_rows(row, std::min(row + kRowsAtATime, end), work);
            }
            const std::lock_guard<std::mutex> lock(adding);
            total += work;
        });
    }
    if (unconverged < rows) refuse_unconverged(out.lower[unconverged], out.upper[unconverged]);
    return nb::make_tuple(gaps.columns(), total);
}

struct Counter {
    const char* name;
    std::int64_t Work::* counter;
};
constexpr Counter kCounters[] = {{"pairs", &Work::pairs},
                                 {"volume_tests", &Work::volume_tests},
                                 {"element_tests", &Work::element_tests},
                                 {"triangle_tests", &Work::triangle_tests},
                                 {"iterations", &Work::iterations},
                                 {"queue_operations", &Work::queue_operations},
                                 {"front_size", &Work::front_size},
                                 {"front_bytes", &Work::front_bytes}};

std::vector<std::int64_t> counters_of(const Work& work) {
    std::vector<std::int64_t> counts;
    for (const Counter& counter : kCounters) counts.push_back(work.*counter.counter);
    return counts;
}

}  // namespace

void bind_queries(nb::module_& m) {
    nb::class_<Work>(m, "Work", "Counts of what a query did; they repeat on any machine.")
        .def_ro("pairs", &Work::pairs)
        .def_ro("volume_tests", &Work::volume_tests)
        .def_ro("element_tests", &Work::element_tests)
        .def_ro("triangle_tests", &Work::triangle_tests)
        .def_ro("iterations", &Work::iterations)
        .def_ro("queue_operations", &Work::queue_operations)
        .def_ro("front_size", &Work::front_size)
        .def_ro("front_bytes", &Work::front_bytes)
        .def("__repr__",
             [](const Work& w) {
                 std::string text = "Work(";
                 for (const auto& [name, counter] : kCounters)
                     text += (text.back() == '(' ? "" : ", ") + std::string(name) + "=" + std::to_string(w.*counter);
                 return text + ")";
             })
        .def(
            "__eq__",
            [](const Work& a, nb::handle other) {
                return nb::isinstance<Work>(other) && counters_of(a) == counters_of(nb::cast<const Work&>(other));
            },
            nb::arg().none())
        .def(
            "__getstate__", [](const Work& w) { return counters_of(w); }, nb::sig("def __getstate__(self) -> list[int]"))
        .def(
            "__setstate__",
            [](Work& w, const std::vector<std::int64_t>& counts) {
                new (&w) Work{};
                for (std::size_t k = 0; k < std::size(kCounters); ++k) w.*kCounters[k].counter = counts.at(k);
            },
            nb::sig("def __setstate__(self, state: list[int]) -> None"));

    nb::class_<GapResult>(m, "Gap", nb::pooled(kPooled),
                          "How far two bodies are apart: point_b - point_a == distance * normal.")
        .def_prop_ro(
            "distance", [](const GapResult& r) { return r.gap.distance; }, "Metres; negative: penetration.")
        .def_prop_ro(
            "lower", [](const GapResult& r) { return r.gap.lower; }, "Proved: the true distance is not less.")
        .def_prop_ro(
            "upper", [](const GapResult& r) { return r.gap.upper; }, "Proved: the true distance is not more.")
        .def_prop_ro(
            "point_a", [](const GapResult& r) { return array_of(r.gap.point_a); }, nb::rv_policy::move,
            "Witness point on a, in the world.", nb::sig("def point_a(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro(
            "point_b", [](const GapResult& r) { return array_of(r.gap.point_b); }, nb::rv_policy::move,
            "Witness point on b, in the world.", nb::sig("def point_b(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro(
            "normal", [](const GapResult& r) { return array_of(r.gap.normal); }, nb::rv_policy::move,
            "Unit vector from a to b: moving b along it opens the gap.",
            nb::sig("def normal(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro(
            "feature_a", [](const GapResult& r) { return r.gap.feature_a; },
            "Its closest triangle where a is a mesh there, or point where it is a cloud, else its closest part.")
        .def_prop_ro(
            "feature_b", [](const GapResult& r) { return r.gap.feature_b; },
            "Its closest triangle where b is a mesh there, or point where it is a cloud, else its closest part.")
        .def_prop_ro(
            "part_a", [](const GapResult& r) { return r.gap.part_a; }, "Which part of a is closest.")
        .def_prop_ro(
            "part_b", [](const GapResult& r) { return r.gap.part_b; }, "Which part of b is closest.")
        .def_prop_ro("work", [](const GapResult& r) { return r.work; })
        .def("__repr__",
             [](const GapResult& r) {
                 char text[160];
                 std::snprintf(text, sizeof text, "Gap(distance=%.9g, lower=%.9g, upper=%.9g)", r.gap.distance, r.gap.lower,
                               r.gap.upper);
                 return std::string(text);
             })
        .def(
            "__getstate__", [](const GapResult& r) { return state_of(r); },
            nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
        .def(
            "__setstate__", [](GapResult& r, const nb::tuple& s) { new (&r) GapResult(gap_from_state(s)); },
            nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"));

    m.def("distance", &single_distance, "a"_a.none(), "b"_a.none(), "at_most"_a = std::numeric_limits<double>::infinity(),
          "tolerance"_a = 0.0, "hint"_a.none() = nb::none(),
          nb::sig("def distance(a: Shape | Placed, b: Shape | Placed, at_most: float = ..., tolerance: float = 0.0, hint: "
                  "Gap | None = None) -> Gap"),
          "Signed distance of two shapes at one pose each.");
    m.def("within", &single_within, "a"_a.none(), "b"_a.none(), "margin"_a,
          nb::sig("def within(a: Shape | Placed, b: Shape | Placed, margin: float) -> bool"),
          "Whether two shapes at one pose each are no farther apart than a margin.");

    constexpr const char* stands_for = "Stand for a function, and answer calls with one shape each and no option at once.";
    m.def(
        "quick_distance", [](nb::handle function) { return quick_call(&quick_distance, function); }, "function"_a,
        nb::sig("def quick_distance(function: typing.Any) -> typing.Any"), stands_for);
    m.def(
        "quick_within", [](nb::handle function) { return quick_call(&quick_within, function); }, "function"_a,
        nb::sig("def quick_within(function: typing.Any) -> typing.Any"), stands_for);
    m.def(
        "quick_collides", [](nb::handle function) { return quick_call(&quick_collides, function); }, "function"_a,
        nb::sig("def quick_collides(function: typing.Any) -> typing.Any"), stands_for);
    m.def("distance_batch", &batch_distance, "a"_a.none(), "b"_a.none(), "rows"_a, "at_most"_a, "tolerance"_a,
          "hint"_a.none(), "only_within"_a, "threads"_a,
          nb::sig("def distance_batch(a: Shape | Placed | PlacedBatch, b: Shape | Placed | PlacedBatch, rows: int, at_most: "
                  "float, tolerance: float, hint: tuple[typing.Any, ...] | None, only_within: bool, threads: int) -> "
                  "tuple[tuple[typing.Any, ...], Work]"),
          "Signed distances of batches of equal length, or of one batch against one placed shape.");
}

}  // namespace clearance
