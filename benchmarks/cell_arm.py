"""The arms of the generated cell: how their joints are arranged, and what their links look like."""

from __future__ import annotations

import numpy as np
from cell_forms import (
    ALONG_X,
    ALONG_Y,
    MIRRORED,
    block,
    bolts,
    cylinder,
    drawn,
    moved,
    on_both_sides,
    pipe,
    placed,
    rectangle,
    ring,
    scaled,
    turn,
    turned,
)
from cell_sheets import Floats, Patch, Soup, tessellated
from numpy.typing import ArrayLike

ARM_TRIANGLES = 300_000
ARMS = ("irb71", "irb72", "irb73", "irb74")
LINKS = 7  # the base and six that move


def link_names(arm: int) -> list[str]:
    return [f"{ARMS[arm]}_{link}" for link in range(LINKS)]


# Joints --------------------------------------------------------------------------------------------------------------

JOINT_AXES = "zyyxyx"
JOINT_OFFSETS = ((0, 0, 0.40), (0.32, 0, 0.38), (0, 0, 1.075), (0.30, 0, 0.20), (0.8425, 0, 0), (0.20, 0, 0))
JOINT_LIMITS = np.array([(-2.9, 2.9), (-1.1, 1.4), (-2.8, 1.1), (-3.0, 3.0), (-2.0, 2.0), (-3.1, 3.1)])
TOOL_TIP = np.array([0.52, 0.0, -0.10])  # in the frame of the last link; the gun points along x
STANDS = ((1.3, 2.7), (1.3, -2.7), (-1.3, -2.7), (-1.3, 2.7))
BASES = np.stack([moved(x, y) @ turn("z", -np.sign(y) * np.pi / 2) for x, y in STANDS])
HOME = (0.0, -0.45, 0.35, 0.0, 0.55, 0.0)


def arm_poses(arm: int, q: ArrayLike, bases: Floats = BASES) -> Floats:
    """Place the links of an arm in the world.

    Parameters
    ----------
    arm : int
        Its index in `ARMS`.
    q : array_like
        Joint angles, shape `(..., 6)`.
    bases : ndarray
        Poses of the bases of all arms.

    Returns
    -------
    ndarray
        Poses of the base and the six links, shape `(..., 7, 4, 4)`.

    Examples
    --------
    >>> arm_poses(0, [0, 0, 0, 0, 0, 0])[6, :3, 3].round(3)
    array([1.3  , 1.038, 2.055])
    """
    q = np.asarray(q, dtype=float)
    world_from_link = [np.broadcast_to(bases[arm], (*q.shape[:-1], 4, 4))]
    for k, (axis, offset) in enumerate(zip(JOINT_AXES, JOINT_OFFSETS, strict=True)):
        world_from_link.append(world_from_link[-1] @ moved(*offset) @ turn(axis, q[..., k]))
    return np.stack(world_from_link, axis=-3)


# Links ---------------------------------------------------------------------------------------------------------------


def base_link() -> list[Patch]:
    foot = turned(
        [(0, 0), (0, 0.42), (0.05, 0.42), (0.06, 0.31), (0.22, 0.27), (0.26, 0.33), (0.36, 0.33), (0.36, 0)], 0.01
    )
    ribs = ring(block(0.10, 0.03, 0.16), 8, 0.33, 0.13)
    plugs = [
        cylinder(0.03, 0.0, 0.08).at(moved(-0.50, y, 0.2) @ ALONG_X @ turn("y", np.pi)) for y in (-0.08, 0.0, 0.08)
    ]
    box = placed(block(0.22, 0.30, 0.20), moved(-0.40, 0.0, 0.2))
    return [foot, *ribs, *bolts(12, 0.385, 0.05), *bolts(16, 0.31, 0.36), *box, *plugs]


def shoulder_link() -> list[Patch]:
    carousel = turned([(0.0, 0.0), (0.0, 0.31), (0.06, 0.31), (0.10, 0.26), (0.20, 0.24), (0.24, 0.0)], 0.01)
    cheek = turned(
        [(-0.27, 0.0), (-0.27, 0.15), (-0.22, 0.22), (0.22, 0.22), (0.27, 0.15), (0.27, 0.0)], 0.01, (7, 80.0)
    )
    neck = drawn(rectangle(0.34, 0.30), 0.30).at(moved(0.16, 0.0, 0.10) @ turn("y", 0.5))
    motor = turned([(0, 0), (0, 0.09), (0.22, 0.09), (0.22, 0.075), (0.34, 0.075), (0.34, 0)], 0.02, (12, 0.0))
    motors = [motor.at(moved(-0.16, 0.0, 0.14)), motor.at(moved(0.32, -0.27, 0.38) @ turn("x", np.pi / 2))]
    return [carousel, cheek.at(moved(0.32, 0.0, 0.38) @ ALONG_Y), neck, *motors, *bolts(18, 0.29, 0.06)]


def upper_arm_link() -> list[Patch]:
    casting = turned(
        [(-0.05, 0.17), (0.10, 0.19), (0.30, 0.15), (0.80, 0.13), (1.0, 0.16), (1.12, 0.14)], 0.03, (6, 45.0)
    )
    shafts = [
        cylinder(radius, -0.19, 0.19, bump=0.01).at(moved(z=z) @ ALONG_Y) for radius, z in ((0.2, 0.0), (0.16, 1.075))
    ]
    ladder = [rib.at(moved(z=z)) for z in np.linspace(0.25, 0.88, 7) for rib in block(0.30, 0.20, 0.018)]
    spring = turned([(0.02, 0.0), (0.02, 0.075), (0.62, 0.075), (0.64, 0.03), (0.98, 0.03), (0.98, 0.0)], 0.02)
    screws = placed(bolts(10, 0.15, 0.19), ALONG_Y)
    return [casting.at(scaled(y=0.75)), *shafts, *ladder, spring.at(moved(x=-0.24)), *screws, *placed(screws, MIRRORED)]


def elbow_link() -> list[Patch]:
    hub = turned([(-0.21, 0), (-0.21, 0.14), (-0.17, 0.17), (0.17, 0.17), (0.21, 0.14), (0.21, 0)], 0.01).at(ALONG_Y)
    housing = turned(
        [(-0.34, 0), (-0.34, 0.16), (-0.20, 0.19), (0.10, 0.18), (0.26, 0.15), (0.29, 0.15), (0.29, 0)], 0.02
    )
    motor = turned([(0, 0), (0, 0.06), (-0.2, 0.06), (-0.2, 0.05), (-0.3, 0.05), (-0.3, 0)], 0.03, (14, 0.0))
    motors = [motor.at(moved(-0.34, y, z) @ ALONG_X) for y, z in ((-0.08, 0.26), (0.08, 0.26), (0.0, 0.13))]
    screws = placed(bolts(14, 0.135, 0.285), moved(z=0.2) @ ALONG_X)
    web = placed(block(0.24, 0.26, 0.22), moved(0.0, 0.0, 0.10))
    return [hub, housing.at(moved(z=0.2) @ ALONG_X), *motors, *screws, *web]


def forearm_link() -> list[Patch]:
    tube = turned([(0.0, 0.0), (0.0, 0.145), (0.04, 0.145), (0.07, 0.12), (0.5, 0.10), (0.66, 0.12), (0.70, 0.0)], 0.03)
    rings = [turned([(z, 0.10), (z, 0.13), (z + 0.02, 0.13), (z + 0.02, 0.10)]) for z in (0.15, 0.27, 0.39, 0.51)]
    fork = [patch.at(moved(0.76, 0.105, 0.0)) for patch in block(0.26, 0.03, 0.17)]
    eyes = cylinder(0.085, 0.09, 0.13).at(moved(0.8425) @ ALONG_Y)
    bends = np.linspace(0.0, np.pi, 24)
    hose = pipe(
        np.stack([0.35 - 0.33 * np.cos(bends), 0.02 * np.sin(3 * bends), 0.15 + 0.06 * np.sin(bends)], axis=-1), 0.022
    )
    return [
        *placed([tube, *rings], ALONG_X),
        *on_both_sides([*fork, eyes]),
        *placed(bolts(12, 0.13, 0.04), ALONG_X),
        hose,
    ]


def wrist_link() -> list[Patch]:
    barrel = turned([(-0.085, 0), (-0.085, 0.06), (-0.07, 0.085), (0.07, 0.085), (0.085, 0.06), (0.085, 0)], 0.02)
    snout = turned([(0.0, 0.07), (0.10, 0.08), (0.13, 0.10), (0.19, 0.10), (0.19, 0.0)], 0.02, (9, 90.0))
    fins = ring(block(0.03, 0.012, 0.05), 10, 0.095, 0.13)
    return [barrel.at(ALONG_Y), *placed([snout, *fins, *bolts(10, 0.08, 0.19, 0.008)], ALONG_X)]


def gun_link() -> list[Patch]:
    """The flange and a stud-welding gun below the axis: bracket, body with cooling rings, nozzle, feeder, hose."""
    flange = turned([(0.005, 0), (0.005, 0.08), (0.03, 0.08), (0.03, 0.055), (0.06, 0.055), (0.06, 0)], 0.01)
    bracket = [
        *placed(block(0.05, 0.09, 0.20), moved(0.08, 0, -0.06)),
        *placed(block(0.18, 0.07, 0.03), moved(0.17, 0, -0.045)),
    ]
    body = [
        (0.06, 0.0),
        (0.06, 0.04),
        (0.34, 0.045),
        (0.36, 0.03),
        (0.44, 0.022),
        (0.45, 0.012),
        (0.52, 0.008),
        (0.52, 0.0),
    ]
    coolers = [
        turned([(z, 0.04), (z, 0.058), (z + 0.008, 0.058), (z + 0.008, 0.04)]) for z in np.linspace(0.12, 0.30, 9)
    ]
    gun = placed([turned(body, 0.02), *coolers], moved(z=-0.10) @ ALONG_X)
    feeder = cylinder(0.022, 0.10, 0.38, bump=0.05).at(moved(y=0.065, z=-0.13) @ ALONG_X @ turn("x", -0.08))
    bends = np.linspace(0.0, np.pi, 30)
    hose = pipe(
        np.stack([0.2 + 0.18 * np.cos(bends), -0.1 * np.sin(bends), -0.14 - 0.05 * np.sin(bends)], axis=-1), 0.014
    )
    return [flange.at(ALONG_X), *placed(bolts(8, 0.068, 0.03, 0.007), ALONG_X), *bracket, *gun, feeder, hose]


def arm_links(triangles: int = ARM_TRIANGLES // len(ARMS)) -> list[Soup]:
    makers = (base_link, shoulder_link, upper_arm_link, elbow_link, forearm_link, wrist_link, gun_link)
    return [tessellated(make(), triangles // LINKS) for make in makers]
