"""A gas of elastic spheres, also in LAMMPS, whose speeds should end up distributed as Maxwell says."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np
from granular_engines import STEPS_PER_COLLISION, gathered, lammps_instance
from granular_setup import Floats
from measure import Table, machine
from scipy.spatial import cKDTree
from scipy.stats import maxwell, skew


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


def options() -> Namespace:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=Gas.count, help="spheres")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--collisions", type=float, default=5.0, help="of each sphere")
    parser.add_argument("--markdown", action="store_true", help="tables for docs/performance.md")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    print(machine())
    try:
        table_of_gas(Gas(chosen.n), chosen.collisions, chosen.threads).show(chosen.markdown)
    except (ImportError, OSError) as reason:
        print(f"the gas is left out: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
