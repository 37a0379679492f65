"""`clearance scan`: what does a laser scanner see?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table

from ..rays import RayTarget
from ..scan_noise import Noise
from ..scanner import LaserScanner, Scan, bodies_of
from ..surfaces import extra
from . import scenery
from .files import PICTURES, check_ending, check_writable, whole_file, write_csv
from .outcomes import AsJson, command, counted, files_line, point, report, table, written

__all__: list[str] = []

Floats = NDArray[np.float64]

DEFAULT = "city"
SHOWN = 10  # rows of the table
COLUMNS = ["row", "beam", "elevation", "angle", "range", "body", "x", "y", "z"]


class View(NamedTuple):
    """What is scanned, from where."""

    target: RayTarget
    pose: Floats
    ignored: list[str]


@command
def scan(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET[@PLACE]",
            default_factory=list,
            help=f"Meshes ({scenery.MESHES}), or a scenario: a .toml file or one that comes along. Without any: "
            f"{DEFAULT}. PLACE is {scenery.PLACES}.",
            show_default=False,
        ),
    ],
    *,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Where the scanner is, x ahead and z up: that of the scenario unless given, else at the origin.",
        ),
    ] = None,
    beams: Annotated[int, typer.Option(metavar="N", help="In each row.")] = 541,
    fov_deg: Annotated[float, typer.Option(metavar="DEGREES", help="From the first beam to the last.")] = 270.0,
    rows: Annotated[int, typer.Option(metavar="N", help="At equal elevations, the lowest first.")] = 1,
    vertical_fov_deg: Annotated[float, typer.Option(metavar="DEGREES", help="From the first row to the last.")] = 0.0,
    range_min: Annotated[float, typer.Option(metavar="METRES", help="What is nearer is not measured.")] = 0.0,
    range_max: Annotated[float, typer.Option(metavar="METRES", help="What is farther is not seen.")] = 30.0,
    noise: Annotated[float, typer.Option(metavar="METRES", help="Standard deviation of the ranges.")] = 0.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the noise.")] = 0,
    hidden: Annotated[
        list[str],
        typer.Option(
            "--hidden",
            metavar="BODY",
            default_factory=list,
            show_default=False,
            help="A body to look through; may be repeated.",
        ),
    ],
    scale: scenery.Scale = 1.0,
    out: Annotated[Path | None, written("A CSV file for the ranges, one row per beam.")] = None,
    plot: Annotated[Path | None, written("A PNG file: what was seen, from above.")] = None,
    as_json: AsJson = False,
) -> None:
    """Scan a scene with a laser scanner, beam by beam.

    Ranges are those of ROS (REP 117): in CSV files `inf` is no return, `-inf` nearer than `--range-min`; in JSON both
    are null, and counted. Without any files it is a sample: a truck with a scanner in a city of 52 houses.

    Examples:

    * `clearance scan --plot city.png`

    * `clearance scan hall.stl --at 2,0,0.5,0,0,1.57 --beams 1081 --noise 0.01 --out ranges.csv`

    * `clearance scan indoor --rows 16 --vertical-fov-deg 30 --json`

    Exit codes: 0 done, 2 bad input, 3 could not be done, 130 interrupted.
    """
    check_ending("--plot", plot, *PICTURES)
    check_writable(out, plot)
    if plot is not None:
        extra("matplotlib")
    view = _view(targets or [DEFAULT], at, scale)
    scanner = LaserScanner(
        beams,
        float(np.radians(fov_deg)),
        rows=rows,
        vertical_fov=float(np.radians(vertical_fov_deg)),
        range_min=range_min,
        range_max=range_max,
        noise=Noise(std=noise, seed=seed) if noise else None,
        hidden=hidden,
    )
    found = scanner.scan(view.target, view.pose, ignore=view.ignored)
    names = view.target.names or []
    if out is not None:
        write_csv(out, COLUMNS, _rows(found, names))
    if plot is not None:
        with whole_file(plot) as unfinished:
            _plot(found, names, unfinished)
    report(_told(found, names, out, plot), _lines(found, names, out, plot), as_json)


def _view(words: Sequence[str], at: str | None, scale: float) -> View:
    """Read what is scanned; a scenario that is alone may bring a scanner that says where to look from."""
    pose = np.eye(4) if at is None else scenery.pose_of(at, "--at")
    if len(words) == 1 and scenery.is_scenario(words[0]):
        built = scenery.read_scenario(words[0]).build()
        if at is None and built.scanners:
            mounted = next(iter(built.scanners.values()))
            return View(bodies_of(built.world), mounted.pose, [mounted.vehicle.name])
        return View(bodies_of(built.world), pose, [])
    return View(bodies_of(scenery.scene_of(words, scale)), pose, [])


def _on_each(found: Scan, names: Sequence[str]) -> list[tuple[str, int, float]]:
    """Bodies that were seen: how many beams ended on each, and how near the nearest did."""
    seen = np.isfinite(found.ranges)
    each = []
    for k in np.unique(found.index[seen]).tolist():
        ranges = found.ranges[seen & (found.index == k)]
        each.append((names[k], len(ranges), float(ranges.min())))
    return sorted(each, key=lambda body: body[2])


def _told(found: Scan, names: Sequence[str], out: Path | None, plot: Path | None) -> dict[str, Any]:
    angles = ("angle_min", "angle_max", "angle_increment", "range_min", "range_max")
    return {
        "pose": found.pose,
        **{name: getattr(found, name) for name in angles},
        "elevations": found.elevations,
        "returns": int(np.count_nonzero(np.isfinite(found.ranges))),
        "no_return": int(np.count_nonzero(np.isposinf(found.ranges))),
        "too_near": int(np.count_nonzero(np.isneginf(found.ranges))),
        "bodies": {name: {"beams": beams, "nearest": nearest} for name, beams, nearest in _on_each(found, names)},
        "ranges": found.ranges,
        "out": out,
        "plot": plot,
    }


def _lines(found: Scan, names: Sequence[str], out: Path | None, plot: Path | None) -> Iterator[str | Table]:
    each = _on_each(found, names)
    seen = sum(beams for _, beams, _ in each)
    yield f"{counted(found.ranges.size, 'beam')} from {point(found.pose[:3, 3])}: {counted(seen, 'return')}."
    if each:
        yield f"Nearest: {each[0][0]}, {each[0][2]:.3f} m."
        yield ""
        rows = ((name, str(count), f"{near:.3f} m") for name, count, near in each[:SHOWN])
        yield table(["body", ">beams", ">nearest"], rows)
    if len(each) > SHOWN:
        yield f"The {SHOWN} nearest of {len(each)} bodies are shown."
    yield from files_line(out, plot)


def _rows(found: Scan, names: Sequence[str]) -> Iterator[list[Any]]:
    ranges, bodies = np.atleast_2d(found.ranges), np.atleast_2d(found.index)
    points, angles = found.points.reshape(*ranges.shape, 3), found.angles
    for row, elevation in enumerate(found.elevations.tolist()):
        for beam, angle in enumerate(angles.tolist()):
            body = int(bodies[row, beam])
            name = names[body] if body >= 0 else ""
            yield [row, beam, elevation, angle, float(ranges[row, beam]), name, *points[row, beam].tolist()]


def _plot(found: Scan, names: Sequence[str], path: Path) -> None:
    """Draw where the beams end, seen from above, in a colour for each body."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 6.4), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    seen = np.isfinite(found.ranges)
    points, bodies, here = found.points[seen], found.index[seen], found.pose[:2, 3]
    for end in points[:: max(1, len(points) // 200)]:
        axes.plot(*np.stack([here, end[:2]], axis=1), color="#9aa3ab", linewidth=0.3, zorder=1)
    for name, _, _ in _on_each(found, names):
        of_body = points[bodies == names.index(name)]
        axes.plot(*of_body[:, :2].T, ".", markersize=3.0, label=name)
    axes.plot(*here, "o", color="black", markersize=6.0)
    axes.set(xlabel="x in m", ylabel="y in m", aspect="equal")
    axes.set_title(f"{found.ranges.size} beams, {len(points)} returns", loc="left", fontsize=10)
    if 0 < len(np.unique(bodies)) <= 20:
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    figure.savefig(path, format="png")
