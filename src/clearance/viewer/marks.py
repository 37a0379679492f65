"""Marks between bodies in the browser: gaps, contacts, beams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..picture_parts import BEAM, LOUD, Manifold, Witness
from ..surfaces import arrow, extra
from .bodies import rgb

__all__: list[str] = []

Floats = NDArray[np.float64]

GAP_WIDTH, BEAM_WIDTH = 4.0, 1.0  # pixels
MOST_BEAMS = 200  # of a fan: more of them would hide what they hit, whose ends are all shown


class Marks:
    """Marks on a server, drawn anew whenever they change.

    Parameters
    ----------
    server : viser.ViserServer
    size : float
        Of everything that is shown, in metres.
    """

    def __init__(self, server: Any, size: float) -> None:
        self._scene = server.scene
        self._dot, self._arrow, self._apart = 0.005 * size, 0.07 * size, 0.06 * size
        self._nodes: dict[str, list[Any]] = {"gaps": [], "contacts": [], "lines": [], "ends": []}
        self._labels: list[Any] = []
        self._beams = (0, 0)  # how many lines and ends there are

    def show_gaps(self, witnesses: Sequence[Witness], labels: bool = True) -> None:
        """Show a line between the witness points of every pair, dots at its ends, and how long it is."""
        points = np.array([witness.points for witness in witnesses], dtype=np.float32).reshape(-1, 2, 3)
        colours = as_light([[rgb(witness.colour)] * 2 for witness in witnesses]).reshape(-1, 2, 3)
        if len(self._labels) != len(witnesses):
            self._start_gaps(points, colours)
        if not witnesses:
            return
        lines, dots = self._nodes["gaps"]
        lines.points, lines.colors = points, colours
        dots.batched_positions, dots.batched_colors = points.reshape(-1, 3), colours.reshape(-1, 3)
        labelled: list[Floats] = []
        for label, witness in zip(self._labels, witnesses, strict=True):
            middle = witness.points.mean(axis=0)
            # Labels that lie on top of each other tell nothing: the closer pair has its own.
            label.visible = labels and all(np.linalg.norm(middle - other) > self._apart for other in labelled)
            if label.visible:
                labelled.append(middle)
            label.text, label.position = millimetres(witness.distance), middle

    def _start_gaps(self, points: Any, colours: Any) -> None:
        for node in (*self._nodes["gaps"], *self._labels):
            node.remove()
        self._nodes["gaps"], self._labels = [], []
        if len(points):
            self._nodes["gaps"] = [
                self._scene.add_line_segments(
                    "/gaps/lines", points, colours, thickness=GAP_WIDTH, thickness_units="screen"
                ),
                self._dots("/gaps/ends", points.reshape(-1, 3), colours.reshape(-1, 3)),
            ]
            self._labels = [self._scene.add_label(f"/gaps/label {k}", "") for k in range(len(points))]

    def show_contacts(self, manifolds: Sequence[Manifold]) -> None:
        """Show an arrow along the normal at every point where bodies touch."""
        self._clear("contacts")
        for k, manifold in enumerate(manifolds):
            found = manifold.found
            parts = [
                part
                for point, normal in zip(found.points, found.normals, strict=True)
                for part in arrow(point, self._arrow * normal, 0.25 * self._dot)
            ]
            if parts:
                mesh = extra("trimesh").util.concatenate(parts)
                node = self._scene.add_mesh_simple(
                    f"/contacts/{k}", mesh.vertices, mesh.faces, color=rgb(manifold.colour)
                )
                self._nodes["contacts"].append(node)

    def show_beams(self, fans: Sequence[Floats], points: Sequence[Floats]) -> None:
        """Show beams as lines, and dots where they end."""
        segments = np.concatenate([np.empty((0, 2, 3)), *(some_beams(fan) for fan in fans)]).astype(np.float32)
        ends = np.concatenate([np.empty((0, 3)), *(fan[:, 1] for fan in fans), *points]).astype(np.float32)
        if self._beams != (len(segments), len(ends)):
            self._start_beams(segments, ends)
        for node in self._nodes["lines"]:
            node.points = segments
        for node in self._nodes["ends"]:
            node.batched_positions = ends

    def _start_beams(self, segments: Any, ends: Any) -> None:
        self._clear("lines")
        self._clear("ends")
        self._beams = (len(segments), len(ends))
        if len(segments):
            self._nodes["lines"] = [
                self._scene.add_line_segments(
                    "/beams/lines", segments, as_light(rgb(BEAM)), thickness=BEAM_WIDTH, thickness_units="screen"
                )
            ]
        if len(ends):
            self._nodes["ends"] = [self._dots("/beams/ends", ends, as_light(rgb(LOUD[0])), 0.5)]

    def _dots(self, name: str, points: Floats, colours: Any, share: float = 1.0) -> Any:
        turns = np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (len(points), 1))
        ball = extra("trimesh").creation.icosphere(subdivisions=2 if len(points) < 1000 else 0)
        return self._scene.add_batched_meshes_simple(
            name,
            np.asarray(share * self._dot * ball.vertices, dtype=np.float32),
            np.asarray(ball.faces, dtype=np.uint32),
            turns,
            np.asarray(points, dtype=np.float32),
            batched_colors=colours,
            lod="off",
        )

    def _clear(self, kind: str) -> None:
        for node in self._nodes[kind]:
            node.remove()
        self._nodes[kind] = []


def some_beams(fan: Floats) -> Floats:
    """Choose beams of a fan evenly, if there are many."""
    return fan[np.unique(np.linspace(0, len(fan) - 1, min(len(fan), MOST_BEAMS)).astype(np.int64))]


def as_light(colours: Any) -> NDArray[np.uint8]:
    """Turn colours into amounts of light: so viser takes those of lines and of many meshes at once, unlike others."""
    share = np.asarray(colours, dtype=np.float64) / 255.0
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.round(255.0 * light).astype(np.uint8)


def millimetres(metres: float) -> str:
    """Tell a length in words."""
    return f"{1e3 * metres:z.3f} mm"
