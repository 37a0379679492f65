"""Scenes that need no files: something to measure, to look at and to time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .poses import Poses, from_rpy
from .scene import Scene
from .shapes import (
    Box,
    Cone,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Placed,
    Shape,
    SweptPoint,
    SweptSegment,
    SweptTriangle,
)

__all__ = ["crate_on_table", "humanoid", "humanoid_poses"]


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
