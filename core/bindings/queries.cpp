#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <optional>

#include "bindings/operands.hpp"
#include "closest/kernels.hpp"
#include "parallel/pool.hpp"

namespace clearance {
namespace {

struct GapResult {
    Gap gap;
    Work work;
};

Question question_of(double at_most, double tolerance) {
    if (at_most != at_most) throw std::invalid_argument("at_most must be a number, but it is NaN.");
    if (!(tolerance >= 0.0 && tolerance < 1.0))
        throw std::invalid_argument("tolerance must be positive and below 1, but it is " + printed_number(tolerance) + ".");
    return {.at_most = at_most, .tolerance = tolerance};
}

// The normal of an earlier answer is where to begin; an answer that was cut off has none.
Vec3d direction_of(const Vec3d& normal) { return norm_sq(normal) > 0.0 ? normal : Vec3d{0, 0, 0}; }

void check_converged(const Gap& gap) {
    if (gap.converged) return;
    const nb::object type = nb::module_::import_("clearance.errors").attr("NotConverged");
    PyErr_SetObject(type.ptr(), type(gap.lower, gap.upper).ptr());
    throw nb::python_error();
}

GapResult single_distance(nb::handle a, nb::handle b, double at_most, double tolerance, const GapResult* hint) {
    Question question = question_of(at_most, tolerance);
    if (hint != nullptr) question.towards_b = direction_of(hint->gap.normal);
    const Operand one = operand_of(a, "a"), other = operand_of(b, "b");
    refuse_two_half_spaces(*one.body, *other.body);
    GapResult result{};
    result.gap = distance(*one.body, one.pose, *other.body, other.pose, question, result.work);
    check_converged(result.gap);
    return result;
}

bool single_within(nb::handle a, nb::handle b, double margin) {
    const Operand one = operand_of(a, "a"), other = operand_of(b, "b");
    refuse_two_half_spaces(*one.body, *other.body);
    Work work;
    const Question question{.at_most = margin, .near_enough = margin};
    return distance(*one.body, one.pose, *other.body, other.pose, question, work).distance <= margin;
}

void set3(double* column, std::size_t row, const Vec3d& v) {
    column[3 * row] = v.x, column[3 * row + 1] = v.y, column[3 * row + 2] = v.z;
}

const Element* only_element(const Body& body) {
    return body.parts().size() == 1 ? element_of(body.parts().front()) : nullptr;
}

using Rows3 = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

// Rows of two batches of equal length, or of one batch against one placed shape.
nb::tuple batch_distance(nb::handle a, nb::handle b, std::size_t rows, double at_most, double tolerance,
                         const std::optional<Rows3>& hint, bool only_within, int threads) {
    Question asked = question_of(at_most, tolerance);
    if (only_within) asked.near_enough = at_most;
    OperandBatch side_a, side_b;
    fill(side_a, a, "a");
    fill(side_b, b, "b");
    refuse_two_half_spaces(*side_a.body, *side_b.body);
    NumpyArray distances_ = new_array({rows}), lower = new_array({rows}), upper = new_array({rows});
    NumpyArray point_a = new_array({rows, 3}), point_b = new_array({rows, 3}), normal = new_array({rows, 3});
    std::vector<std::int32_t> feature_a(rows, 0), feature_b(rows, 0);
    std::vector<Work> work(rows);
    const GapColumns out{distances_.data(), lower.data(), upper.data(), point_a.data(), point_b.data(), normal.data()};
    std::atomic<std::size_t> unconverged = rows;
    const auto put = [&](std::size_t row, const Gap& gap) {
        out.distance[row] = gap.distance, out.lower[row] = gap.lower, out.upper[row] = gap.upper;
        set3(out.point_a, row, gap.point_a), set3(out.point_b, row, gap.point_b), set3(out.normal, row, gap.normal);
        feature_a[row] = gap.feature_a, feature_b[row] = gap.feature_b;
        if (!gap.converged) unconverged = row;
    };
    const Element *element_a = only_element(*side_a.body), *element_b = only_element(*side_b.body);
    const bool single_elements = element_a != nullptr && element_b != nullptr;
    const auto question_at = [&](std::size_t row) {
        Question question = asked;
        if (hint) question.towards_b = direction_of({(*hint)(row, 0), (*hint)(row, 1), (*hint)(row, 2)});
        return question;
    };
    {
        const nb::gil_scoped_release release;
        Pool::shared().for_blocks(rows, single_elements ? 1024 : 16, threads, [&](std::size_t begin, std::size_t end) {
            if (single_elements) {
                distances(*element_a, side_a.poses, *element_b, side_b.poses, out, begin, end);
                for (std::size_t row = begin; row < end; ++row) {
                    work[row].pairs = work[row].element_tests = 1;
                    if (out.lower[row] > at_most) put(row, farther_than_asked(out.lower[row]));
                }
                return;
            }
            for (std::size_t row = begin; row < end; ++row)
                put(row,
                    distance(*side_a.body, side_a.pose(row), *side_b.body, side_b.pose(row), question_at(row), work[row]));
        });
    }
    if (unconverged < rows)
        check_converged(
            {.distance = 0.0, .lower = out.lower[unconverged], .upper = out.upper[unconverged], .converged = false});
    Work total;
    for (const Work& one : work) total += one;
    const auto features = [rows](const std::vector<std::int32_t>& from) {
        auto* numbers = new std::int32_t[rows];
        std::copy(from.begin(), from.end(), numbers);
        const nb::capsule owner(numbers, [](void* p) noexcept { delete[] static_cast<std::int32_t*>(p); });
        return nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>(numbers, {rows}, owner);
    };
    return nb::make_tuple(distances_, lower, upper, point_a, point_b, normal, features(feature_a), features(feature_b),
                          total);
}

}  // namespace

void bind_queries(nb::module_& m) {
    nb::class_<Work>(m, "Work", "Counts of what a query did; they repeat on any machine.")
        .def_ro("pairs", &Work::pairs)
        .def_ro("volume_tests", &Work::volume_tests)
        .def_ro("element_tests", &Work::element_tests)
        .def_ro("triangle_tests", &Work::triangle_tests)
        .def_ro("iterations", &Work::iterations)
        .def("__repr__",
             [](const Work& w) {
                 return "Work(pairs=" + std::to_string(w.pairs) + ", volume_tests=" + std::to_string(w.volume_tests) +
                        ", element_tests=" + std::to_string(w.element_tests) +
                        ", triangle_tests=" + std::to_string(w.triangle_tests) +
                        ", iterations=" + std::to_string(w.iterations) + ")";
             })
        .def(
            "__eq__",
            [](const Work& a, nb::handle other) {
                if (!nb::isinstance<Work>(other)) return false;
                const auto& b = nb::cast<const Work&>(other);
                return a.pairs == b.pairs && a.volume_tests == b.volume_tests && a.element_tests == b.element_tests &&
                       a.triangle_tests == b.triangle_tests && a.iterations == b.iterations;
            },
            nb::arg().none())
        .def(
            "__getstate__",
            [](const Work& w) {
                return nb::make_tuple(w.pairs, w.volume_tests, w.element_tests, w.triangle_tests, w.iterations);
            },
            nb::sig("def __getstate__(self) -> tuple[int, ...]"))
        .def(
            "__setstate__",
            [](Work& w, nb::tuple s) {
                new (&w) Work{nb::cast<std::int64_t>(s[0]), nb::cast<std::int64_t>(s[1]), nb::cast<std::int64_t>(s[2]),
                              nb::cast<std::int64_t>(s[3]), nb::cast<std::int64_t>(s[4])};
            },
            nb::sig("def __setstate__(self, state: tuple[int, ...]) -> None"));

    nb::class_<GapResult>(m, "Gap", "How far two bodies are apart: point_b - point_a == distance * normal.")
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
            "feature_a", [](const GapResult& r) { return r.gap.feature_a; }, "Which part of a is closest.")
        .def_prop_ro(
            "feature_b", [](const GapResult& r) { return r.gap.feature_b; }, "Which part of b is closest.")
        .def_prop_ro("work", [](const GapResult& r) { return r.work; })
        .def("__repr__",
             [](const GapResult& r) {
                 char text[160];
                 std::snprintf(text, sizeof text, "Gap(distance=%.9g, lower=%.9g, upper=%.9g)", r.gap.distance, r.gap.lower,
                               r.gap.upper);
                 return std::string(text);
             })
        .def(
            "__getstate__",
            [](const GapResult& r) {
                const Gap& g = r.gap;
                return nb::make_tuple(g.distance, g.lower, g.upper, g.point_a.x, g.point_a.y, g.point_a.z, g.point_b.x,
                                      g.point_b.y, g.point_b.z, g.normal.x, g.normal.y, g.normal.z, g.feature_a, g.feature_b,
                                      r.work);
            },
            nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
        .def(
            "__setstate__",
            [](GapResult& r, nb::tuple s) {
                const auto number = [&s](std::size_t k) { return nb::cast<double>(s[k]); };
                new (&r) GapResult{{number(0),
                                    number(1),
                                    number(2),
                                    {number(3), number(4), number(5)},
                                    {number(6), number(7), number(8)},
                                    {number(9), number(10), number(11)},
                                    nb::cast<std::int32_t>(s[12]),
                                    nb::cast<std::int32_t>(s[13])},
                                   nb::cast<Work>(s[14])};
            },
            nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"));

    m.def("distance", &single_distance, "a"_a, "b"_a, "at_most"_a = std::numeric_limits<double>::infinity(),
          "tolerance"_a = 0.0, "hint"_a.none() = nb::none(),
          nb::sig("def distance(a: Shape | Placed, b: Shape | Placed, at_most: float = ..., tolerance: float = 0.0, hint: "
                  "Gap | None = None) -> Gap"),
          "Signed distance of two shapes at one pose each.");
    m.def("within", &single_within, "a"_a, "b"_a, "margin"_a,
          nb::sig("def within(a: Shape | Placed, b: Shape | Placed, margin: float) -> bool"),
          "Whether two shapes at one pose each are no farther apart than a margin.");
    m.def("distance_batch", &batch_distance, "a"_a, "b"_a, "rows"_a, "at_most"_a, "tolerance"_a, "hint"_a.none(),
          "only_within"_a, "threads"_a,
          nb::sig("def distance_batch(a: Shape | Placed | PlacedBatch, b: Shape | Placed | PlacedBatch, rows: int, at_most: "
                  "float, tolerance: float, hint: numpy.typing.NDArray[numpy.float64] | None, only_within: bool, threads: "
                  "int) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], Work]"),
          "Signed distances of batches of equal length, or of one batch against one placed shape.");
}

}  // namespace clearance
