"""Grains beside LAMMPS and SAPIEN (PhysX): seconds per simulated second, at no larger overlap.

3000 spheres and 3000 cubes fall into a box; every engine gets the same start, and is judged by where bodies end. A gas
of 64 000 elastic spheres is timed per collision of a sphere, because LAMMPS resolves each collision by many steps. Then
Particles alone, by their number: how many bodies move on by a step in a second.
"""

from __future__ import annotations

import resource
from dataclasses import replace
from time import perf_counter, process_time

import numpy as np
from granular_engines import peers
from granular_gas import Gas, LammpsGas
from granular_peers import race, table_of
from granular_setup import Setup, State, dropped, judge
from measure import Agreement, Table, arguments, machine

import clearance as cl
from clearance import simulation as sim

RATE, SMALL_STEPS = 160, 10


class Clearance:
    """Hard contacts in small steps."""

    def __init__(self, setup: Setup, threads: int = 1, rate: int = RATE) -> None:
        self.step = 1 / rate
        self.settings = f"Hard(iterations={SMALL_STEPS}), {threads} thread{'s' if threads > 1 else ''}"
        gravity = (0.0, 0.0, -setup.gravity)
        self.particles = sim.Particles(self.step, gravity, sim.Hard(iterations=SMALL_STEPS), threads=threads)
        material = sim.Material(setup.friction, setup.restitution)
        for k, (normal, offset) in enumerate(setup.walls):
            self.particles.add_wall(f"wall {k}", cl.HalfSpace(normal, offset), material=material)
        shape = cl.Sphere(setup.size / 2) if setup.kind == "spheres" else cl.Box([setup.size] * 3)
        poses = cl.poses.from_xyzw(setup.turns, setup.positions)
        self.particles.add(shape, poses, density=setup.density, material=material)

    def advance(self, steps: int) -> None:
        self.particles.step(steps)

    def state(self) -> State:
        return State(self.particles.positions, self.particles.turns, self.particles.velocities)


def dropping(kind: str, count: int, seconds: float, repeats: int, checks: Agreement) -> Table:
    setup = dropped(kind, count, seconds=seconds)
    rivals = {name: make for name, make in peers(kind).items() if name in ("lammps", "sapien")}
    makers = {"clearance": Clearance, **rivals}
    found = race(makers, setup, repeats=repeats)
    pairs = {"clearance, 2 threads": lambda one: Clearance(one, 2), "sapien, 2 threads": peers(kind, 2)["sapien"]}
    two = race(pairs, setup, repeats=repeats)
    table = table_of(setup, {**found, **two})
    ours, verdicts = found["clearance"], {name: judge(setup, one.state) for name, one in found.items()}
    checks.check(f"{kind} that escaped", np.array([verdicts["clearance"].escaped]), np.zeros(1))
    for name, one in found.items():
        if name == "clearance":
            continue
        table.notes.append(f"{name} takes {one.core_seconds / ours.core_seconds:.2f} times the core seconds of ours")
        checks.check(
            f"solid fraction of {kind}, {name}",
            np.array([verdicts["clearance"].solid_fraction]),
            np.array([verdicts[name].solid_fraction]),
            0.05,
        )
    return table


class ClearanceGas:
    """Each collision is one reflection."""

    def __init__(self, gas: Gas, threads: int = 1) -> None:
        self.step = 0.1 * gas.size / gas.speed
        side = np.full(3, gas.side)
        self.particles = sim.Particles(
            self.step, (0, 0, 0), sim.Elastic(), lower=(0, 0, 0), upper=side, periodic=True, threads=threads
        )
        positions, velocities = gas.start()
        self.particles.add(cl.Sphere(gas.size / 2), positions, velocities, density=gas.density)

    def advance(self, steps: int) -> None:
        self.particles.step(steps)


def gas_table(count: int, free_times: float, checks: Agreement) -> Table:
    gas = Gas(count)
    table = Table(
        f"{count} elastic spheres, {free_times:g} collisions of each",
        ["engine", "step [us]", "steps", "clock [s]", "cores [s]", "steps of a body per second"],
    )
    rivals = {"clearance": ClearanceGas(gas), "clearance, 2 threads": ClearanceGas(gas, 2)}
    try:
        rivals["lammps"] = LammpsGas(gas)
    except (ImportError, OSError) as reason:
        table.notes.append(f"lammps is left out: {reason}")
    for name, engine in rivals.items():
        steps = max(1, round(free_times * gas.free_time / engine.step))
        clock, cores = perf_counter(), process_time()
        engine.advance(steps)
        clock, cores = perf_counter() - clock, process_time() - cores
        table.add(name, 1e6 * engine.step, steps, clock, cores, steps * count / clock)
    particles = rivals["clearance"].particles
    energy = 0.5 * gas.mass * gas.speed**2 * count
    checks.check("energy of the gas", np.array([particles.energy.kinetic / energy]), np.ones(1), 1e-6)
    return table


def sizes_table(counts: list[int], steps: int) -> Table:
    table = Table(
        "Spheres on a lattice that gives way, by their number, one step of 1/160 s",
        ["bodies", "threads", "clock [ms]", "steps of a body per second", "contacts", "memory [MB]"],
    )
    for count in counts:
        setup = replace(dropped("spheres", count), side=0.36 * (count / 3000) ** (1 / 3))
        setup = dropped_wide(setup, count)
        for threads in (1, 2):
            engine = Clearance(setup, threads)
            engine.advance(steps)
            start = perf_counter()
            engine.advance(steps)
            taken = (perf_counter() - start) / steps
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            table.add(count, threads, 1e3 * taken, count / taken, engine.particles.work.contacts, memory)
    return table


def dropped_wide(setup: Setup, count: int) -> Setup:
    """The same bodies per floor, on a wider floor: a lattice that touches, to be pressed by gravity at once."""
    row = int(setup.side / setup.size)
    places = np.stack(np.unravel_index(np.arange(count), (count // row**2 + 1, row, row))[::-1], axis=1)
    corner = np.array([0.5 - row / 2, 0.5 - row / 2, 0.5])
    positions = (places + corner) * setup.size
    return replace(setup, positions=positions, turns=np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)), side=row * setup.size)


def main() -> None:
    parts = ("spheres", "cubes", "gas", "sizes")
    chosen = arguments(
        __doc__, *((f"--{part}", "this part, and others that are named, instead of all") for part in parts)
    )
    named = [part for part in parts if getattr(chosen, part)] or parts
    checks = Agreement()
    print(machine())
    count, seconds, repeats = (300, 0.5, 1) if chosen.quick else (3000, 2.0, 2)
    for kind in ("spheres", "cubes"):
        if kind in named:
            dropping(kind, count, seconds, repeats, checks).show(chosen.markdown)
    if "gas" in named:
        gas_table(4000 if chosen.quick else 64_000, 1.0 if chosen.quick else 4.0, checks).show(chosen.markdown)
    if "sizes" in named:
        sizes_table([1000] if chosen.quick else [10_000, 100_000], 10).show(chosen.markdown)
    checks.exit()


if __name__ == "__main__":
    main()
