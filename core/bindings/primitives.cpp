#include "bindings/checked.hpp"
#include "bindings/shape_values.hpp"

namespace clearance {
namespace {

struct Sphere : Shape {};
struct Capsule : Shape {};
struct SweptPoint : Shape {};
struct SweptSegment : Shape {};
struct SweptTriangle : Shape {};
struct BoxShape : Shape {};
struct CylinderShape : Shape {};
struct ConeShape : Shape {};
struct EllipsoidShape : Shape {};
struct ConvexHull : Shape {
    std::vector<Vec3d> points;
    double radius;
};
struct HalfSpaceShape : Shape {};

template <class PartShape>
std::shared_ptr<const Body> body_of(const PartShape& shape, const Pose& pose = {}) {
    return std::make_shared<const Body>(std::vector<Part>{part_of(shape, pose)});
}
std::shared_ptr<const Body> body_of_element(const Element& element) { return body_of(Convex{element, element.radius}); }

const Element& only_element(const Shape& shape) { return *element_of(shape.body->parts().front()); }

template <class CoreType>
const CoreType& only_core(const Shape& shape) {
    return std::get<CoreType>(std::get<Convex>(shape.body->parts().front().shape).core);
}

const HalfSpace& only_half_space(const Shape& shape) { return std::get<HalfSpace>(shape.body->parts().front().shape); }

NumpyArray array_of(const std::vector<Vec3d>& points) {
    NumpyArray result = new_array({points.size(), 3});
    double* to = result.data();
    for (const Vec3d& p : points) *to++ = p.x, *to++ = p.y, *to++ = p.z;
    return result;
}

// Points about the middle of their box, so that a hull far from the origin of its frame keeps its digits.
std::shared_ptr<const Body> body_of_hull(const std::vector<Vec3d>& points, double radius) {
    if (points.size() <= 3) {
        const Vec3d &first = points.front(), &last = points.back(), &middle = points[points.size() / 2];
        return body_of_element({static_cast<int>(points.size()), {first, middle, last}, radius});
    }
    const Vec3d centre = Hull(points).ball().centre;
    std::vector<Vec3d> about_centre;
    double reach = 0.0;
    for (const Vec3d& point : points) {
        about_centre.push_back(point - centre);
        reach = max_of(reach, largest(about_centre.back()));
    }
    not_negative(reach, "half of what points extend over");
    return body_of(Convex{std::make_shared<const Hull>(std::move(about_centre)), radius}, Pose{.translation = centre});
}

Vec3d lengths_from(nb::handle value, const char* name) {
    const Vec3d lengths = point_from(value, name);
    for (const double length : {lengths.x, lengths.y, lengths.z})
        positive(length, (std::string("every entry of ") + name).c_str());
    return lengths;
}

}  // namespace

template <>
nb::tuple arguments_of(const Sphere& shape) {
    return nb::make_tuple(only_element(shape).radius);
}
template <>
nb::tuple arguments_of(const Capsule& shape) {
    const Element& e = only_element(shape);
    return nb::make_tuple(e.radius, e.vertex[1].z - e.vertex[0].z);
}
template <>
nb::tuple arguments_of(const SweptPoint& shape) {
    const Element& e = only_element(shape);
    return nb::make_tuple(array_of(e.vertex[0]), e.radius);
}
template <>
nb::tuple arguments_of(const SweptSegment& shape) {
    const Element& e = only_element(shape);
    return nb::make_tuple(array_of(e.vertex[0]), array_of(e.vertex[1]), e.radius);
}
template <>
nb::tuple arguments_of(const SweptTriangle& shape) {
    const Element& e = only_element(shape);
    return nb::make_tuple(array_of(e.vertex[0]), array_of(e.vertex[1]), array_of(e.vertex[2]), e.radius);
}
template <>
nb::tuple arguments_of(const BoxShape& shape) {
    return nb::make_tuple(array_of(2.0 * only_core<Box>(shape).half));
}
template <>
nb::tuple arguments_of(const CylinderShape& shape) {
    const auto& core = only_core<Cylinder>(shape);
    return nb::make_tuple(core.radius, 2.0 * core.half_length);
}
template <>
nb::tuple arguments_of(const ConeShape& shape) {
    const auto& core = only_core<Cone>(shape);
    return nb::make_tuple(core.radius, 2.0 * core.half_length);
}
template <>
nb::tuple arguments_of(const EllipsoidShape& shape) {
    return nb::make_tuple(array_of(only_core<Ellipsoid>(shape).radii));
}
template <>
nb::tuple arguments_of(const ConvexHull& shape) {
    return nb::make_tuple(array_of(shape.points), shape.radius);
}
template <>
nb::tuple arguments_of(const HalfSpaceShape& shape) {
    return nb::make_tuple(array_of(only_half_space(shape).normal), only_half_space(shape).offset);
}

namespace {

void bind_swept_elements(nb::module_& m) {
    nb::class_<Sphere, Shape> sphere(m, "Sphere", "A solid ball about the origin, of a radius in metres.");
    sphere.def(
        "__init__",
        [](Sphere* self, double radius) {
            new (self) Sphere{{body_of_element({1, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, positive(radius, "radius")})}};
        },
        "radius"_a);
    def_value_methods(sphere, "Sphere");

    nb::class_<Capsule, Shape> capsule(m, "Capsule", "A segment of a length along z, centred, swept by a ball of a radius.");
    capsule.def(
        "__init__",
        [](Capsule* self, double radius, double length) {
            const Vec3d top{0, 0, 0.5 * positive(length, "length")};
            new (self) Capsule{{body_of_element({2, {-top, top, top}, positive(radius, "radius")})}};
        },
        "radius"_a, "length"_a);
    def_value_methods(capsule, "Capsule");
    capsule.def_prop_ro("length", [](const Capsule& self) { return 2.0 * only_element(self).vertex[1].z; });

    nb::class_<SweptPoint, Shape> swept_point(m, "SweptPoint", "A ball about a point p.");
    swept_point.def(
        "__init__",
        [](SweptPoint* self, nb::handle p, double radius) {
            const Vec3d v = point_from(p, "p");
            new (self) SweptPoint{{body_of_element({1, {v, v, v}, not_negative(radius, "radius")})}};
        },
        "p"_a, "radius"_a, nb::sig("def __init__(self, p: numpy.typing.ArrayLike, radius: float) -> None"));
    def_value_methods(swept_point, "SweptPoint");

    nb::class_<SweptSegment, Shape> swept_segment(m, "SweptSegment",
                                                  "A segment from p to q swept by a ball: a capsule anywhere.");
    swept_segment.def(
        "__init__",
        [](SweptSegment* self, nb::handle p, nb::handle q, double radius) {
            const Vec3d end = point_from(q, "q");
            new (self) SweptSegment{{body_of_element({2, {point_from(p, "p"), end, end}, not_negative(radius, "radius")})}};
        },
        "p"_a, "q"_a, "radius"_a,
        nb::sig("def __init__(self, p: numpy.typing.ArrayLike, q: numpy.typing.ArrayLike, radius: float) -> None"));
    def_value_methods(swept_segment, "SweptSegment");

    nb::class_<SweptTriangle, Shape> swept_triangle(m, "SweptTriangle",
                                                    "A triangle p, q, s swept by a ball: a plate with round edges.");
    swept_triangle.def(
        "__init__",
        [](SweptTriangle* self, nb::handle p, nb::handle q, nb::handle s, double radius) {
            new (self) SweptTriangle{{body_of_element(
                {3, {point_from(p, "p"), point_from(q, "q"), point_from(s, "s")}, not_negative(radius, "radius")})}};
        },
        "p"_a, "q"_a, "s"_a, "radius"_a,
        nb::sig("def __init__(self, p: numpy.typing.ArrayLike, q: numpy.typing.ArrayLike, s: numpy.typing.ArrayLike, "
                "radius: float) -> None"));
    def_value_methods(swept_triangle, "SweptTriangle");

    const auto radius = [](const Shape& self) { return only_element(self).radius; };
    sphere.def_prop_ro("radius", radius);
    capsule.def_prop_ro("radius", radius);
    swept_point.def_prop_ro("radius", radius);
    swept_segment.def_prop_ro("radius", radius);
    swept_triangle.def_prop_ro("radius", radius);
}

void bind_solids(nb::module_& m) {
    nb::class_<BoxShape, Shape> box(m, "Box", "A solid box about the origin, of full edge lengths (x, y, z) in metres.");
    box.def(
        "__init__",
        [](BoxShape* self, nb::handle size) {
            new (self) BoxShape{{body_of(Convex{Box{0.5 * lengths_from(size, "size")}, 0.0})}};
        },
        "size"_a, nb::sig("def __init__(self, size: numpy.typing.ArrayLike) -> None"));
    def_value_methods(box, "Box");
    box.def_prop_ro(
        "size", [](const BoxShape& self) { return array_of(2.0 * only_core<Box>(self).half); }, nb::rv_policy::move,
        nb::sig("def size(self) -> numpy.typing.NDArray[numpy.float64]"));

    nb::class_<CylinderShape, Shape> cylinder(m, "Cylinder", "A solid cylinder along z, centred, of a radius and a length.");
    cylinder.def(
        "__init__",
        [](CylinderShape* self, double radius, double length) {
            new (self) CylinderShape{
                {body_of(Convex{Cylinder{positive(radius, "radius"), 0.5 * positive(length, "length")}, 0.0})}};
        },
        "radius"_a, "length"_a);
    def_value_methods(cylinder, "Cylinder");
    cylinder.def_prop_ro("radius", [](const CylinderShape& self) { return only_core<Cylinder>(self).radius; });
    cylinder.def_prop_ro("length", [](const CylinderShape& self) { return 2.0 * only_core<Cylinder>(self).half_length; });

    nb::class_<ConeShape, Shape> cone(m, "Cone", "A solid cone along z: base at -length / 2, tip at +length / 2.");
    cone.def(
        "__init__",
        [](ConeShape* self, double radius, double length) {
            new (self) ConeShape{{body_of(Convex{Cone{positive(radius, "radius"), 0.5 * positive(length, "length")}, 0.0})}};
        },
        "radius"_a, "length"_a);
    def_value_methods(cone, "Cone");
    cone.def_prop_ro("radius", [](const ConeShape& self) { return only_core<Cone>(self).radius; });
    cone.def_prop_ro("length", [](const ConeShape& self) { return 2.0 * only_core<Cone>(self).half_length; });

    nb::class_<EllipsoidShape, Shape> ellipsoid(m, "Ellipsoid", "A solid ellipsoid about the origin, of three radii.");
    ellipsoid.def(
        "__init__",
        [](EllipsoidShape* self, nb::handle radii) {
            const Ellipsoid core = worn_ellipsoid(lengths_from(radii, "radii"));
            new (self) EllipsoidShape{{body_of(Convex{core, core.taken})}};
        },
        "radii"_a, nb::sig("def __init__(self, radii: numpy.typing.ArrayLike) -> None"));
    def_value_methods(ellipsoid, "Ellipsoid");
    ellipsoid.def_prop_ro(
        "radii", [](const EllipsoidShape& self) { return array_of(only_core<Ellipsoid>(self).radii); }, nb::rv_policy::move,
        nb::sig("def radii(self) -> numpy.typing.NDArray[numpy.float64]"));

    nb::class_<ConvexHull, Shape> hull(m, "ConvexHull", "The convex hull of points (n, 3), swept by a ball of a radius.");
    hull.def(
        "__init__",
        [](ConvexHull* self, nb::handle points, double radius) {
            const std::vector<Vec3d> kept = points_from(points, "points");
            new (self) ConvexHull{{body_of_hull(kept, not_negative(radius, "radius"))}, kept, radius};
        },
        "points"_a, "radius"_a = 0.0,
        nb::sig("def __init__(self, points: numpy.typing.ArrayLike, radius: float = 0.0) -> None"));
    def_value_methods(hull, "ConvexHull");
    hull.def_prop_ro(
        "points", [](const ConvexHull& self) { return array_of(self.points); }, nb::rv_policy::move,
        nb::sig("def points(self) -> numpy.typing.NDArray[numpy.float64]"));
    hull.def_prop_ro("radius", [](const ConvexHull& self) { return self.radius; });

    nb::class_<HalfSpaceShape, Shape> half_space(
        m, "HalfSpace", "All points x with normal.x <= offset; the normal may have any length but zero.");
    half_space.def(
        "__init__",
        [](HalfSpaceShape* self, nb::handle normal, double offset) {
            const Vec3d n = point_from(normal, "normal");
            const double length = norm(n);
            if (!(length > 0.0)) throw std::invalid_argument("normal must not be zero, but it is (0, 0, 0).");
            if (!(abs_of(offset / length) <= kLargestLength)) refuse_length("offset", "finite", offset);
            new (self) HalfSpaceShape{{body_of(HalfSpace{(1.0 / length) * n, offset / length})}};
        },
        "normal"_a, "offset"_a, nb::sig("def __init__(self, normal: numpy.typing.ArrayLike, offset: float) -> None"));
    def_value_methods(half_space, "HalfSpace");
    half_space.def_prop_ro(
        "normal", [](const HalfSpaceShape& self) { return array_of(only_half_space(self).normal); }, nb::rv_policy::move,
        nb::sig("def normal(self) -> numpy.typing.NDArray[numpy.float64]"), "Of length one, out of the solid.");
    half_space.def_prop_ro("offset", [](const HalfSpaceShape& self) { return only_half_space(self).offset; });
}

}  // namespace

void bind_primitives(nb::module_& m) {
    bind_swept_elements(m);
    bind_solids(m);
}

}  // namespace clearance
