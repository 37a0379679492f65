"""A recording as one page that plays in the browser, offline. It needs the extra `clearance[view]`."""

from __future__ import annotations

import itertools
import pickle
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..poses import to_xyzw
from ..shapes import HalfSpace, Shape
from .page_parts import body_mesh, box_around, camera, is_finite, packed, packed_mesh, without_jumps, write_page
from .recordings import Recording, ScanTrack
from .scenario import Scenario, View

__all__ = ["playback"]

Floats = NDArray[np.float64]

PLAIN = "#8fa9c4"  # of a body without a colour
LASER = "#d6001c"
MOST_ROWS = 9  # of a scanner, in the page
MOST_LINES = 1000  # on the ground


def playback(recording: Recording, path: str | PathLike[str], *, title: str | None = None, scans: bool = True) -> None:
    """Write one HTML page that plays a recording: bodies that move, with a slider for the time, to turn around.

    The page holds all it needs: it opens from a file, without a network. A number after `#` in its address is the time
    that it opens at.

    Parameters
    ----------
    recording : Recording
    path : path_like
        Where the page goes.
    title : str, optional
        That of the scenario unless given.
    scans : bool
        Show laser beams, too.

    Examples
    --------
    >>> from clearance.simulation.scenario import Scenario
    >>> from clearance.simulation.runs import simulate
    >>> recording = simulate(Scenario.load("bowling"), "bowling", duration=2.0)  # doctest: +SKIP
    >>> playback(recording, "bowling.html")  # doctest: +SKIP
    """
    if not len(recording):
        raise ValueError("the recording has no frames, so there is nothing to play.")
    scenario = Scenario.from_text(recording.scenario) if recording.scenario else Scenario(title="a recording")
    seconds = float(recording.times[-1] - recording.times[0])
    summary = f"{len(recording.names)} bodies, {len(recording)} frames, {seconds:.2f} s."
    write_page(path, "bodies.js", title or scenario.title, summary, _data(recording, scenario.view, scans))


def _data(recording: Recording, view: View, scans: bool) -> dict[str, Any]:
    scene = recording.scene(0)
    names = [name for name in recording.names if name in set(scene.names)]
    poses = recording.poses[:, [recording.names.index(name) for name in names]].astype(np.float64)
    is_moving = (poses != poses[0]).any(axis=(0, 2, 3))
    shapes = [scene.shape(name) for name in names]
    meshes = _meshes(shapes, poses)
    bodies, tracks = [], itertools.count()
    for k, name in enumerate(names):
        colour = recording.colours.get(name) or recording.colours.get(name.partition("/")[0]) or PLAIN
        body = {"name": name, "mesh": meshes.numbers[k], "colour": colour, "clear": not is_finite(shapes[k])}
        bodies.append(body | ({"track": next(tracks)} if is_moving[k] else {"pose": _seven(poses[:1, k])[0].tolist()}))
    return {
        "times": packed(recording.times, np.float64),
        "moving": int(is_moving.sum()),
        "tracks": packed(_seven(poses[:, is_moving]), np.float32),
        "meshes": [packed_mesh(mesh) for mesh in meshes.different],
        "bodies": bodies,
        "grid": _grid(shapes, poses[0], meshes),
        "fans": [_fan(track) for track in recording.scans.values() if track.shown_beams] if scans else [],
        "view": camera(view, meshes.around),
    }


class _Meshes(NamedTuple):
    """Meshes of all bodies in their own frames; bodies of one shape share theirs."""

    different: list[Any]
    numbers: list[int]  # of the mesh of every body
    around: Floats  # corners of boxes around all places where finite bodies have been, (n, 3)


def _meshes(shapes: list[Shape], poses: Floats) -> _Meshes:
    different: list[Any] = []
    known: dict[bytes, int] = {}
    numbers = [-1] * len(shapes)
    around: list[Floats] = []
    for k, shape in enumerate(shapes):
        if is_finite(shape):
            numbers[k] = known.setdefault(pickle.dumps(shape), len(different))
            if numbers[k] == len(different):
                different.append(body_mesh(shape))
            around.append(box_around(different[numbers[k]].bounds, poses[:, k]))
    corners = np.concatenate(around) if around else np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]])
    for k, shape in enumerate(shapes):
        if not is_finite(shape):
            numbers[k] = len(different)
            different.append(body_mesh(shape, np.linalg.inv(poses[0, k]), corners))
    return _Meshes(different, numbers, corners)


def _seven(poses: Floats) -> Floats:
    """Positions and quaternions; of the two that mean the same, the one near that of the frame before."""
    return np.concatenate([poses[..., :3, 3], without_jumps(to_xyzw(poses))], axis=-1)


def _grid(shapes: list[Shape], poses: Floats, meshes: _Meshes) -> list[float] | None:
    """Lines on level ground, a metre apart: least and greatest x and y, and the height."""
    for shape, pose, number in zip(shapes, poses, meshes.numbers, strict=True):
        if isinstance(shape, HalfSpace) and np.allclose(pose[:3, :3] @ shape.normal, [0.0, 0.0, 1.0]):
            (x, y, _), (x_high, y_high, z) = box_around(meshes.different[number].bounds, pose[None])
            if max(x_high - x, y_high - y) <= MOST_LINES:
                return [float(value) for value in (x, x_high, y, y_high, z)]
    return None


def beam_points(track: ScanTrack) -> Floats:
    """Tell where the sensor was and what some of its beams hit, scan by scan; a beam without a return has no length."""
    rows, beams = track.ranges.shape[1:]
    row = np.unique(np.linspace(0, rows - 1, min(rows, MOST_ROWS)).round().astype(np.int64))
    beam = np.unique(np.linspace(0, beams - 1, min(beams, track.shown_beams)).round().astype(np.int64))
    chosen = np.ix_(np.arange(len(track.times)), row, beam)
    ranges = track.ranges[chosen].astype(np.float64)
    lengths = np.where(np.isfinite(ranges), ranges, 0.0).reshape(len(ranges), -1, 1)
    directions = track.directions[np.ix_(row, beam)].reshape(-1, 3)
    ends = (lengths * directions) @ np.swapaxes(track.poses[:, :3, :3], 1, 2) + track.poses[:, None, :3, 3]
    return np.concatenate([track.poses[:, None, :3, 3], ends], axis=1)


def _fan(track: ScanTrack) -> dict[str, Any]:
    points = beam_points(track)
    return {
        "beams": points.shape[1] - 1,
        "colour": LASER,
        "times": packed(track.times, np.float64),
        "points": packed(points, np.float32),
    }
