"""Thousands of grains in the browser: a mesh for every shape, many times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..picture_parts import CLEAR, GROUND, counted
from ..simulation.grain_page import KINDS, box_of_grains, colours_of_heights, colours_of_kinds, looks_of_kinds
from ..simulation.grain_recordings import GrainRecording
from ..simulation.scenario import View
from .bodies import Bodies, Body
from .marks import as_light

__all__: list[str] = []

Floats = NDArray[np.float64]


class Grains:
    """Grains on a server, one frame at a time.

    Parameters
    ----------
    server : viser.ViserServer
    recording : GrainRecording
    """

    view = View()

    def __init__(self, server: Any, recording: GrainRecording) -> None:
        if not recording.present.any():
            raise ValueError("the recording has no frames with bodies, so there is nothing to show.")
        self._server = server
        self._groups: list[tuple[Any, NDArray[np.int64]]] = []  # meshes, and who looks like them
        self.around = box_of_grains(recording)
        self._recording = recording
        self._start(recording)
        walls = {name: Body(wall.shape, wall.pose, GROUND) for name, wall in recording.walls.items()}
        Bodies(server, "walls", 0.5 * CLEAR).show(walls, np.stack(np.meshgrid(*self.around.T), axis=-1).reshape(-1, 3))

    def change(self, recording: GrainRecording) -> None:
        """Show others, or the same ones after they have moved; walls stay."""
        before: GrainRecording = self._recording
        if np.array_equal(recording.ids, before.ids) and recording.shapes == before.shapes:
            self._recording = recording
        else:
            self._start(recording)

    def _start(self, recording: GrainRecording) -> None:
        for node, _ in self._groups:
            node.remove()
        self._recording, looks = recording, looks_of_kinds(recording)
        self.summary = counted(len(recording.ids), "grain")
        self._scales = looks.scales[recording.kinds]
        is_few = 1 < len(np.unique(recording.kinds)) <= len(KINDS)
        colours = colours_of_kinds(recording.kinds) if is_few else colours_of_heights(recording)
        mesh_of, self._groups = looks.numbers[recording.kinds], []
        for number, mesh in enumerate(looks.meshes):
            members = np.flatnonzero(mesh_of == number)
            if len(members):
                turns, places, scales = self._places(0, members)
                node = self._server.scene.add_batched_meshes_simple(
                    f"/grains/{number}",
                    np.asarray(mesh.vertices, dtype=np.float32),
                    np.asarray(mesh.faces, dtype=np.uint32),
                    turns,
                    places,
                    batched_scales=scales,
                    batched_colors=as_light(colours[members]),
                )
                self._groups.append((node, members))

    def show(self, frame: int) -> None:
        """Move all grains to where they were."""
        for node, members in self._groups:
            node.batched_wxyzs, node.batched_positions, node.batched_scales = self._places(frame, members)

    def _places(self, frame: int, members: NDArray[np.int64]) -> tuple[Any, Any, Any]:
        """Quaternions, positions and sizes; whoever is not there has none."""
        recording = self._recording
        there = recording.present[frame, members, None]
        turns = np.where(there, recording.turns[frame, members][:, [3, 0, 1, 2]], [1.0, 0.0, 0.0, 0.0])
        places = np.where(there, recording.positions[frame, members], 0.0)
        scales = np.where(there, self._scales[members], 0.0)
        return turns.astype(np.float32), places.astype(np.float32), scales.astype(np.float32)
