#include "bindings/shapes.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cstdio>

namespace clearance {
namespace {

struct Sphere : Shape {};
struct Capsule : Shape {};
struct SweptPoint : Shape {};
struct SweptSegment : Shape {};
struct SweptTriangle : Shape {};
struct Compound : Shape {
    nb::tuple parts;
};

const nb::sig kReduceSignature("def __reduce__(self) -> tuple[typing.Any, ...]");

[[noreturn]] void refuse_length(const char* name, const char* expected, double found) {
    throw std::invalid_argument(std::string(name) + " must be " + expected + " and below 1e30, but it is " +
                                printed_number(found) + ".");
}

double positive(double length, const char* name) {
    if (!(length > 0.0 && length <= kLargestLength)) refuse_length(name, "positive", length);
    return length;
}

double not_negative(double length, const char* name) {
    if (!(length >= 0.0 && length <= kLargestLength)) refuse_length(name, "zero or positive", length);
    return length;
}

std::shared_ptr<const Body> body_of(const Element& element) {
    return std::make_shared<const Body>(std::vector<Element>{element});
}

const Element& only_element(const Shape& shape) { return shape.body->elements().front(); }

Element moved(const Element& element, const Pose& pose) {
    return {element.count, {pose * element.vertex[0], pose * element.vertex[1], pose * element.vertex[2]}, element.radius};
}

bool same(const Body& a, const Body& b) {
    if (a.elements().size() != b.elements().size()) return false;
    for (std::size_t k = 0; k < a.elements().size(); ++k) {
        const Element &e = a.elements()[k], &f = b.elements()[k];
        if (e.count != f.count || e.radius != f.radius) return false;
        for (int i = 0; i < 3; ++i)
            if (largest(e.vertex[i] - f.vertex[i]) != 0.0) return false;
    }
    return true;
}

std::int64_t hash_of(const Body& body) {
    std::uint64_t hash = 0x9e3779b97f4a7c15u;
    const auto mix = [&hash](double value) {
        hash = (hash ^ std::bit_cast<std::uint64_t>(value + 0.0)) * 0x100000001b3u;
        hash ^= hash >> 29;
    };
    for (const Element& element : body.elements()) {
        mix(element.radius);
        for (const Vec3d& v : element.vertex) mix(v.x), mix(v.y), mix(v.z);
    }
    return static_cast<std::int64_t>(hash >> 1);
}

// Shapes are rebuilt from the arguments of their constructor: for pickling, copying and printing.
template <class T>
nb::tuple arguments_of(const T& shape);

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
nb::tuple arguments_of(const Compound& shape) {
    return nb::make_tuple(shape.parts);
}

std::string printed(nb::handle value) {
    if (nb::hasattr(value, "tolist")) return nb::cast<std::string>(nb::str(nb::object(value.attr("tolist")())));
    return nb::cast<std::string>(nb::repr(value));
}

template <class T>
void def_value_methods(nb::class_<T, Shape>& type, const char* name) {
    type.def(
        "__reduce__", [](nb::handle self) { return nb::make_tuple(self.type(), arguments_of(nb::cast<const T&>(self))); },
        kReduceSignature);
    type.def("__repr__", [name](const T& self) {
        std::string text = std::string(name) + "(";
        const char* separator = "";
        for (nb::handle argument : arguments_of(self)) {
            text += separator + printed(argument);
            separator = ", ";
        }
        return text + ")";
    });
    type.def(
        "__eq__",
        [](const T& self, nb::handle other) {
            return nb::isinstance<T>(other) && same(*self.body, *nb::cast<const T&>(other).body);
        },
        nb::arg().none());
    type.def("__hash__", [](const T& self) { return hash_of(*self.body); });
}

// Parts of a compound are shapes, or shapes at one pose; what a part is made of joins the compound's own elements.
void join(std::vector<Element>& elements, nb::handle part) {
    if (nb::isinstance<Placed>(part)) {
        const auto& placed = nb::cast<const Placed&>(part);
        for (const Element& element : placed.body->elements()) elements.push_back(moved(element, placed.pose));
    } else if (nb::isinstance<Shape>(part)) {
        for (const Element& element : nb::cast<const Shape&>(part).body->elements()) elements.push_back(element);
    } else {
        throw nb::type_error(
            ("a part must be a shape or a shape at one pose, but it is " + nb::cast<std::string>(nb::repr(part)) + ".")
                .c_str());
    }
}

nb::object placed_at(nb::object shape, const Matrix4& matrix) {
    return nb::cast(Placed{shape, nb::cast<const Shape&>(shape).body, pose_from_matrix(matrix.data())});
}

nb::object placed_at_any(nb::object shape, nb::object poses) {
    const nb::object matrices = nb::module_::import_("clearance.poses").attr("as_poses")(poses);
    const nb::object dims = matrices.attr("shape");
    if (nb::len(dims) == 2) return placed_at(shape, nb::cast<Matrix4>(matrices));
    const auto rows = nb::cast<Matrices4>(matrices.attr("reshape")(-1, 4, 4));
    PlacedBatch batch{shape, nb::cast<const Shape&>(shape).body, {}, nb::tuple(dims[nb::slice(0, -2, 1)])};
    batch.poses.reserve(rows.shape(0));
    for (std::size_t k = 0; k < rows.shape(0); ++k) batch.poses.push_back(pose_from_matrix(rows.data() + 16 * k));
    return nb::cast(std::move(batch));
}

// How pickle makes a placed shape again.
nb::tuple placed_again(nb::handle shape, nb::handle poses) {
    return nb::make_tuple(nb::module_::import_("clearance.shapes").attr("place"), nb::make_tuple(shape, poses));
}

}  // namespace

void bind_shapes(nb::module_& m) {
    nb::class_<Shape> shape(m, "Shape", "A rigid shape in its own frame: an immutable value.");
    nb::class_<Placed> placed(m, "Placed", "A shape at one pose, made by `shape.at(pose)`.");
    nb::class_<PlacedBatch> batch(m, "PlacedBatch", "A shape at many poses, made by `shape.at(poses)`.");

    shape
        .def("at", &placed_at, "pose"_a.noconvert(),
             nb::sig("def at(self, pose: numpy.typing.NDArray[numpy.float64]) -> typing.Any"))
        .def("at", &placed_at_any, "pose"_a, nb::sig("def at(self, pose: typing.Any) -> typing.Any"),
             "Place the shape: at a pose (4, 4), at many (..., 4, 4), or moved by a vector of length 3.");
    shape.def_prop_ro(
        "ball",
        [](const Shape& self) { return nb::make_tuple(array_of(self.body->ball().centre), self.body->ball().radius); },
        nb::sig("def ball(self) -> tuple[numpy.typing.NDArray[numpy.float64], float]"),
        "Centre and radius of a ball that contains the shape.");
    shape.def_prop_ro(
        "elements",
        [](const Shape& self) {
            nb::list list;
            for (const Element& e : self.body->elements()) {
                NumpyArray vertices = new_array({static_cast<std::size_t>(e.count), 3});
                for (int k = 0; k < e.count; ++k) {
                    double* to = vertices.data() + 3 * k;
                    to[0] = e.vertex[k].x, to[1] = e.vertex[k].y, to[2] = e.vertex[k].z;
                }
                list.append(nb::make_tuple(vertices, e.radius));
            }
            return list;
        },
        nb::sig("def elements(self) -> list[tuple[numpy.typing.NDArray[numpy.float64], float]]"),
        "The swept elements it is made of: core vertices (1 to 3, 3) and radius of each.");

    nb::class_<Sphere, Shape> sphere(m, "Sphere", "A solid ball about the origin, of a radius in metres.");
    sphere.def(
        "__init__",
        [](Sphere* self, double radius) {
            new (self) Sphere{{body_of({1, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, positive(radius, "radius")})}};
        },
        "radius"_a);
    def_value_methods(sphere, "Sphere");

    nb::class_<Capsule, Shape> capsule(m, "Capsule", "A segment of a length along z, centred, swept by a ball of a radius.");
    capsule.def(
        "__init__",
        [](Capsule* self, double radius, double length) {
            const Vec3d top{0, 0, 0.5 * positive(length, "length")};
            new (self) Capsule{{body_of({2, {-top, top, top}, positive(radius, "radius")})}};
        },
        "radius"_a, "length"_a);
    def_value_methods(capsule, "Capsule");
    capsule.def_prop_ro("length", [](const Capsule& self) { return 2.0 * only_element(self).vertex[1].z; });

    nb::class_<SweptPoint, Shape> swept_point(m, "SweptPoint", "A ball about a point p.");
    swept_point.def(
        "__init__",
        [](SweptPoint* self, nb::handle p, double radius) {
            const Vec3d v = point_from(p, "p");
            new (self) SweptPoint{{body_of({1, {v, v, v}, not_negative(radius, "radius")})}};
        },
        "p"_a, "radius"_a, nb::sig("def __init__(self, p: numpy.typing.ArrayLike, radius: float) -> None"));
    def_value_methods(swept_point, "SweptPoint");

    nb::class_<SweptSegment, Shape> swept_segment(m, "SweptSegment",
                                                  "A segment from p to q swept by a ball: a capsule anywhere.");
    swept_segment.def(
        "__init__",
        [](SweptSegment* self, nb::handle p, nb::handle q, double radius) {
            const Vec3d end = point_from(q, "q");
            new (self) SweptSegment{{body_of({2, {point_from(p, "p"), end, end}, not_negative(radius, "radius")})}};
        },
        "p"_a, "q"_a, "radius"_a,
        nb::sig("def __init__(self, p: numpy.typing.ArrayLike, q: numpy.typing.ArrayLike, radius: float) -> None"));
    def_value_methods(swept_segment, "SweptSegment");

    nb::class_<SweptTriangle, Shape> swept_triangle(m, "SweptTriangle",
                                                    "A triangle p, q, s swept by a ball: a plate with round edges.");
    swept_triangle.def(
        "__init__",
        [](SweptTriangle* self, nb::handle p, nb::handle q, nb::handle s, double radius) {
            new (self) SweptTriangle{{body_of(
                {3, {point_from(p, "p"), point_from(q, "q"), point_from(s, "s")}, not_negative(radius, "radius")})}};
        },
        "p"_a, "q"_a, "s"_a, "radius"_a,
        nb::sig("def __init__(self, p: numpy.typing.ArrayLike, q: numpy.typing.ArrayLike, s: numpy.typing.ArrayLike, "
                "radius: float) -> None"));
    def_value_methods(swept_triangle, "SweptTriangle");

    nb::class_<Compound, Shape> compound(m, "Compound",
                                         "A rigid union of shapes, each placed in the frame of the compound.");
    compound.def(
        "__init__",
        [](Compound* self, nb::iterable parts) {
            std::vector<Element> elements;
            nb::list kept;
            for (nb::handle part : parts) {
                join(elements, part);
                kept.append(part);
            }
            if (elements.empty()) throw std::invalid_argument("a compound needs at least one part, but it has none.");
            for (const Element& element : elements)
                for (const Vec3d& vertex : element.vertex) check_coordinates(vertex, "a vertex of a part");
            new (self) Compound{{std::make_shared<const Body>(std::move(elements))}, nb::tuple(kept)};
        },
        "parts"_a, nb::sig("def __init__(self, parts: collections.abc.Iterable[Shape | Placed]) -> None"));
    def_value_methods(compound, "Compound");
    compound.def_prop_ro(
        "parts", [](const Compound& self) { return self.parts; }, nb::sig("def parts(self) -> tuple[Shape | Placed, ...]"));

    const auto radius = [](const Shape& self) { return only_element(self).radius; };
    sphere.def_prop_ro("radius", radius);
    capsule.def_prop_ro("radius", radius);
    swept_point.def_prop_ro("radius", radius);
    swept_segment.def_prop_ro("radius", radius);
    swept_triangle.def_prop_ro("radius", radius);

    placed.def_prop_ro("shape", [](const Placed& self) { return self.shape; }, nb::sig("def shape(self) -> Shape"));
    placed.def_prop_ro(
        "pose", [](const Placed& self) { return array_of(self.pose); }, nb::rv_policy::move,
        nb::sig("def pose(self) -> numpy.typing.NDArray[numpy.float64]"));
    placed.def("__repr__", [](const Placed& self) {
        return nb::cast<std::string>(nb::repr(self.shape)) + ".at(" + printed(nb::cast(array_of(self.pose))) + ")";
    });
    placed.def(
        "__reduce__", [](const Placed& self) { return placed_again(self.shape, nb::cast(array_of(self.pose))); },
        kReduceSignature);
    placed.def(
        "__eq__",
        [](const Placed& self, nb::handle other) {
            if (!nb::isinstance<Placed>(other)) return false;
            const auto& that = nb::cast<const Placed&>(other);
            return self.shape.equal(that.shape) && self.pose == that.pose;
        },
        nb::arg().none());
    placed.def("__hash__", [](const Placed& self) { return nb::hash(self.shape); });

    const auto poses_of = [](const PlacedBatch& self) {
        NumpyArray all = new_array({self.poses.size(), 4, 4});
        for (std::size_t k = 0; k < self.poses.size(); ++k) {
            const NumpyArray one = array_of(self.poses[k]);
            std::copy(one.data(), one.data() + 16, all.data() + 16 * k);
        }
        return nb::object(nb::cast(all).attr("reshape")(self.dims + nb::make_tuple(4, 4)));
    };
    batch.def_prop_ro("shape", [](const PlacedBatch& self) { return self.shape; }, nb::sig("def shape(self) -> Shape"));
    batch.def_prop_ro(
        "dims", [](const PlacedBatch& self) { return self.dims; }, nb::sig("def dims(self) -> tuple[int, ...]"));
    batch.def_prop_ro("poses", poses_of, nb::sig("def poses(self) -> numpy.typing.NDArray[numpy.float64]"));
    batch.def("__len__", [](const PlacedBatch& self) { return nb::cast<std::size_t>(self.dims[0]); });
    batch.def("__repr__", [](const PlacedBatch& self) {
        return nb::cast<std::string>(nb::repr(self.shape)) + ".at(poses of shape " +
               nb::cast<std::string>(nb::repr(self.dims)) + " + (4, 4))";
    });
    batch.def(
        "__reduce__", [poses_of](const PlacedBatch& self) { return placed_again(self.shape, poses_of(self)); },
        kReduceSignature);
}

}  // namespace clearance
