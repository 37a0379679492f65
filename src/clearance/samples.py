"""Scenes that need no files: something to measure, to look at and to time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .poses import Poses, from_axis_angle, from_rpy, from_translation
from .sample_arm import arm, arm_cell, arm_path
from .sample_upper_body import upper_body, upper_body_clap, upper_body_home
from .scene import Scene
from .shapes import (
    Box,
    Cone,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Mesh,
    Placed,
    Shape,
    SweptPoint,
    SweptSegment,
    SweptTriangle,
)

__all__ = [
    "arm",
    "arm_cell",
    "arm_path",
    "crate_on_table",
    "humanoid",
    "humanoid_poses",
    "robot_cell",
    "robot_cell_poses",
    "upper_body",
    "upper_body_clap",
    "upper_body_home",
]


class _Part(NamedTuple):
    """A body of the humanoid, hanging from its parent at a joint. Axes at rest: x ahead, y left, z up."""

    parent: str | None
    joint: tuple[float, float, float]  # in the parent's frame
    turn: tuple[float, float, float]  # roll, pitch, yaw about the joint in the natural posture
    shapes: list[Shape]


def humanoid(turns: Mapping[str, ArrayLike] | None = None) -> Scene:
    """Build a humanoid robot that reaches for a bottle on a table.

    The robot is 1.7 m tall when it stands upright and has 15 bodies made of swept points, segments and triangles. It
    stands on a half-space; the table is a box on four cylinders and bears the bottle, a cup (a cylinder), a cone and an
    egg (an ellipsoid). All pairs are watched but for those that touch: bodies that share a joint, and what stands on
    the ground or on the table.

    Parameters
    ----------
    turns : mapping of str to array_like, (3,)
        Roll, pitch and yaw in radians of bodies about their joints, instead of those of the natural posture.

    Returns
    -------
    Scene

    Examples
    --------
    >>> scene = humanoid()
    >>> scene
    Scene(21 bodies, 189 watched pairs)
    >>> bool((scene.distances().lower > 0.0).all())
    True
    """
    parts = _parts()
    scene = Scene()
    for name, pose in humanoid_poses(turns).items():
        scene.add(name, parts[name].shapes, pose)
    height = 0.84
    scene.add("ground", HalfSpace([0.0, 0.0, 1.0], 0.0))
    scene.add("table", _table(length=0.8, depth=0.5, height=height), pose=[0.58, -0.2, 0.0])
    scene.add("bottle", _bottle(), pose=[0.455, -0.145, height])
    scene.add("cup", Cylinder(0.04, 0.09), pose=[0.68, -0.44, height + 0.045])
    scene.add("cone", Cone(0.05, 0.14), pose=[0.47, 0.1, height + 0.07])
    scene.add("egg", Ellipsoid([0.042, 0.06, 0.042]), pose=[0.74, 0.03, height + 0.042])
    for name, part in parts.items():
        if part.parent is not None:
            scene.ignore(name, part.parent)
    for name in ("bottle", "cup", "cone", "egg"):
        scene.ignore(name, "table")
    for name in ("left_foot", "right_foot", "table"):
        scene.ignore(name, "ground")
    scene.watch_all()
    return scene


def crate_on_table() -> Scene:
    """Put a crate on a table top, a quarter of it beyond the edge: a contact with four points.

    Returns
    -------
    Scene
        Two boxes, `table` and `crate`; the crate has sunk in by half a millimetre.

    Examples
    --------
    >>> scene = crate_on_table()
    >>> table, crate = (scene.shape(name).at(scene.pose(name)) for name in ("table", "crate"))
    >>> contacts(table, crate).depths.round(6).tolist()
    [0.0005, 0.0005, 0.0005, 0.0005]
    """
    scene = Scene()
    scene.add("table", Box([0.8, 0.6, 0.04]), pose=[0.0, 0.0, -0.02])
    scene.add("crate", Box([0.32, 0.24, 0.18]), pose=[0.32, 0.05, 0.0895])
    scene.watch("table", "crate")
    return scene


def humanoid_poses(turns: Mapping[str, ArrayLike] | None = None) -> dict[str, Poses]:
    """Place the bodies of the humanoid in another posture; `Scene.move` takes the result as it is.

    Parameters
    ----------
    turns : mapping of str to array_like, (3,)
        Roll, pitch and yaw in radians of bodies about their joints, instead of those of the natural posture.

    Returns
    -------
    dict of str to ndarray, (4, 4)
        `world_from_body` of the robot's bodies.

    Examples
    --------
    >>> scene = humanoid()
    >>> scene.move(humanoid_poses({"left_forearm": [0.0, -1.5, 0.0]}))
    """
    parts = _parts()
    turns = {} if turns is None else turns
    if unknown := sorted(set(turns) - set(parts)):
        raise KeyError(f"the humanoid has no body {unknown[0]!r}; its bodies are {', '.join(parts)}.")
    world_from: dict[str, Poses] = {}
    for name, part in parts.items():
        parent_from_part = from_rpy(turns.get(name, part.turn), part.joint)
        world_from[name] = parent_from_part if part.parent is None else world_from[part.parent] @ parent_from_part
    return world_from


def robot_cell(angles: ArrayLike | None = None) -> Scene:
    """Build a welding robot that reaches into a car body: meshes only, surfaces without an inside.

    The robot has six links, the car two sheets, `shell` and `floor`. All links are watched against all sheets.

    Parameters
    ----------
    angles : array_like, (6,), optional
        Of the joints from the foot to the gun, in radians; the gun is in the door unless they are given.

    Returns
    -------
    Scene

    Examples
    --------
    >>> scene = robot_cell()
    >>> scene
    Scene(8 bodies, 12 watched pairs)
    >>> found = scene.nearest(robot_cell_poses(), ["shell", "floor"])
    >>> found.body_a, found.body_b, round(found.distance, 3)
    ('gun', 'floor', 0.028)
    """
    scene = Scene()
    poses, links, sheets = robot_cell_poses(angles), _links(), {"shell": _shell(), "floor": _floor()}
    for name, mesh in links.items():
        scene.add(name, mesh, poses[name])
    for name, mesh in sheets.items():
        scene.add(name, mesh)
    for link, sheet in itertools.product(links, sheets):
        scene.watch(link, sheet)
    return scene


def robot_cell_poses(angles: ArrayLike | None = None) -> dict[str, Poses]:
    """Place the links of the welding robot, once or for every step of a path.

    Parameters
    ----------
    angles : array_like, (..., 6), optional
        Of the joints from the foot to the gun, in radians; the gun is in the door unless they are given.

    Returns
    -------
    dict of str to ndarray, (..., 4, 4)
        `world_from_link`.

    Examples
    --------
    >>> path = np.linspace([-1.2, -0.3, 1.9, 0.0, 0.3, -0.4], [-0.7, 0.8, 1.4, 0.0, 0.1, -0.6], 100)
    >>> robot_cell().nearest(robot_cell_poses(), "shell", poses=robot_cell_poses(path)).distance.shape
    (100,)
    """
    turns = np.asarray(IN_THE_DOOR if angles is None else angles, dtype=np.float64)
    if turns.shape[-1:] != (len(JOINTS),):
        raise ValueError(f"the robot has {len(JOINTS)} joints, but the shape of the angles is {turns.shape}.")
    world_from, frame = {}, from_translation(FOOT)
    for k, (name, (joint, axis)) in enumerate(JOINTS.items()):
        frame = world_from[name] = frame @ from_axis_angle(axis, turns[..., k], joint)
    return world_from


def _parts() -> dict[str, _Part]:
    parts = {
        "pelvis": _Part(None, (0.0, 0.0, 0.939), (0.0, 0.0, 0.0), _pelvis()),
        "torso": _Part("pelvis", (0.0, 0.0, 0.08), (0.0, 0.09, 0.0), _torso()),
        "head": _Part("torso", (0.0, 0.0, 0.45), (0.0, 0.22, -0.2), _head()),
    }
    for side, y in (("left", 1.0), ("right", -1.0)):
        arm = {"left": ((0.05, 0.02, 0.0), -0.35, -0.1), "right": ((-0.08, -0.42, 0.0), -0.87, 0.0)}[side]
        parts[f"{side}_upper_arm"] = _Part("torso", (0.0, 0.21 * y, 0.32), arm[0], _upper_arm())
        parts[f"{side}_forearm"] = _Part(f"{side}_upper_arm", (0.0, 0.0, -0.28), (0.0, arm[1], 0.0), _forearm())
        parts[f"{side}_hand"] = _Part(f"{side}_forearm", (0.0, 0.0, -0.255), (0.0, arm[2], 0.0), _hand(y))
        # Half a step: both soles end up level on the ground.
        hip, knee = {"left": (-0.25, 0.45), "right": (0.06, 0.255)}[side]
        parts[f"{side}_thigh"] = _Part("pelvis", (0.0, 0.1 * y, -0.06), (0.0, hip, 0.0), _thigh())
        parts[f"{side}_shank"] = _Part(f"{side}_thigh", (0.0, 0.0, -0.41), (0.0, knee, 0.0), _shank())
        parts[f"{side}_foot"] = _Part(f"{side}_shank", (0.0, 0.0, -0.41), (0.0, -hip - knee, 0.0), _foot())
    return parts


def _point(p: ArrayLike, radius: float) -> Shape:
    return SweptPoint(np.array(p, dtype=np.float64), radius)


def _segment(p: ArrayLike, q: ArrayLike, radius: float) -> Shape:
    return SweptSegment(np.array(p, dtype=np.float64), np.array(q, dtype=np.float64), radius)


def _plate(corners: ArrayLike, radius: float) -> list[Shape]:
    """A polygon with round edges, as a fan of swept triangles."""
    first, *others = np.array(corners, dtype=np.float64)
    return [SweptTriangle(first, q, s, radius) for q, s in itertools.pairwise(others)]


def _pelvis() -> list[Shape]:
    return [
        *_plate([(0.0, 0.085, 0.02), (0.0, -0.085, 0.02), (0.0, 0.0, -0.07)], 0.062),
        _segment((0.0, 0.0, 0.0), (0.0, 0.0, 0.07), 0.07),
    ]


def _torso() -> list[Shape]:
    return [
        _segment((0.0, 0.0, 0.03), (0.0, 0.0, 0.15), 0.075),
        *_plate([(0.0, 0.07, 0.15), (0.0, 0.105, 0.33), (0.0, -0.105, 0.33), (0.0, -0.07, 0.15)], 0.085),
        *_plate([(-0.1, 0.06, 0.17), (-0.1, 0.06, 0.34), (-0.1, -0.06, 0.34), (-0.1, -0.06, 0.17)], 0.035),
    ]


def _head() -> list[Shape]:
    return [
        _segment((0.0, 0.0, -0.03), (0.0, 0.0, 0.06), 0.042),
        _segment((-0.01, 0.0, 0.125), (0.005, 0.0, 0.115), 0.085),
        *_plate([(0.062, 0.035, 0.13), (0.062, -0.035, 0.13), (0.058, -0.03, 0.105), (0.058, 0.03, 0.105)], 0.032),
    ]


def _upper_arm() -> list[Shape]:
    return [_point((0.0, 0.0, 0.0), 0.056), _segment((0.0, 0.0, -0.02), (0.0, 0.0, -0.27), 0.041)]


def _forearm() -> list[Shape]:
    return [
        _point((0.0, 0.0, 0.0), 0.046),
        _segment((0.0, 0.0, -0.02), (0.0, 0.0, -0.12), 0.039),
        _segment((0.0, 0.0, -0.12), (0.0, 0.0, -0.235), 0.031),
    ]


def _hand(side: float) -> list[Shape]:
    """A palm that faces the body, four fingers slightly bent and a thumb; `side` is 1 for left, -1 for right."""
    fingers = [(0.033, 0.155), (0.012, 0.165), (-0.009, 0.16), (-0.03, 0.145)]
    return [
        *_plate([(0.022, 0.0, -0.03), (0.028, 0.0, -0.085), (-0.025, 0.0, -0.085), (-0.02, 0.0, -0.03)], 0.014),
        *(_segment((x, 0.0, -0.09), (1.15 * x, -0.02 * side, -length), 0.0085) for x, length in fingers),
        _segment((0.025, 0.0, -0.035), (0.055, -0.03 * side, -0.085), 0.01),
    ]


def _thigh() -> list[Shape]:
    return [
        _segment((0.0, 0.0, -0.02), (0.0, 0.0, -0.2), 0.066),
        _segment((0.0, 0.0, -0.2), (0.0, 0.0, -0.39), 0.054),
    ]


def _shank() -> list[Shape]:
    return [
        _point((0.008, 0.0, 0.0), 0.057),
        *_plate([(0.0, 0.0, -0.05), (-0.022, 0.0, -0.15), (0.0, 0.0, -0.3)], 0.043),
        _segment((0.0, 0.0, -0.3), (0.0, 0.0, -0.4), 0.036),
    ]


def _foot() -> list[Shape]:
    sole = [(-0.055, 0.022, -0.058), (0.14, 0.036, -0.058), (0.14, -0.036, -0.058), (-0.055, -0.022, -0.058)]
    return [*_plate(sole, 0.022), _segment((0.0, 0.0, 0.0), (0.07, 0.0, -0.035), 0.036)]


def _table(length: float, depth: float, height: float) -> list[Placed]:
    thickness, radius = 0.03, 0.022
    top = Box([depth, length, thickness]).at([0.0, 0.0, height - 0.5 * thickness])
    leg = Cylinder(radius, height - thickness)
    x, y, z = 0.5 * depth - 2.0 * radius, 0.5 * length - 2.0 * radius, 0.5 * leg.length
    return [top, *(leg.at([cx, cy, z]) for cx, cy in ((-x, -y), (x, -y), (x, y), (-x, y)))]


def _bottle() -> list[Shape]:
    return [
        _segment((0.0, 0.0, 0.037), (0.0, 0.0, 0.155), 0.037),
        _segment((0.0, 0.0, 0.155), (0.0, 0.0, 0.18), 0.028),
        _segment((0.0, 0.0, 0.18), (0.0, 0.0, 0.24), 0.0135),
        _segment((0.0, 0.0, 0.236), (0.0, 0.0, 0.25), 0.0165),
    ]


# The robot cell: links and sheets are grids of points, two triangles between four neighbours. -----------------------

Floats = NDArray[np.float64]
Faces = NDArray[np.int64]
Grid = tuple[Floats, Faces]

FOOT = (2.0, -0.75, 0.0)
IN_THE_DOOR = (-0.73, 0.82, 1.38, 0.0, 0.11, -0.59)
# Where a link begins in the frame of the one before, and the axis that it turns about.
JOINTS = {
    "carousel": ((0.0, 0.0, 0.3), (0.0, 0.0, 1.0)),
    "upper_arm": ((-0.2, 0.0, 0.3), (0.0, -1.0, 0.0)),
    "elbow": ((0.0, 0.0, 0.8), (0.0, -1.0, 0.0)),
    "forearm": ((0.0, 0.0, 0.15), (0.0, 0.0, 1.0)),
    "wrist": ((0.0, 0.0, 0.75), (0.0, -1.0, 0.0)),
    "gun": ((0.0, 0.0, 0.12), (0.0, 0.0, 1.0)),
}


def _grid(points: Floats, kept: NDArray[np.bool_] | None = None) -> Grid:
    """Span a sheet over rows of points (n, m, 3), but for the cells (n - 1, m - 1) that are cut out."""
    n, m, _ = points.shape
    corner = np.arange(n * m).reshape(n, m)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    cells = np.stack([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)], axis=2)
    return points.reshape(-1, 3), cells[np.ones((n - 1, m - 1), dtype=bool) if kept is None else kept].reshape(-1, 3)


def _mesh_of(*grids: Grid) -> Mesh:
    first = np.cumsum([0, *(len(points) for points, _ in grids)])
    faces = np.concatenate([faces + start for (_, faces), start in zip(grids, first[:-1], strict=True)])
    return Mesh(np.concatenate([points for points, _ in grids]), faces)


def _turned(profile: ArrayLike, pose: Poses | None = None) -> Grid:
    """Turn a profile of radii and heights about z: casings, flanges, tips."""
    corners = np.array(profile, dtype=np.float64)
    # Rings a few centimetres apart: castings are meshed finely.
    line = [corners[:1]]
    for start, end in itertools.pairwise(corners):
        line.append(np.linspace(start, end, 1 + int(np.ceil(np.linalg.norm(end - start) / 0.04)))[1:])
    radius, height = np.concatenate(line).T
    angle = np.linspace(0.0, 2.0 * np.pi, 49)[:, None]
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), height + 0.0 * angle], axis=-1)
    return _grid(points if pose is None else points @ pose[:3, :3].T + pose[:3, 3])


def _hub(radius: float, width: float) -> Grid:
    """A drum about the y axis, where a joint is."""
    z, rim = 0.5 * width, 0.8 * radius
    profile = [(0.0, -z), (rim, -z), (radius, 0.02 - z), (radius, z - 0.02), (rim, z), (0.0, z)]
    return _turned(profile, from_rpy([-0.5 * np.pi, 0.0, 0.0]))


def _bar(line: ArrayLike, radius: float) -> Grid:
    """A round bar along a line in the plane y = 0, with flat ends."""
    corners = np.array(line, dtype=np.float64)
    along = np.gradient(corners, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = np.stack([along[:, 1], -along[:, 0]], axis=-1)
    angle = np.linspace(0.0, 2.0 * np.pi, 25)[:, None]
    rings = []
    for size, row in [(0.0, 0), *((radius, k) for k in range(len(corners))), (0.0, -1)]:
        x, z = (corners[row] + size * np.cos(angle) * across[row]).T
        rings.append(np.stack([x, size * np.sin(angle[:, 0]), z], axis=-1))
    return _grid(np.stack(rings))


def _links() -> dict[str, Mesh]:
    """The links of the robot, each along z in its own frame."""
    column = [(0, -0.3), (0.3, -0.3), (0.3, -0.26), (0.22, -0.22), (0.22, 0), (0.28, 0.02), (0.26, 0.2), (0, 0.24)]
    z = np.linspace(0.16, 0.62, 70)
    hose = np.stack([0.07 + 0.005 * np.cos(150.0 * z), z], axis=-1).tolist()
    bend = np.linspace(0.5 * np.pi, 1.5 * np.pi, 25)
    jaw = np.stack([0.12 + 0.16 * np.cos(bend), 0.27 + 0.16 * np.sin(-bend)], axis=-1)
    return {
        "carousel": _mesh_of(_turned(column), _turned(_barrel(0.13, 0.3, 0.12), from_translation([-0.2, 0.0, 0.0]))),
        "upper_arm": _mesh_of(_hub(0.15, 0.34), _turned(_barrel(0.1, 0.8, 0.07))),
        "elbow": _mesh_of(_hub(0.14, 0.26), _turned(_barrel(0.12, 0.2, 0.1))),
        "forearm": _mesh_of(_turned([(0.0, -0.02), (0.1, -0.02), (0.1, 0.12), *hose, (0.06, 0.68), (0.0, 0.68)])),
        "wrist": _mesh_of(_hub(0.075, 0.16), _turned(_barrel(0.06, 0.11, 0.055))),
        "gun": _mesh_of(
            _turned([(0.0, 0.0), (0.06, 0.0), (0.06, 0.03), (0.045, 0.05), (0.045, 0.13), (0.0, 0.13)]),
            _bar(jaw, 0.022),
            *(_bar([(0.12, 0.27 + side * 0.16), (0.12, 0.27 + side * 0.03)], 0.012) for side in (-1.0, 1.0)),
        ),
    }


def _barrel(radius: float, length: float, waist: float) -> list[tuple[float, float]]:
    z = 0.2 * length
    return [(0.0, 0.0), (radius, 0.0), (radius, z), (waist, 1.5 * z), (waist, length), (0.0, length)]


def _shell() -> Mesh:
    """A car body without doors, glass and wheels. It stands along y; `s` leads around it, from sill to sill."""
    y, s = np.linspace(-2.1, 2.1, 121), np.linspace(-1.0, 1.0, 97)
    at = [-2.1, -1.75, -1.1, -0.3, 0.25, 0.95, 1.6, 2.1]
    height = _smooth(y, at, [0.86, 0.95, 1.36, 1.44, 1.4, 0.98, 0.9, 0.72])
    belt = np.minimum(_smooth(y, at, [0.8, 0.88, 0.9, 0.88, 0.87, 0.86, 0.8, 0.64]), height - 0.03)
    width = 0.86 - 0.14 * np.abs(y / 2.1) ** 5
    # A section has corners at the sill, the waist, the belt, the edge of the roof and in the middle.
    corners = np.array([0.0, 0.3, 0.55, 0.8, 1.0])
    x_of = np.stack([0.95 * width, width, 0.97 * width, 0.74 * width, 0.0 * width], axis=-1)
    z_of = np.stack([0.22 + 0.0 * y, 0.5 + 0.0 * y, belt, height - 0.06, height], axis=-1)
    across = 1.0 - np.abs(s)
    x = np.sign(s) * np.stack([np.interp(across, corners, row) for row in x_of])
    z = np.stack([np.interp(across, corners, row) for row in z_of])
    points = np.stack([x, np.broadcast_to(y[:, None], x.shape), z], axis=-1)

    kept = np.ones((len(y) - 1, len(s) - 1), dtype=bool)
    cell_y, cell_s = 0.5 * (y[:-1] + y[1:])[:, None], 0.5 * (across[:-1] + across[1:])
    openings = {
        "rear side windows": ((-1.15, -0.42), (0.58, 0.77)),
        "front doors": ((-0.28, 0.72), (0.08, 0.77)),
        "rear window": ((-1.7, -1.2), (0.82, 1.0)),
        "windscreen": ((0.35, 0.9), (0.82, 1.0)),
    }
    for (rear, front), (low, high) in openings.values():
        kept &= ~((rear < cell_y) & (cell_y < front) & (low < cell_s) & (cell_s < high))
    for wheel in (-1.35, 1.35):
        # Points near the edge of an arch are put on it.
        along, up = points[..., 1] - wheel, points[..., 2] - 0.3
        radius = np.hypot(along, up)
        factor = np.where(np.abs(radius - 0.36) < 0.025, 0.36 / np.maximum(radius, 0.1), 1.0)
        points[..., 1], points[..., 2] = wheel + factor * along, 0.3 + factor * up
        middle = 0.25 * (radius[:-1, :-1] + radius[1:, :-1] + radius[1:, 1:] + radius[:-1, 1:])
        kept &= middle > 0.36
    return _mesh_of(_grid(points, kept))


def _floor() -> Mesh:
    """A floor with beads pressed into it, and a tunnel along its middle."""
    x, y = np.meshgrid(np.linspace(-0.8, 0.8, 65), np.linspace(-1.0, 1.0, 81), indexing="ij")
    beads = 0.008 * np.cos(40.0 * x) * np.clip(4.0 * np.cos(3.0 * np.pi * y), -1.0, 1.0)
    tunnel = 0.16 * np.exp(-((x / 0.12) ** 4))
    return _mesh_of(_grid(np.stack([x, y, 0.23 + beads + tunnel], axis=-1)))


def _smooth(y: Floats, at: list[float], values: list[float]) -> Floats:
    """A line through values, its corners rounded."""
    fine = np.linspace(y[0] - 0.2, y[-1] + 0.2, 1000)
    line = np.interp(fine, at, values)
    window = np.hanning(95)
    smoothed = np.convolve(np.pad(line, 47, mode="edge"), window / window.sum(), mode="valid")
    return np.asarray(np.interp(y, fine, smoothed))
