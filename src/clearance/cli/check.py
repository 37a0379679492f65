"""`clearance check`: does a robot keep its distance, at configurations or all along a path?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from .. import samples
from ..clearances import Clearances, clearances
from ..paths import PathReport, check_path
from ..robots import check_margin
from ..surfaces import extra
from . import scenery
from .files import PAGES, PICTURES, bar, check_ending, check_writable, whole_file, write_csv
from .outcomes import AsJson, command, counted, end, files_line, millimetres, report, say, table, verdict, written
from .scenery import RobotWords, Setting

__all__: list[str] = []

Floats = NDArray[np.float64]

TOLERANCE = 1e-3  # metres, of the least clearance of a path
CHUNK = 1000  # configurations between two looks at the keyboard
SHOWN = 10  # rows of the table
COLUMNS = [
    *("row", "clear", "distance", "lower", "upper", "body_a", "body_b"),
    *(f"{name}_{axis}" for name in ("point_a", "point_b", "normal") for axis in "xyz"),
]


class Places(NamedTuple):
    """Where results go."""

    out: Path | None
    plot: Path | None
    page: Path | None


class Answer(NamedTuple):
    """What was found, and how it is told."""

    is_clear: bool
    told: dict[str, Any]
    lines: Iterator[str | Text | Table]


@command
def check(
    robot: scenery.RobotFile = None,
    *,
    configurations: Annotated[
        Path | None,
        typer.Option("--configurations", "-q", metavar="FILE", help="CSV or .npy, one configuration per row."),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="CSV or .npy of waypoints; straight lines between them are proved as a whole."
        ),
    ] = None,
    cell: scenery.Cell,
    allow: scenery.Allow,
    margin: scenery.Margin = 0.0,
    tolerance: Annotated[
        float | None,
        typer.Option(metavar="METRES", help="How closely the least clearance of a path is wanted; 0.001 unless given."),
    ] = None,
    scale: scenery.CellScale = 1.0,
    srdf: scenery.Srdf = None,
    packages: scenery.Packages,
    collision: scenery.CollisionKind = scenery.Collision.mesh,
    out: Annotated[Path | None, written("A CSV file for the answers, one row per configuration.")] = None,
    plot: Annotated[Path | None, written("A PNG file: the clearance along the path.")] = None,
    page: Annotated[Path | None, written("An HTML file: where it comes nearest, to turn around.")] = None,
    threads: scenery.Threads = None,
    as_json: AsJson = False,
) -> None:
    """Check that a robot keeps its distance from itself and its cell, at configurations or all along a path.

    Without any files it is a sample: an arm takes a part from a shelf to a machine. A robot without configurations or a
    path is looked at where all joints are at zero.

    Columns of CSV files are named after the joints, in any order, or stand in the order of the joints without names;
    joints of several values have columns like `base.x`, `base.yaw`, `base.qw`.

    Examples:

    * `clearance check --margin 0.01`

    * `clearance check arm.urdf --srdf arm.srdf --cell table.stl@0.6,0,0 --path path.csv --plot path.png`

    * `clearance check arm.urdf -q postures.npy --cell machine.stl --scale 0.001 --allow foot,machine --out found.csv`

    Exit codes: 0 clear, 1 not clear, 2 bad input, 3 could not be done, 130 interrupted.
    """
    if configurations is not None and path is not None:
        raise ValueError("--configurations and --path exclude each other.")
    check_margin(margin)
    is_path, places = path is not None or (robot is None and configurations is None), Places(out, plot, page)
    _check_places(is_path, places)
    _check_tolerance(is_path, tolerance)
    setting = RobotWords(robot, srdf, packages, collision, cell, scale, allow).read(scenery.arm_setting())
    if plot is not None and not is_path:
        columns = ", ".join(scenery.value_names(setting.robot))
        raise ValueError(f"--plot belongs to --path: a CSV file with a row for each waypoint, of {columns}.")
    if is_path:
        waypoints = samples.arm_path() if path is None else scenery.read_configurations(path, setting.robot)
        answer = _of_path(setting, waypoints, margin, TOLERANCE if tolerance is None else tolerance, places)
    else:
        given = setting.robot.neutral[None]
        q = given if configurations is None else scenery.read_configurations(configurations, setting.robot)
        answer = _of_configurations(setting, q, margin, threads, places)
    report(answer.told, answer.lines, as_json)
    if setting.is_without_pairs:
        say(scenery.NOTHING_TO_CHECK)
    end(answer.is_clear)


def _check_places(is_path: bool, places: Places) -> None:
    """What cannot be written is better known before the work than after it."""
    if is_path and places.out is not None:
        raise ValueError("--out belongs to --configurations; --json tells all there is to a path.")
    check_ending("--plot", places.plot, *PICTURES)
    check_ending("--page", places.page, *PAGES)
    check_writable(*places)
    for place, library in ((places.plot, "matplotlib"), (places.page, "trimesh")):
        if place is not None:
            extra(library)


def _check_tolerance(is_path: bool, tolerance: float | None) -> None:
    if tolerance is None:
        return
    if not (np.isfinite(tolerance) and tolerance >= 0.0):
        raise ValueError(f"--tolerance must be finite and not negative, but it is {tolerance}.")
    if not is_path:
        raise ValueError("--tolerance belongs to --path: configurations are measured as closely as can be.")


def _about(setting: Setting, margin: float) -> dict[str, Any]:
    return {"robot": setting.robot.name, "bodies": setting.world.names, "margin": margin}


# A path ---------------------------------------------------------------------------------------------------------------


def _of_path(setting: Setting, waypoints: Floats, margin: float, tolerance: float, places: Places) -> Answer:
    if len(waypoints) < 2:
        raise ValueError("a path needs two waypoints or more, but there is one.")
    if places.plot is not None and setting.robot.nv != setting.robot.dof:
        raise ValueError(
            "--plot needs straight lines, but a robot with a floating or ball joint turns between waypoints."
        )
    found = check_path(setting.robot, setting.world, waypoints, margin, tolerance=tolerance)
    if places.plot is not None:
        from ..path_plots import plot_path

        with whole_file(places.plot) as unfinished:
            plot_path(setting.robot, setting.world, waypoints, unfinished, margin=margin, report=found)
    _write_page(setting, found.q_worst, waypoints[[0, -1]], places.page)
    columns = ("clear", "lower", "upper", "pair", "t_worst", "q_worst", "first_violation", "configurations")
    told = {
        **_about(setting, margin),
        "waypoints": len(waypoints),
        **{name: getattr(found, name) for name in columns},
        "plot": places.plot,
        "page": places.page,
    }
    return Answer(found.clear, told, _path_lines(setting, found, len(waypoints), margin, places))


def _path_lines(
    setting: Setting, found: PathReport, waypoints: int, margin: float, places: Places
) -> Iterator[str | Text | Table]:
    yield f"{setting.title}, {counted(waypoints, 'waypoint')}."
    keeps = f"keep a margin of {1e3 * margin:g} mm" if margin else "stay clear of everything"
    if found.clear:
        told = f"the whole path is proved to {keeps}, by {counted(found.configurations, 'configuration')}."
        yield verdict(True, "CLEAR", told)
    elif found.first_violation is not None:
        begin, until = found.first_violation
        is_seen = found.upper <= margin
        told = f"the path {'does not' if is_seen else 'could not be proved to'} {keeps} at waypoint {until:.3f}"
        yield verdict(False, "NOT CLEAR", f"{told}; what comes before waypoint {begin:.3f} is proved.")
    if found.pair[0]:
        bracket = f"{1e3 * found.lower:z.3f} to {1e3 * found.upper:z.3f} mm"
        yield f"Least clearance: {bracket}, {' and '.join(found.pair)}, at waypoint {found.t_worst:.3f}."
    yield from files_line(*places)


# Configurations -------------------------------------------------------------------------------------------------------


def _of_configurations(setting: Setting, q: Floats, margin: float, threads: int | None, places: Places) -> Answer:
    with bar("checking") as progress:
        found = clearances(setting.robot, setting.world, q, threads=threads, progress=progress, chunk=CHUNK)
    is_clear = found.lower > margin
    worst = int(np.argmin(found.distance))
    if places.out is not None:
        write_csv(places.out, COLUMNS, _rows(found, is_clear))
    _write_page(setting, q[worst], q[:0], places.page)
    nearest, columns = found[worst], ("distance", "lower", "upper", "pair", "point_a", "point_b", "normal")
    told = {
        **_about(setting, margin),
        "configurations": len(q),
        "clear": bool(is_clear.all()),
        "clear_count": int(is_clear.sum()),
        "first_not_clear": None if is_clear.all() else int(np.argmin(is_clear)),
        "nearest": {"row": worst, **{name: getattr(nearest, name) for name in columns}},
        "out": places.out,
        "page": places.page,
    }
    return Answer(bool(is_clear.all()), told, _configuration_lines(setting, found, is_clear, margin, places))


def _configuration_lines(
    setting: Setting, found: Clearances, is_clear: NDArray[np.bool_], margin: float, places: Places
) -> Iterator[str | Text | Table]:
    count, kept = len(is_clear), int(is_clear.sum())
    yield f"{setting.title}, {counted(count, 'configuration')}."
    what = f"something is nearer than {1e3 * margin:g} mm" if margin else "something touches"
    if kept == count:
        yield verdict(True, "CLEAR", f"{what.replace('something', 'nothing')}.")
    else:
        yield verdict(False, "NOT CLEAR", f"{what} in {count - kept} of {count}.")
    nearest = [k for k in np.argsort(found.distance, kind="stable").tolist() if np.isfinite(found.distance[k])]
    if nearest:
        yield ""
        yield table([">row", "a", "b", ">distance", ">between"], (_table_row(found, k) for k in nearest[:SHOWN]))
    if len(nearest) > SHOWN:
        yield f"The {SHOWN} nearest of {count} are shown."
    yield from files_line(*places)


def _table_row(found: Clearances, k: int) -> tuple[str, ...]:
    bracket = f"{1e3 * found.lower[k]:z.6f} and {1e3 * found.upper[k]:z.6f}"
    return str(k), *found[k].pair, millimetres(found.distance[k]), bracket


def _rows(found: Clearances, is_clear: NDArray[np.bool_]) -> Iterator[list[Any]]:
    columns = [getattr(found, name).tolist() for name in ("distance", "lower", "upper")]
    vectors = np.concatenate([found.point_a, found.point_b, found.normal], axis=1).tolist()
    pairs = found.pair
    for k, (distance, lower, upper) in enumerate(zip(*columns, strict=True)):
        yield [k, bool(is_clear[k]), distance, lower, upper, *pairs[k], *vectors[k]]


def _write_page(setting: Setting, q: Floats, others: Floats, page: Path | None) -> None:
    """Show where it comes nearest, with the other postures as ghosts."""
    if page is None:
        return
    from ..pages import page as write_page

    ghosts = [setting.robot.scene(other) for other in others]
    with whole_file(page) as unfinished:
        write_page(setting.robot.scene(q, setting.world), unfinished, closest=3, ghosts=ghosts)
