#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/shapes.hpp"
#include "query/raycast.hpp"

namespace clearance {
namespace {

using Rows3 = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoublesOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows3Out = nb::ndarray<double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using IntegersOut = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<Pose> poses_from(const Matrices4& matrices, std::size_t count) {
    if (matrices.shape(0) != count)
        throw std::invalid_argument("poses must be one for each of " + std::to_string(count) + " shapes, but there are " +
                                    std::to_string(matrices.shape(0)) + ".");
    std::vector<Pose> poses(count);
    for (std::size_t k = 0; k < count; ++k) poses[k] = pose_from_matrix(matrices.data() + 16 * k);
    return poses;
}

void make_target(RayTarget* self, const std::vector<nb::object>& shapes, const Matrices4& matrices) {
    std::vector<std::shared_ptr<const Body>> bodies;
    for (const nb::object& shape : shapes) bodies.push_back(nb::cast<const Shape&>(shape).body);
    new (self) RayTarget(std::move(bodies), poses_from(matrices, shapes.size()));
}

// One row for each ray, or one for all.
std::size_t stride_of(std::size_t rows, std::size_t count, std::size_t width) {
    if (rows != 1 && rows != count) throw std::invalid_argument("rows do not match.");
    return rows == count ? width : 0;
}

// Rays into arrays of the caller; the number of the first row that is no ray, or the count of rows.
std::tuple<std::size_t, Work> cast(const RayTarget& target, const Rows3& origins, const Rows3& directions,
                                   const Doubles& ranges, bool by_part, bool any, const std::vector<std::size_t>& ignored,
                                   const std::optional<Integers>& hint_index, const std::optional<Integers>& hint_feature,
                                   int threads, const DoublesOut& distance, const Rows3Out& point, const Rows3Out& normal,
                                   const IntegersOut& index, const IntegersOut& feature) {
    const std::size_t count = distance.shape(0);
    for (const std::size_t rows : {point.shape(0), normal.shape(0), index.shape(0), feature.shape(0)})
        if (rows != count) throw std::invalid_argument("columns must have one length.");
    const RayRows rays{origins.data(),
                       directions.data(),
                       ranges.data(),
                       stride_of(origins.shape(0), count, 3),
                       stride_of(directions.shape(0), count, 3),
                       stride_of(ranges.shape(0), count, 1),
                       count};
    std::vector<std::uint8_t> is_ignored(ignored.empty() ? 0 : target.body_count(), 0);
    for (const std::size_t body : ignored) is_ignored.at(body) = 1;
    RayRules rules{any, by_part, ignored.empty() ? nullptr : is_ignored.data(), nullptr, nullptr, threads};
    if (hint_index && hint_feature) {
        if (hint_index->shape(0) != count || hint_feature->shape(0) != count)
            throw std::invalid_argument("a hint must have one row for each ray.");
        rules.hint_index = hint_index->data(), rules.hint_feature = hint_feature->data();
    }
    const RayColumns out{distance.data(), point.data(), normal.data(), index.data(), feature.data()};
    Work work;
    const nb::gil_scoped_release release;
    const std::size_t first_bad = target.cast(rays, rules, out, work);
    return {first_bad, work};
}

}  // namespace

void bind_rays(nb::module_& m) {
    nb::class_<RayTarget>(m, "RayTarget", "Bodies where they stand, and trees over them for rays.")
        .def("__init__", &make_target, "shapes"_a, "poses"_a,
             nb::sig("def __init__(self, shapes: list[Shape], poses: numpy.typing.NDArray[numpy.float64]) -> None"))
        .def(
            "move",
            [](RayTarget& self, const Matrices4& matrices) {
                const std::vector<Pose> poses = poses_from(matrices, self.body_count());
                const nb::gil_scoped_release release;
                self.move(poses);
            },
            "poses"_a, nb::sig("def move(self, poses: numpy.typing.NDArray[numpy.float64]) -> None"))
        .def("cast", &cast, "origins"_a, "directions"_a, "ranges"_a, "by_part"_a, "any_hit"_a, "ignored"_a,
             "hint_index"_a.none(), "hint_feature"_a.none(), "threads"_a, "distance"_a, "point"_a, "normal"_a, "index"_a,
             "feature"_a, nb::sig("def cast(self, *args: typing.Any) -> tuple[int, Work]"));
}

}  // namespace clearance
