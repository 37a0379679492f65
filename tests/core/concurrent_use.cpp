// What several threads may do at a time, as documented: shapes, targets of rays, scenes that stand still and cells are
// shared; searches, guards and worlds belong to one thread each; batches share the helping threads. All of them find what
// one finds alone, to the last bit. Under ThreadSanitizer it also shows that none writes where another one reads.
//
//     concurrent_use [effort = 1] [seed = 1]
#include <cstring>
#include <thread>

#include "dynamics/world.hpp"
#include "guard/guard.hpp"
#include "parallel/pool.hpp"
#include "query/contacts.hpp"
#include "query/raycast.hpp"
#include "robot_samples.hpp"
#include "scene/scene.hpp"

using namespace clearance;
using namespace clearance::samples;

namespace {

Tally tally;

// Everything an answer consists of, as numbers: compared bit by bit.
using Numbers = std::vector<double>;

void add(Numbers& to, const Vec3d& v) { to.insert(to.end(), {v.x, v.y, v.z}); }
void add(Numbers& to, const Gap& gap) {
    to.insert(to.end(), {gap.distance, gap.lower, gap.upper, double(gap.feature_a), double(gap.feature_b)});
    for (const Vec3d& v : {gap.point_a, gap.point_b, gap.normal}) add(to, v);
}

bool same_bits(const Numbers& a, const Numbers& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// The same task on several threads that begin together, and then alone: what is made when it is first asked for is not there
// yet when they begin.
template <class Task>
void check(const char* what, const Task& task) {
    constexpr std::size_t kThreads = 4;
    tally.context = what;
    std::vector<Numbers> found(kThreads);
    std::atomic<bool> begin{false};
    std::vector<std::thread> threads;
    for (Numbers& own : found)
        threads.emplace_back([&] {
            begin.wait(false);
            own = task();
        });
    begin = true;
    begin.notify_all();
    for (std::thread& thread : threads) thread.join();
    const Numbers expected = task();
    tally.expect(expected.size() > 10, "there are answers", "%d", int(expected.size()));
    for (const Numbers& own : found) tally.expect(same_bits(own, expected), "threads find what one finds alone");
}

using BodyPointer = std::shared_ptr<const Body>;

std::vector<BodyPointer> bodies_of(Draw& draw, int count, bool with_meshes = true) {
    std::vector<BodyPointer> bodies;
    for (int k = 0; k < count; ++k) bodies.push_back(std::make_shared<const Body>(drawn_body(draw, 0.5, with_meshes)));
    return bodies;
}

std::vector<Pose> poses_of(Draw& draw, std::size_t count, double room) {
    std::vector<Pose> poses;
    for (std::size_t k = 0; k < count; ++k) poses.push_back(drawn_pose(draw, room));
    return poses;
}

// ---- Shapes.

void check_shapes(Draw& draw) {
    const std::vector<BodyPointer> bodies = bodies_of(draw, 12);
    const std::vector<Pose> poses = poses_of(draw, bodies.size(), 1.0);
    check("distances of shapes", [&] {
        Numbers found;
        Work work;
        for (std::size_t i = 0; i < bodies.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                add(found, distance(*bodies[i], poses[i], *bodies[j], poses[j], {}, work));
                PlacedBody a(*bodies[i]), b(*bodies[j]);
                a.place(poses[i]), b.place(poses[j]);
                std::vector<Contact> contacts_found;
                contacts(a, b, {}, contacts_found, work);
                for (const Contact& contact : contacts_found) add(found, contact.point);
                found.push_back(within(a, b, 0.1, work));
            }
        return found;
    });
    // A batch, which shares the helping threads with the batches of the others.
    const std::vector<Pose> many = poses_of(draw, 300, 1.5);
    check("batches of distances", [&] {
        Numbers found(many.size());
        Pool::shared().for_blocks(many.size(), 16, 0, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) {
                Work work;
                const std::size_t i = k % bodies.size(), j = (k + 1) % bodies.size();
                found[k] = distance(*bodies[i], many[k], *bodies[j], poses[j], {}, work).distance;
            }
        });
        return found;
    });
}

void check_meshes(Draw& draw) {
    const Sample sample = bumpy(draw, 20, 30);
    check("building of meshes", [&] {
        const Mesh mesh = sample.built(VolumeKind::rss, 2);
        Numbers found{double(mesh.boxes.nodes.size()), double(mesh.rss->nodes.size()), mesh.ball.radius};
        for (std::size_t k = 0; k < 20; ++k) found.push_back(mesh.boxes.leaves[k].triangle[0]);
        return found;
    });
}

// ---- Rays.

void check_rays(Draw& draw) {
    const std::vector<BodyPointer> bodies = bodies_of(draw, 15);
    const std::vector<Pose> poses = poses_of(draw, bodies.size(), 2.0);
    constexpr std::size_t kRays = 1500;
    Numbers origins, directions, ranges(kRays, kInf);
    for (std::size_t k = 0; k < kRays; ++k) add(origins, 3.0 * draw.direction()), add(directions, draw.direction());
    const auto cast = [&](const RayTarget& target) {
        Numbers found(7 * kRays);
        std::vector<std::int32_t> index(kRays), feature(kRays);
        double* at = found.data();
        Work work;
        target.cast({origins.data(), directions.data(), ranges.data(), 3, 3, 1, kRays}, {},
                    {at, at + kRays, at + 4 * kRays, index.data(), feature.data()}, work);
        for (const std::int32_t k : index) found.push_back(k);
        return found;
    };
    // Trees of meshes are made when they are first asked for, by whoever comes first.
    check("targets of the same meshes", [&] { return cast(RayTarget(bodies, poses)); });
    const RayTarget target(bodies, poses);
    check("rays at one target", [&] { return cast(target); });
}

// ---- Scenes.

Scene scene_of(const std::vector<BodyPointer>& bodies, const std::vector<Pose>& poses) {
    Scene scene;
    for (std::size_t k = 0; k < bodies.size(); ++k) scene.add(std::to_string(k), *bodies[k], poses[k]);
    scene.watch_all();
    return scene;
}

void check_scenes(Draw& draw) {
    const std::vector<BodyPointer> bodies = bodies_of(draw, 12);
    const std::vector<Pose> poses = poses_of(draw, bodies.size(), 2.0);
    const Scene::Group a{"0", "1", "2", "3"}, b{"4", "5", "6", "7", "8"};
    constexpr std::size_t kRows = 60;
    const std::vector<Scene::Motion> motions{{"0", poses_of(draw, kRows, 2.0)}, {"5", poses_of(draw, kRows, 2.0)}};
    const Scene scene = scene_of(bodies, poses);
    check("rows of one scene", [&] {
        Numbers found;
        for (const NearestBodies& nearest : scene.nearest_of_rows(a, b, {}, motions, kRows, 0)) add(found, nearest.gap);
        return found;
    });
    check("scenes and searches of their own", [&] {
        Scene own = scene_of(bodies, poses);
        FrontSearch front({SearchOrder::best, FrontKind::implicit_nodes, false, false});
        Numbers found;
        for (std::size_t row = 0; row < kRows; ++row) {
            for (const Scene::Motion& motion : motions) own.move(motion.name, motion.poses[row]);
            add(found, own.nearest(a, b, {.front = &front}, nullptr).nearest.gap);
            const auto table = own.distances(2, row % 2 == 0 ? kInf : 0.5);
            for (const Numbers* column : {&table->distance, &table->lower, &table->point_a})
                found.insert(found.end(), column->begin(), column->end());
        }
        return found;
    });
}

// ---- Robots.

void check_robots(Draw& draw) {
    const DrawnTree drawn = drawn_tree_of(draw, {.links = 6});
    const std::unique_ptr<Cell> cell = drawn_cell(draw, drawn, 1.0, {.obstacles = 20});
    std::vector<std::vector<double>> rows;
    for (int k = 0; k < 150; ++k) rows.push_back(drawn_configuration(draw, drawn));
    check("configurations of one cell", [&] {
        Numbers found(3 * rows.size());
        Pool::shared().for_blocks(rows.size(), 8, 0, [&](std::size_t begin, std::size_t end) {
            const Cell::Lease posture(*cell);
            for (std::size_t k = begin; k < end; ++k) {
                Work work;
                posture->take(rows[k].data());
                found[3 * k] = is_clear(*cell, *posture, 0.01, work);
                const NearestPair nearest = clearance::nearest(*cell, *posture, kInf, work);
                found[3 * k + 1] = nearest.pair, found[3 * k + 2] = nearest.gap.distance;
            }
        });
        return found;
    });
}

CellBody placed(Body body, std::int32_t frame, const Pose& stand = {}) {
    const OrientedBox box = box_around(body);
    return {std::move(body), frame, stand, box};
}

// Two links on joints about z, and a wall.
Cell arm_at_wall() {
    const Joint shoulder{JointKind::revolute, 0, 1, {}, {0, 0, 1}, 0, 0};
    const Joint elbow{JointKind::revolute, 1, 2, {kNoTurn, {0.5, 0, 0}}, {0, 0, 1}, 1, 1};
    const auto tree = std::make_shared<const KinematicTree>(3, std::vector<Joint>{shoulder, elbow});
    const Element along_x{2, {{0, 0, 0}, {0.5, 0, 0}, {0.5, 0, 0}}, 0.05};
    const Body capsule({part_of(Convex{along_x, along_x.radius}, Pose{})});
    const Body wall({part_of(Convex{Box{{1.0, 0.1, 1.0}}, 0.0}, Pose{})});
    return Cell(tree, Pose{}, {placed(capsule, 1), placed(capsule, 2), placed(wall, 0, {kNoTurn, {0, 0.9, 0}})},
                {{0, 2, 0.0}, {1, 2, 0.0}});
}

void check_guards() {
    const Cell cell = arm_at_wall();
    const auto all = [&](double value) { return std::vector<double>(std::size_t(cell.tree().velocities()), value); };
    GuardOptions options{{all(0.01), all(20.0), all(5.0), all(0.0), all(0.0)}, all(-3.0), all(3.0)};
    options.margin = 0.01, options.budget = 2'000;
    check("guards of one cell", [&] {
        std::vector<double> q{-1.0, 0.3}, qd{1.0, -0.2};
        JointBox typical(cell.tree());
        braking_box(cell.tree(), options.braking, options.lower.data(), options.upper.data(), q.data(), qd.data(), nullptr,
                    typical);
        Guard guard(cell, {{}, 1000, typical, 2}, options);
        Numbers found;
        for (int cycle = 0; cycle < 200; ++cycle) {
            const GuardVerdict verdict = guard.update({q.data(), qd.data(), nullptr, 0.01 * cycle});
            found.insert(found.end(), {double(verdict.stop), verdict.lower, double(verdict.pair), double(verdict.work)});
            for (std::size_t k = 0; k < q.size(); ++k) q[k] += 0.01 * qd[k];
        }
        return found;
    });
}

// ---- Worlds.

void check_worlds(Draw& draw) {
    const std::vector<BodyPointer> bodies = bodies_of(draw, 8, false);
    const BodyPointer ground = std::make_shared<const Body>(half_space(draw, 0.0));
    const std::vector<Pose> poses = poses_of(draw, bodies.size(), 0.5);
    check("worlds of their own", [&] {
        World world({.law = ContactLaw::hard, .broad_phase = BroadPhaseKind::combined});
        const Material material{0.5, 0.2, 0.001, 1e5, 1e3};
        world.add({ground, {}, std::nullopt, Motion::fixed, material, {0, 0, 0}, {0, 0, 0}, -1});
        for (std::size_t k = 0; k < bodies.size(); ++k) {
            const Mass mass{1.0, bodies[k]->ball().centre, kNoTurn};
            Pose pose = poses[k];
            pose.translation.z += double(k);
            world.add({bodies[k], pose, mass, Motion::dynamic, material, {0, 0, 0}, {0, 0, 0}, -1});
        }
        for (int step = 0; step < 200; ++step) world.step(2);
        return world.state();
    });
}

}  // namespace

int main(int argc, char** argv) {
    const int effort = argc > 1 ? std::atoi(argv[1]) : 1;
    Draw draw(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    for (int k = 0; k < 2 * effort; ++k) {
        check_shapes(draw);
        check_meshes(draw);
        check_rays(draw);
        check_scenes(draw);
        check_robots(draw);
        check_guards();
        check_worlds(draw);
    }
    return tally.finish();
}
