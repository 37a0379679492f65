#include "bindings/sweeps.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/gaps.hpp"
#include "bindings/robots.hpp"
#include "bindings/shapes.hpp"
#include "motion/choose_points.hpp"

namespace clearance {
namespace {

// Of two configurations, which must have been checked: quaternions are the ends of the shortest turn.
JointBox joint_box(const KinematicTree& tree, const Doubles& low, const Doubles& high) {
    check_width(tree, low.shape(0)), check_width(tree, high.shape(0));
    JointBox box(tree);
    std::copy_n(low.data(), low.shape(0), box.low.begin());
    std::copy_n(high.data(), high.shape(0), box.high.begin());
    for (const Frame& frame : tree.frames()) {
        if (!has_quaternion(frame.kind)) continue;
        const auto at = static_cast<std::size_t>(frame.value + values_before_quaternion(frame.kind));
        box.high[at] = middle_turn(low.data() + at, high.data() + at, &box.low[at]);
    }
    return box;
}

// The convex parts of all links, and which link each belongs to.
struct LinkParts {
    std::vector<SweptBody> bodies;
    std::vector<std::int32_t> link;  // its number among the bodies
};

LinkParts parts_of(const LinkBodies& links) {
    LinkParts parts;
    for (std::size_t k = 0; k < links.bodies.size(); ++k)
        for (const Part& part : links.bodies[k].body.parts()) {
            const SweptPoints swept = swept_points(part);
            parts.bodies.push_back({swept.points, swept.radius, links.bodies[k].frame});
            parts.link.push_back(static_cast<std::int32_t>(k));
        }
    return parts;
}

// All volumes as (link, frame, points, radius), parts of a link in their order, its own frame first.
nb::list sweep_volumes(const LinkBodies& links, const JointBox& box, const std::optional<std::vector<int>>& points_of_one,
                       std::int32_t most_points) {
    const KinematicTree& tree = *links.tree;
    LinkParts parts = parts_of(links);
    const std::vector<std::int32_t> last(parts.bodies.size(), 0);
    SweepPlan::PointsOfOne chosen;
    if (points_of_one) {
        if (points_of_one->size() != tree.frames().size()) throw std::invalid_argument("there is a number per frame.");
        chosen.assign(parts.bodies.size(), *points_of_one);
        limit_points(tree, parts.bodies, last, most_points, chosen);
    } else {
        chosen = choose_points(tree, parts.bodies, last, box, most_points);
    }
    const SweepPlan plan(tree, std::move(parts.bodies), chosen, last);
    Sweep sweep(plan);
    sweep.take(box);
    nb::list volumes;
    for (std::size_t k = 0; k < plan.volumes().size(); ++k) {
        const SweepPlan::Volume& volume = plan.volumes()[k];
        const SweptHull& hull = sweep.hull(static_cast<std::int32_t>(k));
        volumes.append(
            nb::make_tuple(parts.link[static_cast<std::size_t>(volume.body)], volume.frame, points_of(hull), hull.radius));
    }
    return volumes;
}

// How far parts of a link can get out of their volumes if joints are anywhere in another box.
double box_change(const LinkBodies& links, std::int32_t link, std::int32_t frame, const JointBox& before,
                  const JointBox& now) {
    LinkParts parts = parts_of(links);
    const BoxChange change(*links.tree, std::move(parts.bodies));
    double most = 0.0;
    for (std::size_t k = 0; k < parts.link.size(); ++k)
        if (parts.link[k] == link) most = max_of(most, change.of(static_cast<std::int32_t>(k), frame, before, now));
    return most;
}

}  // namespace

void bind_sweeps(nb::module_& m) {
    nb::class_<JointBox>(m, "JointBox", "Where joints may be: all combinations of values from low to high.")
        .def_prop_ro("low", [](const JointBox& box) { return box.low; })
        .def_prop_ro("high", [](const JointBox& box) { return box.high; });
    m.def("joint_box", &joint_box, "tree"_a, "low"_a, "high"_a,
          nb::sig("def joint_box(tree: KinematicTree, low: numpy.typing.NDArray[numpy.float64], high: "
                  "numpy.typing.NDArray[numpy.float64]) -> JointBox"));
    m.def(
        "sweep_volumes", &sweep_volumes, "links"_a, "box"_a, "points_of_one"_a.none(), "most_points"_a,
        nb::sig("def sweep_volumes(links: LinkBodies, box: JointBox, points_of_one: list[int] | None, most_points: int) -> "
                "list[tuple[int, int, numpy.typing.NDArray[numpy.float64], float]]"));
    m.def("box_change", &box_change, "links"_a, "link"_a, "frame"_a, "before"_a, "now"_a);
}

}  // namespace clearance
