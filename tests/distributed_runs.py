"""Particles that tests let loose on one process, and, as programs under mpiexec, on several ranks of MPI."""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import clearance as cl
from clearance import simulation as sim
from clearance.simulation import particle_files, particle_runs, ranks

LAWS = {"hard": sim.Hard(iterations=4), "soft": sim.Soft(iterations=4), "elastic": sim.Elastic()}
ROOM = {"lower": [0.0, 0.0, 0.0], "upper": [0.3, 0.3, 0.3], "gravity": (0.0, 0.0, 0.0)}
SHAPES = (cl.Sphere(0.02), cl.Box([0.03, 0.025, 0.02]), cl.Ellipsoid([0.02, 0.015, 0.01]))
AFTER = 5  # steps, there is a change, or a checkpoint


@dataclass(frozen=True)
class Case:
    """What particles are in, how they get there, and what happens to them halfway.

    Both `fill` and `change` are told the rank and the number of ranks, and give the share of that rank.
    """

    settings: dict[str, Any]
    fill: Callable[[Any, tuple[int, int]], Any]
    change: Callable[[Any, tuple[int, int]], Any] = lambda particles, share: None
    steps: int = 2 * AFTER

    def begin(self, made: Callable[..., Any], share: tuple[int, int], **more: Any) -> Any:
        """Make particles, and take them halfway."""
        particles = made(**self.settings, **more)
        self.fill(particles, share)
        particles.step(AFTER)
        return particles

    def finish(self, particles: Any, share: tuple[int, int]) -> Any:
        """Take them from halfway to the end."""
        self.change(particles, share)
        particles.step(self.steps - AFTER)
        return particles


def own(rows, share):
    """Return the rows of a rank: ranks count particles one after the other."""
    return np.array_split(rows, share[1])[share[0]]


def lattice(counts, width, origin=(0.0, 0.0, 0.0)):
    axes = [start + width * (np.arange(count) + 0.5) for count, start in zip(counts, origin, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def mixture(counts, width, speed, seed=0, shapes=SHAPES, origin=(0.0, 0.0, 0.0)):
    """Return what adds particles of some shapes, turned and thrown at random from the places of a lattice."""

    def fill(particles, share):
        rng = np.random.default_rng(seed)
        places = rng.permutation(lattice(counts, width, origin))
        turns = rng.normal(size=(len(places), 4))
        poses = cl.poses.from_wxyz(turns / np.linalg.norm(turns, axis=1, keepdims=True), places)
        velocities = speed * rng.normal(size=(len(places), 6))
        for k, shape in enumerate(shapes):
            every = slice(k, None, len(shapes))
            particles.add(shape, own(poses[every], share), own(velocities[every], share))

    return fill


def spheres(places, velocities=None, radius=0.02):
    def fill(particles, share):
        given = None if velocities is None else own(np.asarray(velocities, dtype=float), share)
        particles.add(cl.Sphere(radius), own(np.asarray(places, dtype=float), share), given)

    return fill


def among_walls(fill, width):
    def with_walls(particles, share):
        particles.add_wall("floor", cl.HalfSpace([0.0, 0.0, 1.0], 0.0))
        for name, axis in (("x", 0), ("y", 1)):
            normal = np.eye(3)[axis]
            particles.add_wall(f"before {name}", cl.HalfSpace(normal, 0.0))
            particles.add_wall(f"behind {name}", cl.HalfSpace(-normal, -width))
        fill(particles, share)

    return with_walls


def come_and_go(particles, share):
    """Remove some of those that are there and a wall, and add others, of an old kind and of a new one."""
    particles.remove([0, 5, 17, 40])
    particles.remove_wall("behind x")
    particles.add(SHAPES[0], own(lattice((3, 3, 1), 0.045, (0.0, 0.0, 0.6)), share))
    particles.add(cl.Capsule(0.01, 0.02), own(lattice((2, 3, 1), 0.045, (0.0, 0.0, 0.7)), share))


def squeezed():
    """Return a line of particles, and velocities that bring three quarters of them into a tenth of their length."""
    places = np.stack([0.05 * np.arange(120.0), np.zeros(120), np.zeros(120)], axis=1)
    velocities = np.zeros_like(places)
    velocities[:90, 0] = -0.9 * places[:90, 0] / (40 * 1e-3)
    return spheres(places, velocities, radius=0.002)


def escaping():
    places = lattice((4, 4, 4), 0.045)
    velocities = np.zeros_like(places)
    velocities[[0, 21, 42, 63]] = 1e3 * np.array([[-1, -1, -1], [9, 0, 1], [0, -7, 0], [1, 1, 1]])
    return spheres(places, velocities)


def large_and_small():
    """Return what adds large spheres at rest and, far from them, small ones that are fast: each sort on other ranks."""
    rng = np.random.default_rng(3)
    small = lattice((4, 4, 4), 0.195, (40.0, 0.0, 0.0))
    velocities = 20.0 * rng.normal(size=(64, 3))

    def fill(particles, share):
        particles.add(cl.Sphere(1.0), own(lattice((3, 3, 3), 1.99), share))
        particles.add(cl.Sphere(0.1), own(small, share), own(velocities, share))

    return fill


def _cases():
    cases = {}
    for name, law in LAWS.items():
        pile, soup = mixture((3, 4, 8), 0.045, 0.5), mixture((6, 6, 6), 0.05, 1.0)
        cases[f"{name}, among walls"] = Case({"contact": law}, among_walls(pile, 0.19))
        cases[f"{name}, periodic"] = Case({"contact": law, "periodic": True, **ROOM}, soup)
        step = 2e-4 if name == "hard" else 1e-3
        wide = {**ROOM, "upper": [1.0, 1.0, 1.0], "step": step}
        cases[f"{name}, fast"] = Case({"contact": law, "periodic": True, **wide}, mixture((5, 5, 5), 0.2, 60.0))
        cases[f"{name}, escaping"] = Case({"contact": law}, escaping())
    hard, rest = {"contact": LAWS["hard"]}, {"contact": LAWS["hard"], "gravity": (0.0, 0.0, 0.0)}
    sheet = spheres(lattice((10, 10, 1), 0.0399))
    cases["periodic along x"] = Case({**hard, **ROOM, "periodic": [True, False, False]}, soup)
    cases["periodic along y and z"] = Case({**hard, **ROOM, "periodic": [False, True, True]}, soup)
    cases["tiny room"] = Case(
        {**hard, **ROOM, "upper": [0.14] * 3, "periodic": True}, mixture((3, 3, 3), 0.14 / 3, 1.0)
    )
    cases["corners of four"] = Case(rest, sheet)
    cases["one block"] = Case(hard, spheres(lattice((2, 2, 1), 0.0399)))
    cases["one particle"] = Case(hard, spheres([[0.0, 0.0, 0.0]]))
    cases["no particle"] = Case(hard, lambda particles, share: None)
    cases["come and go"] = Case(hard, among_walls(pile, 0.19), come_and_go)
    cases["squeezed"] = Case({"contact": sim.Elastic(), "gravity": (0.0, 0.0, 0.0)}, squeezed(), steps=40)
    cases["large and small"] = Case({"contact": sim.Soft(), "gravity": (0.0, 0.0, 0.0)}, large_and_small(), steps=40)
    return cases


CASES = _cases()
FLEEING = Case(
    {"gravity": (0.0, 0.0, 0.0), "step": 0.5},
    spheres([[k, 0.0, 0.0] for k in range(8)], [[0.0, 0.0, 3e29 * (k == 6)] for k in range(8)]),
    steps=10,
)
FAR = Case(
    {"contact": sim.Elastic(), "gravity": (0.0, 0.0, 0.0)},
    spheres([[0.0, 0.0, 0.0], [1e9, 1e9, 1e9]], [[1.0, 0.0, 0.0], [1e3, 0.0, 0.0]]),
)
KEPT = ("hard, among walls", "soft, periodic", "one block", "no particle")  # with a checkpoint halfway
PAIR = cl.Compound([cl.Sphere(0.01).at([-0.01, 0.0, 0.0]), cl.Sphere(0.01).at([0.01, 0.0, 0.0])])
RANDOM_SHAPES = (
    cl.Sphere(0.02),
    cl.Box([0.02, 0.015, 0.02]),
    cl.Ellipsoid([0.02, 0.015, 0.01]),
    PAIR,
    cl.Sphere(0.005),
)
STEP, EVERY, END = 1e-3, 0.003, 0.012  # of runs that are killed


def started(comm):
    """Make the particles of runs that are killed: of `DistributedParticles`, or without `comm` of `Particles`."""
    made = sim.Particles(contact=LAWS["hard"]) if comm is None else sim.DistributedParticles(comm, contact=LAWS["hard"])
    among_walls(mixture((3, 3, 6), 0.045, 0.5), 0.16)(made, (0, 1) if comm is None else (comm.rank, comm.size))
    return made


def results(particles):
    """Return all that has to be the same, bit by bit."""
    return {name: getattr(particles, name) for name in ("ids", "kinds", "poses", "velocities", "time")}


def _gathered(prefix, particles, comm):
    shares = comm.gather((len(particles.ids), particles.bytes_sent))
    everything = particles.gather()
    if everything is None:
        return {}
    found = {**results(everything), "shares": [n for n, _ in shares], "bytes": [n for _, n in shares]}
    return {f"{prefix}/{key}": value for key, value in found.items()}


def run_cases(comm, out, names):
    """Run cases to their end; some leave a checkpoint halfway."""
    share, found = (comm.rank, comm.size), {}
    for name in names.split(";"):
        particles = CASES[name].begin(sim.DistributedParticles, share, comm=comm)
        if name in KEPT:
            particles.save(Path(out).with_name(name))
        found |= _gathered(name, CASES[name].finish(particles, share), comm)
    _write(comm, out, found)


def random_case(seed):
    """Draw a case: laws, rooms, walls, speeds, and what comes and goes."""
    rng = np.random.default_rng(seed)
    law = [sim.Hard(iterations=int(rng.integers(1, 6))), sim.Soft(iterations=4), sim.Elastic()][rng.integers(3)]
    size, periodic = rng.choice([0.14, 0.2, 0.3, 0.45], 3), rng.random(3) < 0.5
    lower, upper = -size / 3.0, 2.0 * size / 3.0
    room = {"lower": lower, "upper": upper, "periodic": periodic} if periodic.any() else {}
    speed, is_walled, own_seed = rng.choice([0.0, 0.1, 2.0, 10.0]), rng.random(3) < 0.7, rng.integers(1 << 30)

    def fill(particles, share):
        for axis in np.flatnonzero(~periodic & is_walled):
            normal = np.eye(3)[axis]
            particles.add_wall(f"before {axis}", cl.HalfSpace(normal, lower[axis]))
            particles.add_wall(f"behind {axis}", cl.HalfSpace(-normal, -upper[axis]))
        particles.add_wall("box", cl.Box([0.05, 0.05, 0.05]))
        counts = np.maximum(size / 0.042, 1.0).astype(int)
        mixture(counts, 0.042, speed, own_seed, RANDOM_SHAPES, lower)(particles, share)

    def change(particles, share):
        again = np.random.default_rng(own_seed)
        particles.remove([0, 1])
        particles.step(int(again.integers(4)))
        particles.remove_wall("box")
        particles.step(int(again.integers(4)))
        particles.add(particles.shapes[0], own(again.uniform(lower, upper, (5, 3)), share))

    return Case({"contact": law, "gravity": rng.choice([0.0, -9.81], 3), **room}, fill, change)


def run_at_random(comm, out, first, last):
    """Run cases that are drawn, with a checkpoint halfway; those that are refused alone are left out."""
    share, found = (comm.rank, comm.size), {}
    for seed in range(int(first), int(last)):
        case = random_case(seed)
        try:
            wanted = results(case.finish(case.begin(sim.Particles, (0, 1), threads=1), (0, 1)))
        except ValueError:
            continue
        folder = Path(out).with_name(str(seed))
        case.begin(sim.DistributedParticles, share, comm=comm).save(folder)
        ended = case.finish(sim.DistributedParticles.load(folder, comm), share)
        found |= _gathered(f"ranks/{seed}", ended, comm)
        found |= {f"alone/{seed}/{key}": value for key, value in wanted.items()}
    _write(comm, out, found)


def go_on(comm, out, *folders):
    """Go on from checkpoints of other numbers of ranks."""
    found = {}
    for folder in folders:
        for name in KEPT:
            particles = sim.DistributedParticles.load(Path(folder) / name, comm)
            CASES[name].finish(particles, (comm.rank, comm.size))
            found |= _gathered(f"{Path(folder).name}/{name}", particles, comm)
    _write(comm, out, found)


def killed(comm, out, folder, where, who, when):
    """Begin or go on with a run, and kill ranks in it: `who` is one of them, or -1 for all."""
    is_victim = int(who) in (-1, comm.rank)
    if is_victim and where != "never":
        DEATHS[where](int(when))
    particles = particle_runs.run(lambda: started(comm), folder, END, every=EVERY, comm=comm)
    _write(comm, out, _gathered("run", particles, comm))


def _die_in_a_step(when):
    _on_call(ranks.Ranks, "share", when, lambda *_: _die())


def _die_writing(when):
    def half(path, data):
        path.with_name(f"{path.name}.part").write_bytes(data[: len(data) // 2])
        path.write_bytes(data[: len(data) // 2])
        _die()

    _on_call(particle_files, "write_whole", when, half)


def _die_renaming(when):
    _on_call(particle_files, "_complete", when, lambda *_: _die())


def _die_removing(when):
    def half(folder, **_):
        next(folder.iterdir()).unlink()
        _die()

    kept, count = particle_files.shutil.rmtree, [0]

    def instead(folder, **options):
        count[0] += folder.name != particle_files.PARTIAL
        return half(folder) if count[0] == when and folder.name != particle_files.PARTIAL else kept(folder, **options)

    particle_files.shutil.rmtree = instead


DEATHS = {
    "step": _die_in_a_step,
    "writing": _die_writing,
    "renaming": _die_renaming,
    "removing": _die_removing,
}


def _die():
    os.kill(os.getpid(), signal.SIGKILL)


def _on_call(owner, name, when, action):
    """Replace a function by another at one of its calls, counted from one."""
    kept, count = getattr(owner, name), [0]

    def instead(*arguments):
        count[0] += 1
        return (action if count[0] == when else kept)(*arguments)

    setattr(owner, name, instead)


def fail(comm, out, where):
    """Let the last rank fail where others go on."""
    last = comm.rank == comm.size - 1
    particles = sim.DistributedParticles(comm)
    particles.add(cl.Sphere(0.1), [[float(comm.rank), 0.0, 0.0]])
    particles.step(2)
    FAILURES[where](comm, particles, Path(out), last)


def _fail_in_step(comm, particles, _, last):
    if last:
        ranks.Ranks.rebuild = _raise
    particles.add(cl.Sphere(0.1), [])
    particles.step()


def _fail_in_add(comm, particles, _, last):
    particles.add(cl.Sphere(0.1), np.zeros((2, 5)) if last else np.zeros((1, 3)))


def _fail_in_save(comm, particles, out, last):
    if last:
        particle_files.write_whole = _raise
    particles.save(out)


def _fail_in_load(comm, particles, out, last):
    particles.save(out)
    if last:
        piece = sorted(out.glob("checkpoint_*/*"))[-1]
        piece.write_bytes(piece.read_bytes()[:100])
    comm.barrier()
    sim.DistributedParticles.load(out, comm)


def _fail_in_start(comm, _, out, last):
    particle_runs.run(_raise if last else lambda: sim.DistributedParticles(comm), out, 0.01, comm=comm)


def _fail_in_a_checkpoint(comm, _, out, last):
    if last:
        particle_files.write_whole = _raise
    particle_runs.run(lambda: started(comm), out, 0.01, comm=comm)


def _fail_going_on(comm, particles, out, last):
    particles.save(out)
    if last:
        piece = sorted(out.glob("checkpoint_*/*"))[-1]
        piece.write_bytes(piece.read_bytes()[:100])
    comm.barrier()
    particle_runs.run(lambda: started(comm), out, 0.01, comm=comm)


def _raise(*_, **__):
    raise OSError("no space left on the device")


FAILURES = {
    "step": _fail_in_step,
    "add": _fail_in_add,
    "save": _fail_in_save,
    "load": _fail_in_load,
    "start of a run": _fail_in_start,
    "checkpoint of a run": _fail_in_a_checkpoint,
    "going on with a run": _fail_going_on,
}


def lose(comm, out):
    """Drive one particle beyond all bounds, and tell what ranks know of it."""
    particles = sim.DistributedParticles(comm, **FLEEING.settings)
    FLEEING.fill(particles, (comm.rank, comm.size))
    told = ""
    try:
        particles.step(FLEEING.steps)
    except FloatingPointError as error:
        told = str(error)
    found = comm.gather((told, particles.time))
    _write(comm, out, {"told": [t for t, _ in found or []], "times": [t for _, t in found or []]})


def post(comm, out):
    """Send a message of one's own, and take steps before it is received."""
    other = 1 - comm.rank
    letter, got = np.full(1, 7.0 + comm.rank), np.empty(1)
    request = comm.Isend(letter, other, 3)
    particles = sim.DistributedParticles(comm, gravity=(0.0, 0.0, 0.0))
    spheres(lattice((6, 6, 2), 0.19), radius=0.1)(particles, (comm.rank, comm.size))
    particles.step(2)
    comm.Recv(got, other, 3)
    request.wait()
    found = comm.gather(float(got[0]))
    _write(comm, out, {"got": found or []})


def run_apart(comm, out):
    """Let some ranks run a case, while others run it, too, and know nothing of it."""
    part = comm.Split(int(comm.rank > 0))
    share, case = (part.rank, part.size), CASES["hard, periodic"]
    particles = case.finish(case.begin(sim.DistributedParticles, share, comm=part), share)
    found = comm.gather(_gathered(f"of {part.size}", particles, part))
    _write(comm, out, {key: value for some in found or [] for key, value in some.items()})


def number(comm, out):
    """Add particles on each rank, none on the first one, and tell their numbers and where they are."""
    particles = sim.DistributedParticles(comm, gravity=(0.0, 0.0, 0.0))
    given = np.array([[10.0 * comm.rank + k, 0.0, 0.0] for k in range(2 * comm.rank)]).reshape(-1, 3)
    ids = particles.add(cl.Sphere(0.1), given, np.zeros((len(given), 3)) if len(given) else None)
    more = particles.add(cl.Sphere(0.1), [[10.0 * comm.rank + 9.0, 0.0, 0.0]])
    particles.step()
    told = comm.gather((ids, given, more))
    everything = particles.gather()
    if everything is not None:
        ids, given, more = (np.concatenate(rows) for rows in zip(*told, strict=True))
        _write(comm, out, {"ids": ids, "more": more, "given": given, "places": everything.positions})


def fly_far(comm, out):
    """Let one of two particles be very far away, with memory for much more than two."""
    import resource

    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + (4 << 30),) * 2)
    particles = FAR.begin(sim.DistributedParticles, (comm.rank, comm.size), comm=comm)
    _write(comm, out, _gathered("far", particles, comm))


def tell_progress(comm, out, folder):
    """Run with a bar; whoever reads the standard error of ranks sees who told."""
    sys.stderr.isatty = lambda: True
    particle_runs.run(lambda: started(comm), folder, END, every=EVERY, comm=comm, progress=True)


def _write(comm, out, found):
    if comm.rank == 0:
        np.savez(out, **found)


PROGRAMS = (run_cases, run_at_random, go_on, killed, fail, lose, post, run_apart, number, fly_far, tell_progress)

if __name__ == "__main__":
    from mpi4py import MPI

    {program.__name__: program for program in PROGRAMS}[sys.argv[1]](MPI.COMM_WORLD, *sys.argv[2:])
