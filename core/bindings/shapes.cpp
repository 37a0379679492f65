#include <algorithm>
#include <atomic>
#include <bit>

#include "bindings/numpy.hpp"
#include "bindings/shape_values.hpp"
#include "parallel/pool.hpp"

namespace clearance {
namespace {

struct Compound : Shape {
    nb::tuple parts;
};

// ---- All numbers a body is made of, one after the other.

void append(std::vector<double>& to, const Vec3d& v) { to.insert(to.end(), {v.x, v.y, v.z}); }
void append(std::vector<double>& to, const Element& e) {
    to.push_back(e.count);
    for (const Vec3d& v : e.vertex) append(to, v);
}
void append(std::vector<double>& to, const Box& box) { append(to, box.half); }
void append(std::vector<double>& to, const Cylinder& c) { to.insert(to.end(), {c.radius, c.half_length}); }
void append(std::vector<double>& to, const Cone& c) { to.insert(to.end(), {c.radius, c.half_length}); }
void append(std::vector<double>& to, const Ellipsoid& e) { append(to, e.radii); }
void append(std::vector<double>& to, const HullPointer& hull) {
    for (const Vec3d& v : hull->points()) append(to, v);
}
void append(std::vector<double>& to, const Convex& convex) {
    to.insert(to.end(), {static_cast<double>(convex.core.index()), convex.radius});
    std::visit([&](const auto& core) { append(to, core); }, convex.core);
}
void append(std::vector<double>& to, const HalfSpace& half_space) {
    append(to, half_space.normal);
    to.push_back(half_space.offset);
}

// Of a mesh what tells most of them apart; the rest is compared by itself.
void append(std::vector<double>& to, const Surface& surface) {
    const Mesh& mesh = *surface.mesh;
    to.insert(to.end(), {surface.solid_below ? 1.0 : 0.0, static_cast<double>(mesh.volume()), mesh.radius, mesh.ball.radius,
                         static_cast<double>(mesh.corners), static_cast<double>(mesh.vertices.size()),
                         static_cast<double>(mesh.faces.size())});
    append(to, mesh.ball.centre);
}

bool same_triangles(const Mesh& a, const Mesh& b) {
    const auto same_point = [](const Vec3d& p, const Vec3d& q) { return p.x == q.x && p.y == q.y && p.z == q.z; };
    return a.faces == b.faces &&
           std::equal(a.vertices.begin(), a.vertices.end(), b.vertices.begin(), b.vertices.end(), same_point);
}

std::vector<double> numbers_of(const Body& body) {
    std::vector<double> numbers;
    for (const Part& part : body.parts()) {
        std::visit([&](const auto& shape) { append(numbers, shape); }, part.shape);
        for (const Vec3d& row : part.pose.rotation.row) append(numbers, row);
        append(numbers, part.pose.translation);
    }
    return numbers;
}

}  // namespace

bool same(const Body& a, const Body& b) {
    if (a.parts().size() != b.parts().size() || numbers_of(a) != numbers_of(b)) return false;
    for (std::size_t k = 0; k < a.parts().size(); ++k) {
        const Surface *one = surface_of(a.parts()[k]), *other = surface_of(b.parts()[k]);
        if ((one == nullptr) != (other == nullptr)) return false;
        if (one != nullptr && one->mesh != other->mesh && !same_triangles(*one->mesh, *other->mesh)) return false;
    }
    return true;
}

std::int64_t hash_of(const Body& body) {
    std::uint64_t hash = 0x9e3779b97f4a7c15u;
    for (const double number : numbers_of(body)) {
        hash = (hash ^ std::bit_cast<std::uint64_t>(number + 0.0)) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return static_cast<std::int64_t>(hash >> 1);
}

std::string printed(nb::handle value) {
    if (nb::hasattr(value, "tolist")) return nb::cast<std::string>(nb::str(nb::object(value.attr("tolist")())));
    return nb::cast<std::string>(nb::repr(value));
}

template <>
nb::tuple arguments_of(const Compound& shape) {
    return nb::make_tuple(shape.parts);
}

namespace {

// Parts of a compound are shapes, or shapes at one pose; what a part is made of joins the compound's own parts.
void join(std::vector<Part>& parts, nb::handle part) {
    if (nb::isinstance<Placed>(part)) {
        const auto& placed = nb::cast<const Placed&>(part);
        for (const Part& one : placed.body->parts()) parts.push_back(moved(one, placed.pose));
    } else if (nb::isinstance<Shape>(part)) {
        for (const Part& one : nb::cast<const Shape&>(part).body->parts()) parts.push_back(one);
    } else {
        throw nb::type_error(
            ("a part must be a shape or a shape at one pose, but it is " + nb::cast<std::string>(nb::repr(part)) + ".")
                .c_str());
    }
}

const Body* body_of(nb::handle shape) {
    const Shape& found = is_made<Shape>(shape) ? *nb::inst_ptr<Shape>(shape) : nb::cast<const Shape&>(shape);
    return found.body.get();
}

// Made where Python keeps it: moving it there takes longer.
template <class MakePose>
nb::object placed_at(nb::handle shape, const MakePose& make_pose) {
    nb::object placed = nb::inst_alloc(type_of<Placed>());
    new (nb::inst_ptr<Placed>(placed)) Placed{nb::borrow(shape), body_of(shape), make_pose()};
    nb::inst_mark_ready(placed);
    return placed;
}

Pose moved_by(const Vec3d& translation) {
    check_coordinates(translation, "pose");
    return {.translation = translation};
}

// Three numbers in a list or a tuple are a translation.
bool three_numbers(PyObject* value, Vec3d& numbers) {
    const bool is_list = PyList_CheckExact(value);
    if (!(is_list || PyTuple_CheckExact(value)) || PySequence_Size(value) != 3) return false;
    double* const to[] = {&numbers.x, &numbers.y, &numbers.z};
    for (int k = 0; k < 3; ++k) {
        PyObject* const item = is_list ? PyList_GetItem(value, k) : PyTuple_GetItem(value, k);
        if (PyFloat_CheckExact(item))
            *to[k] = PyFloat_AsDouble(item);
        else
            return false;
    }
    return true;
}

// Many poses are checked by all cores. The first bad one says what is wrong with it.
KeptRows<Pose> poses_from_matrices(const double* matrices, std::size_t count) {
    KeptRows<Pose> poses(count);
    std::atomic<std::size_t> first_bad{count};
    Pool::shared().for_rows(count, 1024, 0, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            try {
                poses[k] = pose_from_matrix(matrices + 16 * k);
            } catch (const std::invalid_argument&) {
                lower_to(first_bad, k);
                return;
            }
        }
    });
    if (first_bad < count) pose_from_matrix(matrices + 16 * first_bad);
    return poses;
}

nb::object placed_at_any(nb::handle shape, nb::handle poses) {
    const nb::object matrices = nb::module_::import_("clearance.poses").attr("as_poses")(poses);
    const nb::object dims = matrices.attr("shape");
    if (nb::len(dims) == 2) return placed_at(shape, [&] { return pose_from_matrix(nb::cast<Matrix4>(matrices).data()); });
    const auto rows = nb::cast<Matrices4>(matrices.attr("reshape")(-1, 4, 4));
    PlacedBatch batch{nb::borrow(shape), body_of(shape), {}, nb::tuple(dims[nb::slice(0, -2, 1)])};
    batch.poses = poses_from_matrices(rows.data(), rows.shape(0));
    return nb::cast(std::move(batch));
}

nb::object place(nb::handle shape, nb::handle pose) {
    if (const double* matrix = plain_matrix4(pose.ptr())) return placed_at(shape, [&] { return pose_from_matrix(matrix); });
    Vec3d translation;
    if (const double* v = plain_vector3(pose.ptr()))
        translation = {v[0], v[1], v[2]};
    else if (!three_numbers(pose.ptr(), translation))
        return placed_at_any(shape, pose);
    return placed_at(shape, [&] { return moved_by(translation); });
}

// How pickle makes a placed shape again.
nb::tuple placed_again(nb::handle shape, nb::handle poses) {
    return nb::make_tuple(nb::module_::import_("clearance.shapes").attr("place"), nb::make_tuple(shape, poses));
}

}  // namespace

void bind_shapes(nb::module_& m) {
    nb::class_<Shape> shape(m, "Shape", "A rigid shape in its own frame: an immutable value.");
    nb::class_<Placed> placed(m, "Placed", nb::pooled(kPooled), "A shape at one pose, made by `shape.at(pose)`.");
    nb::class_<PlacedBatch> batch(m, "PlacedBatch", "A shape at many poses, made by `shape.at(poses)`.");

    shape.def("at", &place, "pose"_a.none(), nb::sig("def at(self, pose: typing.Any) -> typing.Any"),
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
            for (const Part& part : self.body->parts()) {
                if (element_of(part) == nullptr) continue;
                const Element& e = *element_of(part);
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
        "The swept points, segments and triangles among its parts: core vertices (1 to 3, 3) and radius of each.");

    nb::class_<Compound, Shape> compound(m, "Compound",
                                         "A rigid union of shapes, each placed in the frame of the compound.");
    compound.def(
        "__init__",
        [](Compound* self, nb::iterable parts) {
            std::vector<Part> joined;
            nb::list kept;
            for (nb::handle part : parts) {
                join(joined, part);
                kept.append(part);
            }
            if (joined.empty()) throw std::invalid_argument("a compound needs at least one part, but it has none.");
            for (const Part& part : joined) check_coordinates(part.ball.centre, "the centre of a part");
            new (self) Compound{{std::make_shared<const Body>(std::move(joined))}, nb::tuple(kept)};
        },
        "parts"_a, nb::sig("def __init__(self, parts: collections.abc.Iterable[Shape | Placed]) -> None"));
    def_value_methods(compound, "Compound");
    compound.def_prop_ro(
        "parts", [](const Compound& self) { return self.parts; }, nb::sig("def parts(self) -> tuple[Shape | Placed, ...]"));

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
