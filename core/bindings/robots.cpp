#include "bindings/robots.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bindings/gaps.hpp"
#include "bindings/interrupts.hpp"
#include "bindings/numpy.hpp"
#include "bindings/shapes.hpp"
#include "motion/check_path.hpp"
#include "parallel/pool.hpp"
#include "robot/checks.hpp"

namespace clearance {
namespace {

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Points = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using JointTuple =
    std::tuple<std::string, std::int32_t, std::int32_t, Matrix4, Vector3, std::int32_t, std::int32_t, double, double>;

constexpr std::size_t kBlock = 32;  // configurations that a thread takes at a time, or a multiple,
constexpr std::size_t kAsked = 8;   // and after which it asks whether to stop

constexpr std::size_t kPairsTogether = 256;  // enough for all lanes, but not for all caches

JointKind kind_of(const std::string& name) {
    if (name == "revolute" || name == "continuous") return JointKind::revolute;
    if (name == "prismatic") return JointKind::prismatic;
    if (name == "planar") return JointKind::planar;
    if (name == "floating") return JointKind::floating;
    if (name == "ball") return JointKind::ball;
    return JointKind::fixed;
}

std::shared_ptr<const KinematicTree> kinematic_tree(std::size_t links, const std::vector<JointTuple>& tuples) {
    std::vector<Joint> joints;
    for (const auto& [kind, parent, child, origin, axis, value, velocity, multiplier, offset] : tuples)
        joints.push_back({kind_of(kind),
                          parent,
                          child,
                          pose_from_matrix(origin.data()),
                          {axis(0), axis(1), axis(2)},
                          value,
                          velocity,
                          multiplier,
                          offset});
    return std::make_shared<const KinematicTree>(links, joints);
}

void check_rows(const KinematicTree& tree, const Rows& q) {
    check_width(tree, q.shape(1));
    for (std::size_t row = 0; row < q.shape(0); ++row) check_row(tree, q.data() + row * q.shape(1), row);
}

void write_pose(const Pose& pose, double* to) {
    const Vec3d& t = pose.translation;
    const double shift[3] = {t.x, t.y, t.z};
    for (int i = 0; i < 3; ++i) {
        const Vec3d& row = pose.rotation.row[i];
        *to++ = row.x, *to++ = row.y, *to++ = row.z, *to++ = shift[i];
    }
    *to++ = 0.0, *to++ = 0.0, *to++ = 0.0, *to = 1.0;
}

NumpyArray poses_of(const KinematicTree& tree, const Rows& q, const Matrix4& base, int threads) {
    check_rows(tree, q);
    const Pose world_from_base = pose_from_matrix(base.data());
    NumpyArray result = new_array({q.shape(0), tree.links(), 4, 4});
    double* const to = result.data();
    const nb::gil_scoped_release release;
    Pool::shared().for_rows(q.shape(0), kBlock, threads, [&](std::size_t begin, std::size_t end) {
        std::vector<Pose> frames(tree.frames().size());
        for (std::size_t row = begin; row < end; ++row) {
            tree.place(q.data() + row * q.shape(1), world_from_base, frames.data());
            for (std::size_t link = 0; link < tree.links(); ++link) {
                const Pose& frame = frames[static_cast<std::size_t>(tree.frame_of(link))];
                write_pose(frame * tree.frame_from_link(link), to + 16 * (row * tree.links() + link));
            }
        }
    });
    return result;
}

void check_link(const KinematicTree& tree, std::int32_t link) {
    if (link < 0 || static_cast<std::size_t>(link) >= tree.links()) throw nb::index_error("there is no such link.");
}

Vec3d vector_at(const Points& points, std::size_t row) { return {points(row, 0), points(row, 1), points(row, 2)}; }

// Velocities of points given in the world, by joint velocities; without points those of the origin of the link.
NumpyArray jacobians_of(const KinematicTree& tree, const Rows& q, const Matrix4& base, std::int32_t link,
                        const std::optional<Points>& points, int threads) {
    check_rows(tree, q), check_link(tree, link);
    if (points && points->shape(0) != q.shape(0)) throw std::invalid_argument("there must be a point per configuration.");
    const Pose world_from_base = pose_from_matrix(base.data());
    const auto of = static_cast<std::size_t>(link), columns = static_cast<std::size_t>(tree.velocities());
    NumpyArray result = new_array({q.shape(0), 3, columns});
    double* const to = result.data();
    const nb::gil_scoped_release release;
    Pool::shared().for_rows(q.shape(0), kBlock, threads, [&](std::size_t begin, std::size_t end) {
        std::vector<Pose> frames(tree.frames().size());
        for (std::size_t row = begin; row < end; ++row) {
            tree.place(q.data() + row * q.shape(1), world_from_base, frames.data());
            const std::int32_t frame = tree.frame_of(of);
            const Vec3d origin = frames[static_cast<std::size_t>(frame)] * tree.frame_from_link(of).translation;
            const Vec3d point = points ? vector_at(*points, row) : origin;
            double* rows = to + 3 * columns * row;
            std::fill(rows, rows + 3 * columns, 0.0);
            for (std::size_t c = 0; c < 3; ++c)
                tree.add_velocity(frames.data(), frame, point, kNoTurn.row[c], 1.0, rows + columns * c);
        }
    });
    return result;
}

// d(distance) by joint velocities: how fast the witness points move apart along the normal. A link of -1 stands still.
NumpyArray gradients_of(const KinematicTree& tree, const Rows& q, const Matrix4& base, const Integers& link_a,
                        const Integers& link_b, const Points& point_a, const Points& point_b, const Points& normal) {
    check_rows(tree, q);
    const Pose world_from_base = pose_from_matrix(base.data());
    const auto columns = static_cast<std::size_t>(tree.velocities());
    NumpyArray result = new_array({q.shape(0), columns});
    std::vector<Pose> frames(tree.frames().size());
    for (std::size_t row = 0; row < q.shape(0); ++row) {
        double* to = result.data() + columns * row;
        std::fill(to, to + columns, 0.0);
        tree.place(q.data() + row * q.shape(1), world_from_base, frames.data());
        const auto add = [&](std::int32_t link, const Points& points, double sign) {
            if (link < 0) return;
            check_link(tree, link);
            tree.add_velocity(frames.data(), tree.frame_of(static_cast<std::size_t>(link)), vector_at(points, row),
                              vector_at(normal, row), sign, to);
        };
        add(link_a(row), point_a, -1.0), add(link_b(row), point_b, 1.0);
    }
    return result;
}

NumpyArray interpolate(const KinematicTree& tree, const Rows& q, const Doubles& times) {
    check_rows(tree, q);
    const double end = static_cast<double>(q.shape(0)) - 1.0;
    for (std::size_t k = 0; k < times.shape(0); ++k)
        if (!(times(k) >= 0.0 && times(k) <= end))
            throw std::invalid_argument("t must be from 0 to " + printed_number(end) + ", but it is " +
                                        printed_number(times(k)) + ".");
    const Waypoints path(tree, q.data(), q.shape(0));
    NumpyArray result = new_array({times.shape(0), q.shape(1)});
    for (std::size_t k = 0; k < times.shape(0); ++k) path.at(times(k), result.data() + k * q.shape(1));
    return result;
}

// The gap of the nearest pair of a robot.
struct RobotGapResult : GapResult {
    std::string link_a, link_b;
};

LinkBodies link_bodies(std::shared_ptr<const KinematicTree> tree,
                       const std::vector<std::tuple<std::string, const Shape*, std::int32_t>>& links) {
    LinkBodies of{std::move(tree), {}, {}};
    for (const auto& [name, shape, link] : links) {
        check_link(*of.tree, link);
        const auto number = static_cast<std::size_t>(link);
        std::vector<Part> parts;
        for (const Part& part : shape->body->parts()) parts.push_back(moved(part, of.tree->frame_from_link(number)));
        Body body(std::move(parts));
        const OrientedBox box = box_around(body);
        of.bodies.push_back({std::move(body), of.tree->frame_of(number), Pose{}, box});
        of.names.push_back(name);
    }
    return of;
}

CellObject cell_of(const LinkBodies& links, const Matrix4& base,
                   const std::vector<std::tuple<std::string, const Shape*, Matrix4>>& obstacles,
                   const std::vector<std::tuple<std::int32_t, std::int32_t, double>>& pairs) {
    CellObject object{nullptr, links.names, links.names.size()};
    const Pose world_from_base = pose_from_matrix(base.data());
    std::vector<CellBody> bodies = links.bodies;
    for (CellBody& body : bodies) body.stand = world_from_base;
    for (const auto& [name, shape, pose] : obstacles) {
        bodies.push_back({*shape->body, 0, pose_from_matrix(pose.data()), box_around(*shape->body)});
        object.names.push_back(name);
    }
    std::vector<CellPair> checked;
    for (const auto& [a, b, margin] : pairs) {
        const auto exists = [&](std::int32_t body) { return body >= 0 && static_cast<std::size_t>(body) < bodies.size(); };
        if (!exists(a) || !exists(b)) throw nb::index_error("there is no such body.");
        const auto is_finite = [&](std::int32_t body) { return bodies[static_cast<std::size_t>(body)].body.is_finite(); };
        if (!is_finite(a) && !is_finite(b))
            throw std::invalid_argument("'" + object.names[static_cast<std::size_t>(a)] + "' and '" +
                                        object.names[static_cast<std::size_t>(b)] +
                                        "' both contain a half-space: they have no distance.");
        checked.push_back({a, b, margin});
    }
    object.cell = std::make_unique<Cell>(links.tree, world_from_base, std::move(bodies), std::move(checked));
    return object;
}

// One configuration, taken from a plain array directly.
void take_one(const Cell& cell, Posture& posture, nb::handle q) {
    const auto take = [&](const double* row, std::size_t length) {
        check_width(cell.tree(), length);
        check_row(cell.tree(), row, 0);
        posture.take(row);
    };
    std::size_t length = 0;
    if (const double* row = plain_row(q.ptr(), length)) return take(row, length);
    const auto read = nb::cast<Doubles>(q);
    take(read.data(), read.shape(0));
}

bool is_clear_one(const CellObject& self, nb::handle q, double margin) {
    const Cell& cell = *self.cell;
    const Cell::Lease posture(cell);
    take_one(cell, *posture, q);
    Work work;
    return is_clear(cell, *posture, margin, work);
}

// Calls work_on(begin, end, interrupts) for all rows, on several threads; gives the work of all of them.
template <class WorkOn>
Work for_blocks_of_rows(std::size_t rows, int threads, const WorkOn& work_on) {
    Interrupts interrupts;
    Work total;
    {
        const nb::gil_scoped_release release;
        std::mutex mutex;
        Pool::shared().for_rows(rows, kBlock, threads, [&](std::size_t begin, std::size_t end) {
            const Work work = work_on(begin, end, interrupts);
            const std::lock_guard<std::mutex> lock(mutex);
            total += work;
        });
    }
    interrupts.raise_if_wanted();
    return total;
}

// Calls look(posture, row, work) for all rows.
template <class Look>
Work for_rows(const Cell& cell, const Rows& q, int threads, const Look& look) {
    return for_blocks_of_rows(q.shape(0), threads, [&](std::size_t begin, std::size_t end, Interrupts& interrupts) {
        const Cell::Lease posture(cell);
        Work work;
        for (std::size_t row = begin; row < end; ++row) {
            if (row % kAsked == 0 && interrupts.wanted()) break;
            posture->take(q.data() + row * q.shape(1));
            look(*posture, row, work);
        }
        return work;
    });
}

// Configurations that are looked at together, each by a posture of its own.
class Postures {
public:
    Postures(const Cell& cell, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k)
            taken_.push_back(&**leases_.emplace_back(std::make_unique<Cell::Lease>(cell)));
    }
    // As many as there are, or fewer.
    std::span<Posture* const> take(const double* rows, std::size_t count, std::size_t width) {
        for (std::size_t k = 0; k < count; ++k) taken_[k]->take(rows + k * width);
        return std::span(taken_).first(count);
    }

private:
    std::vector<std::unique_ptr<Cell::Lease>> leases_;
    std::vector<Posture*> taken_;
};

nb::object is_clear_rows(const CellObject& self, const Rows& q, double margin, int threads) {
    const Cell& cell = *self.cell;
    check_rows(cell.tree(), q);
    auto* verdicts = new bool[q.shape(0)];
    const nb::capsule owner(verdicts, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
    for_rows(cell, q, threads,
             [&](Posture& posture, std::size_t row, Work& work) { verdicts[row] = is_clear(cell, posture, margin, work); });
    return nb::cast(nb::ndarray<nb::numpy, bool, nb::ndim<1>>(verdicts, {q.shape(0)}, owner));
}

RobotGapResult nearest_one(const CellObject& self, nb::handle q, double at_most) {
    const Cell& cell = *self.cell;
    const Cell::Lease posture(cell);
    take_one(cell, *posture, q);
    Work work;
    const NearestPair found = nearest(cell, *posture, at_most, work);
    RobotGapResult result{{found.gap, work}, {}, {}};
    if (found.pair < 0) return result;
    const CellPair& pair = cell.pairs()[static_cast<std::size_t>(found.pair)];
    result.link_a = self.names[static_cast<std::size_t>(pair.a)];
    result.link_b = self.names[static_cast<std::size_t>(pair.b)];
    return result;
}

nb::tuple nearest_rows(const CellObject& self, const Rows& q, double at_most, int threads) {
    const Cell& cell = *self.cell;
    check_rows(cell.tree(), q);
    GapRows gaps(q.shape(0));
    std::vector<std::int32_t> pairs(q.shape(0));
    const Work total = for_rows(cell, q, threads, [&](Posture& posture, std::size_t row, Work& work) {
        const NearestPair found = nearest(cell, posture, at_most, work);
        gaps.set(row, found.gap);
        pairs[row] = found.pair;
    });
    return nb::make_tuple(gaps.columns(), total, int32_array(pairs));
}

nb::tuple all_rows(const CellObject& self, const Rows& q, double at_most, int threads) {
    const Cell& cell = *self.cell;
    check_rows(cell.tree(), q);
    const std::size_t pairs = cell.pairs().size(), width = q.shape(1);
    const std::size_t together = std::clamp<std::size_t>(kPairsTogether / std::max<std::size_t>(pairs, 1), 1, kAsked);
    GapRows gaps(q.shape(0) * pairs);
    const Work total =
        for_blocks_of_rows(q.shape(0), threads, [&](std::size_t begin, std::size_t end, Interrupts& interrupts) {
            Postures postures(cell, std::min(together, end - begin));
            AskedGaps asked({.at_most = at_most});
            thread_local std::vector<Gap> found;  // as large as the pages of many links: made once
            found.resize(together * pairs);
            Work work;
            for (std::size_t row = begin; row < end && !interrupts.wanted(); row += together) {
                const std::size_t count = std::min(together, end - row);
                all_gaps(cell, postures.take(q.data() + row * width, count, width), asked, found.data(), work);
                for (std::size_t k = 0; k < count * pairs; ++k) gaps.set(row * pairs + k, found[k]);
            }
            return work;
        });
    return nb::make_tuple(gaps.columns(), total);
}

// How many configurations every pair touches in.
std::vector<std::int64_t> hits_of_rows(const CellObject& self, const Rows& q, int threads) {
    const Cell& cell = *self.cell;
    check_rows(cell.tree(), q);
    std::vector<std::int64_t> hits(cell.pairs().size());
    std::mutex mutex;
    for_rows(cell, q, threads, [&](Posture& posture, std::size_t, Work& work) {
        std::vector<Gap> found(hits.size());
        AskedGaps asked({.at_most = 0.0, .near_enough = 0.0});
        Posture* const one = &posture;
        all_gaps(cell, {&one, 1}, asked, found.data(), work);
        const std::lock_guard<std::mutex> lock(mutex);
        for (std::size_t k = 0; k < hits.size(); ++k) hits[k] += found[k].distance <= 0.0;
    });
    return hits;
}

nb::tuple tuple_of(const PathReport& report, const Path& path, int dof) {
    NumpyArray q = new_array({static_cast<std::size_t>(dof)});
    path.at(report.t_worst, q.data());
    return nb::make_tuple(report.clear, report.lower, report.upper, report.pair, q, report.t_worst, report.first_violation,
                          report.configurations, report.work);
}

nb::tuple check_waypoints(const CellObject& self, const Rows& q, double margin, double tolerance) {
    const Cell& cell = *self.cell;
    check_rows(cell.tree(), q);
    if (q.shape(0) == 0) throw std::invalid_argument("waypoints must be at least one configuration.");
    const Waypoints path(cell.tree(), q.data(), q.shape(0));
    PathReport report;
    Interrupts interrupts;
    {
        const nb::gil_scoped_release release;
        report = check_path(cell, path, {margin, tolerance, [&] { return interrupts.wanted(); }});
    }
    interrupts.raise_if_wanted();
    return tuple_of(report, path, cell.tree().dof());
}

nb::tuple check_function(const CellObject& self, const nb::callable& function, const Doubles& rates, double margin,
                         double tolerance) {
    const Cell& cell = *self.cell;
    const auto dof = static_cast<std::size_t>(cell.tree().dof());
    const FreePath path(
        [&](double t, double* q) {
            const auto row = nb::cast<Doubles>(function(t));
            check_width(cell.tree(), row.shape(0));
            check_row(cell.tree(), row.data(), 0);
            std::copy(row.data(), row.data() + dof, q);
        },
        std::vector<double>(rates.data(), rates.data() + rates.shape(0)));
    return tuple_of(check_path(cell, path, {margin, tolerance, {}}), path, cell.tree().dof());
}

}  // namespace

void check_row(const KinematicTree& tree, const double* q, std::size_t row) {
    for (int k = 0; k < tree.dof(); ++k)
        if (!(std::fabs(q[k]) <= kLargestLength))
            throw std::invalid_argument("q must be finite, but value " + std::to_string(k) + " of configuration " +
                                        std::to_string(row) + " is " + printed_number(q[k]) + ".");
    for (const Frame& frame : tree.frames()) {
        if (!has_quaternion(frame.kind)) continue;
        const double* at = q + frame.value + values_before_quaternion(frame.kind);
        const double length_sq = at[0] * at[0] + at[1] * at[1] + at[2] * at[2] + at[3] * at[3];
        if (!(length_sq > 1e-200 && length_sq < 1e200))
            throw std::invalid_argument("q has no turn: the quaternion of configuration " + std::to_string(row) +
                                        " has the length " + printed_number(std::sqrt(length_sq)) + ".");
    }
}

void check_width(const KinematicTree& tree, std::size_t width) {
    if (width != static_cast<std::size_t>(tree.dof()))
        throw std::invalid_argument("q must have " + std::to_string(tree.dof()) + " values per configuration, but it has " +
                                    std::to_string(width) + ".");
}

void bind_robots(nb::module_& m) {
    nb::class_<KinematicTree>(m, "KinematicTree", "Links and joints without their shapes.")
        .def_prop_ro("dof", &KinematicTree::dof)
        .def_prop_ro("velocities", &KinematicTree::velocities)
        .def(
            "frame_of",
            [](const KinematicTree& tree, std::int32_t link) {
                check_link(tree, link);
                return tree.frame_of(static_cast<std::size_t>(link));
            },
            "link"_a, "Number of the moving frame that a link is fixed to; 0 is the base.")
        .def("poses", &poses_of, "q"_a, "base"_a, "threads"_a,
             nb::sig("def poses(self, q: numpy.typing.NDArray[numpy.float64], base: numpy.typing.NDArray[numpy.float64], "
                     "threads: int) -> numpy.typing.NDArray[numpy.float64]"))
        .def("jacobians", &jacobians_of, "q"_a, "base"_a, "link"_a, "points"_a.none(), "threads"_a,
             nb::sig("def jacobians(self, q: numpy.typing.NDArray[numpy.float64], base: "
                     "numpy.typing.NDArray[numpy.float64], link: int, points: numpy.typing.NDArray[numpy.float64] | None, "
                     "threads: int) -> numpy.typing.NDArray[numpy.float64]"))
        .def("gradients", &gradients_of, "q"_a, "base"_a, "link_a"_a, "link_b"_a, "point_a"_a, "point_b"_a, "normal"_a,
             nb::sig("def gradients(self, q: numpy.typing.NDArray[numpy.float64], base: "
                     "numpy.typing.NDArray[numpy.float64], link_a: numpy.typing.NDArray[numpy.int32], link_b: "
                     "numpy.typing.NDArray[numpy.int32], point_a: numpy.typing.NDArray[numpy.float64], point_b: "
                     "numpy.typing.NDArray[numpy.float64], normal: numpy.typing.NDArray[numpy.float64]) -> "
                     "numpy.typing.NDArray[numpy.float64]"));
    m.def("interpolate", &interpolate, "tree"_a, "q"_a, "times"_a,
          nb::sig("def interpolate(tree: KinematicTree, q: numpy.typing.NDArray[numpy.float64], times: "
                  "numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]"),
          "Configurations on the way through waypoints.");
    m.def(
        "rigid_pose", [](const Matrix4& matrix) { return array_of(pose_from_matrix(matrix.data())); }, "matrix"_a,
        nb::sig("def rigid_pose(matrix: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]"),
        "A pose with its rotation made exact, or an error that says why it is none.");
    m.def("kinematic_tree", &kinematic_tree, "links"_a, "joints"_a,
          nb::sig("def kinematic_tree(links: int, joints: list[tuple[typing.Any, ...]]) -> KinematicTree"));

    nb::class_<RobotGapResult, GapResult>(m, "RobotGap", "The gap of the nearest pair of a robot.")
        .def_ro("link_a", &RobotGapResult::link_a, "Name of the first body; empty where none is near enough.")
        .def_ro("link_b", &RobotGapResult::link_b, "Name of the second body.")
        .def_prop_ro("pair", [](const RobotGapResult& r) { return std::pair{r.link_a, r.link_b}; })
        .def("__repr__",
             [](const RobotGapResult& r) {
                 return "RobotGap(distance=" + printed_number(r.gap.distance) + ", pair=('" + r.link_a + "', '" + r.link_b +
                        "'))";
             })
        .def(
            "__getstate__", [](const RobotGapResult& r) { return nb::make_tuple(state_of(r), r.link_a, r.link_b); },
            nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
        .def(
            "__setstate__",
            [](RobotGapResult& r, nb::handle s) {
                new (&r) RobotGapResult{gap_from_state(s[0]), nb::cast<std::string>(s[1]), nb::cast<std::string>(s[2])};
            },
            nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"));

    nb::class_<CellObject>(m, "Cell", "A robot among obstacles, and which pairs of bodies are checked.")
        .def_ro("names", &CellObject::names, "Of bodies.")
        .def("is_clear_one", &is_clear_one, "q"_a, "margin"_a,
             nb::sig("def is_clear_one(self, q: numpy.typing.NDArray[numpy.float64], margin: float) -> bool"))
        .def("is_clear", &is_clear_rows, "q"_a, "margin"_a, "threads"_a,
             nb::sig("def is_clear(self, q: numpy.typing.NDArray[numpy.float64], margin: float, threads: int) -> "
                     "numpy.typing.NDArray[numpy.bool_]"))
        .def("nearest_one", &nearest_one, "q"_a, "at_most"_a,
             nb::sig("def nearest_one(self, q: numpy.typing.NDArray[numpy.float64], at_most: float) -> RobotGap"))
        .def("nearest", &nearest_rows, "q"_a, "at_most"_a, "threads"_a,
             nb::sig("def nearest(self, q: numpy.typing.NDArray[numpy.float64], at_most: float, threads: int) -> "
                     "tuple[tuple[typing.Any, ...], Work, numpy.typing.NDArray[numpy.int32]]"))
        .def("distances", &all_rows, "q"_a, "at_most"_a, "threads"_a,
             nb::sig("def distances(self, q: numpy.typing.NDArray[numpy.float64], at_most: float, threads: int) -> "
                     "tuple[tuple[typing.Any, ...], Work]"))
        .def("hits", &hits_of_rows, "q"_a, "threads"_a,
             nb::sig("def hits(self, q: numpy.typing.NDArray[numpy.float64], threads: int) -> list[int]"))
        .def("check_waypoints", &check_waypoints, "q"_a, "margin"_a, "tolerance"_a,
             nb::sig("def check_waypoints(self, q: numpy.typing.NDArray[numpy.float64], margin: float, tolerance: float) -> "
                     "tuple[typing.Any, ...]"))
        .def("check_function", &check_function, "function"_a, "rates"_a, "margin"_a, "tolerance"_a,
             nb::sig("def check_function(self, function: typing.Callable[[float], numpy.typing.NDArray[numpy.float64]], "
                     "rates: numpy.typing.NDArray[numpy.float64], margin: float, tolerance: float) -> "
                     "tuple[typing.Any, ...]"));
    nb::class_<LinkBodies>(m, "LinkBodies", "The links of a robot as its cells need them.");
    m.def("link_bodies", &link_bodies, "tree"_a, "links"_a,
          nb::sig("def link_bodies(tree: KinematicTree, links: list[tuple[str, Shape, int]]) -> LinkBodies"));
    m.def("cell", &cell_of, "links"_a, "base"_a, "obstacles"_a, "pairs"_a,
          nb::sig("def cell(links: LinkBodies, base: numpy.typing.NDArray[numpy.float64], obstacles: list[tuple[str, Shape, "
                  "numpy.typing.NDArray[numpy.float64]]], pairs: list[tuple[int, int, float]]) -> Cell"));
}

}  // namespace clearance
