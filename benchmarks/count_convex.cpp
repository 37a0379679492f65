// Measures one pair of convex bodies at many placements, for callgrind to count what happens inside `counted`.
//
//     count_convex <first body> <second body> near|far|overlapping <placements>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "query/distance.hpp"
#include "random_poses.hpp"

using namespace clearance;

namespace {

Body body_named(const std::string& name, bool second) {
    const auto body = [](const Convex& convex) { return Body({part_of(convex, Pose{})}); };
    const auto element = [&](int count, const Vec3d& end, double radius) {
        return body({Element{count, {-end, end, end}, radius}, radius});
    };
    if (name == "sphere") return element(1, {0, 0, 0}, second ? 0.5 : 0.4);
    if (name == "capsule") return element(2, {0, 0, second ? 0.3 : 0.4}, 0.2);
    if (name == "box") return body({Box{second ? Vec3d{0.25, 0.45, 0.35} : Vec3d{0.5, 0.4, 0.3}}, 0.0});
    if (name == "cylinder") return body({second ? Cylinder{0.3, 0.4} : Cylinder{0.4, 0.5}, 0.0});
    if (name == "ellipsoid") {
        const Ellipsoid core = worn_ellipsoid(second ? Vec3d{0.3, 0.4, 0.6} : Vec3d{0.5, 0.4, 0.3});
        return body({core, core.taken});
    }
    std::vector<Vec3d> points;
    for (int k = std::atoi(name.c_str()); k > 0; --k) points.push_back(0.5 * direction());
    if (points.empty()) std::exit(2);
    return body({std::make_shared<const Hull>(points), 0.0});
}

struct Placement {
    Pose a, b;
};

// At a chosen gap: moved along the normal until it is there.
Placement placed(const Body& a, const Body& b, double gap) {
    Placement at{{rotation(), {0, 0, 0}}, {rotation(), 3.0 * direction()}};
    Work work;
    for (int step = 0; step < 20; ++step) {
        const Gap found = distance(a, at.a, b, at.b, {}, work);
        at.b.translation = at.b.translation + (gap - found.distance) * found.normal;
    }
    return at;
}

}  // namespace

// Visible, so that callgrind finds it by name.
[[gnu::noinline]] double counted(const Body& a, const Body& b, const std::vector<Placement>& placements, Work& work) {
    double sum = 0.0;
    for (const Placement& at : placements) sum += distance(a, at.a, b, at.b, {}, work).distance;
    return sum;
}

int main(int argc, char** argv) {
    if (argc != 5) return std::fputs("see the head of count_convex.cpp\n", stderr), 2;
    const Body a = body_named(argv[1], false), b = body_named(argv[2], true);
    const std::string kind = argv[3];
    std::vector<Placement> placements;
    for (int k = 0; k < std::atoi(argv[4]); ++k)
        placements.push_back(placed(a, b, kind == "far" ? 1.0 : (kind == "near" ? 1.0 : -1.0) * uniform(0.001, 0.01)));
    Work work;
    const double sum = counted(a, b, placements, work);
    std::printf("%.17g %.17g\n", sum, static_cast<double>(work.iterations));
    return 0;
}
