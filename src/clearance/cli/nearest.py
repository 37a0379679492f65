"""`clearance nearest`: how near do two meshes, or two groups of them, come to each other?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.text import Text

from .. import samples
from ..robots import check_margin
from ..scene import Nearest, Scene
from ..surfaces import extra
from . import scenery
from .files import PAGES, check_ending, check_writable, whole_file
from .outcomes import AsJson, command, counted, end, files_line, millimetres, point, report, verdict, written

__all__: list[str] = []

Floats = NDArray[np.float64]


@command
def nearest(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE[@PLACE]",
            default_factory=list,
            help=f"Two meshes ({scenery.MESHES}), or the first of two groups. PLACE is {scenery.PLACES}.",
            show_default=False,
        ),
    ],
    *,
    to: Annotated[
        list[str],
        typer.Option(
            "--to",
            metavar="FILE[@PLACE]",
            default_factory=list,
            show_default=False,
            help="A mesh of the other group; may be repeated.",
        ),
    ],
    margin: scenery.Margin = 0.0,
    scale: scenery.Scale = 1.0,
    page: Annotated[Path | None, written("An HTML file: both groups and the gap, to turn around.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how near two meshes, or two groups of them, come to each other: with a bracket and witness points.

    Meshes are surfaces: those that meet have the distance zero, and one inside of another does not touch it. Without
    any files it is a sample: a welding robot of six links reaches into a car body.

    Examples:

    * `clearance nearest gripper.stl@0.1,0,0.3 part.obj --scale 0.001`

    * `clearance nearest link1.stl link2.stl --to shell.stl --to floor.stl --margin 0.01`

    Exit codes: 0 apart, 1 in contact or nearer than the margin, 2 bad input, 3 could not be done, 130 interrupted.
    """
    check_margin(margin)
    check_ending("--page", page, *PAGES)
    check_writable(page)
    if page is not None:
        extra("trimesh")
    scenery.check_scale(scale)
    scene, group_a, group_b = _groups(files, to, scale)
    found = scene.nearest(group_a, group_b)
    if page is not None:
        _write_page(scene, found, page)
    triangles = {name: _triangles(scene, name) for name in scene.names}
    possible = sum(triangles[a] for a in group_a) * sum(triangles[b] for b in group_b)
    told = {
        "group_a": group_a,
        "group_b": group_b,
        "pair": [found.body_a, found.body_b],
        **{name: getattr(found, name) for name in ("distance", "lower", "upper", "point_a", "point_b", "normal")},
        "triangles": [found.feature_a, found.feature_b],
        "margin": margin,
        "clear": found.lower > margin,
        "triangle_tests": found.work.triangle_tests,
        "triangle_pairs": possible,
        "page": page,
    }
    report(told, _lines(scene, found, margin, possible, page), as_json)
    end(found.lower > margin)


def _groups(files: Sequence[str], to: Sequence[str], scale: float) -> tuple[Scene, list[str], list[str]]:
    if not files and not to:
        scene, links = samples.robot_cell(), list(samples.robot_cell_poses())
        return scene, links, [name for name in scene.names if name not in links]
    first, second = (files, to) if to else (files[:1], files[1:])
    if not first or (not to and len(second) != 1):
        raise ValueError(f"two meshes were expected, or groups parted by --to, but there are {[*files, *to]}.")
    scene = Scene()
    return scene, _added(scene, first, scale), _added(scene, second, scale)


def _added(scene: Scene, words: Sequence[str], scale: float) -> list[str]:
    return [name for word in words for name in scenery.add_to(scene, word, scale)]


def _triangles(scene: Scene, name: str) -> int:
    return len(getattr(scene.shape(name), "faces", ()))


def _lines(scene: Scene, found: Nearest, margin: float, possible: int, page: Path | None) -> Iterator[str | Text]:
    triangles = sum(_triangles(scene, name) for name in scene.names)
    yield f"{counted(len(scene.names), 'body')}, {counted(triangles, 'triangle')}."
    pair = f"{found.body_a} and {found.body_b}"
    if found.lower > margin:
        yield verdict(True, "APART", f"{pair} by {millimetres(found.distance)}.")
    elif margin and found.distance > 0.0:
        yield verdict(False, "TOO NEAR", f"{pair} by {millimetres(found.distance)}, less than {millimetres(margin)}.")
    else:
        yield verdict(False, "CONTACT", f"{pair} meet.")
    yield f"Proved: between {1e3 * found.lower:z.12f} and {1e3 * found.upper:z.12f} mm."
    yield _witness(scene, found.body_a, found.point_a, found.feature_a)
    yield _witness(scene, found.body_b, found.point_b, found.feature_b)
    if possible:
        yield f"Of {possible} pairs of triangles {found.work.triangle_tests} were looked at."
    yield from files_line(page)


def _witness(scene: Scene, name: str, where: Floats, triangle: int) -> str:
    """Tell where a body is nearest; only meshes have triangles."""
    return f"On {name}: {point(where)}" + (f" (triangle {triangle})" if _triangles(scene, name) else "")


def _write_page(scene: Scene, found: Nearest, page: Path) -> None:
    from ..pages import page as write_page

    for pair in scene.pairs:
        scene.ignore(*pair)
    scene.watch(found.body_a, found.body_b)
    with whole_file(page) as unfinished:
        write_page(scene, unfinished, closest=1)
