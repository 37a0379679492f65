"""A recording as one page that plays in the browser, offline. It needs the extra `clearance[view]`."""

from __future__ import annotations

import base64
import html
import itertools
import json
import pickle
import re
from importlib.resources import files
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..meshio import write_whole
from ..poses import to_xyzw
from ..shapes import HalfSpace, Shape
from ..surfaces import extra, is_surface, leaves, plate, surface, two_sided, with_sharp_edges
from .recordings import Recording, ScanTrack
from .scenario import Scenario, View

__all__ = ["playback"]

Floats = NDArray[np.float64]

PLAIN = "#8fa9c4"  # of a body without a colour
LASER = "#d6001c"
MOST_ROWS = 9  # of a scanner, in the page
MOST_LINES = 1000  # on the ground
FIELD_OF_VIEW = np.radians(40.0)
VIEW_FROM = (0.7, -0.5, 0.55)  # towards the viewer, unless the scenario says where that is


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
    page = (files("clearance") / "data" / "playback.html").read_text(encoding="utf-8")
    filled = {
        "$TITLE": html.escape(title or scenario.title),
        "$SUMMARY": html.escape(f"{len(recording.names)} bodies, {len(recording)} frames, {seconds:.2f} s."),
        "$LIBRARY": _library(),
        "$DATA": json.dumps(_data(recording, scenario.view, scans)).replace("<", "\\u003c"),
    }
    page = re.sub(r"\$(?:TITLE|SUMMARY|LIBRARY|DATA)", lambda place: filled[place[0]], page)
    write_whole(path, page.encode())


def _library() -> str:
    """three.js as trimesh brings it along, without the viewer that follows it."""
    trimesh = extra("trimesh")
    packed = trimesh.resources.get_bytes("templates/viewer.zip")
    template = trimesh.util.decompress(packed, file_type="zip")["viewer.html.template"].read().decode()
    _, found, rest = template.partition("<script>")
    library, viewer, _ = rest.partition("var camera,controls,scene,renderer,tracklight;")
    if not found or not viewer:
        raise ImportError(f"the viewer of trimesh {trimesh.__version__} is not the one that pages are made with.")
    return str(library)


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
        body = {"name": name, "mesh": meshes.numbers[k], "colour": colour, "clear": not _is_finite(shapes[k])}
        bodies.append(body | ({"track": next(tracks)} if is_moving[k] else {"pose": _seven(poses[:1, k])[0].tolist()}))
    return {
        "times": _packed(recording.times, np.float64),
        "moving": int(is_moving.sum()),
        "tracks": _packed(_seven(poses[:, is_moving]), np.float32),
        "meshes": [_packed_mesh(mesh) for mesh in meshes.different],
        "bodies": bodies,
        "grid": _grid(shapes, poses[0], meshes),
        "fans": [_fan(track) for track in recording.scans.values() if track.shown_beams] if scans else [],
        "view": _camera(view, meshes.around),
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
        if _is_finite(shape):
            numbers[k] = known.setdefault(pickle.dumps(shape), len(different))
            if numbers[k] == len(different):
                different.append(_mesh(shape))
            around.append(_box_around(different[numbers[k]].bounds, poses[:, k]))
    corners = np.concatenate(around) if around else np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]])
    for k, shape in enumerate(shapes):
        if not _is_finite(shape):
            numbers[k] = len(different)
            different.append(_mesh(shape, np.linalg.inv(poses[0, k]), corners))
    return _Meshes(different, numbers, corners)


def _mesh(shape: Shape, body_from_world: Floats | None = None, around: Floats | None = None) -> Any:
    """One body, with normals that tell round from sharp; of a half-space there is a plate near some points."""
    parts = []
    for leaf, place in leaves(shape, np.eye(4)):
        if isinstance(leaf, HalfSpace) and body_from_world is not None and around is not None:
            nearby = around @ body_from_world[:3, :3].T + body_from_world[:3, 3]
            parts.append(with_sharp_edges(plate(leaf, place, nearby), leaf))
        elif is_surface(leaf):
            parts.append(two_sided(surface(leaf)).apply_transform(place))
        else:
            parts.append(with_sharp_edges(surface(leaf, fine=False).apply_transform(place), leaf))
    return parts[0] if len(parts) == 1 else extra("trimesh").util.concatenate(parts)


def _is_finite(shape: Shape) -> bool:
    return bool(np.isfinite(shape.ball[1]))


def _box_around(bounds: Floats, poses: Floats) -> Floats:
    """Two corners of a box around all places where a body within some bounds has been."""
    corners = np.array(list(itertools.product(*bounds.T)))
    points = corners @ np.swapaxes(poses[:, :3, :3], 1, 2) + poses[:, None, :3, 3]
    return np.array([points.min(axis=(0, 1)), points.max(axis=(0, 1))])


def _seven(poses: Floats) -> Floats:
    """Positions and quaternions; of the two that mean the same, the one near that of the frame before."""
    quaternions = to_xyzw(poses)
    turned = (np.sum(quaternions[1:] * quaternions[:-1], axis=-1) < 0.0).cumsum(axis=0) % 2
    quaternions[1:] *= 1.0 - 2.0 * turned[..., None]
    return np.concatenate([poses[..., :3, 3], quaternions], axis=-1)


def _packed(values: Any, kind: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def _packed_mesh(mesh: Any) -> dict[str, str]:
    return {
        "vertices": _packed(mesh.vertices, np.float32),
        "normals": _packed(mesh.vertex_normals, np.float32),
        "faces": _packed(mesh.faces, np.uint32),
    }


def _grid(shapes: list[Shape], poses: Floats, meshes: _Meshes) -> list[float] | None:
    """Lines on level ground, a metre apart: least and greatest x and y, and the height."""
    for shape, pose, number in zip(shapes, poses, meshes.numbers, strict=True):
        if isinstance(shape, HalfSpace) and np.allclose(pose[:3, :3] @ shape.normal, [0.0, 0.0, 1.0]):
            (x, y, _), (x_high, y_high, z) = _box_around(meshes.different[number].bounds, pose[None])
            if max(x_high - x, y_high - y) <= MOST_LINES:
                return [float(value) for value in (x, x_high, y, y_high, z)]
    return None


def _fan(track: ScanTrack) -> dict[str, Any]:
    """Where the sensor was and what some of its beams hit, scan by scan; a beam without a return has no length."""
    rows, beams = track.ranges.shape[1:]
    row = np.unique(np.linspace(0, rows - 1, min(rows, MOST_ROWS)).round().astype(np.int64))
    beam = np.unique(np.linspace(0, beams - 1, min(beams, track.shown_beams)).round().astype(np.int64))
    chosen = np.ix_(np.arange(len(track.times)), row, beam)
    ranges = track.ranges[chosen].astype(np.float64)
    lengths = np.where(np.isfinite(ranges), ranges, 0.0).reshape(len(ranges), -1, 1)
    directions = track.directions[np.ix_(row, beam)].reshape(-1, 3)
    ends = (lengths * directions) @ np.swapaxes(track.poses[:, :3, :3], 1, 2) + track.poses[:, None, :3, 3]
    points = np.concatenate([track.poses[:, None, :3, 3], ends], axis=1)
    return {
        "beams": len(directions),
        "colour": LASER,
        "times": _packed(track.times, np.float64),
        "points": _packed(points, np.float32),
    }


def _camera(view: View, around: Floats) -> dict[str, Any]:
    """What the page turns about, and from where: an angle about z, one above the horizon, and a distance."""
    low, high = around.min(axis=0), around.max(axis=0)
    target, radius = 0.5 * (low + high), max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    distance = radius / float(np.sin(0.5 * FIELD_OF_VIEW)) * 0.9
    towards = np.array(VIEW_FROM) / np.linalg.norm(VIEW_FROM)
    if view.position is None:
        target = target - [0.0, 0.0, 0.15 * radius]  # what is near takes more room, and so does the slider
    else:
        yaw, pitch = np.radians([view.yaw_deg, view.pitch_deg])
        towards = -np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)])
        eye = np.array(view.position)
        # The page turns about the point of the line of sight that is nearest to the middle of everything.
        distance = max(float((eye - target) @ towards), 0.05 * radius)
        target = eye - distance * towards
    far = view.far or 20.0 * max(distance, radius)
    return {
        "target": target.tolist(),
        "distance": distance,
        "azimuth": float(np.arctan2(towards[1], towards[0])),
        "elevation": float(np.arcsin(towards[2])),
        "near": view.near or 1e-4 * far,
        "far": far,
        "light": list(view.light or (0.35 * radius, -0.6 * radius, 1.5 * radius)),
    }
