"""The experiments of J. Thorén's thesis on proximity queries in a robot cell, done again beside the printed figures.

J. Thorén, Accelerating Proximity Queries for Non-convex Geometries in a Robot Cell Context, M.Sc. thesis, Chalmers
University of Technology, 2018. Tables go to the terminal; --markdown FILE writes the page docs/thoren.md.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from math import inf, nan
from pathlib import Path
from textwrap import fill
from time import perf_counter

import cell
import mesh_peers
import numpy as np
from cell import Scenario
from front_memory import FrontMemory, step_length
from measure import Agreement, Table, machine
from mesh_peers import Floats, Soup

import clearance as cl

TOLERANCE = 1e-8  # metres, between any two answers


@dataclass(frozen=True)
class Variant:
    """A way to search: letters of the thesis as arguments of `Search`, and whether it is told the last witness."""

    order: str = "best"
    front: str | None = None
    raising: str = "single"
    reset: bool = True
    hinted: bool = False

    def search(self) -> cl.Search:
        return cl.Search(order=self.order, front=self.front, raising=self.raising, reset=self.reset)


WITHOUT_FRONT = {
    "P": Variant(),
    "D": Variant(order="depth"),
    "P, hinted": Variant(hinted=True),
    "D, hinted": Variant(order="depth", hinted=True),
}
WITH_FRONT = {
    "I+S+P": Variant(front="implicit"),
    "E+S+P": Variant(front="explicit"),
    "E+S+D": Variant("depth", "explicit"),
    "E+R+P": Variant("best", "explicit", "recursive"),
    "E+R+D": Variant("depth", "explicit", "recursive"),
}
WITHOUT_RESET = {
    f"{name}+N": Variant(variant.order, variant.front, variant.raising, reset=False)
    for name, variant in WITH_FRONT.items()
}
VARIANTS = WITHOUT_FRONT | WITH_FRONT | WITHOUT_RESET
IPS, DEFAULT = "coal as IPS", "default, boxes"

# Milliseconds of whole scenarios: figures 5.4, 5.23 and 5.28 as quoted in chapter 6, and tables 6.2 to 6.5.
PRINTED_MS = {
    "play-forward": {
        **{IPS: 637, "P": 830, "I+S+P": 704, "E+S+P": 638, "E+S+D": 612, "E+R+P": 633, "E+R+D": 602},
        **{"E+S+P+N": 822, "E+S+D+N": 857, "E+R+P+N": 784, "E+R+D+N": 798},
    },
    "motion-planning": {
        **{IPS: 953, "P": 511, "E+S+P": 617, "E+S+D": 2369, "E+R+P": 605, "E+R+D": 2517},
        **{"E+S+P+N": 1117, "E+S+D+N": 1746, "E+R+P+N": 1114, "E+R+D+N": 1778},
    },
    "no-coherence": {
        **{"P": 906, "E+S+P": 1106, "E+S+D": 3338, "E+R+P": 1083, "E+R+D": 3340},
        **{"E+S+P+N": 2647, "E+S+D+N": 6056, "E+R+P+N": 2723, "E+R+D+N": 5714},
    },
    "arm-against-arm": {IPS: 396, "E+R+D": 572},
}
PRINTED_RSS_TESTS = {"irb71": 4304365, "irb72": 3461201, "irb73": 3519009, "irb74": 3298305}
PRINTED_SUM, PRINTED_FOREST = 14582880, 6760936
PRINTED_BEST = {
    "play-forward": ("IPS", "E+R+D"),
    "motion-planning": ("P", "P"),
    "no-coherence": ("P", "P"),
    "arm-against-arm": ("IPS", "-"),
}
PRINTED_SCALING = {44_000: (376, 663), 2_200_000: (511, 953), 40_000_000: (1363, 3726)}
PRINTED_GAIN = {"play-forward": "13.3 %", "motion-planning": "14.7 %", "no-coherence": "15.1 %"}


def spaced(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


# Runs -----------------------------------------------------------------------------------------------------------------


@dataclass
class Total:
    """What all queries of a scenario took together; seconds are of the best run."""

    seconds: float = inf
    volume_tests: int = 0
    triangle_tests: int = 0
    queue_operations: int = 0
    front_sizes: list[int] = field(default_factory=list)
    leaf_front_sizes: list[int] = field(default_factory=list)
    front_bytes: list[int] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)

    def add(self, found: cl.Gap) -> None:
        work = found.work
        self.volume_tests += work.volume_tests
        self.triangle_tests += work.triangle_tests
        self.queue_operations += work.queue_operations
        self.front_sizes.append(work.front_size)
        self.front_bytes.append(work.front_bytes)
        self.distances.append(found.distance)

    @property
    def ms(self) -> float:
        return 1e3 * self.seconds


Totals = dict[str, Total]


def steps_of(scenario: Scenario) -> list[dict[str, Floats]]:
    return [dict(zip(scenario.poses, rows, strict=True)) for rows in zip(*scenario.poses.values(), strict=True)]


def one_run(scene: cl.Scene, scenario: Scenario, variant: Variant | None) -> Total:
    """Go through the scenario once; the clock runs in queries only. Without a variant, the scene does as it likes."""
    search = None if variant is None else variant.search()
    total, seconds, last = Total(), 0.0, None
    for step in steps_of(scenario):
        scene.move(step)
        start = perf_counter()
        found = scene.nearest(scenario.group_a, scenario.group_b, search=search, hint=last)
        seconds += perf_counter() - start
        last = found if variant is not None and variant.hinted else None
        total.add(found)
        total.leaf_front_sizes.append(0 if search is None else search.leaf_front_size)
    total.seconds = seconds
    return total


def one_run_of_coal(peer: mesh_peers.Coal, frames: list) -> Total:
    peer.forget()
    start = perf_counter()
    found = [peer.nearest(frame)[0] for frame in frames]
    return Total(perf_counter() - start, distances=found)


def in_turns(runs: dict[str, Callable[[], Total]], repeats: int, where: str, agreement: Agreement) -> Totals:
    """Keep the fastest of all runs of each; everybody must find the same distances."""
    best: Totals = {}
    for _ in range(repeats):
        for name, run in runs.items():
            best[name] = min(best.get(name, Total()), run(), key=lambda total: total.seconds)
    truth = next(iter(best.values())).distances
    for name, total in best.items():
        agreement.check(f"{where}, {name}", np.array(total.distances), np.array(truth), TOLERANCE)
    return best


def one_run_with_fronts(scene: cl.Scene, scenario: Scenario, count: int) -> Total:
    """Go through the scenario with several fronts. Finding the right one is not timed, which flatters them."""
    steps = steps_of(scenario)
    memory = FrontMemory(count, near=3.0 * step_length(steps))
    total, seconds = Total(), 0.0
    for step in steps:
        scene.move(step)
        search = memory.search_for(step)
        start = perf_counter()
        found = scene.nearest(scenario.group_a, scenario.group_b, search=search)
        seconds += perf_counter() - start
        total.add(found)
    total.seconds = seconds
    return total


class Bodies:
    """Everything in the cell as rectangle swept spheres, as boxes, and as coal has it."""

    def __init__(self, links: dict[str, Soup], statics: Soup) -> None:
        soups = links | {"statics": statics}
        distinct = {id(soup): soup for soup in soups.values()}

        def built(build: Callable[[Soup], object]) -> dict[str, object]:
            once = {key: build(soup) for key, soup in distinct.items()}
            return {name: once[id(soup)] for name, soup in soups.items()}

        self.spheres = scene_of(built(lambda soup: cl.Mesh(*soup, volume="rss")))
        self.boxes = scene_of(built(lambda soup: cl.Mesh(*soup)))
        self.coal = built(mesh_peers.Coal.model)

    def runs(self, scenario: Scenario, variants: dict[str, Variant]) -> dict[str, Callable[[], Total]]:
        peer = mesh_peers.Coal(*({name: self.coal[name] for name in g} for g in (scenario.group_a, scenario.group_b)))
        frames = peer.placed(scenario.poses)
        runs: dict[str, Callable[[], Total]] = {IPS: lambda: one_run_of_coal(peer, frames)}
        runs[DEFAULT] = lambda: one_run(self.boxes, scenario, None)
        for name, variant in variants.items():
            runs[name] = lambda variant=variant: one_run(self.spheres, scenario, variant)
        return runs


def scene_of(meshes: dict[str, cl.Mesh]) -> cl.Scene:
    scene = cl.Scene()
    for name, mesh in meshes.items():
        scene.add(name, mesh)
    return scene


# Tables ---------------------------------------------------------------------------------------------------------------


def scenario_table(scenarios: Sequence[Scenario], results: dict[str, Totals]) -> Table:
    table = Table(
        "Scenarios (sections 5.2 and 5.3)",
        ["scenario", "bodies", "queries", "least distance, m", "median", "largest", "in contact"],
    )
    for scenario in scenarios:
        found = np.array(results[scenario.name][IPS].distances)
        bodies = f"{len(scenario.group_a)} x {len(scenario.group_b)}"
        cells = (f"{value:.4f}" for value in (found.min(), np.median(found), found.max()))
        table.add(scenario.name, bodies, str(len(found)), *cells, percent(np.mean(found == 0.0)))
    return table


def forest_table(bodies: Bodies, forest: Scenario, together: Total) -> Table:
    """Each arm on its own against all in one forest: variant P, which needs no bound to begin with."""
    table = Table(
        "Table 5.1: one forest against a tree per arm", ["", "RSS tests", "share", "printed", "printed share"]
    )
    alone = {}
    for arm in cell.ARMS:
        links = [name for name in forest.group_a if name.startswith(arm)]
        poses = {name: forest.poses[name] for name in links}
        alone[arm] = one_run(bodies.spheres, Scenario(arm, links, forest.group_b, poses), Variant()).volume_tests
    rows = {f"{arm} against statics": (tests, PRINTED_RSS_TESTS[arm]) for arm, tests in alone.items()}
    rows["sum"] = sum(alone.values()), PRINTED_SUM
    rows["all arms against statics"] = together.volume_tests, PRINTED_FOREST
    for name, (tests, printed) in rows.items():
        shares = percent(tests / rows["sum"][0]), percent(printed / PRINTED_SUM)
        table.add(name, spaced(tests), shares[0], spaced(printed), shares[1])
    return table


def variant_table(name: str, totals: Totals) -> Table:
    table = Table(
        f"Variants in {name} (figures 5.4 to 5.25)",
        [
            *("variant", "ms", "us per query", "time / P", "printed ms", "printed / P", "RSS tests", "triangle tests"),
            *("queue operations", "front, mean", "front, largest", "largest front, kB", "leaf front, mean"),
        ],
    )
    printed = PRINTED_MS[name]
    for variant, total in totals.items():
        printed_ms = float(printed.get(variant, nan))
        counted = ["-"] * 3 if variant == IPS else [spaced(n) for n in counts(total)]
        front = ["-"] * 4
        if VARIANTS.get(variant, Variant()).front is not None:
            sizes, largest = total.front_sizes, max(total.front_bytes)
            front = [spaced(np.mean(sizes)), spaced(max(sizes)), spaced(1e-3 * largest)]
            front.append(spaced(np.mean(total.leaf_front_sizes)))
        known = printed_ms, printed_ms / printed.get("P", nan)
        per_query = 1e6 * total.seconds / len(total.distances)
        table.add(variant, total.ms, per_query, total.ms / totals["P"].ms, *known, *counted, *front)
    return table


def counts(total: Total) -> tuple[int, int, int]:
    return total.volume_tests, total.triangle_tests, total.queue_operations


def recommendation_table(results: dict[str, Totals]) -> Table:
    table = Table(
        "Table 6.1: which method",
        ["scenario", "least time", "printed", "least RSS tests", "printed tests", "default against coal"],
    )
    for name, totals in results.items():
        ours = {variant: totals[variant] for variant in VARIANTS}
        fastest = min([*ours, IPS], key=lambda variant: totals[variant].seconds)
        fewest = min(ours, key=lambda variant: ours[variant].volume_tests)
        lead = f"{totals[IPS].seconds / totals[DEFAULT].seconds:.1f} times as fast"
        table.add(name, fastest, PRINTED_BEST[name][0], fewest, PRINTED_BEST[name][1], lead)
    return table


def scaling_table(sizes: Sequence[int], steps: int, repeats: int, agreement: Agreement) -> Table:
    table = Table(
        "Table 6.2: motion planning against more and more triangles, ms",
        [
            *("static triangles", "P", "P, hinted", "D, hinted", DEFAULT, IPS, "P saves", "default saves"),
            *("RSS tests, P", "RSS tests, D hinted", "printed P", "printed IPS", "printed saving"),
        ],
    )
    made = cell.cell(cell.ARM_TRIANGLES + min(sizes))
    scenario = cell.motion_planning(made, steps)
    links = {name: made.links[name] for name in scenario.group_a}
    for size in sizes:
        statics = cell.statics(size)
        variants = {name: WITHOUT_FRONT[name] for name in ("P", "P, hinted", "D, hinted")}
        runs = Bodies(links, statics).runs(scenario, variants)
        totals = in_turns(runs, repeats, f"{size} static triangles", agreement)
        times = [totals[name].ms for name in (*variants, DEFAULT, IPS)]
        savings = (percent(1 - totals[name].ms / totals[IPS].ms) for name in ("P", DEFAULT))
        tests = (spaced(totals[name].volume_tests) for name in ("P", "D, hinted"))
        p, ips = PRINTED_SCALING.get(size, (nan, nan))
        saving = "-" if p != p else percent(1 - p / ips)
        table.add(spaced(len(statics[1])), *times, *savings, *tests, float(p), float(ips), saving)
    table.notes.append(
        "Saves: the share of the time of coal that is not needed. D, hinted is what IPS does, in our trees."
    )
    return table


def raising_table(title: str, suffix: str, results: dict[str, Totals]) -> Table:
    names = ["play-forward", "motion-planning", "no-coherence"]
    table = Table(title, ["raising", *(f"{name}, {order}" for name in names for order in ("PDS", "DF"))])
    rows: dict[str, list[tuple[float, float]]] = {}
    for letter in "SR":
        keys = [(name, f"E+{letter}+{order}{suffix}") for name in names for order in "PD"]
        rows[letter] = [(results[name][variant].ms, PRINTED_MS[name][variant]) for name, variant in keys]
    rows["difference"] = [(s - r, p - q) for (s, p), (r, q) in zip(rows["S"], rows["R"], strict=True)]
    for letter, cells in rows.items():
        table.add(letter, *(f"{ours:.0f} ({printed:.0f})" for ours, printed in cells))
    table.notes.append("Milliseconds of a scenario, the printed ones in brackets. S raises one level, R recursively.")
    return table


def reset_table(results: dict[str, Totals]) -> Table:
    """What resetting saves: tables 6.4 and 6.3 beside each other, in tests and time."""
    table = Table(
        "Resetting a front (section 5.11), without it / with it",
        ["variant", *(f"{name}, {what}" for name in results for what in ("time", "RSS tests"))],
    )
    for variant in WITH_FRONT:
        ratios = []
        for totals in results.values():
            without, with_it = totals[f"{variant}+N"], totals[variant]
            ratios += [without.ms / with_it.ms, without.volume_tests / max(with_it.volume_tests, 1)]
        table.add(variant, *ratios)
    return table


def memory_table(results: dict[str, Totals]) -> Table:
    table = Table(
        "Memory of fronts (section 5.8), kB at most",
        ["scenario", *WITH_FRONT, "E+S+P / I+S+P", "printed"],
    )
    for name, totals in results.items():
        largest = {variant: max(totals[variant].front_bytes) for variant in WITH_FRONT}
        ratio = largest["E+S+P"] / max(largest["I+S+P"], 1)
        table.add(name, *(1e-3 * value for value in largest.values()), ratio, "4 to 25, all below 10 MB")
    return table


def front_memory_table(
    bodies: Bodies, scenarios: Sequence[Scenario], results: dict[str, Totals], agreement: Agreement
) -> Table:
    counts_of_fronts = (1, 4, 16, 64)
    table = Table(
        "Up to 1, 4, 16, 64 fronts (section 7.1.1), against P",
        ["scenario", *(f"{k}, {what}" for k in counts_of_fronts for what in ("time", "RSS tests"))],
    )
    for scenario in scenarios:
        truth = results[scenario.name]["P"]
        cells: list[float] = []
        for count in counts_of_fronts:
            found = one_run_with_fronts(bodies.spheres, scenario, count)
            agreement.check(
                f"{scenario.name}, {count} fronts", np.array(found.distances), np.array(truth.distances), TOLERANCE
            )
            cells += [found.seconds / truth.seconds, found.volume_tests / truth.volume_tests]
        table.add(scenario.name, *cells)
    table.notes += [
        "E+S+P with up to k fronts: a query takes the one whose last configuration is nearest, and finding it is not "
        "timed. P has no front at all; whatever is above 1.00 does not pay.",
        "Transformations relative to parents (section 6.10) were not built: our volumes stand in the frame of their "
        "mesh, and one of them is moved for all children of the other at once, so there is no second product to save.",
    ]
    return table


def queue_table(results: dict[str, Totals]) -> Table:
    table = Table(
        "Table 6.5: what the queue is spared, variant P",
        ["scenario", "RSS tests", "queue operations", "share of a plain queue", "printed gain of time"],
    )
    for name, totals in results.items():
        tests, _, operations = counts(totals["P"])
        share = percent(operations / max(2 * tests, 1))
        table.add(name, spaced(tests), spaced(operations), share, PRINTED_GAIN.get(name, "-"))
    table.notes.append(
        "A plain queue takes in and gives out up to every pair that was tested: two operations per test (section 6.3). "
        "The thesis compares its duplex queue with std::priority_queue by time; we have one queue only, and count."
    )
    return table


# The page -------------------------------------------------------------------------------------------------------------

HEAD = """# The experiments of Thorén's thesis

Written by `python benchmarks/thoren.py --markdown docs/thoren.md`; do not edit.

J. Thorén, *Accelerating Proximity Queries for Non-convex Geometries in a Robot Cell Context*, M.Sc. thesis, Chalmers
University of Technology, 2018, searches forests of rectangle swept spheres (RSS) with fronts, depth first or nearest
first. We do its experiments again on a generated cell (`benchmarks/cell.py`) of {triangles} triangles: *printed*
figures are the thesis's, for another cell, another number of queries and another machine, so compare ratios.
All others are ours, of meshes with `volume="rss"`, on {machine}.

Variants: P nearest first, D depth first, without a front; I and E an implicit or explicit front, S and R raised by one
level or recursively, +N without resets. *Hinted* ones are told the last witness. *{ips}* is coal, called as IPS
calls PQP and a little better; *{default}* is `Scene.nearest` as it comes: 8-wide trees of boxes, nearest first,
remembering the last witness.
"""


def tables(triangles: int, sizes: Sequence[int], steps: int, repeats: int, agreement: Agreement) -> list[Table]:
    made = cell.cell(triangles)
    bodies = Bodies(made.links, made.statics)
    makers = (cell.play_forward, cell.motion_planning, cell.no_coherence, cell.arm_against_arm)
    scenarios = [make(made, steps) for make in makers]
    results = {
        scenario.name: in_turns(bodies.runs(scenario, VARIANTS), repeats, scenario.name, agreement)
        for scenario in scenarios
    }
    found = [scenario_table(scenarios, results), forest_table(bodies, scenarios[0], results["play-forward"]["P"])]
    several_fronts = front_memory_table(bodies, scenarios, results, agreement)
    del bodies
    return [
        *found,
        *(variant_table(name, totals) for name, totals in results.items()),
        memory_table(results),
        reset_table(results),
        recommendation_table(results),
        scaling_table(sizes, steps, repeats, agreement),
        raising_table("Table 6.3: raising without resets", "+N", results),
        raising_table("Table 6.4: raising with resets", "", results),
        queue_table(results),
        several_fronts,
    ]


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--triangles", type=int, default=400_000, help="of the cell, at least 344000")
    parser.add_argument("--largest", type=int, default=2_200_000, help="static triangles of table 6.2")
    parser.add_argument("--steps", type=int, default=1000, help="queries of a scenario")
    parser.add_argument("--quick", action="store_true", help="less than a minute, to see whether everything runs")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the page")
    options = parser.parse_args()
    triangles, steps, repeats = (344_000, 20, 1) if options.quick else (options.triangles, options.steps, 3)
    sizes = [44_000] if options.quick else sorted({44_000, min(2_200_000, options.largest), options.largest})
    agreement = Agreement()
    shown = StringIO()
    with redirect_stdout(shown):
        for table in tables(triangles, sizes, steps, repeats, agreement):
            table.notes = [fill(note, 120) for note in table.notes]
            table.show(markdown=True)
    head = HEAD.format(triangles=spaced(triangles), machine=machine().partition(";")[0], ips=IPS, default=DEFAULT)
    page = head + shown.getvalue().replace("\n### ", "\n## ")
    print(page)
    if options.markdown is not None:
        options.markdown.write_text(page)
    agreement.exit()


if __name__ == "__main__":
    main()
