#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <mutex>

#include "bindings/dynamics.hpp"
#include "bindings/interrupts.hpp"
#include "bindings/shapes.hpp"
#include "dynamics/world.hpp"

namespace clearance {
namespace {

// A world that several Python threads may hold: one of them at a time gets in.
struct GuardedWorld {
    explicit GuardedWorld(const WorldSettings& settings) : world(settings) {}
    World world;
    std::mutex mutex;
};

template <class Action>
auto guarded(GuardedWorld& self, Action action) {
    const nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock(self.mutex);
    return action(self.world);
}

BroadPhaseKind broad_phase_named(const std::string& name) {
    if (name == "grid") return BroadPhaseKind::grid;
    if (name == "hierarchy") return BroadPhaseKind::hierarchy;
    if (name == "combined") return BroadPhaseKind::combined;
    if (name == "all") return BroadPhaseKind::all;
    throw std::invalid_argument("broad_phase must be 'grid', 'hierarchy', 'combined' or 'all', but it is '" + name + "'.");
}

Motion motion_named(const std::string& name) {
    if (name == "dynamic") return Motion::dynamic;
    if (name == "kinematic") return Motion::kinematic;
    if (name == "fixed") return Motion::fixed;
    throw std::invalid_argument("motion must be 'dynamic', 'kinematic' or 'fixed', but it is '" + name + "'.");
}

BearingKind bearing_named(const std::string& name) {
    if (name == "hinge") return BearingKind::hinge;
    if (name == "ball") return BearingKind::ball;
    if (name == "fixed") return BearingKind::fixed;
    if (name == "slide") return BearingKind::slide;
    throw std::invalid_argument("kind must be 'hinge', 'ball', 'fixed' or 'slide', but it is '" + name + "'.");
}

NumpyArray array_of(const Mat3& m) {
    NumpyArray result = new_array({3, 3});
    double* to = result.data();
    for (const Vec3d& row : m.row) *to++ = row.x, *to++ = row.y, *to++ = row.z;
    return result;
}

nb::object mass_of_shape(const Shape& shape, double density) {
    std::optional<Mass> mass;
    {
        const nb::gil_scoped_release release;
        mass = mass_of(*shape.body, density);
    }
    if (!mass) return nb::none();
    return nb::make_tuple(mass->mass, array_of(mass->centre), array_of(mass->inertia));
}

int add(GuardedWorld& self, const Shape& shape, const Matrix4& pose, const std::string& motion, double mass,
        const Vector3& centre, const Matrix3& inertia, const Doubles& material, const Vector3& velocity, const Vector3& spin,
        int group, bool collides) {
    const NewBody body{shape.body,
                       pose_from_matrix(pose.data()),
                       Mass{mass, vector_of(centre), matrix_of(inertia)},
                       motion_named(motion),
                       material_of(material),
                       vector_of(velocity),
                       vector_of(spin),
                       group,
                       collides};
    return guarded(self, [&](World& world) { return world.add(body); });
}

NumpyArray poses_of(GuardedWorld& self) {
    const auto count = static_cast<std::size_t>(guarded(self, [](World& world) { return world.size(); }));
    NumpyArray result = new_array({count, 4, 4});
    guarded(self, [&](World& world) {
        double* to = result.data();
        for (std::size_t k = 0; k < count; ++k) {
            const Pose pose = world.rigid(static_cast<std::int32_t>(k)).pose();
            const double shift[3] = {pose.translation.x, pose.translation.y, pose.translation.z};
            for (int i = 0; i < 3; ++i) put(to, pose.rotation.row[i]), to[3] = shift[i], to += 4;
            to[0] = to[1] = to[2] = 0.0, to[3] = 1.0, to += 4;
        }
        return 0;
    });
    return result;
}

// A property of all bodies that has some vectors, one after the other.
template <std::size_t Vectors, class Get>
NumpyArray columns(GuardedWorld& self, const Get& get) {
    const auto count = static_cast<std::size_t>(guarded(self, [](World& world) { return world.size(); }));
    NumpyArray result = new_array({count, 3 * Vectors});
    guarded(self, [&](World& world) {
        for (std::size_t k = 0; k < count; ++k) {
            const std::array<Vec3d, Vectors> values = get(world.rigid(static_cast<std::int32_t>(k)));
            for (std::size_t v = 0; v < Vectors; ++v) put(result.data() + 3 * (Vectors * k + v), values[v]);
        }
        return 0;
    });
    return result;
}

nb::tuple contacts_of(GuardedWorld& self) {
    const std::vector<Pressed> found = guarded(self, [](World& world) { return world.pressed(); });
    const std::size_t count = found.size();
    NumpyArray points = new_array({count, 3}), normals = new_array({count, 3}), forces = new_array({count, 3}),
               depths = new_array({count});
    auto* bodies = new std::int64_t[2 * count];
    const nb::capsule owner(bodies, [](void* p) noexcept { delete[] static_cast<std::int64_t*>(p); });
    for (std::size_t k = 0; k < count; ++k) {
        put(points.data() + 3 * k, found[k].point), put(normals.data() + 3 * k, found[k].normal);
        put(forces.data() + 3 * k, found[k].force), depths.data()[k] = found[k].depth;
        bodies[2 * k] = found[k].a, bodies[2 * k + 1] = found[k].b;
    }
    const std::size_t shape[2] = {count, 2};
    return nb::make_tuple(nb::ndarray<nb::numpy, std::int64_t>(bodies, 2, shape, owner), points, normals, depths, forces);
}

void push(GuardedWorld& self, int body, const Vector3& force, const Vector3& torque, const Vector3& at, bool is_impulse) {
    guarded(self, [&](World& world) {
        Rigid& rigid = world.rigid(body);
        const Vec3d r = vector_of(at) - rigid.centre;
        if (is_impulse) {
            rigid.push(vector_of(force), r), rigid.twist(vector_of(torque));
        } else {
            rigid.force = rigid.force + vector_of(force);
            rigid.torque = rigid.torque + vector_of(torque) + cross(r, vector_of(force));
        }
        return 0;
    });
}

void set_motor(GuardedWorld& self, int joint, const std::string& task, double target, double most, double fastest,
               const Matrix4& turn) {
    Motor motor;
    motor.task = task == "drive" ? Motor::Task::drive : task == "hold" ? Motor::Task::hold : Motor::Task::none;
    motor.target = target, motor.most = most, motor.fastest = fastest,
    motor.target_turn = turn_of(pose_from_matrix(turn.data()).rotation);
    guarded(self, [&](World& world) { return world.bearing(joint).motor = motor, 0; });
}

NumpyArray row_of(const std::vector<double>& numbers) {
    NumpyArray result = new_array({numbers.size()});
    std::copy(numbers.begin(), numbers.end(), result.data());
    return result;
}

NumpyArray state_of(GuardedWorld& self) {
    return row_of(guarded(self, [](World& world) { return world.state(); }));
}

NumpyArray anchors_of(GuardedWorld& self) {
    return row_of(guarded(self, [](World& world) { return world.anchors(); }));
}

nb::tuple momentum_of(GuardedWorld& self) {
    Vec3d linear{0, 0, 0}, angular{0, 0, 0};
    guarded(self, [&](World& world) {
        for (std::int32_t k = 0; k < world.size(); ++k) {
            const Rigid& rigid = world.rigid(k);
            if (rigid.inverse_mass == 0.0) continue;
            const Vec3d own = (1.0 / rigid.inverse_mass) * rigid.velocity;
            linear = linear + own;
            angular = angular + cross(rigid.centre, own) + rigid.angular_momentum();
        }
        return 0;
    });
    return nb::make_tuple(array_of(linear), array_of(angular));
}

}  // namespace

void bind_worlds(nb::module_& m) {
    m.def("mass_of", &mass_of_shape, "shape"_a, "density"_a,
          nb::sig("def mass_of(shape: Shape, density: float) -> tuple[float, numpy.typing.NDArray[numpy.float64], "
                  "numpy.typing.NDArray[numpy.float64]] | None"),
          "Mass, centre of mass and inertia about it, in the frame of the shape; None of shapes without an inside.");

    nb::class_<GuardedWorld>(m, "World", "Rigid bodies that move step by step; numbers stand for names.")
        .def(
            "__init__",
            [](GuardedWorld* self, const Vector3& gravity, double step, const std::string& law, int iterations,
               const std::string& broad_phase) {
                new (self) GuardedWorld(
                    WorldSettings{vector_of(gravity), step, law_named(law), iterations, broad_phase_named(broad_phase)});
            },
            "gravity"_a, "step"_a, "law"_a, "iterations"_a, "broad_phase"_a)
        .def("add", &add, "shape"_a, "pose"_a, "motion"_a, "mass"_a, "centre"_a, "inertia"_a, "material"_a, "velocity"_a,
             "spin"_a, "group"_a, "collides"_a)
        .def(
            "remove", [](GuardedWorld& self, int body) { guarded(self, [&](World& w) { return w.remove(body), 0; }); },
            "body"_a)
        .def(
            "ignore", [](GuardedWorld& self, int a, int b) { guarded(self, [&](World& w) { return w.ignore(a, b), 0; }); },
            "a"_a, "b"_a)
        .def(
            "set_pose",
            [](GuardedWorld& self, int body, const Matrix4& pose) {
                const Pose to = pose_from_matrix(pose.data());
                guarded(self, [&](World& w) { return w.move(body, to), 0; });
            },
            "body"_a, "pose"_a)
        .def(
            "set_velocity",
            [](GuardedWorld& self, int body, const Vector3& velocity, const Vector3& spin) {
                guarded(self, [&](World& w) {
                    w.rigid(body).velocity = vector_of(velocity), w.rigid(body).spin = vector_of(spin);
                    return 0;
                });
            },
            "body"_a, "velocity"_a, "spin"_a)
        .def(
            "guide",
            [](GuardedWorld& self, int body, const Matrix4& pose) {
                const Pose to = pose_from_matrix(pose.data());
                guarded(self, [&](World& w) { return w.guide(body, to), 0; });
            },
            "body"_a, "pose"_a)
        .def("push", &push, "body"_a, "force"_a, "torque"_a, "at"_a, "is_impulse"_a)
        .def(
            "join",
            [](GuardedWorld& self, const std::string& kind, int a, int b, const Vector3& point, const Vector3& axis) {
                const BearingKind bearing = bearing_named(kind);
                return guarded(self, [&](World& w) { return w.join(bearing, a, b, vector_of(point), vector_of(axis)); });
            },
            "kind"_a, "a"_a, "b"_a, "point"_a, "axis"_a)
        .def(
            "part", [](GuardedWorld& self, int joint) { guarded(self, [&](World& w) { return w.part(joint), 0; }); },
            "joint"_a)
        .def(
            "set_limits",
            [](GuardedWorld& self, int joint, double lowest, double highest) {
                guarded(self,
                        [&](World& w) { return w.bearing(joint).lowest = lowest, w.bearing(joint).highest = highest, 0; });
            },
            "joint"_a, "lowest"_a, "highest"_a)
        .def("set_motor", &set_motor, "joint"_a, "task"_a, "target"_a, "most"_a, "fastest"_a, "turn"_a)
        .def(
            "joint_value",
            [](GuardedWorld& self, int joint) { return guarded(self, [&](World& w) { return w.bearing(joint).value(); }); },
            "joint"_a)
        .def(
            "joint_speed",
            [](GuardedWorld& self, int joint) { return guarded(self, [&](World& w) { return w.speed(joint); }); }, "joint"_a)
        .def(
            "step",
            [](GuardedWorld& self, std::int64_t count, int threads) {
                Interrupts interrupts;
                const std::int32_t lost = guarded(self, [&](World& w) {
                    std::int32_t body = -1;
                    for (std::int64_t k = 0; k < count && body < 0 && !interrupts.wanted(); ++k) body = w.step(threads);
                    w.clear_forces();
                    return body;
                });
                interrupts.raise_if_wanted();
                return lost;
            },
            "count"_a, "threads"_a)
        .def_prop_ro("time", [](GuardedWorld& self) { return guarded(self, [](World& w) { return w.time(); }); })
        .def_prop_ro("steps", [](GuardedWorld& self) { return guarded(self, [](World& w) { return w.steps(); }); })
        .def(
            "pose",
            [](GuardedWorld& self, int body) {
                return array_of(guarded(self, [&](World& w) { return w.rigid(body).pose(); }));
            },
            "body"_a, nb::sig("def pose(self, body: int) -> numpy.typing.NDArray[numpy.float64]"))
        .def(
            "velocity",
            [](GuardedWorld& self, int body) {
                NumpyArray result = new_array({6});
                guarded(self, [&](World& w) {
                    const Rigid& rigid = w.rigid(body);
                    return put(result.data(), rigid.velocity), put(result.data() + 3, rigid.spin), 0;
                });
                return result;
            },
            "body"_a, nb::sig("def velocity(self, body: int) -> numpy.typing.NDArray[numpy.float64]"))
        .def(
            "centre",
            [](GuardedWorld& self, int body) {
                return array_of(guarded(self, [&](World& w) { return w.rigid(body).centre; }));
            },
            "body"_a, nb::sig("def centre(self, body: int) -> numpy.typing.NDArray[numpy.float64]"))
        .def("poses", &poses_of, nb::sig("def poses(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def(
            "velocities",
            [](GuardedWorld& self) {
                return columns<2>(self, [](const Rigid& r) { return std::array{r.velocity, r.spin}; });
            },
            nb::sig("def velocities(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def(
            "centres",
            [](GuardedWorld& self) { return columns<1>(self, [](const Rigid& r) { return std::array{r.centre}; }); },
            nb::sig("def centres(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def("contacts", &contacts_of, nb::sig("def contacts(self) -> tuple[typing.Any, ...]"))
        .def(
            "energy",
            [](GuardedWorld& self) {
                const Energy energy = guarded(self, [](World& w) { return w.energy(); });
                return nb::make_tuple(energy.kinetic, energy.potential, energy.elastic);
            },
            nb::sig("def energy(self) -> tuple[float, float, float]"))
        .def("momentum", &momentum_of,
             nb::sig("def momentum(self) -> tuple[numpy.typing.NDArray[numpy.float64], "
                     "numpy.typing.NDArray[numpy.float64]]"))
        .def(
            "work",
            [](GuardedWorld& self) {
                const WorldWork work = guarded(self, [](World& w) { return w.work(); });
                return nb::make_tuple(work.pairs, work.volume_tests, work.object_tests, work.contacts, work.iterations);
            },
            nb::sig("def work(self) -> tuple[int, int, int, int, int]"))
        .def("anchors", &anchors_of, nb::sig("def anchors(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def(
            "set_anchors",
            [](GuardedWorld& self, const Doubles& anchors) {
                guarded(self, [&](World& w) { return w.set_anchors({anchors.data(), anchors.shape(0)}), 0; });
            },
            "anchors"_a)
        .def("state", &state_of, nb::sig("def state(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def(
            "set_state",
            [](GuardedWorld& self, const Doubles& state) {
                guarded(self, [&](World& w) { return w.set_state({state.data(), state.shape(0)}), 0; });
            },
            "state"_a);
}

}  // namespace clearance
