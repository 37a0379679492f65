#include "query/contacts.hpp"

#include "bindings/operands.hpp"
#include "parallel/pool.hpp"

namespace clearance {
namespace {

DepthMethod method_named(const std::string& name) {
    if (name == "epa") return DepthMethod::epa;
    if (name == "mpr") return DepthMethod::mpr;
    throw std::invalid_argument("method must be 'epa' or 'mpr', but it is '" + name + "'.");
}

PlaneRule plane_rule_named(const std::string& name) {
    if (name == "manifold") return PlaneRule::manifold;
    if (name == "deepest") return PlaneRule::deepest;
    if (name == "corners") return PlaneRule::corners;
    if (name == "section") return PlaneRule::section;
    throw std::invalid_argument("plane must be 'manifold', 'deepest', 'corners' or 'section', but it is '" + name + "'.");
}

// Rules for planes that need corners are of no use to round bodies.
void check_plane_rule(const Body& a, const Body& b, PlaneRule rule) {
    if (a.is_finite() && b.is_finite()) return;
    if (has_plane_rule(a, rule) && has_plane_rule(b, rule)) return;
    throw std::invalid_argument(rule == PlaneRule::section ? "plane='section' is for boxes on a half-space only."
                                                           : "plane='corners' needs a body with corners on the half-space.");
}

void put(double* to, const Vec3d& v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

// The contacts of all rows, one after the other; those of row k are offsets[k] to offsets[k + 1].
nb::tuple contacts_of_rows(nb::handle a, nb::handle b, std::size_t rows, const std::string& method_name,
                           const std::string& plane_name, int threads) {
    const ContactRules rules{method_named(method_name), plane_rule_named(plane_name)};
    OperandBatch side_a, side_b;
    fill(side_a, a, "a");
    fill(side_b, b, "b");
    refuse_two_half_spaces(*side_a.body, *side_b.body);
    check_plane_rule(*side_a.body, *side_b.body, rules.plane);
    std::vector<std::vector<Contact>> found(rows);
    NumpyArray normal = new_array({rows, 3});
    {
        const nb::gil_scoped_release release;
        Pool::shared().for_rows(rows, 64, threads, [&](std::size_t begin, std::size_t end) {
            PlacedBody placed_a(*side_a.body), placed_b(*side_b.body);
            Work work;
            for (std::size_t row = begin; row < end; ++row) {
                placed_a.place(side_a.pose(row));
                placed_b.place(side_b.pose(row));
                put(normal.data() + 3 * row, contacts(placed_a, placed_b, rules, found[row], work).normal);
            }
        });
    }
    std::size_t count = 0;
    for (const auto& of_row : found) count += of_row.size();
    NumpyArray points = new_array({count, 3}), depths = new_array({count}), normals = new_array({count, 3});
    const auto integers = [](std::size_t length) { return std::unique_ptr<std::int64_t[]>(new std::int64_t[length]); };
    auto parts = integers(2 * count), features = integers(2 * count), offsets = integers(rows + 1);
    std::size_t k = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        offsets[row] = static_cast<std::int64_t>(k);
        for (const Contact& contact : found[row]) {
            put(points.data() + 3 * k, contact.point);
            put(normals.data() + 3 * k, contact.normal);
            depths.data()[k] = contact.depth;
            parts[2 * k] = contact.part_a, parts[2 * k + 1] = contact.part_b;
            features[2 * k] = contact.triangle_a, features[2 * k + 1] = contact.triangle_b;
            ++k;
        }
    }
    offsets[rows] = static_cast<std::int64_t>(count);
    const auto array = [](std::unique_ptr<std::int64_t[]> from, std::initializer_list<std::size_t> shape) {
        std::int64_t* numbers = from.release();
        const nb::capsule owner(numbers, [](void* p) noexcept { delete[] static_cast<std::int64_t*>(p); });
        return nb::ndarray<nb::numpy, std::int64_t>(numbers, shape.size(), shape.begin(), owner);
    };
    return nb::make_tuple(normal, points, depths, normals, array(std::move(parts), {count, 2}),
                          array(std::move(features), {count, 2}), array(std::move(offsets), {rows + 1}));
}

}  // namespace

void bind_contacts(nb::module_& m) {
    m.def("contacts", &contacts_of_rows, "a"_a.none(), "b"_a.none(), "rows"_a, "method"_a, "plane"_a, "threads"_a,
          nb::sig("def contacts(a: Shape | Placed | PlacedBatch, b: Shape | Placed | PlacedBatch, rows: int, method: str, "
                  "plane: str, threads: int) -> tuple[typing.Any, ...]"),
          "Contacts of batches of equal length, or of one batch against one placed shape.");
}

}  // namespace clearance
