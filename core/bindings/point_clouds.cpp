#include "bindings/checked.hpp"
#include "bindings/shape_values.hpp"

namespace clearance {
namespace {

struct PointCloudShape : Shape {};

constexpr std::size_t kMostPoints = 500'000'000;  // numbers of slots must fit into 32 bits

const Mesh& cloud_of(const Shape& shape) { return *surface_of(shape.body->parts().front())->mesh; }

PointCloudShape cloud_from(nb::handle points, double radius) {
    not_negative(radius, "radius");
    std::vector<Vec3d> rows = points_from(points, "points");
    if (rows.size() > kMostPoints)
        throw std::invalid_argument("a cloud has at most 500 million points, but this one has " +
                                    std::to_string(rows.size()) + ".");
    const nb::gil_scoped_release release;
    const Surface cloud{std::make_shared<const Mesh>(build_cloud(std::move(rows), radius)), false};
    return {{std::make_shared<const Body>(std::vector<Part>{part_of(cloud, Pose{})})}};
}

nb::object points_of(nb::handle self) {
    const std::vector<Vec3d>& points = cloud_of(nb::cast<const Shape&>(self)).vertices;
    return nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<2>>(&points[0].x, {points.size(), 3}, self));
}

}  // namespace

void bind_point_clouds(nb::module_& m) {
    nb::class_<PointCloudShape, Shape> cloud(
        m, "PointCloud",
        "Balls of one radius around points (n, 3): what a depth camera or a laser scanner sees.\n\n"
        "Its distance is the least over all balls, negative by how deep the deepest of them lies in a solid.");
    cloud.def(
        "__init__",
        [](PointCloudShape* self, nb::handle points, double radius) {
            new (self) PointCloudShape(cloud_from(points, radius));
        },
        "points"_a.none(), "radius"_a, nb::sig("def __init__(self, points: numpy.typing.ArrayLike, radius: float) -> None"));
    cloud.def_prop_ro("points", &points_of, nb::sig("def points(self) -> numpy.typing.NDArray[numpy.float64]"),
                      "Centres of the balls (n, 3), read-only.");
    cloud.def_prop_ro("radius", [](const PointCloudShape& self) { return cloud_of(self).radius; }, "Of every ball.");
    cloud.def_prop_ro(
        "nbytes", [](const PointCloudShape& self) { return cloud_of(self).bytes(); },
        "Bytes of its points and of the tree over them.");
    cloud.def("__len__", [](const PointCloudShape& self) { return cloud_of(self).vertices.size(); });
    cloud.def(
        "__reduce__",
        [](nb::handle self) {
            const double radius = cloud_of(nb::cast<const Shape&>(self)).radius;
            return nb::make_tuple(self.type(), nb::make_tuple(points_of(self), radius));
        },
        kReduceSignature);
    cloud.def("__repr__", [](const PointCloudShape& self) {
        const Mesh& points = cloud_of(self);
        return "PointCloud(" + std::to_string(points.vertices.size()) + " points, radius=" + printed_number(points.radius) +
               ")";
    });
    def_equality(cloud);
}

}  // namespace clearance
