"""Granular matter in other engines: LAMMPS, SAPIEN (PhysX), MuJoCo and Bullet drop spheres or cubes into a box.

    python benchmarks/granular_peers.py

Seconds are per simulated second, over the whole fall and over its last quarter, when bodies lie; seconds of the cores
are told besides those of the clock, which other programs may lengthen. Engines run in turns, a short segment each, and
the least time of each segment over repeated runs counts.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter, process_time

import numpy as np
from granular_engines import Engine, peers
from granular_setup import Setup, State, Verdict, dropped, judge
from measure import Table, machine

Makers = Mapping[str, Callable[[Setup], Engine]]

SEGMENT = 0.05  # simulated seconds between two readings of the clocks
LIMIT = 300.0  # seconds after which an engine is stopped


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


def started(makers: Makers, setup: Setup) -> Iterator[tuple[str, Engine]]:
    """Engines that are installed; the others are left out with a message."""
    for name, make in makers.items():
        try:
            yield name, make(setup)
        except (ImportError, OSError) as reason:
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
    return race({name: peers(setup.kind)[name]}, setup, repeats=repeats, limit=limit)[name]


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


def options() -> Namespace:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=["spheres", "cubes"], action="append", help="both unless given")
    parser.add_argument("--engine", choices=list(peers("spheres")), action="append", help="all unless given")
    parser.add_argument("--n", type=int, default=3000, help="bodies")
    parser.add_argument("--seconds", type=float, default=2.0, help="simulated")
    parser.add_argument("--threads", type=int, default=1, help="only engines that can run on so many")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds after which an engine is stopped")
    parser.add_argument("--settled", action="store_true", help="start from the bed that SAPIEN makes")
    parser.add_argument("--markdown", action="store_true", help="tables for docs/performance.md")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    print(machine())
    for kind in chosen.kind or ["spheres", "cubes"]:
        known = peers(kind, chosen.threads)
        makers = {name: make for name, make in known.items() if name in (chosen.engine or known)}
        setup = dropped(kind, chosen.n, seconds=chosen.seconds)
        if chosen.settled:
            bed = run("sapien", replace(setup, seconds=2.0))
            setup = at_rest(setup, bed.state, chosen.seconds)
        results = race(makers, setup, repeats=chosen.repeats, limit=chosen.limit)
        table_of(setup, results).show(chosen.markdown)


if __name__ == "__main__":
    main()
