"""The library on its own sample scenes: `python -m clearance.demo [folder]` leaves tables, pictures and pages."""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from . import pictures, samples
from .clearances import clearances
from .contacts import Contacts, contacts
from .path_plots import along, seconds
from .paths import PathReport, check_path
from .robots import Robot
from .scene import Nearest, PairTable, Scene
from .shapes import Box
from .simulation.grain_page import play_grains
from .simulation.grain_recordings import record
from .simulation.packings import dropped, report_of
from .simulation.particles import Particles
from .simulation.playback import playback
from .simulation.runs import simulate
from .simulation.scenario import Scenario
from .surfaces import is_surface, leaves

__all__ = ["main"]

Floats = NDArray[np.float64]

MARGIN = 0.01  # metres that the arm is asked to keep
DRIVE = 4.0  # seconds
GRAINS, FALL = 150, 8.0  # how many are dropped, and for how many seconds
INTO_THE_CELL = (0.83, 0.38, 0.6)  # where the arm is looked at from
INTO_THE_BOX = (0.7, -1.0, 0.6)  # where grains are looked at from
COLOURS_OF_GRAINS = ("#4c78a8", "#f2a541")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the sample scenes, print what is close, and draw them.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line unless given.

    Returns
    -------
    int
        0 if all went well, 1 if the pictures could not be made.
    """
    parser = argparse.ArgumentParser(prog="python -m clearance.demo", description=__doc__)
    parser.add_argument(
        "folder", nargs="?", default="demo", type=Path, help="where pictures and pages go (default: demo)"
    )
    folder: Path = parser.parse_args(arguments).folder

    scene = samples.humanoid()
    started = perf_counter()
    table = scene.distances()
    elapsed = perf_counter() - started
    print(f"A humanoid at a table: {len(scene.names)} bodies, {len(scene.pairs)} watched pairs.\n")
    print(closest_pairs(table, 10), end="\n\n")
    print(work_report(scene, table, elapsed), end="\n\n")
    crate = samples.crate_on_table()
    manifold = contacts(*(crate.shape(name).at(crate.pose(name)) for name in ("table", "crate")))
    print(contact_report(manifold), end="\n\n")
    cell = samples.robot_cell()
    links = list(samples.robot_cell_poses())
    print(nearest_report(cell, links, [name for name in cell.names if name not in links]), end="\n\n")
    arm, around, path = samples.arm(), samples.arm_cell(), samples.arm_path()
    report, text = path_report(arm, around, path)
    print(text, end="\n\n")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pictures.draw(scene, folder / "scene.png", table=table)
        pictures.page(scene, folder / "scene.html", table=table)
        pictures.draw(crate, folder / "contacts.png", closest=0, contacts={"crate on table": manifold})
        pictures.draw(cell, folder / "cell.png", closest=3)
        pictures.page(cell, folder / "cell.html", closest=3)
        pictures.plot_path(arm, around, path, folder / "path.png", margin=MARGIN, report=report)
        worst = arm.scene(report.q_worst, around)
        ghosts = [arm.scene(q) for q in along(path, 101)[1][[0, 46, 57]]]
        pictures.draw(worst, folder / "arm.png", closest=3, ghosts=ghosts, view_from=INTO_THE_CELL)
        pictures.page(worst, folder / "path.html", closest=3, ghosts=ghosts, view_from=INTO_THE_CELL)
        print(drive_report(folder), end="\n\n")
        print(grains_report(folder), end="\n\n")
    except ImportError as error:
        print(f"No pictures: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Cannot write to {folder}: {error.strerror}.", file=sys.stderr)
        return 1
    for what, names in (
        ("Pictures", ("scene.png", "contacts.png", "cell.png", "arm.png", "path.png", "grains.png")),
        ("Pages to turn around", ("scene.html", "cell.html", "path.html")),
        ("Pages to play", ("city.html", "grains.html")),
    ):
        print(f"{what}: {', '.join(str(folder / name) for name in names)}")
    return 0


def drive_report(folder: Path) -> str:
    """Let vehicles with a laser scanner drive through a city, leave a page that plays it, and tell how fast that went.

    Parameters
    ----------
    folder : path_like

    Returns
    -------
    str
    """
    started = perf_counter()
    drive = simulate(Scenario.load("city"), folder / "city", duration=DRIVE, overwrite=True)
    elapsed = perf_counter() - started
    assert drive is not None  # nobody stops it
    playback(drive, folder / "city.html")
    return (
        f"A monster truck with a laser scanner, a Volksbot and five balls in a city: {len(drive.names)} bodies,\n"
        f"{DRIVE:g} s of motion in steps of 1 ms, with full dynamics, in {elapsed:.1f} s."
    )


def grains_report(folder: Path) -> str:
    """Drop spheres and cubes into a box, draw how they lie, leave a page that plays it, and tell how densely they do.

    Parameters
    ----------
    folder : path_like

    Returns
    -------
    str
    """
    grains = dropped("spheres and cubes", GRAINS, seed=1)
    started = perf_counter()
    recording = record(grains, FALL)
    elapsed = perf_counter() - started
    play_grains(recording, folder / "grains.html", title="Spheres and cubes in a box")
    scene, colours = scene_of_grains(grains)
    pictures.draw(scene, folder / "grains.png", closest=0, colours=colours, view_from=INTO_THE_BOX)
    found = report_of(grains, "spheres and cubes", is_at_rest=True, wall_seconds=elapsed)
    return (
        f"{GRAINS // 2} spheres and {GRAINS // 2} cubes fall into a box: {FALL:g} s of motion in {elapsed:.1f} s.\n"
        f"They fill {found.bulk_fraction:.0%} of it, {found.pairs} pairs touch, and overlap by "
        f"{found.mean_depth / (2 * grains.shapes[0].ball[1]):.1e} of a grain on the mean."
    )


def scene_of_grains(grains: Particles) -> tuple[Scene, dict[str, str]]:
    """Make a scene of grains as they lie, on a plate as large as their floor, with a colour for each kind."""
    scene, colours = Scene(), {}
    for number, kind, pose in zip(grains.ids, grains.kinds, grains.poses, strict=True):
        name = f"grain {number}"
        scene.add(name, grains.shapes[kind], pose=pose)
        colours[name] = COLOURS_OF_GRAINS[kind]
    low, high = grains.positions[:, :2].min(axis=0), grains.positions[:, :2].max(axis=0)
    length = max(shape.ball[1] for shape in grains.shapes)
    scene.add("floor", Box([*(high - low + 2.0 * length), 0.1]), pose=[*((low + high) / 2), -0.05])
    return scene, colours


def closest_pairs(table: PairTable, count: int) -> str:
    """Lay out the closest pairs in millimetres, with their brackets.

    Parameters
    ----------
    table : PairTable
    count : int

    Returns
    -------
    str

    Examples
    --------
    >>> from clearance import Scene, Sphere
    >>> scene = Scene()
    >>> scene.add("ball", Sphere(0.5))
    >>> scene.add("bell", Sphere(0.25), pose=[1.0, 0.0, 0.0])
    >>> scene.watch("ball", "bell")
    >>> print(closest_pairs(scene.distances(), 1).splitlines()[1][:26])
    ball  bell         250.000
    """
    rows = np.argsort(table.distance, kind="stable")[:count]
    width_a, width_b = (max([1, *(len(names[row]) for row in rows)]) for names in (table.name_a, table.name_b))
    heads = ("distance in mm", "lower in mm", "upper in mm")
    lines = [f"{'a':<{width_a}}  {'b':<{width_b}}  {heads[0]:>14}  {heads[1]:>17}  {heads[2]:>17}"]
    for row in rows:
        distance, lower, upper = (1e3 * column[row] for column in (table.distance, table.lower, table.upper))
        lines.append(
            f"{table.name_a[row]:<{width_a}}  {table.name_b[row]:<{width_b}}  "
            f"{distance:14.3f}  {lower:17.12f}  {upper:17.12f}"
        )
    return "\n".join(lines)


def work_report(scene: Scene, table: PairTable, elapsed: float) -> str:
    """Tell what a first evaluation took, and what later ones are spared."""
    size = {name: sum(1 for _ in leaves(scene.shape(name), np.eye(4))) for name in scene.names}
    possible = sum(size[a] * size[b] for a, b in scene.pairs)
    measured = table.work.element_tests
    other = samples.humanoid()
    near = other.distances(at_most=0.1)
    other.distances()
    other.move("left_hand", samples.humanoid_poses({"left_hand": (0.0, -0.3, 0.0)})["left_hand"])
    again = other.distances()
    return "\n".join(
        [
            f"First evaluation, {1e3 * elapsed:.2f} ms: of {possible} pairs of parts {measured} were measured, "
            f"bounds spared {1.0 - measured / possible:.0%}.",
            f"Asked only for gaps below 100 mm: {near.work.element_tests} were measured, "
            f"bounds spared {1.0 - near.work.element_tests / possible:.0%}.",
            f"After one hand has turned: {again.work.pairs} of {len(again)} pairs of bodies were evaluated again.",
        ]
    )


def contact_report(found: Contacts) -> str:
    """List the points of a manifold."""
    lines = [f"A crate on the edge of a table touches it in {len(found)} points:"]
    for (x, y, z), depth in zip(found.points, found.depths, strict=True):
        lines.append(f"x {x:6.3f} m, y {y:6.3f} m, z {z:8.5f} m: {1e3 * depth:.3f} mm deep")
    return "\n".join(lines)


def nearest_report(scene: Scene, links: list[str], sheets: list[str]) -> str:
    """Tell how close meshes come, and how few of their triangles that took."""
    started = perf_counter()
    found = scene.nearest(links, sheets)
    elapsed = perf_counter() - started
    size = {name: _triangles(scene, name) for name in scene.names}
    possible = sum(size[link] for link in links) * sum(size[sheet] for sheet in sheets)
    return "\n".join(
        [
            f"A welding robot in a car body: {len(scene.names)} bodies, {sum(size.values())} triangles.",
            f"{_nearest_pair(found)}; {1e3 * elapsed:.2f} ms.",
            f"Of {possible / 1e6:.0f} million pairs of triangles {found.work.triangle_tests} were looked at.",
        ]
    )


def path_report(robot: Robot, world: Scene, path: Floats) -> tuple[PathReport, str]:
    """Check a path of an arm; tell what it comes near to, when, and how much of that is proved."""
    started = perf_counter()
    report = check_path(robot, world, path, MARGIN, tolerance=1e-4)
    elapsed = perf_counter() - started
    verdict = "keeps" if report.clear else "does not keep"
    at_waypoints = seconds(robot, path)
    lines = [
        f"An arm takes a part from a shelf to a machine: {robot.dof} joints, {len(world.names)} bodies around it, "
        f"{len(path)} waypoints, {at_waypoints[-1]:.2f} s.",
        f"The whole path {verdict} a margin of {1e3 * MARGIN:g} mm; that is proved by looking at "
        f"{report.configurations} configurations, {1e3 * elapsed:.1f} ms.",
        f"Its least clearance is between {1e3 * report.lower:.3f} and {1e3 * report.upper:.3f} mm.",
        "",
        f"{'a':<13}  {'b':<8}  {'least clearance in mm':>21}  {'at':>7}",
    ]
    for pair in _nearest_pairs(robot, world, path, 8):
        found = check_path(_only(robot, world, pair), world, path, tolerance=1e-5)
        when = np.interp(found.t_worst, np.arange(len(path)), at_waypoints)
        bracket = f"{1e3 * found.lower:.2f} to {1e3 * found.upper:.2f}"
        lines.append(f"{pair[0]:<13}  {pair[1]:<8}  {bracket:>21}  {when:5.2f} s")
    return report, "\n".join(lines)


def _nearest_pairs(robot: Robot, world: Scene, path: Floats, count: int) -> list[tuple[str, str]]:
    """List the pairs that are the nearest of all somewhere along a path, closest first."""
    found = clearances(robot, world, along(path, 1000)[1])
    order = dict.fromkeys(found.pair_index[np.argsort(found.distance)].tolist())
    return [found.pairs[k] for k in list(order)[:count]]


def _only(robot: Robot, world: Scene, pair: tuple[str, str]) -> Robot:
    """Make a robot that may touch everything but for one pair of bodies."""
    other = copy.deepcopy(robot)
    for a, b in [*robot.pairs, *((link, body) for link in robot.link_names for body in world.names)]:
        if (a, b) != pair:
            other.allow(a, b)
    return other


def _triangles(scene: Scene, name: str) -> int:
    parts = (part for part, _ in leaves(scene.shape(name), np.eye(4)))
    return sum(len(part.faces) for part in parts if is_surface(part))


def _nearest_pair(found: Nearest) -> str:
    return (
        f"Nearest are {found.body_a} and {found.body_b}: {1e3 * found.distance:.3f} mm, "
        f"between {1e3 * found.lower:.12f} and {1e3 * found.upper:.12f}"
    )


if __name__ == "__main__":
    sys.exit(main())
