"""Meshes from 44 thousand to ten million triangles: cost of a query, of a build, and bytes per triangle, beside coal.

The query is that of J. Thorén's thesis, section 5.13: an arm of seven links plans against a car and its surroundings,
which become finer and finer. --plot draws docs/images/mesh_scaling.png.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan
from pathlib import Path
from time import perf_counter

import cell
import mesh_peers
import numpy as np
from bench_meshes import forgetful_queries, pass_of, queries, scene_of
from cell import Scenario, Soup
from measure import Agreement, Table, in_turns, machine

import clearance as cl

SIZES = [44_000, 100_000, 300_000, 1_000_000, 2_200_000, 5_000_000, 10_000_000]
PICTURE = Path(__file__).parent.parent / "docs" / "images" / "mesh_scaling.png"
RIVALS = ["clearance", "clearance, forgetful", "clearance, rss", "coal"]
TOLERANCE = 1e-8  # metres


@dataclass(frozen=True)
class Options:
    steps: int
    repeats: int
    largest_rss: int
    largest_coal: int


@dataclass
class Size:
    """What meshes of one size cost; rivals that are not asked are not numbers."""

    triangles: int
    query: dict[str, float]  # seconds
    build: dict[str, float]  # seconds
    bytes_per_triangle: dict[str, float]


def timed(build: Callable[[], object]) -> tuple[object, float]:
    start = perf_counter()
    built = build()
    return built, perf_counter() - start


class Built:
    """Links and statics of one size as everybody has them; rectangle swept spheres and coal only if asked for."""

    def __init__(self, links: dict[str, Soup], statics: Soup, with_rss: bool, with_coal: bool) -> None:
        makers: dict[str, Callable[[Soup], object]] = {"clearance": lambda soup: cl.Mesh(*soup)}
        if with_rss:
            makers["clearance, rss"] = lambda soup: cl.Mesh(*soup, volume="rss")
        if with_coal:
            makers["coal"] = mesh_peers.Coal.model
        self.build = dict.fromkeys(RIVALS, nan)
        self.meshes: dict[str, dict[str, object]] = {}
        for name, make in makers.items():
            built, self.build[name] = timed(partial(make, statics))
            self.meshes[name] = {link: make(soup) for link, soup in links.items()} | {"statics": built}

    def bytes_per_triangle(self, triangles: int) -> dict[str, float]:
        held = dict.fromkeys(RIVALS, nan)
        for name, meshes in self.meshes.items():
            statics = meshes["statics"]
            held[name] = (memory_of_coal(statics) if name == "coal" else statics.nbytes) / triangles
        return held


def memory_of_coal(model: object) -> int:
    """What coal says of itself, in 32 bits: whole turns are added until a triangle takes 400 bytes."""
    counted = model.memUsage(False)
    while counted < 400 * model.num_tris:
        counted += 2**32
    return counted


def compared(built: Built, scenario: Scenario, repeats: int, agreement: Agreement) -> dict[str, float]:
    """Seconds per query of all rivals in turns; their answers must agree."""
    groups = scenario.group_a, scenario.group_b
    steps = [dict(zip(scenario.poses, rows, strict=True)) for rows in zip(*scenario.poses.values(), strict=True)]
    scene = scene_of(built.meshes["clearance"])
    ours = {
        "clearance": partial(queries, scene, groups, steps),
        "clearance, forgetful": partial(forgetful_queries, scene, groups, steps),
    }
    if "clearance, rss" in built.meshes:
        ours["clearance, rss"] = partial(queries, scene_of(built.meshes["clearance, rss"]), groups, steps)
    found = {name: np.array([gap.distance for gap in run()]) for name, run in ours.items()}
    rivals: dict[str, Callable[[], object]] = dict(ours)
    if "coal" in built.meshes:
        models = built.meshes["coal"]
        peer = mesh_peers.Coal(*({name: models[name] for name in group} for group in groups))
        frames = peer.placed(scenario.poses)
        rivals["coal"] = partial(pass_of, peer, frames)
        found["coal"] = np.array([peer.nearest(frame)[0] for frame in frames])
    for name, distances in found.items():
        agreement.check(f"{name} and clearance", distances, found["clearance"], TOLERANCE)
    times = in_turns(rivals, len(steps), repeats)
    return dict.fromkeys(RIVALS, nan) | {name: time.least for name, time in times.items()}


def size_of(wanted: int, options: Options, agreement: Agreement) -> Size:
    made = cell.cell(cell.ARM_TRIANGLES + min(SIZES))
    scenario = cell.motion_planning(made, options.steps)
    links = {name: made.links[name] for name in scenario.group_a}
    statics = cell.statics(wanted)
    triangles = len(statics[1])
    built = Built(links, statics, wanted <= options.largest_rss, wanted <= options.largest_coal)
    query = compared(built, scenario, options.repeats, agreement)
    return Size(triangles, query, built.build, built.bytes_per_triangle(triangles))


def tables(sizes: Sequence[Size]) -> list[Table]:
    asked = [name for name in RIVALS if name != "clearance, forgetful"]
    query = Table("Motion planning, us per query", ["static triangles", *RIVALS, "coal / clearance"])
    build = Table("Build of the statics, s", ["static triangles", *asked, "coal / clearance"])
    held = Table("Bytes per triangle", ["static triangles", *asked])
    for size in sizes:
        times = (1e6 * size.query[name] for name in RIVALS)
        query.add(str(size.triangles), *times, size.query["coal"] / size.query["clearance"])
        seconds = (size.build[name] for name in asked)
        build.add(str(size.triangles), *seconds, size.build["coal"] / size.build["clearance"])
        held.add(str(size.triangles), *(size.bytes_per_triangle[name] for name in asked))
    query.notes.append(
        "Passes through all poses, the best of which counts. clearance remembers the last witness unless forgetful; "
        "coal remembers the last triangles of every pair, and passes its bound on. - was not asked for."
    )
    held.notes.append("Tree, triangles and vertices. Ours is `Mesh.nbytes`, coal's is its `memUsage`.")
    return [query, build, held]


def draw(sizes: Sequence[Size]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.3), layout="constrained")
    triangles = [size.triangles for size in sizes]
    columns = {
        ("An arm against all of it", "time per query [µs]"): lambda size, name: 1e6 * size.query[name],
        ("Build", "time [s]"): lambda size, name: size.build[name],
        ("Memory", "bytes per triangle"): lambda size, name: size.bytes_per_triangle[name],
    }
    for panel, ((title, label), column) in zip(axes, columns.items(), strict=True):
        for name, style in zip(RIVALS, ("C0o-", "C0o--", "C1s-", "C3x-"), strict=True):
            panel.plot(triangles, [column(size, name) for size in sizes], style, label=name)
        panel.set(xlabel="static triangles", ylabel=label, title=title, xscale="log")
        panel.grid(alpha=0.3)
    axes[0].set_yscale("log")
    axes[1].set_yscale("log")
    axes[2].set_ylim(bottom=0)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(RIVALS))
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=120)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=10_000_000, help="static triangles")
    parser.add_argument("--largest-rss", type=int, default=2_200_000, help="for our meshes of rectangle swept spheres")
    parser.add_argument(
        "--largest-coal", type=int, default=10_000_000, help="for coal, which takes half a kB per triangle"
    )
    parser.add_argument("--plot", action="store_true", help=f"draw docs/images/{PICTURE.name}")
    parser.add_argument("--quick", action="store_true", help="a few seconds, to see whether everything runs")
    parser.add_argument("--markdown", action="store_true", help="tables for docs/performance.md")
    arguments = parser.parse_args()
    steps, repeats, largest = (30, 1, 100_000) if arguments.quick else (500, 3, arguments.largest)
    options = Options(steps, repeats, arguments.largest_rss, arguments.largest_coal)
    agreement = Agreement()
    print(machine())
    sizes = [size_of(wanted, options, agreement) for wanted in SIZES if wanted <= largest]
    for table in tables(sizes):
        table.show(arguments.markdown)
    if arguments.plot:
        draw(sizes)
    print(f"\nafterwards: {machine()}")
    agreement.exit()


if __name__ == "__main__":
    main()
