"""What is seen, as one page that opens from a file without a network."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from ..pages import write_parts
from ..picture_parts import GHOST, VIEW_FROM, Parts, pieces_of
from ..simulation.grain_page import play_grains
from ..simulation.grain_recordings import GrainRecording
from ..simulation.playback import playback
from .film import Film
from .marks import some_beams
from .still import Still

__all__: list[str] = []


def save_film(film: Film, path: str | PathLike[str], title: str | None) -> None:
    """Write a page that plays a recording."""
    write = play_grains if isinstance(film.recording, GrainRecording) else playback
    write(film.recording, path, title=title)  # type: ignore[arg-type]


def save_still(still: Still, path: str | PathLike[str], title: str | None) -> None:
    """Write a page to turn around, with the tables that are shown now."""
    with still.standing():
        things, scene = still.things, still.scene
        table = scene.distances()
        pieces, plates = pieces_of(scene, colours=still.colours(table)) if scene.names else ([], [])
        ghosts = pieces_of(things.volumes, fine=False)[0] if things.volumes.names else []
        given = still.options.colours or {}
        shades = [[piece._replace(colour=given.get(piece.body, GHOST)) for piece in ghosts]] if ghosts else []
        parts = Parts(pieces, plates, shades, *still.marks(table))
    beams = np.concatenate([np.empty((0, 2, 3)), *(some_beams(fan) for fan in things.fans)])
    dots = np.concatenate([np.empty((0, 3)), *(fan[:, 1] for fan in things.fans), *things.points])
    view_from = VIEW_FROM if still.options.view_from is None else still.options.view_from
    write_parts(Path(path), parts, still.summary, view_from, beams=beams, dots=dots, title=title)
