"""A six-axis arm with a gripper, a cell for it to work in, and a task: robots without any files of your own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .poses import Poses, from_rpy
from .robots import Robot
from .scene import Scene
from .shapes import Box, Cylinder, HalfSpace, Mesh, Placed

__all__ = ["arm", "arm_cell", "arm_path"]

Floats = NDArray[np.float64]

DATA = Path(__file__).parent / "data"


def arm() -> Robot:
    """Load a six-axis arm on a pedestal, with a two-finger gripper.

    It reaches 1.07 m from its shoulder, which is 0.65 m above the ground, and stands upright when all joints are at
    zero. The last value of a configuration opens both fingers, by up to 50 mm each. The frame `tcp` lies between their
    tips; its z axis points ahead, its y axis from finger to finger. The foot may touch a body called `floor`.

    Returns
    -------
    Robot

    Examples
    --------
    >>> robot = arm()
    >>> robot
    Robot('arm', 7 degrees of freedom, 11 links, 16 pairs)
    >>> robot.joint_names
    ['turn', 'lift', 'bend', 'roll', 'pitch', 'spin', 'grip']
    >>> robot.pose({"lift": 0.5 * np.pi}, "tcp")[:3, 3].round(3).tolist()
    [1.071, 0.0, 0.65]
    """
    robot = Robot.from_urdf(DATA / "arm.urdf", DATA / "arm.srdf", collision="hull")
    robot.allow("foot", "floor")
    return robot


def arm_cell() -> Scene:
    """Build what stands around the arm: a shelf, a column, a table with a bin, and a machine with an opening.

    Returns
    -------
    Scene
        Nothing of it is watched; the robot is not in it.

    Examples
    --------
    >>> arm_cell().names
    ['floor', 'table', 'bin', 'shelf', 'column', 'machine']
    >>> nearest = arm().nearest(arm_path()[0], arm_cell())
    >>> nearest.pair, 0.0 < nearest.lower
    (('palm', 'shelf'), True)
    """
    height = 0.5
    scene = Scene()
    scene.add("floor", HalfSpace([0.0, 0.0, 1.0], 0.0))
    scene.add("table", _table(0.44, 0.8, height), pose=[0.66, 0.0, 0.0])
    scene.add("bin", _bin(0.3, 0.4, 0.2), pose=[0.66, -0.06, height + 0.001])
    scene.add("shelf", _shelf(0.34, 0.8), pose=_facing_the_arm(2.2, 0.56))
    scene.add("column", Cylinder(0.06, 1.5), pose=[0.33, 0.53, 0.75])
    scene.add("machine", _machine(), pose=_facing_the_arm(-2.05, 0.58))
    return scene


def arm_path() -> Floats:
    """Take a part from the shelf to the machine: past the column, over the bin, without touching anything.

    Returns
    -------
    ndarray, (n, 7)
        Waypoints for straight lines in joint space.

    Examples
    --------
    >>> report = check_path(arm(), arm_cell(), arm_path(), margin=0.01)
    >>> report.clear
    True
    """
    return np.array(PATH)


# Found with the planner of examples/rrt_connect.py, then rounded and simplified by hand; `check_path` proves it.
PATH = [
    (2.2, 0.59, 1.825, 0.0, -0.845, 0.0, 0.035),
    (2.18, 0.308, 1.968, 0.0, -0.572, 0.0, 0.035),
    (2.137, 0.075, 2.144, 0.0, -0.28, 0.0, 0.035),
    (0.992, -0.126, 2.15, 0.0, 0.142, 0.45, 0.035),
    (-1.825, -0.109, 1.897, 0.0, 0.335, 1.57, 0.035),
    (-1.914, 0.07, 1.745, 0.0, 0.158, 1.57, 0.035),
    (-2.05, 0.55, 1.345, 0.0, -0.325, 1.57, 0.035),
]


def _facing_the_arm(azimuth: float, away: float) -> Poses:
    """Where something stands whose front looks along its x axis and is so far away from the arm."""
    return from_rpy([0.0, 0.0, azimuth + np.pi], [away * np.cos(azimuth), away * np.sin(azimuth), 0.0])


def _table(depth: float, width: float, height: float) -> list[Placed]:
    x, y, z = 0.5 * depth - 0.05, 0.5 * width - 0.05, height - 0.03
    legs = [Box([0.05, 0.05, z]).at([cx, cy, 0.5 * z]) for cx in (-x, x) for cy in (-y, y)]
    return [Box([depth, width, 0.03]).at([0.0, 0.0, height - 0.015]), *legs]


def _shelf(depth: float, width: float) -> list[Placed]:
    """Boards on posts, with a few cartons; the front is at x = 0."""
    boards, x, y = (0.3, 0.6, 0.9, 1.2), -0.5 * depth, 0.5 * width
    parts = [Box([depth, width, 0.02]).at([x, 0.0, z - 0.01]) for z in boards]
    parts += [Box([0.03, 0.03, 1.25]).at([cx, cy, 0.625]) for cx in (-0.015, 0.015 - depth) for cy in (-y, y)]
    cartons = [(0.16, 0.225, 0.6, 0.24, 0.16), (0.2, -0.215, 0.6, 0.22, 0.2), (0.18, 0.12, 0.3, 0.3, 0.18)]
    cartons += [(0.2, -0.2, 0.9, 0.3, 0.22), (0.17, 0.22, 0.9, 0.2, 0.12), (0.18, -0.05, 1.2, 0.34, 0.14)]
    return [*parts, *(Box([0.22, wide, high]).at([-deep, cy, z + 0.5 * high]) for deep, cy, z, wide, high in cartons)]


def _machine() -> list[Placed]:
    """A cabinet with an opening in its front, at x = 0, and a chuck behind it."""
    depth, width, height, wall = 0.55, 0.7, 1.3, 0.03
    low, high, half = 0.74, 1.02, 0.17  # edges of the opening
    x, side, above = -0.5 * depth, 0.5 * width - half, height - high
    return [
        Box([depth, width, low]).at([x, 0.0, 0.5 * low]),
        Box([depth, width, wall]).at([x, 0.0, height - 0.5 * wall]),
        Box([wall, width, height - low]).at([0.5 * wall - depth, 0.0, 0.5 * (height + low)]),
        *(Box([depth, wall, height - low]).at([x, s * 0.5 * (width - wall), 0.5 * (height + low)]) for s in (-1, 1)),
        *(
            Box([wall, side, high - low]).at([-0.5 * wall, s * (half + 0.5 * side), 0.5 * (high + low)])
            for s in (-1, 1)
        ),
        Box([wall, width, above]).at([-0.5 * wall, 0.0, high + 0.5 * above]),
        Cylinder(0.09, 0.12).at(from_rpy([0.0, 0.5 * np.pi, 0.0], [0.06 + wall - depth, 0.0, 0.88])),
        Cylinder(0.03, 0.1).at(from_rpy([0.0, 0.5 * np.pi, 0.0], [0.17 + wall - depth, 0.0, 0.88])),
    ]


def _bin(depth: float, width: float, height: float) -> Mesh:
    """A sheet with a flat bottom, leaning walls and a rim."""
    angle = np.linspace(0.0, 2.0 * np.pi, 48, endpoint=False)
    # A circle that was blown up to a rounded rectangle.
    outline = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    outline /= (outline**8).sum(axis=1, keepdims=True) ** 0.125
    rings = [(0.4, 0.0), (0.47, 0.02), (0.5, height), (0.54, height), (0.54, height - 0.01)]
    levels = [np.column_stack([outline * [depth, width] * 2.0 * half, np.full(len(angle), z)]) for half, z in rings]
    vertices = np.concatenate([[[0.0, 0.0, 0.0]], *(level * [0.5, 0.5, 1.0] for level in levels)])
    one, n = np.arange(len(angle)), len(angle)
    other = np.roll(one, -1)
    faces = [np.stack([0 * one, 1 + one, 1 + other], axis=-1)]
    for k in range(len(rings) - 1):
        a, b = 1 + k * n + one, 1 + k * n + other
        faces += [np.stack([a, a + n, b + n], axis=-1), np.stack([a, b + n, b], axis=-1)]
    return Mesh(vertices, np.concatenate(faces))
