"""Links and joints: what a robot is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf, isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core, poses
from .shapes import Compound, Placed, Shape

__all__ = ["Joint", "Link", "Mimic", "as_shape"]

KINDS = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating", "ball")
MIMICS = ("revolute", "continuous", "prismatic")
LARGEST = 1e9  # multipliers and offsets beyond this would overflow


class Mimic(NamedTuple):
    """A joint that follows another: its value is `multiplier * value of joint + offset`."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Link:
    """A rigid body of a robot.

    Parameters
    ----------
    name : str
    shapes : Shape, Placed, or several of them
        In the frame of the link; none for a link that is only a frame.

    Examples
    --------
    >>> Link("finger", Capsule(0.01, 0.05)).name
    'finger'
    """

    name: str
    shapes: Shape | Placed | Sequence[Shape | Placed] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"a link has a string for a name, but it is {self.name!r}.")
        if not isinstance(self.shapes, Shape | Placed):
            object.__setattr__(self, "shapes", tuple(_several(self.shapes)))

    @property
    def shape(self) -> Shape | None:
        """All shapes of the link as one, or None if there are none."""
        return as_shape(self.shapes)


@dataclass(frozen=True, eq=False)
class Joint:
    """What connects a link with its parent.

    Parameters
    ----------
    name : str
    kind : {"fixed", "revolute", "continuous", "prismatic", "planar", "floating", "ball"}
    parent, child : str
        Names of links.
    origin : pose, optional
        `parent_from_joint`, which is where the child is when the joint is at zero.
    axis : array_like, (3,)
        Of turning or sliding, of any length but zero, in the frame of the joint; the normal of a planar one.
    lower, upper : float
        Limits, in radians or metres; none unless given.
    velocity : float
        Largest speed, per second.
    mimic : Mimic or tuple, optional
        The joint it follows, a multiplier, an offset.

    Examples
    --------
    >>> Joint("elbow", "revolute", "upper_arm", "forearm", [0.0, 0.0, 0.3], axis=[0, 2, 0]).axis
    array([0., 1., 0.])
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: NDArray[np.float64] = field(default_factory=lambda: np.eye(4))
    axis: NDArray[np.float64] = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    lower: float = -inf
    upper: float = inf
    velocity: float = inf
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        for what in ("name", "parent", "child"):
            if not isinstance(getattr(self, what), str) or not getattr(self, what):
                raise ValueError(f"the {what} of a joint must be a name, but it is {getattr(self, what)!r}.")
        if self.kind not in KINDS:
            raise ValueError(f"joint '{self.name}': kind must be one of {', '.join(KINDS)}, but it is {self.kind!r}.")
        object.__setattr__(self, "origin", _origin(self))
        object.__setattr__(self, "axis", _unit_axis(self))
        for what in ("lower", "upper", "velocity"):
            object.__setattr__(self, what, _number(self, what))
        if self.lower > self.upper:
            raise ValueError(f"joint '{self.name}': lower {self.lower} is above upper {self.upper}.")
        if self.velocity < 0.0:
            raise ValueError(f"joint '{self.name}': velocity must not be negative, but it is {self.velocity}.")
        if self.kind == "ball" and (self.lower > -inf or self.upper < inf):
            raise ValueError(f"joint '{self.name}': a ball joint has no lower and upper limits.")
        if self.mimic is not None:
            object.__setattr__(self, "mimic", _mimic(self))

    @property
    def values(self) -> int:
        """How many numbers of a configuration belong to it."""
        return {"fixed": 0, "planar": 3, "floating": 7, "ball": 4}.get(self.kind, 1) if self.mimic is None else 0

    @property
    def velocities(self) -> int:
        """How many velocities it has."""
        return self.values if self.quaternion is None else self.values - 1

    @property
    def quaternion(self) -> slice | None:
        """Which of its values are a quaternion, if any are."""
        return {"floating": slice(3, 7), "ball": slice(0, 4)}.get(self.kind)


def as_shape(shapes: Any) -> Shape | None:
    """Join one or several shapes to one.

    Parameters
    ----------
    shapes : Shape, Placed, or an iterable of them

    Returns
    -------
    Shape or None
        None if there are none.

    Examples
    --------
    >>> as_shape([]) is None
    True
    """
    if isinstance(shapes, Shape):
        return shapes
    parts = [shapes] if isinstance(shapes, Placed) else list(_several(shapes))
    if len(parts) == 1 and isinstance(parts[0], Shape):
        return parts[0]
    return Compound(parts) if parts else None


def _several(shapes: Any) -> Iterable[Any]:
    if not isinstance(shapes, Iterable) or isinstance(shapes, str | bytes):
        raise TypeError(f"shapes must be a shape, a placed shape or several of them, but it is {shapes!r}.")
    return shapes


def _origin(joint: Joint) -> NDArray[np.float64]:
    pose = poses.as_poses(joint.origin)
    if pose.shape != (4, 4):
        raise ValueError(f"joint '{joint.name}': origin must be one pose, but its shape is {pose.shape}.")
    return _core.rigid_pose(pose)


def _unit_axis(joint: Joint) -> NDArray[np.float64]:
    axis = poses.as_floats(joint.axis, "axis")
    largest = float(np.abs(axis).max()) if axis.shape == (3,) else 0.0
    if not 0.0 < largest < inf:
        raise ValueError(f"joint '{joint.name}': axis must have 3 numbers, not all zero, but it is {joint.axis!r}.")
    scaled = axis / largest
    return np.asarray(scaled / np.linalg.norm(scaled))


def _number(joint: Joint, what: str) -> float:
    value = float(getattr(joint, what))
    if isnan(value):
        raise ValueError(f"joint '{joint.name}': {what} must be a number, but it is NaN.")
    return value


def _mimic(joint: Joint) -> Mimic:
    value: Any = joint.mimic
    mimic = Mimic(value) if isinstance(value, str) else Mimic(*value)
    if joint.kind not in MIMICS:
        raise ValueError(f"joint '{joint.name}': a {joint.kind} joint cannot mimic another.")
    if not isinstance(mimic.joint, str) or not all(abs(number) <= LARGEST for number in mimic[1:]):
        told = f"a name and two numbers up to {LARGEST:g}"
        raise ValueError(f"joint '{joint.name}': mimic must be {told}, but it is {value!r}.")
    return Mimic(mimic.joint, float(mimic.multiplier), float(mimic.offset))
