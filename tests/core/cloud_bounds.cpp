// Clouds of balls outside and inside of a solid: no key is ever greater than the signed distance of a ball below it, also
// when tangent planes raise it, and the search finds the least of all balls.
//
//     cloud_bounds [effort = 1] [seed = 1]
#include <algorithm>

#include "bvh/search.hpp"
#include "bvh/tangent_planes.hpp"
#include "mesh_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

// A box swept by a ball, at its place in the world.
struct RoundBox {
    Vec3d half;
    double radius;
    Stand at;

    // Signed, of a point of the world.
    double distance(const Vec3d& point) const {
        const Vec3d seen = transposed_times(at.rotation, point - at.origin);
        const Vec3d beyond{abs_of(seen.x) - half.x, abs_of(seen.y) - half.y, abs_of(seen.z) - half.z};
        const Vec3d outside{max_of(beyond.x, 0.0), max_of(beyond.y, 0.0), max_of(beyond.z, 0.0)};
        return norm(outside) + min_of(max_of(beyond.x, max_of(beyond.y, beyond.z)), 0.0) - radius;
    }
    double highest(const Vec3d& along) const {
        const Vec3d seen = transposed_times(at.rotation, along);
        return dot(along, at.origin) + abs_of(seen.x) * half.x + abs_of(seen.y) * half.y + abs_of(seen.z) * half.z + radius;
    }
};

TriangleGap gap_of(const void* context, const Element& element, double) {
    const auto& box = *static_cast<const RoundBox*>(context);
    const double distance = box.distance(element.vertex[0]) - element.radius;
    const Vec3d towards = box.at.origin - element.vertex[0], normal = inverse_or_zero(norm(towards)) * towards;
    return {distance, distance, distance, element.vertex[0], element.vertex[0] + distance * normal, normal};
}
double highest_of(const void* context, const Vec3d& along) { return static_cast<const RoundBox*>(context)->highest(along); }

// The volume is larger than the box, as that around a hull would be.
Solid solid_of(const RoundBox& box, double loose) {
    const double unit = std::ldexp(1.0, std::ilogb(largest(box.half) + box.radius) + 2);
    const auto side = [&](double half) { return static_cast<float>(loose * half / unit * (1.0 + 1e-6)); };
    const Volume<float> volume{{0, 0, 0},
                               {side(box.half.x), side(box.half.y), side(box.half.z)},
                               {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                               static_cast<float>(box.radius / unit * (1.0 + 1e-6))};
    return {volume, {0, 0, 0}, unit, &box, &gap_of, &highest_of};
}

std::vector<Vec3d> points(Draw& draw) {
    std::vector<Vec3d> drawn(static_cast<std::size_t>(1 + draw.below(300)));
    const int kind = draw.below(4);
    const double scale = draw.power(-4, 4);
    for (Vec3d& point : drawn) {
        point = scale * draw.in_cube();
        if (kind == 1) point.z = 0.0;
        if (kind == 2) point = {scale * draw.below(3), scale * draw.below(3), 0.0};
        if (kind == 3) point = scale * Vec3d{1, 2, 3};
    }
    return drawn;
}

struct Check {
    const Mesh& cloud;
    const RoundBox& box;
    const SurfacePair& seen;
    const PairTree<WideTree>& tree;
    const TangentPlanes& planes;

    double distance(std::int32_t point) const {
        const Vec3d at = seen.at_a.rotation * cloud.vertices[static_cast<std::size_t>(point)] + seen.at_a.origin;
        return box.distance(at) - cloud.radius;
    }

    void expect(float key, double truth, const char* what) const {
        tally.expect(key <= truth, what, "key %.9g truth %.17g slack %.3g", double(key), truth, double(tree.slack()));
    }

    // The least distance below a slot.
    double visit(std::int32_t slot, float key_on_the_way) const {
        double least = std::numeric_limits<double>::infinity();
        if (tree.a().child(slot) < 0) {
            least = in_leaf(tree.a().leaf(slot));
        } else {
            PairTree<WideTree>::Children children;
            tree.open(slot, kRoot, key_on_the_way, 1e30f, children);
            for (int k = 0; k < children.count; ++k) least = min_of(least, visit(children.first + k, children.key[k]));
        }
        const float key = tree.key(slot, kRoot);
        expect(key, least, "a key bounds the depth of a cloud");
        expect(key_on_the_way, least, "a key on the way down bounds the depth of a cloud");
        expect(planes.raised(tree, 0, slot, key), least, "a raised key bounds the depth of a cloud");
        return least;
    }

    double in_leaf(const WideLeaf& leaf) const {
        float key[kLeafTriangles];
        tree.keys_of_triangles(leaf, key);
        double least = std::numeric_limits<double>::infinity();
        for (int k = 0; k < leaf.count; ++k) {
            const double truth = distance(leaf.triangle[k]);
            expect(key[k], truth, "a bound of a point from a solid holds");
            expect(planes.raised(tree, 0, leaf, k, key[k]), truth, "a raised bound of a point holds");
            least = min_of(least, truth);
        }
        return least;
    }
};

void check(Draw& draw) {
    const double radius = draw.chance(0.3) ? 0.0 : draw.power(-4, 1);
    std::vector<Vec3d> given = points(draw);
    const double size = largest(given.front()) + draw.power(-6, 0);
    const Mesh cloud = build_cloud(given, size * radius);
    const auto side = [&] { return size * draw.power(-3, 1); };
    RoundBox box{{side(), side(), side()}, draw.chance(0.5) ? 0.0 : side(), {}};
    const Stand at_a{draw.rotation_of_parts(), size * draw.power(-3, 3) * draw.in_cube()};
    const Vec3d towards = at_a.rotation * given[static_cast<std::size_t>(draw.below(static_cast<int>(given.size())))];
    box.at = {draw.rotation_of_parts(), at_a.origin + towards + side() * draw.direction()};
    const Solid solid = solid_of(box, draw.uniform(1.0, 2.0));
    SurfacePair seen{&cloud, nullptr, &solid, at_a, box.at};
    const WideTree solid_tree = tree_of(solid);
    const PairTree<WideTree> tree(cloud.boxes, solid_tree, seen.at_a, seen.at_b, seen.depth());
    TangentPlanes planes;
    for (int k = draw.below(12); k > 0; --k) planes.add(tree, seen, 0, draw.direction());
    const double least = Check{cloud, box, seen, tree, planes}.visit(kRoot, tree.key(kRoot, kRoot));
    for (const SearchOrder order : {SearchOrder::best, SearchOrder::depth}) {
        SearchWork work;
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        const ForestAnswer found = search({&seen, 1}, {kInfinity, -kInfinity}, order, nullptr, work);
        tally.expect(found.nearest.pair == 0 && abs_of(found.gap.distance - least) <= 1e-12 * tree.reach(),
                     "the search finds the deepest ball", "%.17g instead of %.17g", found.gap.distance, least);
        tally.expect(seen.lower <= least, "what is known of the pair holds");
    }
}

// Every ball of the tree is one of those given, and all are there but copies.
void check_numbers(Draw& draw) {
    const std::vector<Vec3d> given = points(draw);
    const Mesh cloud = build_cloud(given, 1.0);
    std::vector<bool> held(given.size());
    for (const WideLeaf& leaf : cloud.boxes.leaves)
        for (int k = 0; k < leaf.count; ++k) held[static_cast<std::size_t>(leaf.triangle[k])] = true;
    for (std::size_t k = 0; k < given.size(); ++k) {
        const auto same = [&](const Vec3d& p) { return norm(p - given[k]) == 0.0; };
        const auto first = static_cast<std::size_t>(std::find_if(given.begin(), given.end(), same) - given.begin());
        tally.expect(held[k] || held[first], "a ball is in the tree, or its first copy is");
        tally.expect(norm(cloud.element(static_cast<std::int32_t>(k)).vertex[0] - given[k]) == 0.0,
                     "balls keep their order");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    tally.context = "clouds";
    for (int k = 0; k < 4000 * effort; ++k) check(draw);
    for (int k = 0; k < 200 * effort; ++k) check_numbers(draw);
    return tally.finish();
}
