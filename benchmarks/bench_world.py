"""Worlds in motion beside MuJoCo: wall time per simulated second, and how well bodies lie at the end of it.

Both engines get the same bodies at the same places, the same density, friction and step. MuJoCo has springs between
bodies: it runs once as it comes, and once with springs as stiff as its step allows, which lets bodies overlap less.
Overlaps and speeds at the end stand beside the times, because an engine that lets bodies sink into each other has less
to do. MuJoCo runs on one thread, with elliptic cones of friction like ours, and the faster of its solvers: Newton's
method for few bodies, conjugate gradients for heaps. Seconds of the cores are told besides those of the clock, which
other programs may lengthen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter, process_time

import mujoco
import numpy as np
from measure import Agreement, Table, arguments, machine
from numpy.typing import NDArray

import clearance as cl
from clearance import simulation as sim

Floats = NDArray[np.float64]

STEP = 1e-3
DENSITY, FRICTION = 1000.0, 0.5
WHEEL_SPEED, WHEEL_TORQUE = 5.0, 20.0  # rad/s, N m


@dataclass(frozen=True)
class Item:
    """A box of full edge lengths, a ball of a radius, or a cylinder of a radius and a length."""

    kind: str
    size: tuple[float, ...]
    place: tuple[float, float, float]
    turn: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    motion: str = "dynamic"
    wheels: tuple[Item, ...] = ()  # turn about y, at places relative to this


@dataclass(frozen=True)
class Setting:
    """Bodies on a level ground, and for how long they are watched."""

    name: str
    seconds: float
    items: list[Item] = field(default_factory=list)
    solver: str = "Newton"  # of MuJoCo
    repeats: int = 3

    @property
    def moving(self) -> int:
        return sum(item.motion == "dynamic" for item in self.items) + sum(len(item.wheels) for item in self.items)


# Settings ------------------------------------------------------------------------------------------------------------


def walls(side: float, height: float) -> list[Item]:
    """Four boards around a square."""
    at, long = 0.5 * side + 0.1, side + 0.4
    return [
        Item("box", (0.2, long, height) if x else (long, 0.2, height), (x * at, y * at, 0.5 * height), motion="fixed")
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
    ]


def dropped(kind: str, size: tuple[float, ...], count: int, side: float, seed: int) -> list[Item]:
    """Layers of bodies over a square, a little beside a lattice and turned at random, falling."""
    rng = np.random.default_rng(seed)
    pitch = 1.15 * (2 * size[0] if kind == "ball" else float(np.linalg.norm(size)))
    row = int(side / pitch)
    items = []
    for k in range(count):
        layer, cell = divmod(k, row * row)
        shift = rng.uniform(-0.05, 0.05, 2) * pitch
        x, y = (pitch * (np.array(divmod(cell, row)) - 0.5 * (row - 1)) + shift).tolist()
        turn = rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        items.append(Item(kind, size, (x, y, pitch * (layer + 0.6)), tuple(turn.tolist())))
    return items


def vehicle(x: float, y: float) -> Item:
    quarter = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)  # the axis of a cylinder from z to y
    wheels = tuple(Item("cylinder", (0.2, 0.1), (a, b, -0.1), quarter) for a in (0.4, -0.4) for b in (0.32, -0.32))
    return Item("box", (1.0, 0.5, 0.2), (x, y, 0.3), wheels=wheels)


def settings(quick: bool) -> list[Setting]:
    stack = [Item("box", (0.5, 0.5, 0.5), (0.01 * (-1) ** k, 0.0, 0.5 * k + 0.25)) for k in range(10)]
    boxes = walls(3.0, 3.0) + dropped("box", (0.2, 0.25, 0.3), 200, 3.0, 1)
    balls = walls(2.0, 3.0) + dropped("ball", (0.1,), 500, 2.0, 2)
    vehicles = [vehicle(0.0, 1.5 * k) for k in range(10)]
    listed = [
        Setting("stack of ten boxes", 4.0, stack),
        Setting("200 boxes in a bin", 4.0, boxes, "CG", 1),
        Setting("500 balls in a bin", 3.0, balls, "CG", 1),
        Setting("10 four-wheeled vehicles", 4.0, vehicles),
    ]
    return [replace(one, seconds=0.2, repeats=1) for one in listed] if quick else listed


# Two engines ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What a run took and where it ended."""

    seconds: float  # of the clock, per simulated second
    core_seconds: float  # of all cores together, per simulated second
    contacts: int
    deepest: float  # overlap [m]
    mean_depth: float
    speed: float  # root of the mean square over bodies, weighted with their masses [m/s]
    way: float  # the mean over bodies along x [m]


class Clock:
    """Seconds of the clock and of the cores that a block takes."""

    wall: float
    cores: float

    def __enter__(self) -> Clock:
        self.wall, self.cores = -perf_counter(), -process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += perf_counter()
        self.cores += process_time()


def shape_of(item: Item) -> cl.Shape:
    if item.kind == "ball":
        return cl.Sphere(*item.size)
    return cl.Box(item.size) if item.kind == "box" else cl.Cylinder(*item.size)


def our_world(setting: Setting, threads: int) -> sim.World:
    material = sim.Material(friction=FRICTION)
    world = sim.World(step=STEP, contact=sim.Hard(), threads=threads)
    world.add("ground", cl.HalfSpace([0, 0, 1], 0.0), motion="fixed", material=material)
    for k, item in enumerate(setting.items):
        group = f"group {k}" if item.wheels else None
        given = {"density": DENSITY, "material": material, "group": group}
        pose = cl.poses.from_wxyz(item.turn, item.place)
        world.add(f"body {k}", shape_of(item), pose, motion=item.motion, **given)
        for n, wheel in enumerate(item.wheels):
            at = pose @ cl.poses.from_wxyz(wheel.turn, wheel.place)
            world.add(f"wheel {k} {n}", shape_of(wheel), at, **given)
            world.join(f"axle {k} {n}", "hinge", f"body {k}", f"wheel {k} {n}", at[:3, 3], [0, 1, 0])
            world.drive(f"axle {k} {n}", WHEEL_SPEED, torque=WHEEL_TORQUE)
    return world


def run_ours(setting: Setting, threads: int) -> Outcome:
    world = our_world(setting, threads)
    movable = [k for k, name in enumerate(world.names) if name != "ground"]
    movable = [k for k in movable if not is_fixed(setting, world.names[k])]
    start = world.poses[movable, 0, 3]
    with Clock() as taken:
        world.step(round(setting.seconds / STEP))
    depths = np.maximum(world.contacts.depths, 0.0)
    masses = np.array([world.mass(world.names[k]).mass for k in movable])
    return outcome(setting, taken, depths, masses, world.velocities[movable, :3], world.poses[movable, 0, 3] - start)


def is_fixed(setting: Setting, name: str) -> bool:
    kind, number, *_ = name.split()
    return kind == "body" and setting.items[int(number)].motion == "fixed"


def geom(item: Item) -> str:
    kind = {"box": "box", "ball": "sphere", "cylinder": "cylinder"}[item.kind]
    if item.kind == "ball":
        size = f"{item.size[0]:.17g}"
    elif item.kind == "box":
        size = " ".join(f"{edge / 2:.17g}" for edge in item.size)
    else:
        size = f"{item.size[0]:.17g} {item.size[1] / 2:.17g}"
    return f'<geom type="{kind}" size="{size}"/>'


def placed(item: Item) -> str:
    return 'pos="{} {} {}" quat="{} {} {} {}"'.format(*(f"{x:.17g}" for x in (*item.place, *item.turn)))


def description(setting: Setting, solref: str) -> str:
    """The same bodies for MuJoCo."""
    bodies, motors, apart = [], [], []
    for k, item in enumerate(setting.items):
        joint = "<freejoint/>" if item.motion == "dynamic" else ""
        parts = [joint, geom(item)]
        for n, wheel in enumerate(item.wheels):
            # The axis of a hinge is told in the frame of the wheel, whose cylinder stands along z.
            axle = f'<joint name="axle_{k}_{n}" type="hinge" axis="0 0 -1"/>'
            parts.append(f'<body name="wheel_{k}_{n}" {placed(wheel)}>{axle}{geom(wheel)}</body>')
            limit = f'forcelimited="true" forcerange="-{WHEEL_TORQUE} {WHEEL_TORQUE}"'
            motors.append(f'<velocity joint="axle_{k}_{n}" kv="1000" {limit}/>')
        names = [f"wheel_{k}_{n}" for n in range(len(item.wheels))]
        apart += [f'<exclude body1="{a}" body2="{b}"/>' for i, a in enumerate(names) for b in names[:i]]
        bodies.append(f'<body name="body_{k}" {placed(item)}>{"".join(parts)}</body>')
    return f"""<mujoco>
        <option timestep="{STEP}" cone="elliptic" solver="{setting.solver}" integrator="implicitfast"/>
        <size memory="500M"/>
        <default><geom density="{DENSITY}" friction="{FRICTION} 0 0" condim="3" {solref}/></default>
        <worldbody><geom type="plane" size="100 100 1"/>{"".join(bodies)}</worldbody>
        <contact>{"".join(apart)}</contact><actuator>{"".join(motors)}</actuator>
    </mujoco>"""


def run_mujoco(setting: Setting, solref: str) -> Outcome:
    model = mujoco.MjModel.from_xml_string(description(setting, solref))
    data = mujoco.MjData(model)
    data.ctrl[:] = WHEEL_SPEED
    mujoco.mj_forward(model, data)
    movable = np.flatnonzero(model.body_dofnum > 0)
    start = data.xipos[movable, 0].copy()
    with Clock() as taken:
        mujoco.mj_step(model, data, nstep=round(setting.seconds / STEP))
    mujoco.mj_forward(model, data)
    depths = np.maximum(-data.contact.dist, 0.0)
    velocities = np.zeros((len(movable), 6))
    for row, body in zip(velocities, movable, strict=True):
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, row, 0)
    masses = model.body_mass[movable]
    return outcome(setting, taken, depths, masses, velocities[:, 3:], data.xipos[movable, 0] - start)


def outcome(
    setting: Setting, taken: Clock, depths: Floats, masses: Floats, velocities: Floats, ways: Floats
) -> Outcome:
    speed = float(np.sqrt(masses @ np.sum(velocities**2, axis=1) / masses.sum()))
    deepest, mean = (float(depths.max()), float(depths.mean())) if len(depths) else (0.0, 0.0)
    wall, cores = taken.wall / setting.seconds, taken.cores / setting.seconds
    return Outcome(wall, cores, len(depths), deepest, mean, speed, float(ways.mean()))


RIVALS: dict[str, Callable[[Setting], Outcome]] = {
    "clearance, 1 thread": lambda setting: run_ours(setting, 1),
    "clearance, 2 threads": lambda setting: run_ours(setting, 2),
    "mujoco": lambda setting: run_mujoco(setting, ""),
    "mujoco, stiff": lambda setting: run_mujoco(setting, f'solref="{2 * STEP} 1"'),
}


# Tables --------------------------------------------------------------------------------------------------------------


def measured(setting: Setting) -> dict[str, Outcome]:
    """Run all in turns; the least time of each counts, and where it ended is the same every time."""
    best: dict[str, Outcome] = {}
    for _ in range(setting.repeats):
        for name, run in RIVALS.items():
            found = run(setting)
            if name not in best or found.seconds < best[name].seconds:
                best[name] = found
    return best


def table_of(setting: Setting, found: dict[str, Outcome]) -> Table:
    table = Table(
        f"{setting.name}: {setting.moving} moving bodies, {setting.seconds:g} s in steps of {1e3 * STEP:g} ms",
        [
            *(
                "engine",
                "wall s per s",
                "/ mujoco",
                "core s per s",
                "/ mujoco",
                "contacts",
                "deepest, mm",
                "mean depth, mm",
            ),
            *("rest speed, mm/s", "way along x, m"),
        ],
    )
    for name, one in found.items():
        ratio, of_cores = one.seconds / found["mujoco"].seconds, one.core_seconds / found["mujoco"].core_seconds
        lengths = (f"{1e3 * x:.3f}" for x in (one.deepest, one.mean_depth, one.speed))
        times = (f"{one.seconds:.3f}", ratio, f"{one.core_seconds:.3f}", of_cores)
        table.add(name, *times, str(one.contacts), *lengths, f"{one.way:.3f}")
    return table


def table_of_work(listed: list[Setting]) -> Table:
    table = Table(
        "What one step of ours takes, at the end",
        ["setting", "pairs", "volume tests", "object tests", "share of pairs", "contacts", "iterations"],
    )
    for setting in listed:
        world = our_world(setting, 1)
        world.step(round(setting.seconds / STEP))
        work = world.work
        share = f"{100 * work.object_tests / work.pairs:.2f} %"
        counts = (str(n) for n in (work.pairs, work.volume_tests, work.object_tests))
        table.add(setting.name, *counts, share, str(work.contacts), str(work.iterations))
    return table


def check(agreement: Agreement, setting: Setting, found: dict[str, Outcome]) -> None:
    """A fast wrong answer is no result: bodies lie still, overlap little, and vehicles get where their wheels roll."""
    ours = found["clearance, 1 thread"]
    again = replace(found["clearance, 2 threads"], seconds=ours.seconds, core_seconds=ours.core_seconds)
    if again != ours:
        agreement.failures.append(f"{setting.name}: the number of threads changes the result")
    agreement.check(f"{setting.name}: deepest overlap", np.array(ours.deepest), np.array(0.0), 0.01)
    if "vehicles" in setting.name:
        rolled = WHEEL_SPEED * 0.2 * setting.seconds
        agreement.check(f"{setting.name}: way", np.array(ours.way), np.array(rolled), 0.1 * rolled)
    else:
        agreement.check(f"{setting.name}: rest speed", np.array(ours.speed), np.array(0.0), 0.1)


def main() -> None:
    options = arguments(__doc__)
    agreement, listed = Agreement(), settings(options.quick)
    print(f"{machine()}; mujoco {mujoco.__version__}")
    for setting in listed:
        found = measured(setting)
        table_of(setting, found).show(options.markdown)
        if not options.quick:
            check(agreement, setting, found)
    table_of_work(listed).show(options.markdown)
    agreement.exit()


if __name__ == "__main__":
    main()
