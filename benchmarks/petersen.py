"""The performance figures of K. Petersen's thesis on vehicles, done again: our figures beside the printed ones.

K. Petersen, Effiziente Kollisionserkennung und echtzeitfähige Simulation der Kinematik, Dynamik und Sensorik autonomer
Fahrzeuge, diploma thesis, TU Darmstadt, 2007. Tables go to the terminal; --write puts them into docs/petersen.md.
"""

from __future__ import annotations

import dataclasses
import itertools
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from textwrap import fill
from time import perf_counter

import numpy as np
from measure import Agreement, Table, machine
from numpy.typing import NDArray

from clearance.simulation.scenario import Scenario
from clearance.simulation.scenario_bodies import Built, give_command

PAGE = Path(__file__).parent.parent / "docs" / "petersen.md"
BROAD_PHASES = ("hierarchy", "grid", "combined")
MOST_VEHICLES = 256


# --- pairs without any bounds: section 5.5.3 ------------------------------------------------------------------------


@dataclass(frozen=True)
class Printed:
    """What the thesis prints about a scenario."""

    title: str
    pairs: int
    formula: str  # that gives this number of pairs
    object_tests: str
    volume_tests: str


def pairs_between(counts: Sequence[int]) -> int:
    """Pairs of objects of different sets."""
    return sum(a * b for a, b in itertools.combinations(counts, 2))


PRINTED = {
    "city": Printed(
        "1, city",
        pairs_between([7, 7, *[1] * 5]) + (7 + 7 + 5) * (52 + 2),
        "129 among what moves + 19 x (52 houses + 2 planes)",
        "8 / 30 / 52",
        "76 / 195 / 330",
    ),
    "indoor": Printed(
        "2, indoor",
        (7 + 8) * (186 + 4 + 8 + 1),
        "15 parts of robots x (186 blocks + 4 boards + 8 balls + 1 plane)",
        "74 / 81 / 93",
        "364 / 492 / 658",
    ),
    "bowling": Printed(
        "3, bowling",
        pairs_between([7, *[20] * 10]) + (7 + 10 * 20) * 2,
        "19400 among robots, humanoids of 20 parts + 207 x 2 planes",
        "115 / 227 / 400",
        "2500 / 2879 / 4500",
    ),
}
IN_THE_THESIS = {"city": 1155, "indoor": 2985, "bowling": 19814}


def all_pairs(built: Built) -> int:
    """Pairs of visible bodies of which one at least moves, but for the parts of one robot."""
    world, names = built.world, built.world.scene().names
    own = [name.partition("/")[0] if name.partition("/")[0] in built.vehicles else name for name in names]
    moves = [world.motion(name) == "dynamic" for name in names]
    return sum((moves[a] or moves[b]) and own[a] != own[b] for a, b in itertools.combinations(range(len(names)), 2))


def counted(agreement: Agreement) -> Table:
    table = Table("Pairs without any bounds", ["scenario", "printed", "what gives the printed number", "ours"])
    for name, printed in PRINTED.items():
        agreement.check(f"pairs of the {name} as printed", np.array(printed.pairs), np.array(IN_THE_THESIS[name]))
        table.add(printed.title, str(printed.pairs), printed.formula, str(all_pairs(Scenario.load(name).build())))
    table.notes.append(
        "The thesis does not say how it counts. The formulas give its numbers: two planes, and 20 of the 22 objects of "
        "a humanoid, in the first and third scenario; in the second one only pairs of a robot with something else, so "
        "neither those of balls with blocks and with each other nor those of the two robots. Ours are all pairs of "
        "which one at least moves, but for the parts of one robot, with one plane and 22 objects."
    )
    return table


# --- Table 5.2 ------------------------------------------------------------------------------------------------------


@dataclass
class Work:
    """What every step of a run took."""

    object_tests: NDArray[np.int64]
    volume_tests: NDArray[np.int64]
    seconds: float  # per step


def with_broad_phase(name: str, broad_phase: str) -> Scenario:
    scenario = Scenario.load(name)
    return dataclasses.replace(scenario, world=dataclasses.replace(scenario.world, broad_phase=broad_phase))


def driver(scenario: Scenario, built: Built) -> Callable[[int], None]:
    """A function that gives the commands of a step."""
    commands = [
        (round(command.time / built.world.step_length), name, command)
        for name, robot in zip(scenario.names("robots"), scenario.robots, strict=True)
        for command in robot.commands
    ]

    def give(step: int) -> None:
        for at, name, command in commands:
            if at == step:
                give_command(built.vehicles[name], command)

    return give


def work_of(scenario: Scenario, share: float) -> Work:
    built = scenario.build(threads=1)
    world, give = built.world, driver(scenario, built)
    steps = round(share * scenario.recording.duration / world.step_length)
    found, seconds = np.zeros((steps, 2), np.int64), 0.0
    for step in range(steps):
        give(step)
        started = perf_counter()
        world.step()
        seconds += perf_counter() - started
        found[step] = world.work.object_tests, world.work.volume_tests
    return Work(*found.T, seconds / steps)


def spread(tests: NDArray[np.int64]) -> str:
    return f"{tests.min()} / {tests.mean():.0f} / {tests.max()}"


def tests_per_step(share: float, agreement: Agreement) -> Table:
    table = Table(
        "Tests per step",
        ["scenario", "broad phase", "object tests", "mean / all pairs", "volume tests", "us per step", "real time"],
    )
    for name, printed in PRINTED.items():
        total = all_pairs(Scenario.load(name).build())
        table.add(printed.title, "thesis, none", str(printed.pairs), "100 %", "0", "-", "-")
        theirs = int(printed.object_tests.split(" / ")[1]) / printed.pairs
        table.add("", "thesis, hierarchy", printed.object_tests, f"{theirs:.1%}", printed.volume_tests, "-", "-")
        for broad_phase in ("all", *BROAD_PHASES):
            scenario = with_broad_phase(name, broad_phase)
            found = work_of(scenario, min(share, 0.1) if broad_phase == "all" else share)
            mean = "100 %" if broad_phase == "all" else f"{found.object_tests.mean() / total:.1%}"
            table.add(
                *("", broad_phase, spread(found.object_tests), mean, spread(found.volume_tests)),
                *(f"{1e6 * found.seconds:.0f}", f"{scenario.world.step / found.seconds:.1f} x"),
            )
            if broad_phase != "all":
                beyond = np.maximum(0.0, found.object_tests.mean() - 0.03 * np.array([total, printed.pairs]))
                agreement.check(f"{name}, {broad_phase}: object tests, at most 3 % of all pairs", beyond, np.zeros(2))
    table.notes.append(
        "Least / mean / most over all steps of a scenario (Table 5.2 and figures 5.16 to 5.18), one thread. Layouts "
        "are ours: the thesis shows its own only in pictures. Object tests are of pairs of bodies, volume tests of "
        "balls around them and of cells; *all* tests every pair, ours with a link or two more than the objects, since "
        "links between joints are bodies, too. Times are for collision, contacts and motors together; *real time* is "
        "how much faster than real time that is. The printed times are not given per step: on a Pentium M of 1.5 GHz "
        "two trucks ran in real time without hierarchy and eight with it, and 2 and 10 humanoids."
    )
    return table


# --- vehicles with scanners in real time: sections 5.5.3 and 6.4.3 -------------------------------------------------


def trucks(count: int, method: str, resolution: tuple[int, int]) -> Scenario:
    """The city with monster trucks in its streets, and in rows beside it if there are more of them."""
    streets = [-2.75, -0.25, 2.25, *(-6.0 - 0.8 * k for k in range(MOST_VEHICLES // 12))]
    places = [(x, -4.6 + 0.8 * k) for x in streets for k in range(12)]
    robots = [
        {
            "model": "monster_truck",
            "position": list(place),
            "direction_deg": 90,
            "commands": [{"speed": 0.3}],
            "scanner": {"type": method, "resolution": list(resolution), "range": 20.0, "rate": 5},
        }
        for place in places[:count]
    ]
    city = Scenario.load("city").city
    return dataclasses.replace(Scenario.from_dict({"robots": robots}), city=city)


def real_time(scenario: Scenario, seconds: float) -> float:
    """How much faster than real time a scenario runs with all its scans."""
    built = scenario.build()
    world, give = built.world, driver(scenario, built)
    every = round(0.2 / world.step_length)
    for mounted in built.scanners.values():
        mounted.scan()  # the first one builds trees and starts the renderer
    give(0)
    world.step(every)
    started = perf_counter()
    for _ in range(round(seconds / 0.2)):
        for mounted in built.scanners.values():
            mounted.scan()
        world.step(every)
    return seconds / (perf_counter() - started)


def most_vehicles(method: str, resolution: tuple[int, int], seconds: float, most: int) -> tuple[int, float]:
    """The largest number that runs in real time, found by doubling and halving, and how fast one alone is."""

    def keeps_up(count: int) -> bool:
        scenario = trucks(count, method, resolution)
        return any(real_time(scenario, seconds) >= 1.0 for _ in range(2))  # a busy moment is no verdict

    alone = real_time(trucks(1, method, resolution), seconds)
    if alone < 1.0:
        return 0, alone
    good, bad = 1, 2
    while bad <= most and keeps_up(bad):
        good, bad = bad, min(2 * bad, most + 1)
    while bad - good > max(1, good // 16):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if keeps_up(middle) else (good, middle)
    return good, alone


def vehicles(quick: bool) -> Table:
    table = Table(
        "Monster trucks with scanners in real time",
        ["resolution", "rays", "one alone", "printed", "depth buffer", "one alone", "printed"],
    )
    printed = {(160, 120): ("0", "10"), (80, 60): ("1", "-"), (32, 24): ("7", "-"), (26, 20): ("10", "-")}
    seconds, most = (0.4, 4) if quick else (2.0, MOST_VEHICLES)
    for resolution, theirs in printed.items():
        rays, depth = (most_vehicles(method, resolution, seconds, most) for method in ("rays", "depth"))
        table.add(
            *(f"{resolution[0]} x {resolution[1]}", str(rays[0]), f"{rays[1]:.1f} x", theirs[0]),
            *(str(depth[0]), f"{depth[1]:.1f} x", theirs[1]),
        )
    table.notes.append(
        "How many trucks in the city of 52 houses run at least as fast as real time, each with a scanner of that "
        "resolution at 5 scans per second, at steps of 1 ms with full dynamics, on all cores (section 6.4.3, which has "
        f"10 by the depth buffer of a graphics card). Up to {most} were tried. *One alone* is how much faster than "
        "real time a single one runs. Our depth buffer is filled by the processor where there is no graphics card."
    )
    return table


# --- the page -------------------------------------------------------------------------------------------------------

HEAD = """# The scenarios of Petersen's thesis

Written by `python benchmarks/petersen.py --write`; do not edit.

K. Petersen, *Effiziente Kollisionserkennung und echtzeitfähige Simulation der Kinematik, Dynamik und Sensorik autonomer
Fahrzeuge*, diploma thesis, TU Darmstadt, 2007, counts the tests of a collision detection with bounding spheres in three
scenarios: a city of 52 houses with a monster truck, a Volksbot and five balls; rooms of 186 blocks and four boards with
a monster truck, a Pioneer and eight balls; and robot bowling, a Volksbot against ten humanoids. They are here as
`clearance simulate city`, `indoor` and `bowling`. *Printed* figures are the thesis's; all others are ours, measured on
{machine}.
"""


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds, to see whether everything runs")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    agreement = Agreement()
    tables = [
        tests_per_step(0.05 if options.quick else 1.0, agreement),
        counted(agreement),
        vehicles(options.quick),
    ]
    shown = StringIO()
    with redirect_stdout(shown):
        for table in tables:
            table.notes = [fill(note, 120) for note in table.notes]
            table.show(markdown=True)
    page = HEAD.format(machine=machine()) + shown.getvalue().replace("\n### ", "\n## ")
    print(page)
    if options.write:
        PAGE.write_text(page, encoding="utf-8")
    agreement.exit()


if __name__ == "__main__":
    main()
