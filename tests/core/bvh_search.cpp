// Searches of trees against all pairs of triangles, front after front; the queue against the one of the library; the lowest
// corner against all corners.
//
//     bvh_search [effort = 1] [seed = 1] [only this part: queue, paths, contacts, copies, extremes]
#include <algorithm>
#include <cstring>
#include <queue>
#include <set>

#include "bvh/extreme.hpp"
#include "bvh/front.hpp"
#include "bvh/meeting.hpp"
#include "bvh/pair_tree.hpp"
#include "bvh/queue.hpp"
#include "mesh_samples.hpp"
#include "untrapped.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tally tally;

// ---- A forest, and all there is to know of it.

struct Truth {
    double least = kInfinity;
    TrianglePair nearest{-1, -1, -1};  // the first of those
    std::vector<double> of_pair;

    explicit Truth(std::span<const SurfacePair> forest) {
        for (std::size_t k = 0; k < forest.size(); ++k) {
            const Distances distances(forest[k]);
            of_pair.push_back(distances.least);
            if (!(distances.least < least)) continue;
            least = distances.least;
            const auto at =
                static_cast<std::size_t>(std::find(distances.of.begin(), distances.of.end(), least) - distances.of.begin());
            nearest = {static_cast<std::int32_t>(k), static_cast<std::int32_t>(at / distances.columns),
                       static_cast<std::int32_t>(at % distances.columns)};
        }
    }
};

bool same(const TrianglePair& p, const TrianglePair& q) {
    return p.pair == q.pair && p.triangle_a == q.triangle_a && p.triangle_b == q.triangle_b;
}

// Equal triangles may be left out of a tree; measured from another corner the last digits differ.
struct Exactness {
    bool exact = true;
    double size = 0.0;
};

void check_answer(const ForestAnswer& answer, std::span<const SurfacePair> forest, const ForestQuestion& question,
                  const Truth& truth, const Exactness& how, const char* who) {
    const auto where = tally.context;
    tally.context = where + ", " + who;
    const double distance = max_of(answer.gap.distance, 0.0);
    const double rounding = 1e-13 * how.size;
    const bool is_early = answer.nearest.pair >= 0 && distance <= question.near_enough;
    tally.expect(answer.lower <= truth.least + rounding,
                 is_early ? "no two triangles are nearer than the lower bound of what is near enough"
                          : "no two triangles are nearer than the lower bound",
                 "lower %.17g truth %.17g, at most %.9g, near enough %.9g", answer.lower, truth.least, question.at_most,
                 question.near_enough);
    if (answer.nearest.pair < 0) {
        tally.expect(truth.least + (how.exact ? 0.0 : rounding) > question.at_most, "what is near is found",
                     "truth %.17g at most %.17g", truth.least, question.at_most);
    } else {
        const TriangleGap gap = measured(forest[static_cast<std::size_t>(answer.nearest.pair)], answer.nearest, kInfinity);
        tally.expect(gap.distance == answer.gap.distance, "the gap is that of the triangles");
        tally.expect(distance <= question.at_most, "no answer is farther than asked", "%.17g at most %.17g", distance,
                     question.at_most);
        const bool is_exact = how.exact && answer.ties == 0;
        const bool is_nearest = is_exact ? distance == truth.least : std::fabs(distance - truth.least) <= rounding;
        tally.expect(distance <= question.near_enough || is_nearest, "the nearest is found",
                     "found %.17g truth %.17g by (%d, %d, %d) truth (%d, %d, %d)", distance, truth.least,
                     answer.nearest.pair, answer.nearest.triangle_a, answer.nearest.triangle_b, truth.nearest.pair,
                     truth.nearest.triangle_a, truth.nearest.triangle_b);
        if (is_exact && distance > max_of(question.near_enough, 0.0))
            tally.expect(same(answer.nearest, truth.nearest), "of equals the first is found",
                         "(%d, %d, %d) instead of (%d, %d, %d)", answer.nearest.pair, answer.nearest.triangle_a,
                         answer.nearest.triangle_b, truth.nearest.pair, truth.nearest.triangle_a, truth.nearest.triangle_b);
    }
    tally.context = where;
}

void check_lower(std::span<const SurfacePair> forest, const Truth& truth, const Exactness& how) {
    for (std::size_t k = 0; k < forest.size(); ++k)
        tally.expect(forest[k].lower <= truth.of_pair[k] + 1e-13 * how.size, "no pair is nearer than its lower bound",
                     "pair %zu lower %.9g truth %.17g", k, double(forest[k].lower), truth.of_pair[k]);
}

// ---- Fronts.

// J. Thoren (2018), section 3.10, and directly: every pair of leaves lies below one node of the front.
template <class Tree>
struct FrontCheck {
    std::vector<PairTree<Tree>> trees;
    std::set<std::array<std::int32_t, 3>> front, parents, used;

    static const WideTree& tree_of(const Mesh& mesh, const WideTree*) { return mesh.boxes; }
    static const RssTree& tree_of(const Mesh& mesh, const RssTree*) { return *mesh.rss; }

    FrontCheck(std::span<const SurfacePair> forest, const std::vector<FrontNode>& nodes) {
        const Tree* kind = nullptr;
        for (const SurfacePair& pair : forest)
            trees.emplace_back(tree_of(*pair.a, kind), tree_of(*pair.b, kind), pair.at_a, pair.at_b);
        for (const FrontNode& node : nodes)
            tally.expect(front.insert({node.pair, node.a, node.b}).second, "a front has no duplicates", "(%d, %d, %d)",
                         node.pair, node.a, node.b);
        for (const FrontNode& node : nodes) {
            std::int32_t a = node.a, b = node.b;
            const PairTree<Tree>& tree = trees[static_cast<std::size_t>(node.pair)];
            while (a != kRoot || b != kRoot) {
                tree.to_parent(a, b);
                if (!parents.insert({node.pair, a, b}).second) break;
            }
        }
        std::size_t children = 0;
        bool redundant = false;
        for (const auto& [pair, a, b] : parents) {
            redundant = redundant || front.count({pair, a, b}) > 0;
            children += static_cast<std::size_t>(trees[static_cast<std::size_t>(pair)].child_count(a, b));
        }
        tally.expect(!redundant, "a front has no node above another");
        tally.expect(children + trees.size() == parents.size() + front.size(),
                     "a front has as many nodes as its parents say", "%zu children, %zu trees, %zu parents, %zu nodes",
                     children, trees.size(), parents.size(), front.size());
        for (std::size_t k = 0; k < trees.size(); ++k) visit(static_cast<std::int32_t>(k), kRoot, kRoot, 0);
        tally.expect(used.size() == front.size(), "every node of a front exists", "%zu of %zu", used.size(), front.size());
    }

    void visit(std::int32_t pair, std::int32_t a, std::int32_t b, int above) {
        if (front.count({pair, a, b}) > 0) ++above, used.insert({pair, a, b});
        const PairTree<Tree>& tree = trees[static_cast<std::size_t>(pair)];
        if (tree.is_leaf(a, b)) {
            tally.expect(above == 1, "every pair of leaves lies below one node of the front", "(%d, %d, %d) below %d", pair,
                         a, b, above);
            return;
        }
        const bool of_a = tree.opens_a(a, b);
        const std::int32_t first = (of_a ? tree.a().child(a) : tree.b().child(b)) * Tree::width;
        for (int k = 0; k < tree.child_count(a, b); ++k) visit(pair, of_a ? first + k : a, of_a ? b : first + k, above);
    }
};

struct Variant {
    SearchSettings settings;
    std::string name;
    FrontSearch search;
};

std::vector<Variant> all_variants() {
    std::vector<Variant> all;
    for (const SearchOrder order : {SearchOrder::best, SearchOrder::depth})
        for (const FrontKind front : {FrontKind::implicit_nodes, FrontKind::explicit_nodes})
            for (const bool recursively : {false, true})
                for (const bool reset : {false, true}) {
                    const SearchSettings settings{order, front, recursively, reset};
                    const std::string name = std::string(order == SearchOrder::best ? "best" : "depth") +
                                             (front == FrontKind::implicit_nodes ? " implicit" : " explicit") +
                                             (recursively ? " recursive" : "") + (reset ? " reset" : "");
                    all.push_back({settings, name, FrontSearch(settings)});
                }
    return all;
}

// ---- A path of placements, every way to search along it.

ForestQuestion some_question(Draw& draw, double least, double size) {
    switch (draw.below(8)) {
        case 0:
            return {least, -kInfinity};  // just so
        case 1:
            return {std::nextafter(least, 0.0), -kInfinity};  // just not
        case 2:
            return {least * draw.uniform(0.5, 1.5), -kInfinity};
        case 3:
            return {kInfinity, least * draw.uniform(0.5, 1.5)};
        case 4:
            return {0.0, 0.0};
        case 5:
            return {size * draw.power(-3, 1), size * draw.power(-3, 0)};
        default:
            return {kInfinity, -kInfinity};
    }
}

TrianglePair some_hint(Draw& draw, std::span<const SurfacePair> forest) {
    const int k = draw.below(static_cast<int>(forest.size()));
    const SurfacePair& pair = forest[static_cast<std::size_t>(k)];
    return {k, draw.below(static_cast<int>(pair.a->faces.size())), draw.below(static_cast<int>(pair.b->faces.size()))};
}

void check_forest(std::vector<SurfacePair>& forest, const Exactness& how, bool rss, std::vector<Variant>& variants,
                  Draw& draw) {
    const Truth truth(forest);
    const ForestQuestion question = some_question(draw, truth.least, how.size);
    const TrianglePair hint = draw.chance(0.5) ? some_hint(draw, forest) : truth.nearest;
    for (const SearchOrder order : {SearchOrder::best, SearchOrder::depth})
        for (const TrianglePair* given : {static_cast<const TrianglePair*>(nullptr), &hint}) {
            SearchWork work;
            const ForestAnswer answer = search(forest, question, order, given, work);
            check_answer(answer, forest, question, truth, how, order == SearchOrder::best ? "best" : "depth");
            check_lower(forest, truth, how);
        }
    for (Variant& variant : variants) {
        SearchWork work;
        const ForestAnswer answer = variant.search.search(forest, question, draw.chance(0.3) ? &hint : nullptr, work);
        check_answer(answer, forest, question, truth, how, variant.name.c_str());
        const std::string where = tally.context;
        tally.context += ", " + variant.name;
        const std::vector<FrontNode> nodes = variant.search.nodes();
        tally.expect(nodes.size() == variant.search.size().nodes, "a front knows its size");
        if (rss)
            FrontCheck<RssTree>(forest, nodes);
        else
            FrontCheck<WideTree>(forest, nodes);
        tally.context = where;
    }
}

struct NamedMesh {
    std::string name;
    bool has_duplicates;
    Mesh mesh;
};

// Two or three meshes move, a little at most times.
void check_path(const std::vector<NamedMesh>& meshes, bool rss, Draw& draw, int steps) {
    std::vector<SurfacePair> forest;
    Exactness how;
    tally.context = rss ? "rss" : "obb";
    for (int k = draw.below(3); k >= 0; --k) {
        const NamedMesh& a = meshes[static_cast<std::size_t>(draw.below(static_cast<int>(meshes.size())))];
        const NamedMesh& b = meshes[static_cast<std::size_t>(draw.below(static_cast<int>(meshes.size())))];
        forest.push_back(placed_apart(a.mesh, b.mesh, draw));
        how.exact = how.exact && !a.has_duplicates && !b.has_duplicates;
        how.size = max_of(how.size, a.mesh.ball.radius + b.mesh.ball.radius);
        tally.context += ", " + a.name + " and " + b.name;
    }
    how.size *= 10.0;
    std::vector<Variant> variants = all_variants();
    for (int step = 0; step < steps; ++step) {
        check_forest(forest, how, rss, variants, draw);
        for (SurfacePair& pair : forest) {
            const double size = pair.a->ball.radius + pair.b->ball.radius;
            const int move = draw.below(6);
            if (move == 0)
                pair = placed_apart(*pair.a, *pair.b, draw);
            else if (move == 1)
                bring_to(pair, draw.chance(0.5) ? 0.0 : size * draw.power(-12, -1));
            else if (move == 2)
                pair.at_b.rotation = draw.rotation() * pair.at_b.rotation;
            else
                pair.at_b.origin = pair.at_b.origin + size * draw.power(-4, -1) * draw.direction();
        }
    }
}

// Grids that touch exactly: shifts by whole and half squares, turned by right angles.
void check_exact_contact(Draw& draw) {
    tally.context = "exact contact";
    const Mesh flat = grid(3).built(VolumeKind::rss), stairs = steps(6).built(VolumeKind::obb);
    const Mesh& a = draw.chance(0.5) ? flat : stairs;
    const Mesh& b = draw.chance(0.5) ? flat : stairs;
    const auto whole = [&] { return 0.5 * (draw.below(17) - 8); };
    std::vector<SurfacePair> forest{
        {&a, &b, nullptr, {Pose{}.rotation, {0, 0, 0}}, {Pose{}.rotation, {whole(), whole(), 0.5 * draw.below(5)}}}};
    if (draw.chance(0.5)) forest[0].at_b.rotation = {{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
    std::vector<Variant> variants = all_variants();
    const Exactness how{true, 40.0};
    check_forest(forest, how, a.rss && b.rss, variants, draw);
    const Truth truth(forest);
    std::vector<TrianglePair> meeting;
    SearchWork work;
    meeting_triangles(forest[0], meeting, work);
    const Distances distances(forest[0]);
    const auto all = std::count(distances.of.begin(), distances.of.end(), 0.0);
    tally.expect(static_cast<std::ptrdiff_t>(meeting.size()) == all, "all triangles that meet are found", "%zu of %td",
                 meeting.size(), all);
}

// Sizes and distances at the ends of what floats can hold.
void check_extremes(Draw& draw) {
    const Untrapped units_that_vanish_in_floats;
    const Sample shape = bumpy(draw, 3, 3);
    const double exponents[] = {-310, -300, -46, -38, -30, -20, -15, -10, -5, 0, 5, 10, 15, 20, 29};
    for (const double scale_a : exponents)
        for (const double scale_b : exponents)
            for (const double away : {0.0, 1.5, 1e6, 1e17, 1e22}) {
                const double larger = std::pow(10.0, max_of(scale_a, scale_b));
                if (away * larger > 1e30 || draw.chance(0.7)) continue;
                char name[80];
                std::snprintf(name, sizeof name, "sizes 1e%g and 1e%g, %g apart", scale_a, scale_b, away);
                for (const VolumeKind kind : {VolumeKind::obb, VolumeKind::rss}) {
                    tally.context = std::string(kind == VolumeKind::obb ? "obb, " : "rss, ") + name;
                    const Mesh a = scaled(shape, std::pow(10.0, scale_a), {0, 0, 0}).built(kind);
                    const Mesh b = scaled(shape, std::pow(10.0, scale_b), {0, 0, 0}).built(kind);
                    SurfacePair pair{
                        &a, &b, nullptr, {draw.rotation(), {0, 0, 0}}, {draw.rotation(), away * larger * draw.direction()}};
                    // Lengths below the least float are not told apart; they must do no harm.
                    const bool is_known = scale_a >= -30 && scale_b >= -30;
                    const Truth truth(std::span(&pair, 1));
                    const Exactness how{true, larger * (10.0 + away)};
                    FrontSearch front({SearchOrder::best, FrontKind::explicit_nodes, true, true});
                    for (const SearchOrder order : {SearchOrder::best, SearchOrder::depth}) {
                        SearchWork work;
                        const ForestQuestion question{kInfinity, -kInfinity};
                        const ForestAnswer found = search(std::span(&pair, 1), question, order, nullptr, work);
                        const ForestAnswer by_front = front.search(std::span(&pair, 1), question, nullptr, work);
                        if (!is_known) continue;
                        check_answer(found, std::span(&pair, 1), question, truth, how, "search");
                        check_lower(std::span(&pair, 1), truth, how);
                        check_answer(by_front, std::span(&pair, 1), question, truth, how, "front");
                    }
                }
            }
}

// Copies of one triangle, near at first and then farther away than bounds reach.
void check_copies_far_away(Draw& draw) {
    for (const VolumeKind kind : {VolumeKind::obb, VolumeKind::rss})
        for (const int others : {0, 3}) {
            tally.context = std::string(kind == VolumeKind::obb ? "obb" : "rss") + ", copies that move far away";
            const Mesh a = copies(draw, 20, others).built(kind), b = bumpy(draw, 3, 4).built(kind);
            std::vector<Variant> variants = all_variants();
            for (const double away : {3.0, 1e17, 3.0}) {
                std::vector<SurfacePair> forest{
                    {&a, &b, nullptr, {Pose{}.rotation, {0, 0, 0}}, {Pose{}.rotation, {away, 0, 0}}}};
                check_forest(forest, {false, 10.0 * (1.0 + away)}, kind == VolumeKind::rss, variants, draw);
            }
        }
}

// ---- The queue.

void check_queue(Draw& draw, int count) {
    tally.context = "queue";
    std::vector<Waiting> room;
    Queue<Waiting> queue(room);
    std::priority_queue<float, std::vector<float>, std::greater<>> known;
    const bool has_ties = draw.chance(0.5);
    const auto push = [&](int number) {
        const float key = has_ties ? static_cast<float>(draw.below(20)) : static_cast<float>(draw.uniform(0, 1));
        queue.push({key, number, 0, 0});
        known.push(key);
    };
    bool same = true;
    const auto pop = [&] {
        same = same && queue.top().key == known.top();
        const float key = queue.pop().key;
        same = same && key == known.top();
        known.pop();
    };
    for (int k = 0; k < count; ++k) {
        push(k);
        if (!known.empty() && draw.chance(0.3)) pop();
    }
    while (!known.empty() && !queue.empty()) pop();
    tally.expect(same && queue.empty() && known.empty(), "what is popped is what the library pops");
}

// ---- The lowest corner.

void check_lowest(const NamedMesh& named, Draw& draw) {
    tally.context = named.name + ", lowest corner";
    const Mesh& mesh = named.mesh;
    const Vec3d up = draw.chance(0.3) ? Vec3d{0, 0, draw.chance(0.5) ? 1.0 : -1.0} : draw.direction();
    const auto height = [&](const Vec3d& point) { return dot(up, point - mesh.boxes.centre); };
    double least = kInfinity;
    for (const Face& face : mesh.faces)
        for (const std::int32_t k : face) least = min_of(least, height(mesh.vertices[static_cast<std::size_t>(k)]));
    const LowestCorner lowest = lowest_corner(mesh, up);
    tally.expect(height(lowest.point) == least, "the lowest corner is found", "%.17g instead of %.17g", height(lowest.point),
                 least);
    const auto core = mesh.triangle(lowest.triangle);
    bool is_corner = false;
    for (const Vec3d& v : core.vertex) is_corner = is_corner || largest(v - lowest.point) == 0.0;
    tally.expect(is_corner, "the lowest corner is one of its triangle");
}

void check_paths(VolumeKind kind, Draw& draw) {
    std::vector<NamedMesh> meshes;
    for (const Sample& sample : all_kinds(draw)) {
        const double scale = draw.chance(0.7) ? 1.0 : draw.power(-1, 1);
        const Sample used =
            scaled(sample, scale, draw.chance(0.5) ? Vec3d{0, 0, 0} : draw.power(-1, 2) * scale * draw.direction());
        meshes.push_back({sample.name, sample.has_duplicates, used.built(kind)});
    }
    for (const NamedMesh& named : meshes)
        for (int k = 0; k < 30; ++k) check_lowest(named, draw);
    for (int k = 0; k < 40; ++k) check_path(meshes, kind == VolumeKind::rss, draw, 8);
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    const auto wanted = [&](const char* part) { return argc <= 3 || std::strcmp(argv[3], part) == 0; };
    for (int round = 0; round < effort; ++round) {
        for (int k = 0; k < 20 && wanted("queue"); ++k) check_queue(draw, 1 + draw.below(10000));
        for (const VolumeKind kind : {VolumeKind::obb, VolumeKind::rss})
            if (wanted("paths")) check_paths(kind, draw);
        for (int k = 0; k < 60 && wanted("contacts"); ++k) check_exact_contact(draw);
        if (wanted("extremes")) check_extremes(draw);
        if (wanted("copies")) check_copies_far_away(draw);
    }
    return tally.finish();
}
