// Measures two bumpy rings at many placements, for callgrind to count what happens inside `counted`.
//
//     count_meshes best|depth obb|rss far|near|touching <side> <placements>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bvh/search.hpp"
#include "random_poses.hpp"

using namespace clearance;

namespace {

// A torus of `side` by `side` quadrangles with bumps.
Mesh ring(int side, double large, double small, VolumeKind volume) {
    std::vector<Vec3d> vertices;
    std::vector<Face> faces;
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
            const double u = 2.0 * M_PI * i / side, v = 2.0 * M_PI * j / side;
            const double bumpy = small * (1.0 + 0.1 * std::sin(9.0 * u) * std::cos(7.0 * v));
            const double from_axis = large + bumpy * std::cos(v);
            vertices.push_back({from_axis * std::cos(u), from_axis * std::sin(u), bumpy * std::sin(v)});
            const int next_i = (i + 1) % side, next_j = (j + 1) % side;
            const int a = i * side + j, b = next_i * side + j, c = next_i * side + next_j, d = i * side + next_j;
            faces.push_back({a, b, c});
            faces.push_back({a, c, d});
        }
    return build_mesh(std::move(vertices), std::move(faces), {.volume = volume});
}

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double gap_at(std::vector<SurfacePair> pair, SearchOrder order, SearchWork& work, Vec3d* normal = nullptr) {
    const ForestAnswer found = search(pair, {kNoLimit, -kNoLimit}, order, nullptr, work);
    if (normal != nullptr) *normal = found.gap.normal;
    return max_of(found.gap.distance, 0.0);
}

// At a chosen gap: moved along the normal until it is there.
SurfacePair placed(const Mesh& a, const Mesh& b, double gap) {
    SurfacePair pair{&a, &b, nullptr, {kNoTurn, {0, 0, 0}}, {rotation(), 4.0 * direction()}};
    SearchWork work;
    for (int step = 0; step < 30; ++step) {
        Vec3d normal;
        const double found = gap_at({pair}, SearchOrder::best, work, &normal);
        pair.at_b.origin = pair.at_b.origin + (gap - found) * normal;
    }
    return pair;
}

}  // namespace

// Visible, so that callgrind finds it by name.
[[gnu::noinline]] double counted(const std::vector<SurfacePair>& placements, SearchOrder order, SearchWork& work) {
    double sum = 0.0;
    for (const SurfacePair& pair : placements) sum += gap_at({pair}, order, work);
    return sum;
}

int main(int argc, char** argv) {
    if (argc != 6) return std::fputs("see the head of count_meshes.cpp\n", stderr), 2;
    const SearchOrder order = std::string(argv[1]) == "best" ? SearchOrder::best : SearchOrder::depth;
    const VolumeKind volume = std::string(argv[2]) == "obb" ? VolumeKind::obb : VolumeKind::rss;
    const std::string kind = argv[3];
    const int side = std::atoi(argv[4]);
    const Mesh a = ring(side, 1.0, 0.3, volume), b = ring(side, 0.8, 0.25, volume);
    const double gap = kind == "far" ? 0.5 : kind == "near" ? 0.005 : 0.0;
    std::vector<SurfacePair> placements;
    for (int k = 0; k < std::atoi(argv[5]); ++k) placements.push_back(placed(a, b, gap));
    SearchWork work;
    const double sum = counted(placements, order, work);
    std::printf("%.17g %lld %lld\n", sum, static_cast<long long>(work.volume_tests),
                static_cast<long long>(work.triangle_tests));
    return 0;
}
