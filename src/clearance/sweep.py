"""Swept volumes: everything that a robot can touch while its joints stay in intervals, as sphere-swept convex hulls.

After Täubig, Bäuml and Frese, Real-time Swept Volume and Distance Computation for Self Collision Detection, 2011.
Joints are applied one after the other, from a body down to the base. Each makes of every generating point one or more
points and enlarges the radius, so that the hull of the new points contains all that the joint can do to the old ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .errors import NotConverged
from .links import Joint
from .mechanisms import Configuration
from .poses import as_floats
from .queries import distance
from .robots import Pair, Robot
from .shapes import ConvexHull, Placed, Shape
from .skeletons import Skeleton

__all__ = ["Operators", "Swept", "sweep"]

Floats = NDArray[np.float64]
Operators = Mapping[str, str] | str | None

ALL_POINTS = 10_000_000  # which take a quarter of a gigabyte
SOME_POINTS = 10_000
DEFAULTS = {"prismatic": "trans2", "planar": "planar8", "floating": "patch4", "ball": "patch4"}
MOST_PER_POINT = 16
NAMES = {
    "revolute": ("circ1", "circ2", "circ3, ..., circ16"),
    "continuous": ("circ1", "circ2", "circ3, ..., circ16"),
    "prismatic": ("trans1", "trans2"),
    "planar": ("planar1", "planar2", "planar8"),
    "floating": ("patch1", "patch4"),
    "ball": ("patch1", "patch4"),
}


class Swept:
    """The swept volumes of a robot for one box of joint values; `sweep` makes it.

    For every configuration of the box, and in every frame, a link is inside its volumes. So the distance of the volumes
    of two links, seen from the last frame that carries both, bounds the distance of the links from below for the whole
    box: joints that carry both do not count.

    Attributes
    ----------
    robot : Robot
    links : tuple of str
        Names of links that have volumes.
    points : int
        Points of all volumes that joints have swept.
    """

    def __init__(
        self,
        robot: Robot,
        skeleton: Skeleton,
        box: _core.JointBox,
        volumes: list[tuple[int, int, Floats, float]],
    ) -> None:
        self.robot = robot
        self.links = skeleton.links
        self.points = 0
        self._skeleton = skeleton
        self._box = box
        self._volumes: dict[str, dict[int, list[ConvexHull]]] = {link: {} for link in self.links}
        for number, frame, points, radius in volumes:
            link = self.links[number]
            self._volumes[link].setdefault(frame, []).append(ConvexHull(points, radius))
            self.points += len(points) if frame != skeleton.frame[link] else 0

    def frames(self, link: str) -> list[str]:
        """Name the links in whose frames the volumes of a link are known.

        Parameters
        ----------
        link : str

        Returns
        -------
        list of str
            The link, and links that movable joints carry, down to the root.
        """
        names = [self._skeleton.link_of_frame[frame] for frame in self._of(link)]
        return names if names[0] == link else [link, *names]

    def volumes(self, link: str, frame: str | None = None) -> list[ConvexHull]:
        """Give the volumes of a link, one for each of its convex parts.

        Parameters
        ----------
        link : str
        frame : str, optional
            The link that they are seen from, one of `frames(link)`; the world unless given.

        Returns
        -------
        list of ConvexHull
        """
        if frame is None:
            known = self._of(link)[self._seen_from(link, self._skeleton.root)]
            return [_moved(hull, self._skeleton.base) for hull in known]
        hulls = list(self._of(link)[self._seen_from(link, frame)])
        return [_moved(hull, self._skeleton.link_from_frame[link]) for hull in hulls] if frame == link else hulls

    def lower(self, a: str, b: str | Shape | Placed) -> float:
        """Bound the distance of a link from another one, or from an obstacle, for all configurations of the box.

        Parameters
        ----------
        a : str
            A link.
        b : str, Shape or Placed
            Another link, or a shape in the world.

        Returns
        -------
        float
            The bodies never come nearer to each other than this; negative where they may overlap.
        """
        ours = self._of(a)
        if not isinstance(b, str | Shape | Placed):
            raise TypeError(f"b must be the name of a link, a shape or a placed shape, but it is {b!r:.100}.")
        if not isinstance(b, str):
            return min(_lower(one, b) for one in self.volumes(a))
        theirs = self._of(b)
        common = next((frame for frame in ours if frame in theirs), None)
        if common is None:
            raise KeyError(f"no volumes of '{a}' and '{b}' are seen from the same frame.")
        return min(_lower(one, two) for one in ours[common] for two in theirs[common])

    def lowers(self) -> dict[Pair, float]:
        """Bound all pairs that the robot checks.

        Returns
        -------
        dict of pairs to float
        """
        return {pair: self.lower(*pair) for pair in self._skeleton.pairs}

    def change(self, q_low: Configuration, q_high: Configuration, link: str, frame: str | None = None) -> float:
        """Bound how far a link can get out of its volumes while the joints are in another box.

        It takes no other volumes: a joint that leaves its interval by so much moves a point no farther than its
        distance from the joint allows. What was proved for one box is true for another, less this for either body.

        Parameters
        ----------
        q_low, q_high : array_like, (dof,), or mapping of str to float
            The other box.
        link : str
        frame : str, optional
            As in `volumes`.

        Returns
        -------
        float
        """
        seen_from = self._seen_from(link, self._skeleton.root if frame is None else frame)
        other = _box_of(self.robot, q_low, q_high)
        return _core.box_change(self._skeleton.bodies, self.links.index(link), seen_from, self._box, other)

    def _of(self, link: str) -> dict[int, list[ConvexHull]]:
        """Volumes by frame, from the link's own down to the base."""
        if link not in self._volumes:
            raise KeyError(f"there is no link '{link}' with a shape; there are {', '.join(self.links)}.")
        return self._volumes[link]

    def _seen_from(self, link: str, name: str) -> int:
        frame = self._skeleton.frame.get(name, -1)
        if frame not in self._of(link) or name not in (link, self._skeleton.link_of_frame[frame]):
            raise KeyError(f"volumes of '{link}' are seen from {', '.join(self.frames(link))}, not from '{name}'.")
        return frame

    def __reduce__(self) -> Any:
        raise TypeError("a sweep cannot be copied or pickled; make it again from the intervals.")

    def __repr__(self) -> str:
        return f"Swept({self._skeleton.name!r}, {len(self.links)} links, {self.points} points)"


def sweep(
    robot: Robot,
    q_low: Configuration,
    q_high: Configuration,
    *,
    operators: Operators = "auto",
    max_points: int = SOME_POINTS,
) -> Swept:
    """Sweep all links of a robot over intervals of its joints.

    Parameters
    ----------
    robot : Robot
        Links count as their convex parts: what is concave is filled up.
    q_low, q_high : array_like, (dof,), or mapping of str to float
        Every combination of values in between is covered. Joints that turn without limits may have infinite ends. The
        two quaternions of a floating or ball joint are the ends of the shortest turn: every rotation is covered that is
        no farther from the middle of it than they are.
    operators : mapping of str to str, "auto" or None
        How closely each joint is followed, by its name: "circ1" makes one point and a ball of every generating point,
        "circ2" two and a smaller ball, "circ3" to "circ16" polygons without any; "trans1" and "trans2" for joints that
        slide, "planar1", "planar2" and "planar8", "patch1" and "patch4" for floating and ball joints. "auto" chooses
        for every body and joint what makes volumes smallest within `max_points`; None, and joints that a mapping leaves
        out, take "circ2", "trans2", "planar8" and "patch4".
    max_points : int
        Of all volumes together. Joints that would go beyond get by with one point, those near the base first.

    Returns
    -------
    Swept

    Examples
    --------
    >>> arm = Robot(
    ...     [Link("base"), Link("upper", Capsule(0.1, 1.0)), Link("hand", Sphere(0.1).at([1.0, 0.0, 0.0]))],
    ...     [
    ...         Joint("shoulder", "revolute", "base", "upper"),
    ...         Joint("slide", "prismatic", "upper", "hand", axis=[1, 0, 0]),
    ...     ],
    ... )
    >>> swept = sweep(arm, [-0.1, 0.0], [0.1, 0.5])
    >>> swept
    Swept('robot', 2 links, 12 points)
    >>> swept.frames("hand")
    ['hand', 'upper', 'base']
    >>> round(swept.lower("hand", Box([0.2, 0.2, 0.2]).at([2.0, 0.0, 0.0])), 3)
    0.3
    >>> round(swept.lower("hand", "upper"), 6)
    0.8
    """
    check_robot(robot)
    box = _box_of(robot, q_low, q_high)
    found = _core.sweep_volumes(robot._bodies, box, points_of_one(robot, operators), checked_points(max_points))
    return Swept(robot, Skeleton.of(robot), box, found)


def check_robot(robot: Robot) -> None:
    """Refuse what is no robot."""
    if not isinstance(robot, Robot):
        raise TypeError(f"robot must be a Robot, but it is {robot!r:.100}.")


def _box_of(robot: Robot, q_low: Configuration, q_high: Configuration) -> _core.JointBox:
    low, high = _end_of(robot, q_low, "q_low"), _end_of(robot, q_high, "q_high")
    for joint in robot._kinematics.active:
        first = robot._kinematics.first_value[joint.name]
        count = joint.values if joint.quaternion is None else joint.quaternion.start
        for k in range(first, first + count):
            _check_interval(joint, k - first, float(low[k]), float(high[k]))
    for joint in robot._kinematics.joints:
        if joint.mimic is not None and joint.kind == "prismatic":
            _check_follower(robot, joint, low, high)
    return _core.joint_box(robot._kinematics.tree, low, high)


def _end_of(robot: Robot, q: Configuration, name: str) -> Floats:
    """One end of a box: a configuration, but some of its values may be infinite."""
    if isinstance(q, Mapping):
        infinite = {joint: value for joint, value in q.items() if np.ndim(value) == 0 and np.isinf(value)}
        end = robot.configuration({joint: 0.0 if joint in infinite else value for joint, value in q.items()})
        for joint, value in infinite.items():
            end[robot._kinematics.first_value[joint]] = value
        return end
    end = as_floats(q, name)
    if end.shape != (robot.dof,):
        raise ValueError(f"{name} must have shape ({robot.dof},), but it has {end.shape}.")
    if np.isnan(end).any():
        raise ValueError(f"{name} must hold numbers, but value {int(np.argmax(np.isnan(end)))} is NaN.")
    for active in robot._kinematics.active:
        if active.quaternion is None:
            continue
        first = robot._kinematics.first_value[active.name]
        quaternion = end[first : first + active.values][active.quaternion]
        if not 1e-100 < np.linalg.norm(quaternion) < 1e100:
            raise ValueError(f"{name}: the quaternion of joint '{active.name}' does not turn: {quaternion}.")
    return end


def _check_interval(joint: Joint, value: int, low: float, high: float) -> None:
    turns = joint.kind in ("revolute", "continuous") or (joint.kind == "planar" and value == 2)
    if not low <= high:
        raise ValueError(f"joint '{joint.name}': the interval must not be empty, but it is from {low} to {high}.")
    if (isinf(low) or isinf(high)) and not turns:
        raise ValueError(f"joint '{joint.name}' slides: its interval must be finite, but it is from {low} to {high}.")


def _check_follower(robot: Robot, joint: Joint, low: Floats, high: Floats) -> None:
    master = joint
    while master.mimic is not None:
        master = next(other for other in robot._kinematics.joints if other.name == master.mimic.joint)
    at = robot._kinematics.first_value[master.name]
    if isinf(low[at]) or isinf(high[at]):
        raise ValueError(f"joint '{joint.name}' slides with '{master.name}': that interval must be finite.")


def checked_points(max_points: int) -> int:
    """Read a number of points."""
    if not isinstance(max_points, int | np.integer) or not 1 <= max_points <= ALL_POINTS:
        raise ValueError(f"max_points must be an integer from 1 to {ALL_POINTS}, but it is {max_points!r}.")
    return int(max_points)


def points_of_one(robot: Robot, operators: Operators) -> list[int] | None:
    """Tell how many points a joint makes of one, by frame; None to choose well."""
    if operators == "auto":
        return None
    if operators is not None and not isinstance(operators, Mapping):
        raise ValueError(f'operators must be "auto", a mapping or None, but it is {operators!r}.')
    said = dict(operators or {})
    numbers = [1] * (max(robot._kinematics.frame.values()) + 1)
    for joint in robot._kinematics.joints:
        if joint.kind == "fixed":
            continue
        name = said.pop(joint.name, DEFAULTS.get(joint.kind, "circ2"))
        numbers[robot._kinematics.frame[joint.child]] = _number_in(joint, name)
    if said:
        raise KeyError(f"there is no joint '{next(iter(said))}' that moves.")
    return numbers


def _number_in(joint: Joint, operator: str) -> int:
    word = DEFAULTS.get(joint.kind, "circ2").rstrip("0123456789")
    found = re.fullmatch(rf"{word}([1-9]\d?)", operator) if isinstance(operator, str) else None
    allowed = {"trans": (1, 2), "planar": (1, 2, 8), "patch": (1, 4)}.get(word, range(1, MOST_PER_POINT + 1))
    if found is None or int(found[1]) not in allowed:
        names = ", ".join(NAMES[joint.kind])
        raise ValueError(f"joint '{joint.name}': the operator must be one of {names}, but it is {operator!r}.")
    return int(found[1])


def _lower(a: ConvexHull, b: Shape | Placed) -> float:
    try:
        return distance(a, b).lower
    except NotConverged as error:  # the bracket is wider than asked, but it holds
        return error.lower


def _moved(hull: ConvexHull, pose: Floats) -> ConvexHull:
    return ConvexHull(hull.points @ pose[:3, :3].T + pose[:3, 3], hull.radius)
