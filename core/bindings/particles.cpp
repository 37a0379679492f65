#include "dynamics/particles.hpp"

#include <mutex>

#include "bindings/dynamics.hpp"
#include "bindings/interrupts.hpp"
#include "bindings/shapes.hpp"

namespace clearance {
namespace {

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kRecord = 19;  // number, kind, centre, turn (w, x, y, z), velocity, spin, built at, slack
constexpr std::size_t kMemory = 14;  // numbers, parts, place, normal, friction, rolling

// Particles that several Python threads may hold: one of them at a time gets in.
struct GuardedParticles {
    explicit GuardedParticles(const ParticleSettings& settings) : particles(settings) {}
    Particles particles;
    std::mutex mutex;
};

template <class Action>
auto guarded(GuardedParticles& self, Action action) {
    const nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock(self.mutex);
    return action(self.particles);
}

// Others, as a Python object knows them. It may use the particles meanwhile, which nobody else can.
class PythonPartners : public Partners {
public:
    explicit PythonPartners(nb::object partners) : partners_(std::move(partners)) {}

    double largest(double mine) override {
        const nb::gil_scoped_acquire held;
        return nb::cast<double>(partners_.attr("largest")(mine));
    }
    void rebuild(Particles&, int) override {
        const nb::gil_scoped_acquire held;
        partners_.attr("rebuild")();
    }
    void share(int colour) override {
        const nb::gil_scoped_acquire held;
        partners_.attr("share")(colour);
    }

private:
    nb::object partners_;
};

template <class Number>
nb::ndarray<nb::numpy, Number> array_from(const std::vector<Number>& numbers, std::size_t columns = 1) {
    auto* copy = new Number[numbers.size()];
    std::copy(numbers.begin(), numbers.end(), copy);
    const nb::capsule owner(copy, [](void* p) noexcept { delete[] static_cast<Number*>(p); });
    const std::size_t shape[2] = {numbers.size() / columns, columns};
    return nb::ndarray<nb::numpy, Number>(copy, columns == 1 ? 1 : 2, shape, owner);
}

void put_record(double* to, const Particle& one) {
    to[0] = static_cast<double>(one.number), to[1] = one.kind;
    put(to + 2, one.centre);
    to[5] = one.turn.w, to[6] = one.turn.x, to[7] = one.turn.y, to[8] = one.turn.z;
    put(to + 9, one.velocity), put(to + 12, one.spin), put(to + 15, one.built_at), to[18] = one.slack;
}

Vec3d vector_at(const double* from) { return {from[0], from[1], from[2]}; }

Particle particle_from(const double* from, std::size_t kinds) {
    if (!(from[0] >= 0.0 && from[0] < 9e15 && from[1] >= 0.0 && from[1] < static_cast<double>(kinds)))
        throw std::invalid_argument("a particle has a number or kind that there cannot be.");
    for (std::size_t k = 2; k < kRecord; ++k)
        if (!(abs_of(from[k]) <= kLargestLength))
            throw std::invalid_argument("what is known of a particle must be finite and below 1e30.");
    return {static_cast<std::int64_t>(from[0]),
            static_cast<std::int32_t>(from[1]),
            vector_at(from + 2),
            {from[5], from[6], from[7], from[8]},
            vector_at(from + 9),
            vector_at(from + 12),
            vector_at(from + 15),
            from[18]};
}

nb::ndarray<nb::numpy, double> records_of(GuardedParticles& self, bool with_seen) {
    const std::vector<double> numbers = guarded(self, [&](Particles& p) {
        std::vector<double> rows(kRecord * (with_seen ? p.size() : p.owned()));
        for (std::size_t k = 0; kRecord * k < rows.size(); ++k) put_record(rows.data() + kRecord * k, p.particle(k));
        return rows;
    });
    return array_from(numbers, kRecord);
}

void add_records(GuardedParticles& self, const Rows& records, bool are_seen) {
    if (records.shape(1) != kRecord) throw std::invalid_argument("a particle has 19 numbers.");
    std::vector<Particle> added;
    for (std::size_t k = 0; k < records.shape(0); ++k)
        added.push_back(particle_from(records.data() + kRecord * k, self.particles.kinds().size()));
    guarded(self, [&](Particles& p) {
        for (const Particle& one : added) are_seen ? p.see(one) : p.add(one);
        return 0;
    });
}

// New ones, at poses of their frames.
void add(GuardedParticles& self, int kind, std::int64_t first, const Matrices4& poses, const Rows& velocities) {
    if (velocities.shape(0) != poses.shape(0) || velocities.shape(1) != 6)
        throw std::invalid_argument("each particle has 6 numbers for its velocity.");
    const Vec3d centre = self.particles.kinds().at(static_cast<std::size_t>(kind)).mass.centre;
    std::vector<Particle> added;
    for (std::size_t k = 0; k < poses.shape(0); ++k) {
        const Pose pose = pose_from_matrix(poses.data() + 16 * k);
        const double* v = velocities.data() + 6 * k;
        const Vec3d at = pose * centre;
        added.push_back({first + static_cast<std::int64_t>(k), kind, at, normalised(turn_of(pose.rotation)), vector_at(v),
                         vector_at(v + 3), at});
    }
    guarded(self, [&](Particles& p) {
        for (const Particle& one : added) p.add(one);
        return 0;
    });
}

nb::ndarray<nb::numpy, double> poses_of(GuardedParticles& self) {
    const std::vector<double> numbers = guarded(self, [](Particles& p) {
        std::vector<double> rows;
        rows.reserve(12 * p.owned());
        for (std::size_t k = 0; k < p.owned(); ++k) {
            const Pose pose = p.pose(k);
            const double shift[3] = {pose.translation.x, pose.translation.y, pose.translation.z};
            for (int i = 0; i < 3; ++i) {
                const Vec3d& row = pose.rotation.row[i];
                rows.insert(rows.end(), {row.x, row.y, row.z, shift[i]});
            }
        }
        return rows;
    });
    return array_from(numbers, 12);
}

nb::tuple contacts_of(GuardedParticles& self) {
    const std::vector<ParticlePressed> found = guarded(self, [](Particles& p) { return p.pressed(); });
    const std::size_t count = found.size();
    NumpyArray points = new_array({count, 3}), normals = new_array({count, 3}), forces = new_array({count, 3}),
               depths = new_array({count});
    std::vector<std::int64_t> numbers;
    for (std::size_t k = 0; k < count; ++k) {
        put(points.data() + 3 * k, found[k].point), put(normals.data() + 3 * k, found[k].normal);
        put(forces.data() + 3 * k, found[k].force), depths.data()[k] = found[k].depth;
        numbers.push_back(found[k].a), numbers.push_back(found[k].b);
    }
    return nb::make_tuple(array_from(numbers, 2), points, normals, depths, forces);
}

NumpyArray memories_of(GuardedParticles& self) {
    const std::vector<PairMemory> found = guarded(self, [](Particles& p) { return p.memories(); });
    NumpyArray result = new_array({found.size(), kMemory});
    for (std::size_t k = 0; k < found.size(); ++k) {
        const auto& [a, b, memory] = found[k];
        double* to = result.data() + kMemory * k;
        to[0] = static_cast<double>(a), to[1] = static_cast<double>(b), to[2] = memory.part_a, to[3] = memory.part_b;
        put(to + 4, memory.place), to[7] = memory.normal, put(to + 8, memory.friction), put(to + 11, memory.rolling);
    }
    return result;
}

std::vector<PairMemory> memories_from(const Rows& rows) {
    if (rows.shape(1) != kMemory) throw std::invalid_argument("a contact that is remembered has 14 numbers.");
    std::vector<PairMemory> result;
    for (std::size_t k = 0; k < rows.shape(0); ++k) {
        const double* from = rows.data() + kMemory * k;
        for (std::size_t i = 0; i < kMemory; ++i)
            if (!(abs_of(from[i]) <= (i < 2 ? 9e15 : i < 4 ? 2e9 : kLargestLength)))
                throw std::invalid_argument("a contact that is remembered has a number that is out of range.");
        result.push_back({static_cast<std::int64_t>(from[0]),
                          static_cast<std::int64_t>(from[1]),
                          {static_cast<std::int32_t>(from[2]), static_cast<std::int32_t>(from[3]), vector_at(from + 4),
                           from[7], vector_at(from + 8), vector_at(from + 11)}});
    }
    return result;
}

BlockBox box_from(const Integers& numbers) {
    if (numbers.shape(0) != 6) throw std::invalid_argument("a box of blocks has 6 numbers.");
    BlockBox box;
    for (std::size_t k = 0; k < 3; ++k) {
        box.lower.axis[k] = static_cast<std::int32_t>(numbers(k));
        box.upper.axis[k] = static_cast<std::int32_t>(numbers(k + 3));
    }
    return box;
}

std::vector<std::size_t> places_from(const Integers& numbers, std::size_t count) {
    std::vector<std::size_t> result;
    for (std::size_t k = 0; k < numbers.shape(0); ++k) {
        if (numbers(k) < 0 || numbers(k) >= static_cast<std::int64_t>(count))
            throw std::invalid_argument("there is no such particle here.");
        result.push_back(static_cast<std::size_t>(numbers(k)));
    }
    return result;
}

std::int64_t step(GuardedParticles& self, std::int64_t count, int threads) {
    Interrupts interrupts;
    const std::int64_t lost = guarded(self, [&](Particles& p) {
        Partners alone;
        std::int64_t number = -1;
        for (std::int64_t k = 0; k < count && number < 0 && !interrupts.wanted(); ++k) number = p.step(threads, alone);
        return number;
    });
    interrupts.raise_if_wanted();
    return lost;
}

nb::tuple energy_of(GuardedParticles& self) {
    double kinetic = 0.0, potential = 0.0;
    guarded(self, [&](Particles& p) {
        for (std::size_t k = 0; k < p.owned(); ++k) {
            kinetic += p.rigid(k).kinetic_energy();
            potential -= dot(p.settings().gravity, p.rigid(k).centre) / p.rigid(k).inverse_mass;
        }
        return 0;
    });
    return nb::make_tuple(kinetic, potential);
}

}  // namespace

void bind_particles(nb::module_& m) {
    nb::class_<GuardedParticles>(m, "Particles", "Very many rigid bodies; numbers stand for kinds and walls.")
        .def(
            "__init__",
            [](GuardedParticles* self, const Vector3& gravity, double step, const std::string& law, int iterations,
               const Vector3& lower, const Vector3& upper, const Flags& periodic, bool has_shortcuts) {
                if (periodic.shape(0) != 3) throw std::invalid_argument("there are three axes.");
                const Room room{vector_of(lower), vector_of(upper), {periodic(0), periodic(1), periodic(2)}};
                new (self) GuardedParticles(
                    ParticleSettings{vector_of(gravity), step, law_named(law), iterations, room, has_shortcuts});
            },
            "gravity"_a, "step"_a, "law"_a, "iterations"_a, "lower"_a, "upper"_a, "periodic"_a, "has_shortcuts"_a)
        .def(
            "add_kind",
            [](GuardedParticles& self, const Shape& shape, double mass, const Vector3& centre, const Matrix3& inertia,
               const Doubles& material) {
                const ParticleKind kind{shape.body, {mass, vector_of(centre), matrix_of(inertia)}, material_of(material)};
                return guarded(self, [&](Particles& p) { return p.add_kind(kind); });
            },
            "shape"_a, "mass"_a, "centre"_a, "inertia"_a, "material"_a)
        .def("add", &add, "kind"_a, "first"_a, "poses"_a, "velocities"_a)
        .def(
            "remove",
            [](GuardedParticles& self, const Integers& numbers) {
                guarded(self, [&](Particles& p) { return p.remove({numbers.data(), numbers.shape(0)}), 0; });
            },
            "numbers"_a)
        .def(
            "add_wall",
            [](GuardedParticles& self, const Shape& shape, const Matrix4& pose, const Doubles& material) {
                const Pose at = pose_from_matrix(pose.data());
                const Material surface = material_of(material);
                guarded(self, [&](Particles& p) { return p.add_wall(shape.body, at, surface), 0; });
            },
            "shape"_a, "pose"_a, "material"_a)
        .def(
            "remove_wall",
            [](GuardedParticles& self, int wall) { guarded(self, [&](Particles& p) { return p.remove_wall(wall), 0; }); },
            "wall"_a)
        .def("step", &step, "count"_a, "threads"_a)
        .def(
            "step_with",
            [](GuardedParticles& self, int threads, nb::object partners) {
                PythonPartners others(std::move(partners));
                const nb::gil_scoped_release release;
                return self.particles.step(threads, others);
            },
            "threads"_a, "partners"_a)
        .def_prop_ro("steps", [](GuardedParticles& self) { return guarded(self, [](Particles& p) { return p.steps(); }); })
        .def(
            "set_steps",
            [](GuardedParticles& self, std::int64_t steps) {
                guarded(self, [&](Particles& p) { return p.set_steps(steps), 0; });
            },
            "steps"_a)
        .def("records", &records_of, "with_seen"_a,
             nb::sig("def records(self, with_seen: bool) -> numpy.typing.NDArray[numpy.float64]"))
        .def("add_records", &add_records, "records"_a, "are_seen"_a)
        .def("poses", &poses_of, nb::sig("def poses(self) -> numpy.typing.NDArray[numpy.float64]"),
             "The upper three rows of poses, one after the other.")
        .def("contacts", &contacts_of, nb::sig("def contacts(self) -> tuple[typing.Any, ...]"))
        .def("energy", &energy_of, nb::sig("def energy(self) -> tuple[float, float]"))
        .def(
            "work",
            [](GuardedParticles& self) {
                const ParticleWork work = guarded(self, [](Particles& p) { return p.work(); });
                return nb::make_tuple(work.pairs, work.contacts, work.iterations, work.builds);
            },
            nb::sig("def work(self) -> tuple[int, int, int, int]"))
        .def("memories", &memories_of, nb::sig("def memories(self) -> numpy.typing.NDArray[numpy.float64]"))
        .def_prop_ro("is_built",
                     [](GuardedParticles& self) { return guarded(self, [](Particles& p) { return p.is_built(); }); })
        .def(
            "remember",
            [](GuardedParticles& self, const Rows& memories) {
                guarded(self, [&](Particles& p) { return p.remember(memories_from(memories)), 0; });
            },
            "memories"_a)
        .def_prop_ro("largest_ball",
                     [](GuardedParticles& self) { return guarded(self, [](Particles& p) { return p.largest_ball(); }); })
        .def("give_room", [](GuardedParticles& self) { return guarded(self, [](Particles& p) { return p.give_room(); }); })
        .def(
            "lay_out", [](GuardedParticles& self, double largest_ball) { self.particles.lay_out(largest_ball); },
            "largest_ball"_a)
        .def("wrap", [](GuardedParticles& self) { self.particles.wrap(); })
        .def(
            "blocks",
            [](GuardedParticles& self) {
                std::vector<std::int64_t> numbers;
                for (const BlockNumber& block : self.particles.blocks_of_owned())
                    numbers.insert(numbers.end(), block.axis.begin(), block.axis.end());
                return array_from(numbers, 3);
            },
            nb::sig("def blocks(self) -> numpy.typing.NDArray[numpy.int64]"))
        .def(
            "blocks_of_memories",
            [](GuardedParticles& self) {
                std::vector<std::int64_t> numbers;
                for (const BlockNumber& block : self.particles.blocks_of_memories())
                    numbers.insert(numbers.end(), block.axis.begin(), block.axis.end());
                return array_from(numbers, 3);
            },
            nb::sig("def blocks_of_memories(self) -> numpy.typing.NDArray[numpy.int64]"))
        .def(
            "everywhere",
            [](GuardedParticles& self) {
                const BlockBox box = self.particles.layout().everywhere();
                std::vector<std::int64_t> numbers(box.lower.axis.begin(), box.lower.axis.end());
                numbers.insert(numbers.end(), box.upper.axis.begin(), box.upper.axis.end());
                return array_from(numbers);
            },
            nb::sig("def everywhere(self) -> numpy.typing.NDArray[numpy.int64]"))
        .def(
            "near",
            [](GuardedParticles& self, const Integers& box) {
                std::vector<std::int64_t> numbers;
                for (const std::size_t k : self.particles.near(box_from(box)))
                    numbers.push_back(static_cast<std::int64_t>(k));
                return array_from(numbers);
            },
            "box"_a, nb::sig("def near(self, box: numpy.typing.NDArray[numpy.int64]) -> numpy.typing.NDArray[numpy.int64]"))
        .def(
            "set_domain", [](GuardedParticles& self, const Integers& box) { self.particles.set_domain(box_from(box)); },
            "box"_a)
        .def("take_apart", [](GuardedParticles& self) { self.particles.take_apart(); })
        .def(
            "find_pairs",
            [](GuardedParticles& self, const Rows& memories, int threads) {
                self.particles.find_pairs(memories_from(memories), threads);
            },
            "memories"_a, "threads"_a)
        .def(
            "touched",
            [](GuardedParticles& self, int colour) {
                std::vector<std::int64_t> numbers;
                for (const std::size_t k : self.particles.touched(colour)) numbers.push_back(static_cast<std::int64_t>(k));
                return array_from(numbers);
            },
            "colour"_a, nb::sig("def touched(self, colour: int) -> numpy.typing.NDArray[numpy.int64]"))
        .def(
            "read_velocities",
            [](GuardedParticles& self, const Integers& which) {
                const std::vector<std::size_t> places = places_from(which, self.particles.size());
                NumpyArray result = new_array({places.size(), 6});
                self.particles.read(places, result.data());
                return result;
            },
            "which"_a,
            nb::sig("def read_velocities(self, which: numpy.typing.NDArray[numpy.int64]) -> "
                    "numpy.typing.NDArray[numpy.float64]"))
        .def(
            "write_velocities",
            [](GuardedParticles& self, const Integers& which, const Rows& velocities) {
                const std::vector<std::size_t> places = places_from(which, self.particles.size());
                if (velocities.shape(0) != places.size() || velocities.shape(1) != 6)
                    throw std::invalid_argument("each particle has 6 numbers for its velocity.");
                self.particles.write(places, velocities.data());
            },
            "which"_a, "velocities"_a);
}

}  // namespace clearance
