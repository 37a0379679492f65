"""`clearance fit`: few points swept by a ball around a mesh, or around every mesh of a robot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from .. import samples
from ..fit import farthest, swept_volume
from ..fit_links import LinkFits
from ..meshio import load_mesh
from ..robots import Robot
from ..shapes import ConvexHull, Mesh
from ..surfaces import leaves
from . import scenery
from .files import bar, check_writable, write_text
from .outcomes import (
    FAILED,
    AsJson,
    command,
    counted,
    fail,
    files_line,
    millimetres,
    plain,
    report,
    table,
    verdict,
    written,
)

__all__: list[str] = []

Floats = NDArray[np.float64]

SAMPLE = "gun"


class Part(NamedTuple):
    """A mesh of a body, and where it stands in the frame of that."""

    body: str
    mesh: Mesh
    pose: Floats


class Fitted(NamedTuple):
    """Swept hulls around a part, in the frame of its body, and how it lies in them."""

    part: Part
    hulls: list[ConvexHull]
    outside: float  # what is proved: no vertex is farther out than this
    volume: float  # of the hulls
    least_volume: float  # of the convex hull of the mesh, which none of them can be smaller than unless it is split


@command
def fit(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help=f"A mesh ({scenery.MESHES}), or a URDF or xacro file; a sample unless given."
        ),
    ] = None,
    *,
    points: Annotated[str, typer.Option(metavar="N", help="How many points a hull may have, or auto.")] = "8",
    split: Annotated[
        float | None,
        typer.Option(metavar="CONCAVITY", help="Cut concave meshes apart: how deep a hollow may be, 0.01 to 1."),
    ] = None,
    packages: scenery.Packages,
    scale: scenery.Scale = 1.0,
    out: Annotated[Path | None, written("A JSON file for the hulls.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fit swept hulls: the convex hull of a few points, swept by a ball, around every mesh; nothing is left outside.

    The JSON has a list of `bodies`, each with a `link`, the `points` and the `radius` of a hull, in metres and in the
    frame of the link: `ConvexHull(points, radius)` makes one again. URDF has no such shape; boxes, cylinders, spheres
    and capsules of a URDF stay what they are and are not listed. Without a file it is a sample: a welding gun.

    Examples:

    * `clearance fit gripper.stl --scale 0.001 --points auto --out gripper.json`

    * `clearance fit robot.urdf --package . --split 0.05`

    Exit codes: 0 done, 2 bad input, 3 could not be done, 130 interrupted.
    """
    check_writable(out)
    title, parts = _parts(file, packages, scale)
    if not parts:
        raise ValueError(f"{file} has no meshes that hulls could be fitted to.")
    with bar("fitting") as progress:
        fits = LinkFits(_count(points), False if split is None else split, progress=progress)
        hulls = fits.around(part.mesh for part in parts)
    fitted = [_fitted(part, hulls[part.mesh]) for part in parts]
    bodies = [
        {"link": one.part.body, "radius": hull.radius, "points": hull.points} for one in fitted for hull in one.hulls
    ]
    if out is not None:
        write_text(out, json.dumps(plain({"bodies": bodies}), indent=1, allow_nan=False) + "\n")
    outside = max(one.outside for one in fitted)
    told = {
        "title": title,
        "contained": outside <= 0.0,
        "outside": outside,
        "volume": sum(one.volume for one in fitted),
        "hull_volume": sum(one.least_volume for one in fitted),
        "bodies": bodies,
        "out": out,
    }
    report(told, _lines(title, fitted, out), as_json)
    if outside > 0.0:
        fail(f"a vertex may be outside by {outside:g} m.", FAILED)


def _count(points: str) -> Any:
    if points == "auto":
        return points
    try:
        return int(points)
    except ValueError:
        raise ValueError(f"--points must be a whole number or auto, but it is {points!r}.") from None


def _parts(file: Path | None, packages: Sequence[Path], scale: float) -> tuple[str, list[Part]]:
    scenery.check_scale(scale)
    if file is None:
        mesh = samples.robot_cell().shape(SAMPLE)
        assert isinstance(mesh, Mesh)
        return "a welding gun", [Part(SAMPLE, mesh, np.eye(4))]
    if file.suffix.lower() in (".urdf", ".xacro", ".xml"):
        if scale != 1.0:
            raise ValueError("--scale belongs to a mesh: a URDF file has scales of its own.")
        robot = Robot.from_urdf(file, package_dirs=packages)
        return robot.name, list(_meshes_of(robot))
    if packages:
        raise ValueError("--package belongs to a URDF file.")
    return file.name, [Part(file.stem, load_mesh(file, scale), np.eye(4))]


def _meshes_of(robot: Robot) -> Iterator[Part]:
    for link in robot.links:
        if link.shape is not None:
            for shape, pose in leaves(link.shape, np.eye(4)):
                if isinstance(shape, Mesh):
                    yield Part(link.name, shape, pose)


def _fitted(part: Part, hulls: Sequence[ConvexHull]) -> Fitted:
    vertices = part.mesh.vertices[np.unique(part.mesh.faces)]
    outside = np.min([_outside(vertices, hull) for hull in hulls], axis=0).max()
    rotation, origin = part.pose[:3, :3], part.pose[:3, 3]
    placed = [ConvexHull(hull.points @ rotation.T + origin, hull.radius) for hull in hulls]
    least = swept_volume(ConvexHull(vertices))
    return Fitted(part, placed, max(0.0, float(outside)), sum(map(swept_volume, hulls)), least)


def _outside(vertices: Floats, hull: ConvexHull) -> Floats:
    """Bound how far vertices are outside of a hull: what they are away from its core, less what the ball sweeps."""
    is_corner = (vertices[:, None] == hull.points).all(axis=2).any(axis=1)
    away: Floats = np.where(is_corner, 0.0, farthest(hull.points, vertices)) - hull.radius
    return away


def _lines(title: str, fitted: Sequence[Fitted], out: Path | None) -> Iterator[str | Text | Table]:
    outside = max(one.outside for one in fitted)
    vertices = sum(len(np.unique(one.part.mesh.faces)) for one in fitted)
    yield f"{title}: {counted(len(fitted), 'mesh')}, {counted(sum(len(one.hulls) for one in fitted), 'hull')}."
    if outside <= 0.0:
        yield verdict(True, "CONTAINED", f"all {vertices} vertices are proved to be inside.")
    else:
        yield verdict(False, "NOT CONTAINED", f"a vertex may be outside by {1e3 * outside:g} mm.")
    yield ""
    yield table(
        ["body", ">triangles", ">hulls", ">points", ">largest radius", ">volume", ">of the convex hull"],
        (
            (
                one.part.body,
                str(len(one.part.mesh)),
                str(len(one.hulls)),
                str(sum(len(hull.points) for hull in one.hulls)),
                millimetres(max(hull.radius for hull in one.hulls)),
                f"{1e3 * one.volume:.4g} l",
                f"{one.volume / one.least_volume:.1%}" if one.least_volume > 0.0 else "-",
            )
            for one in fitted
        ),
    )
    yield from files_line(out)
