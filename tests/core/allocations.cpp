// No query touches the heap once it has run: a control loop may call them where allocation is forbidden.
#include <cstdio>
#include <string>
#include <vector>

#include "closest/kernels.hpp"
#include "counted_allocations.hpp"
#include "scene/scene.hpp"

namespace {

using namespace clearance;

// Apart, piercing, crossing, parallel faces above each other, coplanar, touching, collinear and coinciding: rows 1 to 7 take
// the careful path for at least one pair.
constexpr std::size_t kRows = 8;
constexpr double kA[kRows][9] = {{0, 0, 0, 1, 0, 0, 0, 1, 0},
                                 {0.2, 0.2, -1, 0.3, 0.2, 1, 4, 0.2, 1},
                                 {-1, 0.5, 0, 1, 0.5, 0, 0, 3, 1},
                                 {0, 0, 1, 1, 0, 1, 0, 1, 1},
                                 {0.1, 0.1, 0, 0.5, 0.2, 0, 0.2, 0.5, 0},
                                 {0, 0, 0, -1, 0, 0, 0, -1, 2},
                                 {-3, 0, 0, -1, 0, 0, 0.5, 0, 0},
                                 {0, 0, 0, 0, 0, 0, 0, 0, 0}};
constexpr double kB[kRows][9] = {{5, 1, 2, 6, 1, 2, 5, 3, 2}, {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, -1, 0, 0, 1, 0, 2, 0, 3},
                                 {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 0, 0, 1, 0, 0, 0, 1, 0},
                                 {0, 0, 0, 1, 0, 0, 2, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0}};
constexpr double kRadii[kRows] = {0.0, 0.1, 0.2, 0.0, 0.3, 0.1, 0.0, 0.5};

bool runs_without_allocation(Simd simd, int na, int nb) {
    static double distance[kRows], lower[kRows], upper[kRows];
    static double point_a[3 * kRows], point_b[3 * kRows], normal[3 * kRows];
    static double weights_a[3 * kRows], weights_b[3 * kRows];
    const GapArrays out{distance, lower, upper, point_a, point_b, normal, weights_a, weights_b};
    const long before = allocations;
    choose_simd(simd);
    gaps_between(na, {kA[0], kRadii, 9, 1}, nb, {kB[0], kRadii, 9, 1}, out, 0, kRows);
    return allocations == before;
}

// A sheet of triangles.
std::shared_ptr<const Mesh> sheet() {
    std::vector<Vec3d> vertices;
    std::vector<Face> faces;
    constexpr std::int32_t kSide = 8;
    for (std::int32_t i = 0; i < kSide; ++i)
        for (std::int32_t j = 0; j < kSide; ++j) {
            vertices.push_back({0.2 * i, 0.2 * j, 0.05 * ((i * j) % 3)});
            if (i == 0 || j == 0) continue;
            const std::int32_t here = kSide * i + j;
            faces.push_back({here, here - 1, here - kSide});
        }
    return std::make_shared<const Mesh>(build_mesh(std::move(vertices), std::move(faces), {}));
}

// Bodies of all kinds of parts that move about; after a first evaluation nothing is left to allocate. How much room searches
// of meshes need is different for every pair, so with several threads nobody knows when each has seen the worst of them.
bool scene_runs_without_allocation(int threads, double at_most) {
    Scene scene;
    std::vector<std::string> names;
    const std::shared_ptr<const Mesh> mesh = sheet();
    for (int k = 0; k < 12; ++k) {
        std::vector<Part> parts;
        for (std::size_t row = 0; row < kRows; ++row) {
            const double* v = kA[row];
            const Element element{
                1 + int(row) % 3, {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[8]}}, kRadii[row]};
            parts.push_back(part_of(Convex{element, element.radius}, Pose{}));
        }
        parts.push_back(part_of(Convex{Box{{0.6, 0.7, 0.9}}, 0.0}, Pose{}));
        parts.push_back(part_of(Convex{Cylinder{1.2, 0.5}, 0.0}, Pose{}));
        if (threads == 1 && k % 3 == 0) parts = {part_of(Surface{mesh, false}, Pose{})};
        names.push_back("body " + std::to_string(k));
        scene.add(names.back(), Body(std::move(parts)), Pose{});
    }
    scene.watch_all();
    long before = 0;
    // Every thread has room of its own, which it makes when it first needs it: half of the steps are for warming up.
    for (int step = 0; step < 80; ++step) {
        for (int k = 0; k < 12; ++k) {
            Pose pose;
            pose.translation = {2.0 * k, 0.1 * (step % 20) * k, 0.3 * (k % 3)};
            scene.move(names[std::size_t(k)], pose);
        }
        scene.distances(threads, at_most);
        if (step == 39) before = allocations;
    }
    return allocations == before;
}

}  // namespace

int main() {
    int passed = 0, failed = 0;
    const auto check = [&](bool holds, const char* what, int simd, int na, int nb) {
        ++(holds ? passed : failed);
        if (!holds) std::printf("FAILED %d%d, Simd %d: %s\n", na, nb, simd, what);
    };

    const long before = allocations;
    ::operator delete(::operator new(1));  // a new-expression might be optimised away
    check(allocations == before + 1, "the counter sees an allocation", 0, 0, 0);

    for (int simd = 0; simd <= int(best_simd()); ++simd)
        for (int na = 1; na <= 3; ++na)
            for (int nb = 1; nb <= 3; ++nb)
                check(runs_without_allocation(Simd(simd), na, nb), "gaps_between allocates", simd, na, nb);

    for (int threads = 1; threads <= 2; ++threads) {
        check(scene_runs_without_allocation(threads, 1.0), "Scene::distances allocates, at_most given", 0, 0, 0);
        check(scene_runs_without_allocation(threads, 1e9), "Scene::distances allocates", 0, 0, 0);
    }

    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
