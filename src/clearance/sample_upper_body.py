"""The upper body of a humanoid on a platform, few points per body: for sweeps, guards and whatever has two arms."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .links import Joint, Link
from .poses import from_rpy
from .robots import Robot
from .shapes import ConvexHull, Shape

__all__ = ["Approach", "upper_body", "upper_body_clap", "upper_body_home"]

Floats = NDArray[np.float64]

DATA = Path(__file__).parent / "data"
FASTEST = 0.75 * np.pi  # of every joint, rad/s

# The seven joints of either arm: equal values are mirror images.
AT_HOME = (-0.2, 0.8, -1.3, 1.4, 0.0, -0.3, -0.3)
APART = (-0.72, 0.23, -0.72, 2.0, -0.35, -0.24, -0.48)
TOUCHING = (-0.64, 0.807, -0.601, 1.761, -0.101, -0.399, -0.42)
BEYOND = 1.1  # the way that a clap goes, where 1 is the way until the hands touch


class Approach(NamedTuple):
    """A straight line in joint space, at constant joint velocities.

    The configuration after t seconds is `start + t * velocity`; it is `end` after `duration` seconds.
    """

    start: Floats
    end: Floats
    velocity: Floats
    duration: float


def upper_body() -> Robot:
    """Load the upper body of a humanoid: a torso, two arms of seven joints with hands, and a head, on a platform.

    It is a stand-in for the robot of Täubig, Bäuml and Frese, "Real-time swept volume and distance computation for
    self collision detection" (2011): 20 joints and 26 convex bodies, which are hulls of 80 points swept by balls. The
    shoulders are 1.32 m above the ground, the arms reach 1.07 m. Links have the names of the joints that move them.

    Joint `torso0` turns the hip, `torso1` bends it, and `torso2` shifts the chest ahead: `torso3` mimics it the other
    way round, so that the chest keeps its direction. At zero the torso is upright and the arms are stretched, 30
    degrees below the horizontal. Equal values of both arms are mirror images. Links that one joint connects overlap
    around it; all other pairs of links are checked.

    Returns
    -------
    Robot

    Examples
    --------
    >>> robot = upper_body()
    >>> robot
    Robot('upper_body', 19 degrees of freedom, 21 links, 190 pairs)
    >>> robot.joint_names[:4]
    ['torso0', 'torso1', 'torso2', 'lArm0']
    >>> robot.pose({"torso2": 0.5}, "torso3").round(3).tolist()[0]
    [1.0, 0.0, 0.0, 0.12]
    """
    told = json.loads((DATA / "upper_body.json").read_text(encoding="utf-8"))
    shapes: dict[str, list[Shape]] = {}
    for body in told["bodies"]:
        shapes.setdefault(body["link"], []).append(ConvexHull(body["points"], body["radius"]))
    links = [Link(name, parts) for name, parts in shapes.items()]
    return Robot(links, [_joint(line) for line in told["joints"]], name="upper_body")


def upper_body_home() -> Floats:
    """Hold the forearms ahead, the palms facing each other, nothing nearer than 5 cm to anything else.

    Returns
    -------
    ndarray, (19,)
        A configuration of `upper_body`.

    Examples
    --------
    >>> is_clear(upper_body(), None, upper_body_home(), margin=0.05)
    True
    """
    return _home(upper_body())


def upper_body_clap(speed: float) -> Approach:
    """Move both hands towards each other: mirror images, 0.49 m apart at first, 6 cm into each other in the end.

    All other pairs keep more than 5 cm all the way, so the hands are the nearest pair from there on. Torso and head
    stay as they are at home.

    Parameters
    ----------
    speed : float
        How fast the distance of the hands shrinks when they touch, in m/s, positive; 70 % of that at the start.

    Returns
    -------
    Approach
        `start` and `end` are configurations of `upper_body`, `velocity` has its joint velocities in rad/s, and
        `duration` is in seconds; the hands touch after 1 / 1.1 of it.

    Examples
    --------
    >>> clap = upper_body_clap(0.65)
    >>> gap = upper_body().nearest(clap.start + clap.duration / 1.1 * clap.velocity)
    >>> gap.pair, abs(gap.distance) < 1e-3
    (('lArm6', 'rArm6'), True)
    """
    if not 0.0 < speed < inf:
        raise ValueError(f"speed must be positive and finite, in m/s, but it is {speed!r}.")
    robot = upper_body()
    start, touching = (_with_arms(robot, posture, _home(robot)) for posture in (APART, TOUCHING))
    way = touching - start
    closing = -float(robot.gradient(touching, robot.nearest(touching)) @ way)
    velocity = speed / closing * way
    if (np.abs(velocity) > robot.velocity).any():
        most = speed * float((robot.velocity / np.maximum(np.abs(velocity), 1e-9)).min())
        raise ValueError(f"the joints allow for a speed of {most:.2f} m/s, but it is {speed!r}.")
    return Approach(start, start + BEYOND * way, velocity, BEYOND * closing / speed)


def _joint(line: dict[str, Any]) -> Joint:
    """The joint that a line of the file describes; it moves the link of the same name."""
    return Joint(
        line["joint"],
        "revolute",
        line["parent"],
        line["joint"],
        from_rpy(line.get("rpy", [0.0, 0.0, 0.0]), line["origin"]),
        line["axis"],
        line["lower"],
        line["upper"],
        velocity=FASTEST,
        mimic=line.get("mimic"),
    )


def _home(robot: Robot) -> Floats:
    return _with_arms(robot, AT_HOME, robot.configuration({"torso1": -0.1, "torso2": 0.4, "head1": 0.2}))


def _with_arms(robot: Robot, posture: tuple[float, ...], q: Floats) -> Floats:
    """Both arms in a posture, all other joints as in a configuration."""
    return robot.configuration({f"{side}Arm{k}": value for side in "lr" for k, value in enumerate(posture)}, q)
