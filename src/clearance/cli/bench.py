"""`clearance bench`: how long do the main queries take here, and how long in other libraries?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.table import Table

from .. import _core, samples
from ..clearances import clearances, is_clear
from ..guard import Guard
from ..paths import check_path
from ..poses import from_axis_angle
from ..queries import distance
from ..scanner import LaserScanner
from ..shapes import Box, Capsule, Cylinder
from ..simulation.scenario import Scenario
from .files import bar
from .outcomes import FAILED, AsJson, command, fail, report, table
from .rivals import RIVALS, rivals_of

__all__: list[str] = []

BATCH = 10_000
SAME = 1e-6  # metres: answers that differ by less agree


@dataclass(frozen=True)
class Query:
    """A question that is asked again and again."""

    name: str
    ask: Callable[[], Any]
    answers: int = 1  # that one call gives
    work: Callable[[Any], str] = lambda found: ""
    rivals: dict[str, Callable[[], float]] = field(default_factory=dict)  # the same question, put to others


class Timed(NamedTuple):
    """How long a query took."""

    query: Query
    seconds: float  # for one answer
    work: str
    rivals: dict[str, float]  # seconds for one answer
    agree: bool


@command
def bench(
    seconds: Annotated[float, typer.Option(metavar="SECONDS", help="How long each query is asked.")] = 0.2,
    only: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only queries that have this in their names.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Time the main queries on samples, on this machine; beside coal and python-fcl where these are installed.

    The best of several rounds counts. Distances of other libraries are compared with ours, to a micrometre.

    Examples:

    * `clearance bench`

    * `clearance bench --only meshes --seconds 2`

    Exit codes: 0 done, 2 bad input, 3 an answer differs, 130 interrupted.
    """
    if not 0.0 < seconds < np.inf:
        raise ValueError(f"--seconds must be positive and finite, but it is {seconds}.")
    asked, timed = list(queries()), []
    chosen = [query for query in asked if only is None or only in query.name]
    if not chosen:
        raise ValueError(f"no query has {only!r} in its name; there are: {'; '.join(query.name for query in asked)}.")
    with bar("timing") as progress:
        for k, query in enumerate(chosen):
            timed.append(_timed(query, seconds))
            progress((k + 1) / len(chosen))
    report(_told(timed), _lines(timed), as_json)
    odd = [one.query.name for one in timed if not one.agree]
    if odd:
        fail(f"answers differ: {', '.join(odd)}.", FAILED)


def _timed(query: Query, seconds: float) -> Timed:
    found = query.ask()
    others = [ask() for ask in query.rivals.values()]
    return Timed(
        query,
        best(query.ask, seconds) / query.answers,
        query.work(found),
        {name: best(ask, seconds) for name, ask in query.rivals.items()},
        all(abs(other - found.distance) < SAME for other in others),
    )


def best(ask: Callable[[], Any], seconds: float) -> float:
    """Time rounds of calls, each long enough for the clock; the least is what the machine can do."""
    calls, least, begun = 1, np.inf, perf_counter()
    while least == np.inf or perf_counter() - begun < seconds:
        start = perf_counter()
        for _ in range(calls):
            ask()
        took = perf_counter() - start
        if took < 0.05 * seconds:
            calls *= 2
        else:
            least = min(least, took / calls)
    return float(least)


def _told(timed: list[Timed]) -> dict[str, Any]:
    return {
        "cores": _core.core_count(),
        "simd": _core.simd(),
        "queries": [
            {
                "query": one.query.name,
                "seconds": one.seconds,
                "per_second": 1.0 / one.seconds,
                "work": one.work,
                "others": {name: {"seconds": took, "ratio": took / one.seconds} for name, took in one.rivals.items()},
                "agree": one.agree if one.rivals else None,
            }
            for one in timed
        ],
    }


def _lines(timed: list[Timed]) -> Iterator[str | Table]:
    there = [name for name in RIVALS if any(name in one.rivals for one in timed)]
    yield f"{_core.core_count()} cores, {_core.simd()}; times are for one answer."
    yield ""
    yield table(
        ["query", ">time", ">per second", *(f">{name}" for name in there), "work"],
        (
            (
                one.query.name,
                _time(one.seconds),
                f"{1.0 / one.seconds:,.0f}".replace(",", " "),
                *(_ratio(one, name) for name in there),
                one.work,
            )
            for one in timed
        ),
    )
    if there:
        agree = "agree" if all(one.agree for one in timed) else "DIFFER"
        yield ""
        yield f"Of {' and '.join(there)} there are times as multiples of ours; answers {agree}."


def _time(seconds: float) -> str:
    for unit, factor in (("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 1000.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def _ratio(one: Timed, name: str) -> str:
    return f"{one.rivals[name] / one.seconds:.1f} x" if name in one.rivals else ""


# What is asked --------------------------------------------------------------------------------------------------------


def queries() -> Iterator[Query]:
    """Make all queries on samples, small ones first."""
    yield from _pairs()
    yield from _scenes()
    yield from _robots()


def _pairs() -> Iterator[Query]:
    turned = from_axis_angle([1.0, 2.0, 0.5], 0.7, translation=[0.5, 0.1, 0.3])
    tilts = from_axis_angle([0.0, 1.0, 0.0], np.linspace(0.0, 3.0, BATCH), translation=[0.4, 0.0, 0.2])
    capsules = Capsule(0.05, 0.5).at(np.eye(4)), Capsule(0.04, 0.3).at(turned)
    solids = Box([0.4, 0.3, 0.2]).at(np.eye(4)), Cylinder(0.05, 0.2).at(turned)
    many = Capsule(0.04, 0.3).at(tilts)
    yield Query("two capsules", lambda: distance(*capsules), rivals=rivals_of(*capsules))
    yield Query(f"capsules x {BATCH}", lambda: distance(many, capsules[0]), BATCH)
    yield Query(
        "box and cylinder",
        lambda: distance(*solids),
        work=lambda found: f"{found.work.iterations} steps",
        rivals=rivals_of(*solids),
    )


def _scenes() -> Iterator[Query]:
    cell = samples.robot_cell()
    meshes = tuple(cell.shape(name).at(cell.pose(name)) for name in ("gun", "shell"))
    yield Query(
        "two meshes",
        lambda: distance(*meshes),
        work=lambda found: f"{found.work.triangle_tests} triangle tests",
        rivals=rivals_of(*meshes),
    )
    humanoid = samples.humanoid()
    postures = itertools.cycle([samples.humanoid_poses({"left_hand": (0.0, turn, 0.0)}) for turn in (-0.3, -0.2)])

    def all_pairs() -> Any:
        humanoid.move(next(postures))
        return humanoid.distances()

    yield Query(
        f"scene, {len(humanoid.pairs)} pairs",
        all_pairs,
        work=lambda found: f"{found.work.element_tests} element tests",
    )
    built = Scenario.load("city").build()
    scanner, target = LaserScanner(1081), built.world.ray_target()
    here = next(iter(built.scanners.values())).pose
    yield Query(f"scan, {scanner.beams} beams", lambda: scanner.scan(target, here))


def _robots() -> Iterator[Query]:
    arm, cell, path = samples.arm(), samples.arm_cell(), samples.arm_path()
    one, many = path[0], arm.random(BATCH, seed=0)
    yield Query("is_clear", lambda: is_clear(arm, cell, one, 0.01))
    yield Query(f"is_clear x {BATCH}", lambda: is_clear(arm, cell, many, 0.01), BATCH)
    yield Query(f"clearances x {BATCH}", lambda: clearances(arm, cell, many), BATCH)
    yield Query(
        "check_path",
        lambda: check_path(arm, cell, path, 0.01),
        work=lambda found: f"{found.configurations} postures",
    )
    humanoid, motion = samples.upper_body(), samples.upper_body_clap(1.1)
    guard, times = Guard(humanoid), itertools.cycle(np.arange(0.0, 0.3, 0.001))

    def cycle() -> Any:
        return guard.update(motion.start + next(times) * motion.velocity, motion.velocity)

    for _ in range(100):  # it gets to know all pairs first
        cycle()
    yield Query("guard, one cycle", cycle, work=lambda found: f"{int(found.work)} operations")
