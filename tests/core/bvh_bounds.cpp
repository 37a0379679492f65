// Bounds in floats against distances in doubles: no key is ever greater than what it bounds, no near triangle is lost, and
// all instruction sets agree bit by bit.
//
//     bvh_bounds [effort = 1] [seed = 1]
#include <algorithm>
#include <cstring>
#include <set>

#include "bvh/pair_tree.hpp"
#include "mesh_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

Vec3<float> rounded(const Vec3d& v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }

// ---- Volumes by themselves.

// The corners of a box as twelve triangles, or of a rectangle as two.
struct Surface {
    std::vector<Core<double, 3>> triangles;
    Vec3d centre, half, axis[3];

    bool contains(const Vec3d& point) const {
        const Vec3d from = point - centre;
        return std::fabs(dot(axis[0], from)) <= half.x && std::fabs(dot(axis[1], from)) <= half.y &&
               std::fabs(dot(axis[2], from)) <= half.z;
    }
};

struct Box {
    Vec3d centre, half, axis[3];
    double sweep;

    Volume<float> volume() const {
        return {rounded(centre),
                rounded(half),
                {rounded(axis[0]), rounded(axis[1]), rounded(axis[2])},
                static_cast<float>(sweep)};
    }
};

Surface surface_of(const Box& box, const Stand& at, double unit) {
    Surface surface{{}, placed(at, unit * box.centre), unit * box.half, {}};
    for (int k = 0; k < 3; ++k) surface.axis[k] = at.rotation * box.axis[k];
    const auto corner = [&](int k, int x, int y, int z) {
        const double sign[3] = {x ? 1.0 : -1.0, y ? 1.0 : -1.0, z ? 1.0 : -1.0};
        return surface.centre + sign[0] * surface.half.x * surface.axis[k] +
               sign[1] * surface.half.y * surface.axis[(k + 1) % 3] + sign[2] * surface.half.z * surface.axis[(k + 2) % 3];
    };
    const auto face = [&](int upper) {
        const Vec3d p = corner(0, 0, 0, upper), q = corner(0, 1, 0, upper), r = corner(0, 1, 1, upper),
                    s = corner(0, 0, 1, upper);
        surface.triangles.push_back({{p, q, r}}), surface.triangles.push_back({{p, r, s}});
        return std::array<Vec3d, 4>{p, q, r, s};
    };
    const auto low = face(0);
    if (box.half.z == 0.0) return surface;
    const auto high = face(1);
    for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t next = (k + 1) % 4;
        surface.triangles.push_back({{low[k], low[next], high[next]}});
        surface.triangles.push_back({{low[k], high[next], high[k]}});
    }
    return surface;
}

struct Apart {
    double distance;
    Vec3d normal;
};

// Solid boxes: surfaces that do not meet, unless one is inside the other.
Apart apart(const Surface& a, const Surface& b) {
    Apart best{std::numeric_limits<double>::infinity(), {1, 0, 0}};
    if (a.contains(b.centre) || b.contains(a.centre)) return {0.0, {1, 0, 0}};
    for (const auto& s : a.triangles)
        for (const auto& t : b.triangles) {
            const double no_radius = 0.0;
            TriangleGap gap;
            gap_between(3, {&s.vertex[0].x, &no_radius, 9, 0}, 3, {&t.vertex[0].x, &no_radius, 9, 0},
                        {&gap.distance, &gap.lower, &gap.upper, &gap.point_a.x, &gap.point_b.x, &gap.normal.x});
            if (gap.distance <= 0.0) return {0.0, {1, 0, 0}};
            if (gap.distance < best.distance) best = {gap.distance, gap.normal};
        }
    return best;
}

// A tree of one node with volumes of any kind, inside a root that is as long as the builder makes it.
template <class TreeType>
struct Drawn {
    TreeType tree;
    std::vector<Box> boxes;
};

template <class TreeType>
Drawn<TreeType> drawn_tree(Draw& draw) {
    constexpr int W = TreeType::width;
    Drawn<TreeType> drawn;
    TreeType& tree = drawn.tree;
    const double length = draw.uniform(0.5, 1.0);
    const auto side = [&] { return draw.chance(0.5) ? draw.uniform(0.0, length) : length * draw.power(-7, 0); };
    const double extent[3] = {length, side(), side()};
    tree.unit = std::ldexp(1.0, draw.below(41) - 20);
    tree.centre = tree.unit * draw.power(-2, 1) * draw.direction();
    tree.root = {{0, 0, 0}, rounded(0.5 * Vec3d{extent[0], extent[1], extent[2]}), {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 0.0f};
    tree.root_size = static_cast<float>(norm(widened(tree.root.half)));
    tree.nodes.emplace_back();
    auto& node = tree.nodes[0];
    std::memset(static_cast<void*>(&node), 0, sizeof node);
    node.parent = kRoot, node.count = W;
    for (int k = 0; k < W; ++k) {
        const Mat3 turn = draw.rotation_of_parts();
        Box box{{0, 0, 0}, {0, 0, 0}, {turn.row[0], turn.row[1], turn.row[2]}, 0.0};
        double* const half[3] = {&box.half.x, &box.half.y, &box.half.z};
        for (double* h : half)
            *h = draw.chance(0.1) ? 0.0 : draw.chance(0.4) ? draw.uniform(0.0, 0.5) : draw.power(-9, -0.3);
        const bool is_swept = W == 2;
        if (is_swept) box.half.z = 0.0, box.sweep = draw.chance(0.2) ? 0.0 : draw.power(-9, -0.6);
        double shrink = 1.0;
        double reach[3];
        for (int x = 0; x < 3; ++x) {
            const auto at = [x](const Vec3d& v) { return x == 0 ? v.x : x == 1 ? v.y : v.z; };
            reach[x] = box.sweep;
            for (int c = 0; c < 3; ++c) reach[x] += std::fabs(at(box.axis[c])) * *half[c];
            if (reach[x] > 0.5 * extent[x]) shrink = min_of(shrink, 0.5 * extent[x] / reach[x]);
        }
        box.half = shrink * box.half, box.sweep *= shrink;
        double* const centre[3] = {&box.centre.x, &box.centre.y, &box.centre.z};
        for (int x = 0; x < 3; ++x) {
            const double room = max_of(0.0, 0.5 * extent[x] - shrink * reach[x]);
            *centre[x] = draw.chance(0.3) ? (draw.chance(0.5) ? room : -room) : draw.uniform(-room, room);
        }
        const Volume<float> volume = box.volume();
        const auto set = [k](float(*column)[W], const Vec3<float>& v) {
            column[0][k] = v.x, column[1][k] = v.y, column[2][k] = v.z;
        };
        set(node.centre, volume.centre), set(node.half, volume.half);
        for (int c = 0; c < 3; ++c) set(node.axis + 3 * c, volume.axis[c]);
        if constexpr (W == 2) node.sweep[k] = volume.sweep;
        node.size[k] = min_of(static_cast<float>(norm(box.half) + box.sweep), tree.root_size);
        node.child[k] = ~k;
        drawn.boxes.push_back(box);
    }
    tree.leaves.resize(W);
    return drawn;
}

double most_slack_used = 0.0;

void check_key(float key, double truth, const double slack, const char* what) {
    tally.expect(key <= truth + 1e-9 * slack, what, "key %.9g truth %.17g, over by %.3g slacks", double(key), truth,
                 (key - truth) / slack);
    if (key > 0.0f) most_slack_used = max_of(most_slack_used, (double(key) + slack - truth) / slack);
}

// Children are near or pruned, and only those that exist are either.
template <int W, class Children>
void check_opened(const Children& children, float bound) {
    float least = std::numeric_limits<float>::infinity();
    unsigned near = 0;
    for (int k = 0; k < children.count; ++k) {
        if (children.key[k] < bound)
            near |= 1u << k;
        else
            least = min_of(least, children.key[k]);
    }
    tally.expect(children.count >= 1 && children.count <= W, "a pair has children");
    tally.expect(children.opened.near == near, "children below the bound are near, and only they",
                 "%u instead of %u, of %d children", children.opened.near, near, children.count);
    tally.expect(
        children.opened.least_pruned == least ||
            (children.count < W && least == std::numeric_limits<float>::infinity() && children.opened.least_pruned >= bound),
        "the least of the others is known", "%.9g instead of %.9g", double(children.opened.least_pruned), double(least));
}

template <class TreeType>
void check_drawn_volumes(Draw& draw, const char* name) {
    constexpr int W = TreeType::width;
    Drawn<TreeType> a = drawn_tree<TreeType>(draw), b = drawn_tree<TreeType>(draw);
    if (draw.chance(0.5)) b.tree.unit = a.tree.unit;
    const double size = a.tree.unit + b.tree.unit;
    Stand at_a{draw.rotation_of_parts(), size * draw.in_cube()};
    Stand at_b{draw.rotation_of_parts(), at_a.origin + 4.0 * size * draw.direction()};
    if (draw.chance(0.3)) at_b.rotation = at_a.rotation;
    const int chosen_a = draw.below(W), chosen_b = draw.below(W);
    const auto surface = [](const Drawn<TreeType>& drawn, int k, const Stand& at) {
        return surface_of(drawn.boxes[static_cast<std::size_t>(k)], {at.rotation, placed(at, drawn.tree.centre)},
                          drawn.tree.unit);
    };
    const auto truth = [&](int i, int j) {
        const double sweeps = a.boxes[static_cast<std::size_t>(i)].sweep * a.tree.unit +
                              b.boxes[static_cast<std::size_t>(j)].sweep * b.tree.unit;
        return max_of(0.0, apart(surface(a, i, at_a), surface(b, j, at_b)).distance - sweeps);
    };
    const Apart found = apart(surface(a, chosen_a, at_a), surface(b, chosen_b, at_b));
    const int how = draw.below(5);
    const double wanted = how == 0   ? 0.0
                          : how == 1 ? size * draw.power(-9, -4)
                          : how == 2 ? size * draw.power(3, 13)
                                     : size * draw.power(-3, 1);
    at_b.origin = at_b.origin + (wanted - found.distance) * found.normal;

    const PairTree<TreeType> pair(a.tree, b.tree, at_a, at_b);
    tally.context = name;
    check_key(pair.key(chosen_a, chosen_b), truth(chosen_a, chosen_b), pair.slack(), "a key bounds the distance of volumes");
    typename PairTree<TreeType>::Children children;
    const float bound = static_cast<float>(size * draw.power(-3, 1));
    pair.open(kRoot, chosen_b, 0.0f, bound, children);
    check_opened<W>(children, bound);
    for (int k = 0; k < W; ++k)
        check_key(children.key[k], truth(k, chosen_b), pair.slack(), "keys below a bound distances of volumes");
    pair.open(chosen_a, kRoot, 0.0f, bound, children);
    check_opened<W>(children, bound);
    for (int k = 0; k < W; ++k)
        check_key(children.key[k], truth(chosen_a, k), pair.slack(), "keys below b bound distances of volumes");
}

// ---- Pairs of trees, all the way down.

template <class Tree>
struct PairCheck {
    const PairTree<Tree>& pair;
    const Distances& distances;
    Draw& draw;

    // The least distance below a pair of slots.
    double visit(std::int32_t a, std::int32_t b, float key_on_the_way) {
        const float key = pair.key(a, b);
        double least = std::numeric_limits<double>::infinity();
        if (pair.is_leaf(a, b)) {
            const std::int32_t leaf_a = ~pair.a().child(a), leaf_b = ~pair.b().child(b);
            for (const std::int32_t i : triangles_of(pair.a(), leaf_a))
                for (const std::int32_t j : triangles_of(pair.b(), leaf_b)) least = min_of(least, distances.at(i, j));
            if constexpr (Tree::width == 8) check_near(a, b, least);
        } else {
            typename PairTree<Tree>::Children children;
            const float bound = draw.chance(0.5) ? static_cast<float>(1.0001 * pair.reach())
                                                 : key_on_the_way * static_cast<float>(draw.uniform(1, 2));
            pair.open(a, b, key_on_the_way, bound, children);
            if (pair.is_bounded()) check_opened<Tree::width>(children, bound);
            tally.expect(children.count == pair.child_count(a, b) && children.of_a == pair.opens_a(a, b),
                         "a pair opens as it says");
            for (int k = 0; k < children.count; ++k) {
                const std::int32_t slot = children.first + k, child_a = children.of_a ? slot : a,
                                   child_b = children.of_a ? b : slot;
                std::int32_t up_a = child_a, up_b = child_b;
                pair.to_parent(up_a, up_b);
                tally.expect(up_a == a && up_b == b, "the way up is the way down", "(%d, %d) from (%d, %d) goes to (%d, %d)",
                             child_a, child_b, a, b, up_a, up_b);
                tally.expect(children.key[k] >= key_on_the_way, "a child is no nearer than its parent");
                least = min_of(least, visit(child_a, child_b, children.key[k]));
            }
        }
        check_key(key, least, pair.slack(), "a key bounds the distances of triangles");
        check_key(key_on_the_way, least, pair.slack(), "a key on the way down bounds the distances of triangles");
        return least;
    }

    // Pairs side by side, in floats.
    void check_closely(const WideLeaf& a, const WideLeaf& b, const NearTriangles& near) {
        for (int first = 0; first < near.count; first += 8) {
            Octet octet;
            const int used = std::min(8, near.count - first);
            for (int lane = 0; lane < 8; ++lane) {
                const int k = first + (lane < used ? lane : 0);
                for (int row = 0; row < 9; ++row)
                    octet.a[row][lane] = near.a.vertex[row][near.i[k]], octet.b[row][lane] = b.vertex[row][near.j[k]];
            }
            float lower[8], upper[8];
            bvh_kernels().look_closely(octet, lower, upper);
            const KeyRule rule{pair.unit_b(), pair.slack(), 0.0f};
            for (int lane = 0; lane < used; ++lane) {
                const double truth = distances.at(a.triangle[near.i[first + lane]], b.triangle[near.j[first + lane]]);
                check_key(key_of(lower[lane], rule), truth, pair.slack(), "a key bounds the distance of two triangles");
                const double most = upper[lane] * double(pair.unit_b()) + pair.slack();
                tally.expect(most >= truth, "two triangles are no farther apart than was found", "%.17g, found %.17g", truth,
                             most);
            }
        }
    }

    // Nothing within the bound is lost, and the bounds of what is found hold.
    void check_near(std::int32_t slot_a, std::int32_t slot_b, double least) {
        const WideLeaf &a = pair.a().leaf(slot_a), &b = pair.b().leaf(slot_b);
        double bounds[4] = {0.0, least, 1.3 * least, 0.0};
        bounds[3] = distances.at(a.triangle[draw.below(a.count)], b.triangle[draw.below(b.count)]);
        for (const double bound : bounds) {
            NearTriangles near;
            pair.near_triangles(slot_a, slot_b, static_cast<float>(bound), near);
            std::set<std::pair<int, int>> found;
            for (int k = 0; k < near.count; ++k) {
                tally.expect(near.i[k] < a.count && near.j[k] < b.count, "near triangles exist");
                tally.expect(found.insert({near.i[k], near.j[k]}).second, "near triangles are found once");
            }
            const double upper = double(near.upper) * pair.unit_b() * (1.0 + 1e-6) + pair.slack();
            tally.expect(least <= upper, "two triangles are no farther apart than the distance that was found",
                         "%.17g, found %.17g", least, upper);
            if (pair.is_bounded()) check_closely(a, b, near);
            for (int i = 0; i < a.count; ++i)
                for (int j = 0; j < b.count; ++j) {
                    const double truth = distances.at(a.triangle[i], b.triangle[j]);
                    tally.expect(truth > bound || found.count({i, j}) == 1, "no near triangles are lost",
                                 "triangles %d and %d at %.17g, bound %.17g, slack %.3g", a.triangle[i], b.triangle[j],
                                 truth, bound, double(pair.slack()));
                }
        }
    }
};

template <class Tree>
void check_pair_tree(const SurfacePair& placed, const Distances& distances, Draw& draw) {
    const Tree* kind = nullptr;
    const PairTree<Tree> pair(tree_of(*placed.a, kind), tree_of(*placed.b, kind), placed.at_a, placed.at_b);
    tally.expect(distances.least <= 1.0001 * pair.reach(), "meshes are no farther apart than their reach",
                 "distance %.17g reach %.17g", distances.least, pair.reach());
    PairCheck<Tree>{pair, distances, draw}.visit(kRoot, kRoot, pair.key(kRoot, kRoot));
}

struct NamedMesh {
    std::string name;
    Mesh mesh;
};

void check_pairs(const NamedMesh& a, const NamedMesh& b, Draw& draw) {
    SurfacePair pair = placed_apart(a.mesh, b.mesh, draw);
    const double size = a.mesh.ball.radius + b.mesh.ball.radius;
    const int how = draw.below(5);
    if (how < 3)
        bring_to(pair, how == 0   ? 0.0
                       : how == 1 ? size * draw.power(-9, -2)
                                  : size * draw.power(0, draw.chance(0.5) ? 4 : 18));
    tally.context = a.name + " against " + b.name;
    const Distances distances(pair);
    check_pair_tree<WideTree>(pair, distances, draw);
    check_pair_tree<RssTree>(pair, distances, draw);
}

// A bound that is too small for the first cut would lose everything: points around nothing, and a point in their middle.
void check_reach(Draw& draw) {
    Sample points{"points", {}, {}};
    for (int k = draw.below(4) + 2; k > 0; --k) {
        const Vec3d at = draw.direction();
        points.add(at, at + draw.power(-12, -2) * draw.direction(), at);
    }
    const Mesh a = points.built(VolumeKind::rss);
    Sample middle{"middle", {}, {}};
    const Vec3d at = a.boxes.centre;
    middle.add(at, at, at);
    const Mesh b = middle.built(VolumeKind::rss);
    const SurfacePair pair{&a, &b, nullptr, {Pose{}.rotation, {0, 0, 0}}, {Pose{}.rotation, {0, 0, 0}}};
    tally.context = "points around a point";
    const Distances distances(pair);
    check_pair_tree<WideTree>(pair, distances, draw);
    check_pair_tree<RssTree>(pair, distances, draw);
}

// ---- The same bits on every machine.

// All that the kernels say of some numbers.
struct Results {
    std::vector<float> keys, bounds, close, seen;
    unsigned near_children;
    std::vector<std::pair<int, int>> near_pairs;
};

Results results_of(const Node<8>& node, const WideLeaf* leaf, const Volume<float>& volume, const KeyRule& rule,
                   const TreeMotion& motion, const Octet& octet, float within) {
    const BvhKernels& kernels = bvh_kernels();
    Results results;
    results.keys.resize(16), results.bounds.resize(16), results.close.resize(16);
    const Opened opened = kernels.keys(node, volume, rule, within, results.keys.data());
    const Opened deep = kernels.signed_keys(node, volume, rule, within, results.keys.data() + 8);
    results.near_children = opened.near | deep.near << 8, results.keys.push_back(opened.least_pruned);
    kernels.bounds(leaf[0], volume, results.bounds.data());
    kernels.signed_bounds(leaf[0], volume, results.bounds.data() + 8);
    kernels.look_closely(octet, results.close.data(), results.close.data() + 8);
    NearTriangles near;
    kernels.near_triangles(leaf[0], leaf[1], volume, motion, within, near);
    for (int k = 0; k < near.count; ++k) results.near_pairs.push_back({near.i[k], near.j[k]});
    results.seen.push_back(near.upper);
    for (const auto& row : near.a.vertex) results.seen.insert(results.seen.end(), row, row + leaf[0].count);
    return results;
}

// Not a number is not a number, whatever its bits.
bool same_bits(const std::vector<float>& x, const std::vector<float>& y) {
    bool same = x.size() == y.size();
    for (std::size_t k = 0; k < x.size() && same; ++k)
        same = std::memcmp(&x[k], &y[k], sizeof(float)) == 0 || (x[k] != x[k] && y[k] != y[k]);
    return same;
}

// Any numbers will do, as long as they are numbers: also far away, tiny, or none of a box at all.
void check_instruction_sets(Draw& draw) {
    tally.context = "instruction sets";
    const double spread = draw.chance(0.3) ? draw.uniform(0, 20) : 0.0;
    const auto any = [&] {
        return static_cast<float>(draw.chance(0.05) ? 0.0 : draw.normal() * draw.power(-spread, spread));
    };
    Node<8> node{};
    WideLeaf leaf[2]{};
    for (int k = 0; k < 8; ++k) {
        for (int x = 0; x < 3; ++x) {
            node.centre[x][k] = any(), node.half[x][k] = std::fabs(any());
            for (WideLeaf& l : leaf) l.centre[x][k] = any(), l.normal[x][k] = any();
        }
        const Mat3 turn = draw.rotation();
        for (int c = 0; c < 3; ++c)
            node.axis[3 * c][k] = float(turn.row[c].x), node.axis[3 * c + 1][k] = float(turn.row[c].y),
                          node.axis[3 * c + 2][k] = float(turn.row[c].z);
        for (WideLeaf& l : leaf) {
            for (int x = 0; x < 9; ++x) l.vertex[x][k] = any();
            l.radius[k] = std::fabs(any());
        }
    }
    for (WideLeaf& l : leaf) l.count = 1 + draw.below(8);
    const Mat3 turn = draw.rotation();
    const Volume<float> volume{{any(), any(), any()},
                               {std::fabs(any()), std::fabs(any()), 0.0f},
                               {rounded(turn.row[0]), rounded(turn.row[1]), rounded(turn.row[2])},
                               std::fabs(any())};
    const KeyRule rule{std::fabs(any()), 1e-6f, draw.chance(0.5) ? 0.0f : std::fabs(any())};
    const TreeMotion motion{
        {rounded(turn.row[0]), rounded(turn.row[1]), rounded(turn.row[2])}, {any(), any(), any()}, std::fabs(any())};
    const float within = std::fabs(any());

    Octet octet;
    for (int row = 0; row < 9; ++row)
        for (int k = 0; k < 8; ++k) octet.a[row][k] = any(), octet.b[row][k] = any();

    choose_simd(Simd::scalar);
    const Results first = results_of(node, leaf, volume, rule, motion, octet, within);
    for (int k = 0; k < 8; ++k) {
        const auto at = [k](const float(*column)[8]) { return Vec3<float>{column[0][k], column[1][k], column[2][k]}; };
        const Volume<float> child{
            at(node.centre), at(node.half), {at(node.axis), at(node.axis + 3), at(node.axis + 6)}, 0.0f};
        const float key = key_of(distance_bound(child, volume), rule), found = first.keys[static_cast<std::size_t>(k)];
        tally.expect(std::memcmp(&key, &found, 4) == 0, "eight keys are those of one by one", "%.9g instead of %.9g",
                     double(found), double(key));
        const float deep = key_of(distance_bound<true>(child, volume), rule);
        tally.expect(same_bits({deep}, {first.keys[static_cast<std::size_t>(8 + k)]}),
                     "eight signed keys are those of one by one");
    }
    for (const Simd simd : {Simd::sse2, Simd::avx2, Simd::avx512}) {
        if (static_cast<int>(simd) > static_cast<int>(best_simd())) continue;
        choose_simd(simd);
        const Results other = results_of(node, leaf, volume, rule, motion, octet, within);
        const int number = static_cast<int>(simd);
        tally.expect(same_bits(first.keys, other.keys) && first.near_children == other.near_children,
                     "keys have the same bits", "instruction set %d", number);
        tally.expect(same_bits(first.bounds, other.bounds), "bounds have the same bits", "instruction set %d", number);
        tally.expect(same_bits(first.close, other.close), "close looks have the same bits", "instruction set %d", number);
        tally.expect(first.near_pairs == other.near_pairs && same_bits(first.seen, other.seen),
                     "near triangles have the same bits", "instruction set %d, %zu and %zu found", number,
                     first.near_pairs.size(), other.near_pairs.size());
    }
    choose_simd(best_simd());
}

// The bound of a triangle from a volume, against the surface of the volume.
void check_triangle_bounds(Draw& draw) {
    tally.context = "triangles and a volume";
    const Sample sample = draw.chance(0.5) ? soup(draw, 8) : needles(draw, 8);
    const Mesh mesh = sample.built(VolumeKind::obb);
    const WideTree& tree = mesh.boxes;
    const Mat3 turn = draw.rotation_of_parts();
    const Box box{draw.power(-2, 2) * draw.in_cube(),
                  {draw.power(-6, 1), draw.power(-6, 1), draw.chance(0.3) ? 0.0 : draw.power(-6, 1)},
                  {turn.row[0], turn.row[1], turn.row[2]},
                  draw.chance(0.5) ? 0.0 : draw.power(-6, 0)};
    const Surface surface = surface_of(box, {Pose{}.rotation, tree.centre}, tree.unit);
    const double reach = tree.unit * (norm(box.centre) + norm(box.half) + box.sweep + tree.root_size);
    float bounds[8];
    bvh_kernels().bounds(tree.leaves[0], box.volume(), bounds);
    const float slack = static_cast<float>(kFloatSlack * reach);
    for (int k = 0; k < tree.leaves[0].count; ++k) {
        const Core<double, 3> triangle = mesh.triangle(tree.leaves[0].triangle[k]);
        Surface one{{triangle}, triangle.vertex[0], {-1, -1, -1}, {}};
        const double truth = max_of(0.0, apart(one, surface).distance - tree.unit * box.sweep);
        check_key(key_of(bounds[k], {static_cast<float>(tree.unit), slack, 0.0f}), truth, slack,
                  "a bound of a triangle from a volume holds");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    for (int k = 0; k < 1200 * effort; ++k) {
        check_drawn_volumes<WideTree>(draw, "boxes");
        check_drawn_volumes<RssTree>(draw, "rectangle swept spheres");
    }
    std::printf("volumes: rounding takes %.3g of the slack\n", most_slack_used);
    for (int k = 0; k < 5000 * effort; ++k) check_triangle_bounds(draw);
    std::printf("and triangles: %.3g\n", most_slack_used);
    for (int k = 0; k < 3000 * effort; ++k) check_instruction_sets(draw);
    for (int k = 0; k < 300 * effort; ++k) check_reach(draw);

    for (int round = 0; round < effort; ++round) {
        std::vector<NamedMesh> meshes;
        for (const Sample& sample : all_kinds(draw)) {
            const double scale = draw.chance(0.5) ? 1.0 : draw.power(-6, 6);
            const Sample used =
                scaled(sample, scale, draw.chance(0.5) ? Vec3d{0, 0, 0} : draw.power(-1, 3) * scale * draw.direction());
            meshes.push_back({sample.name, used.built(VolumeKind::rss)});
        }
        for (const NamedMesh& a : meshes)
            for (const NamedMesh& b : meshes) check_pairs(a, b, draw);
    }
    std::printf("and trees: %.3g\n", most_slack_used);
    return tally.finish();
}
