"""What sweeps and guards need to know of a robot, as it was when they were made: it may change afterwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import _core
from .poses import inverse
from .robots import Pair, Robot

__all__ = ["Skeleton"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Names and frames of a robot.

    Attributes
    ----------
    name, root : str
    links : tuple of str
        Those that have shapes.
    pairs : list of pairs of str
    base : ndarray, (4, 4)
    bodies : LinkBodies
    frame : dict of str to int
        The moving frame of every link.
    link_of_frame : dict of int to str
        The link that a movable joint carries with it, or the root.
    link_from_frame : dict of str to ndarray
        Where frames are in the links that are fixed to them.
    """

    name: str
    root: str
    links: tuple[str, ...]
    pairs: list[Pair]
    base: Floats
    bodies: _core.LinkBodies
    frame: dict[str, int]
    link_of_frame: dict[int, str]
    link_from_frame: dict[str, Floats]

    @classmethod
    def of(cls, robot: Robot) -> Skeleton:
        """Take it from a robot."""
        kinematics = robot._kinematics
        carried = {kinematics.frame[joint.child]: joint.child for joint in kinematics.joints if joint.kind != "fixed"}
        named = {**carried, 0: kinematics.root}
        poses = dict(zip(robot.link_names, robot.poses(robot.neutral), strict=True))
        fixed_to = {name: poses[named[frame]] for name, frame in kinematics.frame.items()}
        return cls(
            name=robot.name,
            root=kinematics.root,
            links=tuple(robot._shapes),
            pairs=robot.pairs,
            base=robot.base,
            bodies=robot._bodies,
            frame=dict(kinematics.frame),
            link_of_frame=named,
            link_from_frame={name: inverse(pose) @ fixed_to[name] for name, pose in poses.items()},
        )
