// A tree is what the search takes it for: its volumes contain their triangles, every triangle is in one leaf, and any number
// of threads builds the same bytes.
//
//     bvh_trees [effort = 1] [seed = 1]
#include <malloc.h>

#include <algorithm>

#include "bvh/mesh_file.hpp"
#include "mesh_samples.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

double most_outside = 0.0;  // how far a corner sticks out of a volume, in units

template <class Tree>
struct TreeCheck {
    const Tree& tree;
    const Mesh& mesh;
    std::vector<int> seen;

    std::vector<std::int32_t> visit(std::int32_t slot, std::int32_t parent) {
        tally.expect(tree.size(slot) <= tree.size(parent), "sizes do not grow downwards");
        const std::int32_t child = tree.child(slot);
        std::vector<std::int32_t> below;
        if (child < 0) {
            below = triangles_of(tree, ~child);
            for (const std::int32_t k : below) ++seen[static_cast<std::size_t>(k)];
        } else {
            const auto& node = tree.nodes[static_cast<std::size_t>(child)];
            tally.expect(node.parent == slot, "a child knows its parent", "child %d of slot %d says %d", child, slot,
                         node.parent);
            tally.expect(node.count >= 1 && node.count <= Tree::width, "a node has children");
            for (int k = 0; k < node.count; ++k)
                for (const std::int32_t t : visit(child * Tree::width + k, slot)) below.push_back(t);
        }
        check_contains(slot, below);
        return below;
    }
    void check_contains(std::int32_t slot, const std::vector<std::int32_t>& below) {
        const Volume<float> volume = tree.volume(slot);
        for (const std::int32_t t : below)
            for (const Vec3d& corner : mesh.triangle(t).vertex) {
                const Vec3d from = (1.0 / tree.unit) * (corner - tree.centre) - widened(volume.centre);
                const auto outside = [&](int k, float half) {
                    return max_of(0.0, std::fabs(dot(widened(volume.axis[k]), from)) - double(half));
                };
                const double out =
                    norm(Vec3d{outside(0, volume.half.x), outside(1, volume.half.y), outside(2, volume.half.z)}) -
                    volume.sweep;
                most_outside = max_of(most_outside, out);
                // One rounding of a coordinate: gcc 12 folds double -> float -> double away where it vectorises.
                tally.expect(out <= 0x1p-24, "a volume contains its triangles",
                             "slot %d of width %d, triangle %d outside by %.3g units; half %.9g %.9g %.9g sweep %.9g", slot,
                             Tree::width, t, out, double(volume.half.x), double(volume.half.y), double(volume.half.z),
                             double(volume.sweep));
            }
    }
};

std::array<Vec3d, 3> sorted_corners(const Mesh& mesh, std::int32_t t) {
    const auto core = mesh.triangle(t);
    std::array<Vec3d, 3> corner{core.vertex[0], core.vertex[1], core.vertex[2]};
    std::sort(corner.begin(), corner.end(), [](const Vec3d& p, const Vec3d& q) {
        return p.x != q.x ? p.x < q.x : p.y != q.y ? p.y < q.y : p.z < q.z;
    });
    return corner;
}

template <class Tree>
void check_tree(const Tree& tree, const Mesh& mesh) {
    TreeCheck<Tree> check{tree, mesh, std::vector<int>(mesh.faces.size())};
    check.visit(kRoot, kRoot);
    // Only a triangle that an earlier one equals may be left out.
    for (std::size_t k = 0; k < mesh.faces.size(); ++k) {
        bool covered = check.seen[k] == 1;
        for (std::size_t j = 0; j < k && check.seen[k] == 0 && !covered; ++j) {
            const auto p = sorted_corners(mesh, static_cast<std::int32_t>(j)),
                       q = sorted_corners(mesh, static_cast<std::int32_t>(k));
            covered = check.seen[j] == 1;
            for (std::size_t c = 0; c < 3; ++c) covered = covered && largest(p[c] - q[c]) == 0.0;
        }
        tally.expect(covered, "every triangle is in one leaf", "triangle %zu in %d", k, check.seen[k]);
    }
}

void check_threads(Draw& draw, const Sample& sample) {
    tally.context = std::string("threads, ") + sample.name;
    for (const VolumeKind kind : {VolumeKind::obb, VolumeKind::rss}) {
        std::string first;
        for (const int threads : {1, 2, 3, 1}) {
            mallopt(M_PERTURB, 1 + draw.below(200));  // fresh memory is not zero, nor always the same
            const std::string bytes = bytes_of(sample.built(kind, threads));
            if (first.empty()) first = bytes;
            tally.expect(bytes == first, "any number of threads builds the same bytes",
                         "%d threads, volume %d, %zu triangles", threads, static_cast<int>(kind), sample.faces.size());
        }
        mallopt(M_PERTURB, 0);
    }
}

void check_kinds(Draw& draw) {
    for (const Sample& sample : all_kinds(draw)) {
        const double scale = draw.chance(0.5) ? 1.0 : draw.power(-6, 6);
        const Sample used =
            scaled(sample, scale, draw.chance(0.5) ? Vec3d{0, 0, 0} : draw.power(-1, 3) * scale * draw.direction());
        const Mesh mesh = used.built(VolumeKind::rss);
        tally.context = sample.name;
        check_tree(mesh.boxes, mesh);
        check_tree(*mesh.rss, mesh);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    for (int round = 0; round < effort; ++round) check_kinds(draw);
    for (const Sample& sample : {bumpy(draw, 60, 90), copies(draw, 9000, 3000), soup(draw, 9000)}) {
        check_threads(draw, sample);
        const Mesh mesh = sample.built(VolumeKind::rss);
        tally.context = std::string("large ") + sample.name;
        if (sample.has_duplicates) continue;
        check_tree(mesh.boxes, mesh);
        check_tree(*mesh.rss, mesh);
    }
    std::printf("corners stick out by %.3g units\n", most_outside);
    return tally.finish();
}
