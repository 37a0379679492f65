#include <nanobind/stl/optional.h>

#include "bindings/checked.hpp"
#include "bindings/shape_values.hpp"
#include "bvh/mesh_file.hpp"

namespace clearance {
namespace {

struct MeshShape : Shape {};
struct HeightFieldShape : Shape {
    std::vector<double> heights;
    std::size_t rows, columns;
    double cell_size;
};

using FaceRows = nb::ndarray<const std::int64_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Grid = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

const Mesh& mesh_of(const Shape& shape) { return *surface_of(shape.body->parts().front())->mesh; }

std::shared_ptr<const Body> body_of(Mesh mesh, bool solid_below) {
    const Surface surface{std::make_shared<const Mesh>(std::move(mesh)), solid_below};
    return std::make_shared<const Body>(std::vector<Part>{part_of(surface, Pose{})});
}

constexpr std::size_t kMostTriangles = 500'000'000;  // numbers of slots must fit into 32 bits

std::vector<Face> faces_from(nb::handle value, std::size_t vertices) {
    const nb::object array = nb::module_::import_("clearance.shapes").attr("as_faces")(value);
    FaceRows rows;
    if (!nb::try_cast(array, rows) || rows.shape(0) == 0)
        throw std::invalid_argument("faces must be an array (m, 3) of at least one triangle, but its shape is " +
                                    shape_of(array) + ".");
    if (rows.shape(0) > kMostTriangles || vertices > kMostTriangles)
        throw std::invalid_argument("a mesh has at most 500 million triangles and vertices, but this one has " +
                                    std::to_string(rows.shape(0)) + " and " + std::to_string(vertices) + ".");
    std::vector<Face> faces(rows.shape(0));
    for (std::size_t k = 0; k < faces.size(); ++k)
        for (std::size_t c = 0; c < 3; ++c) {
            const std::int64_t vertex = rows(k, c);
            if (vertex < 0 || vertex >= static_cast<std::int64_t>(vertices))
                throw std::invalid_argument("faces[" + std::to_string(k) + "] refers to vertex " + std::to_string(vertex) +
                                            ", but the mesh has " + std::to_string(vertices) + " vertices (0 to " +
                                            std::to_string(vertices - 1) + ").");
            faces[k][c] = static_cast<std::int32_t>(vertex);
        }
    return faces;
}

VolumeKind volume_named(const std::string& name) {
    if (name == "obb") return VolumeKind::obb;
    if (name == "rss") return VolumeKind::rss;
    throw std::invalid_argument("volume must be 'obb' or 'rss', but it is '" + name + "'.");
}

// Builds without the GIL; the caller's function gets it back for each report. What it raises ends up here: the build goes
// on, quietly, since its threads cannot be stopped in the middle.
class Reporter {
public:
    explicit Reporter(nb::handle progress)
        : report_(nb::module_::import_("clearance.progress").attr("reporter")(progress)) {}

    std::function<void(double)> function() {
        if (report_.is_none()) return {};
        return [this](double fraction) {
            if (raised_) return;
            const nb::gil_scoped_acquire acquire;
            try {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                report_(fraction);
            } catch (nb::python_error& error) {
                raised_.emplace(std::move(error));
            }
        };
    }
    void raise_if_needed() {
        if (raised_) throw nb::python_error(std::move(*raised_));
    }

private:
    nb::object report_;
    std::optional<nb::python_error> raised_;
};

Mesh built(std::vector<Vec3d> vertices, std::vector<Face> faces, VolumeKind volume, nb::handle progress,
           nb::handle threads) {
    Reporter reporter(progress);
    const int count = nb::cast<int>(nb::module_::import_("clearance.queries").attr("_thread_count")(threads));
    const BuildOptions options{volume, count, reporter.function()};
    std::optional<Mesh> mesh;
    {
        const nb::gil_scoped_release release;
        mesh = build_mesh(std::move(vertices), std::move(faces), options);
    }
    reporter.raise_if_needed();
    return std::move(*mesh);
}

template <class Number>
nb::object rows_of(nb::handle owner, const Number* numbers, std::size_t rows) {
    return nb::cast(nb::ndarray<nb::numpy, const Number, nb::ndim<2>>(numbers, {rows, 3}, owner));
}

nb::object vertices_of(nb::handle self) {
    const Mesh& mesh = mesh_of(nb::cast<const Shape&>(self));
    return rows_of(self, &mesh.vertices[0].x, mesh.vertices.size());
}

nb::object faces_of(nb::handle self) {
    const Mesh& mesh = mesh_of(nb::cast<const Shape&>(self));
    return rows_of(self, mesh.faces[0].data(), mesh.faces.size());
}

nb::bytes bytes_of_shape(const Shape& shape) {
    const std::string bytes = bytes_of(mesh_of(shape));
    return nb::bytes(bytes.data(), bytes.size());
}

MeshShape mesh_from(const nb::bytes& bytes) {
    const nb::gil_scoped_release release;
    return {{body_of(mesh_from_bytes(bytes.c_str(), bytes.size()), false)}};
}

template <class T>
void def_surface(nb::class_<T, Shape>& type) {
    type.def_prop_ro("vertices", &vertices_of, nb::sig("def vertices(self) -> numpy.typing.NDArray[numpy.float64]"),
                     "Corners of the triangles (n, 3), read-only.");
    type.def_prop_ro("faces", &faces_of, nb::sig("def faces(self) -> numpy.typing.NDArray[numpy.int32]"),
                     "Three vertices per triangle (m, 3), read-only.");
    type.def_prop_ro("nbytes", [](const T& self) { return mesh_of(self).bytes(); }, "Bytes of its arrays and trees.");
    type.def("__len__", [](const T& self) { return mesh_of(self).faces.size(); });
    def_equality(type);
}

void bind_mesh(nb::module_& m) {
    nb::class_<MeshShape, Shape> mesh(m, "Mesh",
                                      "A soup of triangles: a surface without an inside.\n\n"
                                      "volume='obb' is the fast tree of oriented boxes; 'rss' adds a binary tree of "
                                      "rectangle swept spheres, to compare with.");
    mesh.def(
        "__init__",
        [](MeshShape* self, nb::handle vertices, nb::handle faces, const std::string& volume, nb::handle progress,
           nb::handle threads) {
            const VolumeKind kind = volume_named(volume);
            std::vector<Vec3d> points = points_from(vertices, "vertices");
            std::vector<Face> corners = faces_from(faces, points.size());
            new (self) MeshShape{{body_of(built(std::move(points), std::move(corners), kind, progress, threads), false)}};
        },
        "vertices"_a.none(), "faces"_a.none(), "volume"_a = "obb", nb::kw_only(), "progress"_a.none() = false,
        "threads"_a.none() = nb::none(),
        nb::sig(
            "def __init__(self, vertices: numpy.typing.ArrayLike, faces: numpy.typing.ArrayLike, volume: str = 'obb', *, "
            "progress: bool | collections.abc.Callable[[float], typing.Any] = False, threads: int | None = None) -> "
            "None"));
    def_surface(mesh);
    mesh.def_prop_ro(
        "volume", [](const MeshShape& self) { return mesh_of(self).volume() == VolumeKind::rss ? "rss" : "obb"; },
        "'obb' or 'rss'.");
    mesh.def("to_bytes", &bytes_of_shape, "The mesh with its trees, as `save` writes it.");
    mesh.def(
        "save",
        [](const MeshShape& self, nb::handle path) {
            nb::module_::import_("clearance.meshio").attr("write_whole")(path, bytes_of_shape(self));
        },
        "path"_a, nb::sig("def save(self, path: str | os.PathLike[str]) -> None"),
        "Write the mesh with its trees to a file, which `load_mesh` reads without building anything.");
    mesh.def(
        "__reduce__",
        [](const MeshShape& self) {
            return nb::make_tuple(nb::module_::import_("clearance.meshio").attr("from_bytes"),
                                  nb::make_tuple(bytes_of_shape(self)));
        },
        kReduceSignature);
    mesh.def("__repr__", [](const MeshShape& self) {
        return "Mesh(" + std::to_string(mesh_of(self).vertices.size()) + " vertices, " +
               std::to_string(mesh_of(self).faces.size()) + " triangles)";
    });
    m.def("mesh_from_bytes", &mesh_from, "bytes"_a, nb::sig("def mesh_from_bytes(bytes: bytes) -> Mesh"),
          "The mesh that `Mesh.to_bytes` wrote.");
}

// Corners of a cell that share a triangle with (i, j) and (i + 1, j + 1).
std::vector<Face> cells(std::size_t rows, std::size_t columns) {
    std::vector<Face> faces;
    const auto at = [columns](std::size_t i, std::size_t j) { return static_cast<std::int32_t>(i * columns + j); };
    for (std::size_t i = 0; i + 1 < rows; ++i)
        for (std::size_t j = 0; j + 1 < columns; ++j) {
            faces.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
            faces.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
        }
    return faces;
}

HeightFieldShape height_field_from(nb::handle heights, double cell_size) {
    const nb::object array = nb::module_::import_("clearance.poses").attr("as_floats")(heights, "heights");
    Grid grid;
    if (!nb::try_cast(array, grid) || grid.shape(0) < 2 || grid.shape(1) < 2)
        throw std::invalid_argument("heights must be an array (n, m) of at least 2 x 2 numbers, but its shape is " +
                                    shape_of(array) + ".");
    if (!(cell_size > 0.0 && cell_size <= kLargestLength))
        throw std::invalid_argument("cell_size must be positive and below 1e30, but it is " + printed_number(cell_size) +
                                    ".");
    const std::size_t rows = grid.shape(0), columns = grid.shape(1);
    if (rows * columns > kMostTriangles / 2) throw std::invalid_argument("heights has more than 250 million numbers.");
    std::vector<Vec3d> vertices;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
            const auto from_middle = [&](std::size_t k, std::size_t count) {
                return (static_cast<double>(k) - 0.5 * static_cast<double>(count - 1)) * cell_size;
            };
            vertices.push_back({from_middle(i, rows), from_middle(j, columns), grid(i, j)});
            if (!are_usable(vertices.back()))
                check_coordinates(vertices.back(),
                                  ("the point of heights[" + std::to_string(i) + ", " + std::to_string(j) + "]").c_str());
        }
    HeightFieldShape field{{}, {grid.data(), grid.data() + rows * columns}, rows, columns, cell_size};
    const nb::gil_scoped_release release;
    field.body = body_of(build_mesh(std::move(vertices), cells(rows, columns), {}), true);
    return field;
}

nb::object heights_of(nb::handle self) {
    const auto& field = nb::cast<const HeightFieldShape&>(self);
    return nb::cast(
        nb::ndarray<nb::numpy, const double, nb::ndim<2>>(field.heights.data(), {field.rows, field.columns}, self));
}

void bind_height_field(nb::module_& m) {
    nb::class_<HeightFieldShape, Shape> field(
        m, "HeightField",
        "Ground over a grid: heights[i, j] is z at x = (i - (n - 1) / 2) * cell_size, y = (j - (m - 1) / 2) * cell_size.\n\n"
        "A surface for distances, solid below for contacts.");
    field.def(
        "__init__",
        [](HeightFieldShape* self, nb::handle heights, double cell_size) {
            new (self) HeightFieldShape(height_field_from(heights, cell_size));
        },
        "heights"_a.none(), "cell_size"_a,
        nb::sig("def __init__(self, heights: numpy.typing.ArrayLike, cell_size: float) -> None"));
    def_surface(field);
    field.def_prop_ro("heights", &heights_of, nb::sig("def heights(self) -> numpy.typing.NDArray[numpy.float64]"));
    field.def_prop_ro("cell_size", [](const HeightFieldShape& self) { return self.cell_size; });
    field.def(
        "__reduce__",
        [](nb::handle self) {
            return nb::make_tuple(self.type(),
                                  nb::make_tuple(heights_of(self), nb::cast<const HeightFieldShape&>(self).cell_size));
        },
        kReduceSignature);
    field.def("__repr__", [](const HeightFieldShape& self) {
        return "HeightField(" + std::to_string(self.rows) + " x " + std::to_string(self.columns) +
               " heights, cell_size=" + printed_number(self.cell_size) + ")";
    });
}

}  // namespace

void bind_meshes(nb::module_& m) {
    bind_mesh(m);
    bind_height_field(m);
}

}  // namespace clearance
