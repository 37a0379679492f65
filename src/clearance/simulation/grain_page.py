"""Grains as one page that plays in the browser, offline. It needs the extra `clearance[view]`."""

from __future__ import annotations

import itertools
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..picture_parts import GROUND
from ..shapes import Box, Ellipsoid, HalfSpace, Placed, Shape, Sphere
from ..surfaces import Mesh, extra, is_surface, leaves
from .grain_recordings import GrainRecording
from .page_parts import body_mesh, camera, is_finite, packed, packed_mesh, without_jumps, write_page
from .scenario import View

__all__ = ["play_grains"]

Floats = NDArray[np.float64]

KINDS = ["#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#eeca3b", "#b279a2", "#9d755d"]
HEIGHTS = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"]  # from the lowest to the highest
FINEST = 1e-2  # positions are rounded to less than that, relative to the smallest body


def play_grains(recording: GrainRecording, path: str | PathLike[str], *, title: str | None = None) -> None:
    """Write one HTML page that plays grains: bodies that move, with a slider for the time, to turn around.

    The page holds all it needs: it opens from a file, without a network. Bodies are coloured by their kind, or by the
    height where they were first seen. A number after `#` in its address is the time that it opens at. Positions are
    rounded to less than a hundredth of the smallest body. Whoever is missing in a frame is not shown until the next
    one, and whoever has moved by more than half of all the room is not shown on the way: it left through one side of
    a periodic room and came back through the other.

    Parameters
    ----------
    recording : GrainRecording
    path : path_like
        Where the page goes.
    title : str, optional

    Examples
    --------
    >>> from clearance.simulation import Particles
    >>> from clearance.simulation.grain_recordings import record
    >>> grains = Particles()
    >>> grains.add_wall("floor", HalfSpace([0, 0, 1], 0.0))
    >>> ids = grains.add(Box([0.1, 0.1, 0.1]), [[0.0, 0.0, 0.5], [0.05, 0.0, 0.7]])
    >>> play_grains(record(grains, 1.0), "two boxes.html", title="Two boxes")
    """
    if not recording.present.any():
        raise ValueError("the recording has no frames with bodies, so there is nothing to play.")
    seconds = float(recording.times[-1] - recording.times[0])
    summary = f"{len(recording.ids)} bodies, {len(recording)} frames, {seconds:.2f} s."
    write_page(path, "grains.js", title or "Grains", summary, _data(recording))


def _data(recording: GrainRecording) -> dict[str, Any]:
    looks = looks_of_kinds(recording)
    # Bodies of one mesh stand side by side; those that look the same whichever way they turn come last.
    mesh_of = looks.numbers[recording.kinds]
    order = np.lexsort([mesh_of, looks.is_round[mesh_of]])
    kinds = recording.kinds[order]
    turning = int((~looks.is_round[mesh_of]).sum())
    around = box_of_grains(recording)
    return {
        "times": packed(recording.times, np.float64),
        "bodies": len(order),
        "turning": turning,
        "groups": [
            packed_mesh(looks.meshes[number]) | {"count": len(list(same))}
            for number, same in itertools.groupby(mesh_of[order].tolist())
        ],
        "scales": packed(looks.scales[kinds], np.float32),
        "turns": packed(_whole_turns(recording.turns[:, order[:turning]]), np.int16),
        "colours": {
            "kind": packed(colours_of_kinds(kinds), np.uint8),
            "height": packed(colours_of_heights(recording)[order], np.uint8),
        },
        "colour": "kind" if 1 < len(np.unique(kinds)) <= len(KINDS) else "height",
        "walls": [_wall(name, wall, around) for name, wall in recording.walls.items()],
        "view": camera(View(), around),
    } | _whole_positions(recording, order)


class _Looks(NamedTuple):
    """What bodies of every kind look like: a mesh that several may share, stretched along its axes."""

    meshes: list[Mesh]
    is_round: NDArray[np.bool_]  # of meshes: they look the same whichever way they turn
    numbers: NDArray[np.int64]  # of the meshes of kinds
    scales: Floats  # of kinds, (k, 3)


def looks_of_kinds(recording: GrainRecording) -> _Looks:
    many = len(recording.ids)
    ball = extra("trimesh").creation.icosphere(subdivisions=3 if many < 1000 else 2 if many < 10_000 else 1)
    known: dict[Any, int] = {}
    meshes: list[Mesh] = []
    numbers, scales = [], []
    for shape in recording.shapes:
        unit, scale = _unit_of(shape)
        numbers.append(known.setdefault(unit, len(known)))
        scales.append(scale)
        if len(known) > len(meshes):
            is_smooth = isinstance(shape, Sphere | Ellipsoid)
            meshes.append(ball if is_smooth else body_mesh(Box([1.0, 1.0, 1.0]) if unit is Box else shape))
    return _Looks(meshes, np.array([unit is Sphere for unit in known]), np.array(numbers), np.array(scales))


def _unit_of(shape: Shape) -> tuple[Any, Floats]:
    """Name what a shape is a stretched one of, and how it is stretched."""
    if isinstance(shape, Sphere):
        return Sphere, np.full(3, shape.radius)
    if isinstance(shape, Ellipsoid):
        return Ellipsoid, np.asarray(shape.radii)
    if isinstance(shape, Box):
        return Box, np.asarray(shape.size)
    return shape, np.ones(3)


def box_of_grains(recording: GrainRecording) -> Floats:
    """Two corners of a box around all bodies, but for those that got lost."""
    places = recording.positions[recording.present].astype(np.float64)
    few = np.percentile(places, 5.0, axis=0, method="higher")
    most = np.percentile(places, 95.0, axis=0, method="lower")
    wide = 3.0 * np.abs(most - few).max()
    reach = max(float(np.linalg.norm(shape.ball[0]) + shape.ball[1]) for shape in recording.shapes)
    low = np.maximum(places.min(axis=0), few - wide) - reach
    return np.array([low, np.minimum(places.max(axis=0), most + wide) + reach])


def _whole_positions(recording: GrainRecording, order: NDArray[np.int64]) -> dict[str, Any]:
    """Positions in cells of a grid around all of them, as numbers of 16 bits where the cells are fine enough.

    The largest number means that a body is not there.
    """
    places = recording.positions[:, order].astype(np.float64)
    low, high = np.nanmin(places, axis=(0, 1)), np.nanmax(places, axis=(0, 1))
    smallest = min(shape.ball[1] for shape in recording.shapes)
    bits = 16 if (high - low).max() / (2**16 - 2) <= FINEST * smallest else 32
    absent = 2**bits - 1
    cell = np.maximum((high - low) / (absent - 1), np.finfo(np.float64).tiny)
    whole = np.where(np.isnan(places), absent, np.round((places - low) / cell))
    kind = np.uint16 if bits == 16 else np.uint32
    return {"bits": bits, "low": low.tolist(), "cell": cell.tolist(), "positions": packed(whole, kind)}


def _whole_turns(turns: NDArray[np.float32]) -> NDArray[np.int16]:
    whole = np.round(32767.0 * np.nan_to_num(without_jumps(turns.astype(np.float64))))
    return np.clip(whole, -32767.0, 32767.0).astype(np.int16)


def _rgb(colours: list[str]) -> Floats:
    return np.array([[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in colours], dtype=np.float64)


def colours_of_kinds(kinds: NDArray[np.int64]) -> Floats:
    return _rgb(KINDS)[kinds % len(KINDS)]


def colours_of_heights(recording: GrainRecording) -> Floats:
    first = recording.present.argmax(axis=0)
    height = recording.positions[first, np.arange(len(first)), 2].astype(np.float64)
    ranks = np.argsort(np.argsort(height, kind="stable"), kind="stable") / max(len(height) - 1, 1)
    where = np.linspace(0.0, 1.0, len(HEIGHTS))
    return np.stack([np.interp(ranks, where, channel) for channel in _rgb(HEIGHTS).T], axis=1)


def _wall(name: str, wall: Placed, around: Floats) -> dict[str, Any]:
    corners = np.stack(np.meshgrid(*around.T), axis=-1).reshape(-1, 3)
    near = () if is_finite(wall.shape) else (np.linalg.inv(wall.pose), corners)
    mesh = body_mesh(wall.shape, *near)
    if isinstance(wall.shape, HalfSpace):  # seen from the side of the grains only: it hides nobody
        mesh.update_faces(mesh.face_normals @ wall.shape.normal > 0.5)
    mesh.apply_transform(wall.pose)
    has_edges = not any(is_surface(leaf) for leaf, _ in leaves(wall.shape, wall.pose))
    return packed_mesh(mesh) | {"name": name, "colour": GROUND, "edges": has_edges}
