"""`clearance view`: look at robots, meshes, scenarios and recordings in the browser."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import samples
from ..simulation.recordings import Recording
from . import scenery
from .files import PAGES, check_ending, check_writable, whole_file
from .outcomes import AsJson, command, files_line, report, written
from .scenery import RobotWords

__all__: list[str] = []

ROBOTS = (".urdf", ".xacro")
MOST_WATCHED = 20  # bodies whose distances are told


@command
def view(
    things: Annotated[
        list[str],
        typer.Argument(
            metavar="THING[@PLACE]",
            default_factory=list,
            help=f"A URDF or xacro file, meshes ({scenery.MESHES}), scenarios, or a recording (.npz, or its folder). "
            f"A sample unless given. PLACE is {scenery.PLACES}.",
            show_default=False,
        ),
    ],
    *,
    save: Annotated[Path | None, written("Write one HTML file that needs no server, and end.")] = None,
    port: Annotated[int, typer.Option(metavar="N", help="Where it is served.")] = 8080,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Who may look: 0.0.0.0 lets other machines.")
    ] = "127.0.0.1",
    cell: scenery.Cell,
    srdf: scenery.Srdf = None,
    packages: scenery.Packages,
    collision: scenery.CollisionKind = scenery.Collision.mesh,
    scale: scenery.ShownScale = 1.0,
    as_json: AsJson = False,
) -> None:
    """Look at a robot with its joints and distances, at meshes, a scenario or a recording, in the browser.

    It is served until Ctrl-C ends it. Without any files it is a sample: an arm in its cell.

    Examples:

    * `clearance view`

    * `clearance view robot.urdf --package . --cell table.stl@0.6,0,0`

    * `clearance view simulation --save drive.html`

    Exit codes: 0 done, 2 bad input, 3 could not be done.
    """
    from ..viewer import view as show

    check_ending("--save", save, *PAGES)
    check_writable(save)
    shown, about = _read(things, RobotWords(None, srdf, packages, collision, cell, scale, ()))
    with show(*shown, **about, port=port if save is None else 0, host=host) as viewer:
        if save is not None:
            with whole_file(save) as unfinished:
                viewer.save(unfinished)
            report({"page": save}, files_line(save), as_json)
        else:
            _serve(viewer.url, as_json)


def _serve(url: str, as_json: bool) -> None:
    """Tell where to look, and wait for Ctrl-C, which is how this ends well."""
    try:
        report({"url": url}, [f"Open {url} to look; Ctrl-C ends it."], as_json)
        threading.Event().wait()
    except KeyboardInterrupt:
        return


def _read(things: Sequence[str], words: RobotWords) -> tuple[list[Any], dict[str, Any]]:
    """Sort words into a robot with its surroundings, a recording, or bodies."""
    robots = [Path(thing) for thing in things if Path(thing).suffix.lower() in ROBOTS]
    if not things or robots:
        if len(things) > 1:
            raise ValueError(f"a robot is shown with what --cell puts around it, but there are {', '.join(things)}.")
        setting = replace(words, file=robots[0] if robots else None).read(scenery.arm_setting())
        return [setting.robot], {"world": setting.world, "q": None if robots else samples.arm_path()[0]}
    if words.cell or words.srdf or words.packages:
        raise ValueError("--cell, --srdf and --package belong to a robot, but there is none.")
    if len(things) == 1 and (Path(things[0]).is_dir() or Path(things[0]).suffix.lower() == ".npz"):
        return [Recording.load(things[0])], {}
    scene = scenery.scene_of(things, words.scale)
    if len(scene.names) <= MOST_WATCHED:
        scene.watch_all()
    return [scene], {}
