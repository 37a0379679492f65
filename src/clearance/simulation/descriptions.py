"""Models of robots as data: bodies, the joints between them, and where sensors sit.

A model is made of few words, and becomes two things: a kinematic `Robot`, and dynamic bodies with joints and motors in
a `World`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..links import Joint, Link
from ..mechanisms import one_pose
from ..poses import as_floats, from_translation
from ..queries import distance
from ..robots import Robot
from ..shapes import HalfSpace, Shape
from .ackermann import Ackermann
from .differential_drive import DifferentialDrive

if TYPE_CHECKING:
    from .driving import Handle
    from .world import World

__all__ = ["Model", "ModelBody", "ModelJoint", "Mount"]

Floats = NDArray[np.float64]

KINDS = {"hinge": "revolute", "slide": "prismatic", "fixed": "fixed"}
ROLES = ("hold", "steer", "drive", "free")
FAR = 1000.0  # metres: beyond all models


@dataclass(frozen=True, eq=False)
class ModelBody:
    """A physical object of a model: something that can touch and be touched.

    Parameters
    ----------
    name : str
    shape : Shape
    pose : pose
        `model_from_body`, when all joints are at zero.
    mass : float
        In kilograms.
    colour : str
        As in "#1f4fd8".
    friction : float
        Of its surface.

    Examples
    --------
    >>> ModelBody("trunk", Box([0.4, 0.3, 0.2]), [0.0, 0.0, 0.2], mass=3.0).pose[:3, 3]
    array([0. , 0. , 0.2])
    """

    name: str
    shape: Shape
    pose: Floats
    mass: float
    colour: str = "#6a737b"
    friction: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"a body has a string for a name, but it is {self.name!r}.")
        if not isinstance(self.shape, Shape):
            raise ValueError(f"body '{self.name}': shape must be a shape, but it is {self.shape!r:.100}.")
        if not 0.0 < self.mass < inf:
            raise ValueError(f"body '{self.name}': mass must be above zero and finite, but it is {self.mass!r}.")
        object.__setattr__(self, "pose", one_pose(self.pose, f"body '{self.name}': pose"))


@dataclass(frozen=True, eq=False)
class ModelJoint:
    """What connects two bodies of a model, or a body and a link in between that has no extent.

    Parameters
    ----------
    name : str
    kind : {"hinge", "slide", "fixed"}
        What is fixed is no joint: it is not counted, and has no value.
    parent, child : str
        Names of bodies. A name that no body has is that of a massless link.
    point, axis : array_like, (3,)
        In the frame of the model, when all joints are at zero.
    lower, upper : float
        In radians or metres; equal ones lock the joint.
    role : {"hold", "steer", "drive", "free"}
        A servo holds it; so it does for a wheel that steers; a motor turns it; nothing does.
    torque : float
        The most that servo or motor can do, in N m or N.

    Examples
    --------
    >>> ModelJoint("spin", "hinge", "fork", "wheel", [0.0, 0.0, 0.1], [0, 1, 0], role="free").is_locked
    False
    """

    name: str
    kind: Literal["hinge", "slide", "fixed"]
    parent: str
    child: str
    point: Floats
    axis: Floats = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    lower: float = -inf
    upper: float = inf
    role: Literal["hold", "steer", "drive", "free"] = "hold"
    torque: float = inf

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.role not in ROLES:
            told = f"kind must be one of {', '.join(KINDS)} and role one of {', '.join(ROLES)}"
            raise ValueError(f"joint '{self.name}': {told}, but they are {self.kind!r} and {self.role!r}.")
        for what in ("point", "axis"):
            numbers = as_floats(getattr(self, what), f"joint '{self.name}': {what}")
            if numbers.shape != (3,) or not np.isfinite(numbers).all():
                raise ValueError(f"joint '{self.name}': {what} must be 3 finite numbers, but it is {numbers}.")
            object.__setattr__(self, what, numbers)
        if not self.torque > 0.0 or not self.lower <= self.upper:
            told = "torque must be above zero and lower at most upper"
            found = f"{self.torque}, {self.lower} and {self.upper}"
            raise ValueError(f"joint '{self.name}': {told}, but they are {found}.")

    @property
    def is_locked(self) -> bool:
        """Whether its limits leave it no choice."""
        return self.lower == self.upper


@dataclass(frozen=True, eq=False)
class Mount:
    """Where a sensor sits on a body, and which way it looks: along x, with z up.

    Parameters
    ----------
    name : str
    kind : {"scanner", "camera"}
    body : str
    pose : pose
        `body_from_sensor`.

    Examples
    --------
    >>> Mount("eye", "camera", "head", [0.05, 0.0, 0.0]).kind
    'camera'
    """

    name: str
    kind: Literal["scanner", "camera"]
    body: str
    pose: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "pose", one_pose(self.pose, f"mount '{self.name}': pose"))


class Model:
    """A robot as data: its first body carries all others.

    The frame of a model stands on the ground, x ahead and z up; that of a vehicle is where the frame of its `drive` is.

    Parameters
    ----------
    name : str
    bodies : iterable of ModelBody
    joints : iterable of ModelJoint
        A tree: every body but the first, and every massless link, is the child of one joint.
    mounts : iterable of Mount
    drive : Ackermann, DifferentialDrive or None
    base : {"planar", "floating"}
        How the kinematic robot moves in the world.

    Examples
    --------
    >>> from clearance.simulation.models import pioneer
    >>> model = pioneer()
    >>> model
    Model('pioneer', 8 bodies, 8 joints)
    >>> robot = model.robot()
    >>> robot.joint_names[:4]
    ['base', 'wheel_left', 'wheel_right', 'caster_swivel']
    >>> robot.pose({"base": [2.0, 1.0, np.pi / 2]}, "camera")[:3, 3].round(3).tolist()
    [2.0, 1.05, 0.285]
    """

    def __init__(
        self,
        name: str,
        bodies: Iterable[ModelBody],
        joints: Iterable[ModelJoint],
        mounts: Iterable[Mount] = (),
        *,
        drive: Ackermann | DifferentialDrive | None = None,
        base: Literal["planar", "floating"] = "planar",
    ) -> None:
        self.name, self.drive, self.base = name, drive, base
        self.bodies, self.ties, self.mounts = tuple(bodies), tuple(joints), tuple(mounts)
        if not self.bodies:
            raise ValueError(f"model '{name}' has no bodies.")
        self._by_name = {body.name: body for body in self.bodies}
        if len(self._by_name) != len(self.bodies):
            raise ValueError(f"model '{name}' has two bodies of the same name.")
        self._tie_of = {tie.child: tie for tie in self.ties}
        for mount in self.mounts:
            self.body(mount.body)
        self.robot()  # refuses what is no tree

    @property
    def joints(self) -> tuple[ModelJoint, ...]:
        """All joints that move."""
        return tuple(tie for tie in self.ties if tie.kind != "fixed")

    @property
    def mass(self) -> float:
        """Of all bodies, in kilograms."""
        return sum(body.mass for body in self.bodies)

    @property
    def centre_of_mass(self) -> Floats:
        """Of all bodies, when all joints are at zero: (3,), in the frame of the model. Shapes are centred."""
        return np.asarray(sum(body.mass * body.pose[:3, 3] for body in self.bodies) / self.mass)

    @property
    def bounds(self) -> Floats:
        """Least and largest coordinates of all bodies, when all joints are at zero: (2, 3)."""
        found = np.empty((2, 3))
        for row, side in enumerate((-1.0, 1.0)):
            for k, axis in enumerate(np.eye(3)):
                wall = HalfSpace(-side * axis, -FAR)
                found[row, k] = side * (FAR - min(distance(b.shape.at(b.pose), wall).distance for b in self.bodies))
        return found

    def body(self, name: str) -> ModelBody:
        """Give a body by its name."""
        if name not in self._by_name:
            raise KeyError(f"model '{self.name}' has no body '{name}'; there are {', '.join(self._by_name)}.")
        return self._by_name[name]

    def mount(self, name: str) -> Mount:
        """Give a mount by its name."""
        found = {mount.name: mount for mount in self.mounts}
        if name not in found:
            raise KeyError(f"model '{self.name}' has no mount '{name}'; there are {', '.join(found) or 'none'}.")
        return found[name]

    def chain(self, body: str) -> list[ModelJoint]:
        """List the ties between a body and the body that carries it, massless links in between; none of the first."""
        ties: list[ModelJoint] = []
        link = body
        while link in self._tie_of and (not ties or link not in self._by_name):
            ties.append(self._tie_of[link])
            link = ties[-1].parent
        return ties[::-1]

    def robot(self) -> Robot:
        """Make a kinematic robot.

        Frames of links have the directions of the frame of the model, and stand where the joint is that moves them.
        Bodies that are connected by nothing but joints and massless links may touch.

        Returns
        -------
        Robot
            Its first joint, `base`, moves the frame of the model: [x, y, yaw], or [x, y, z, quaternion xyzw].
        """
        places = {self.bodies[0].name: np.zeros(3)} | {tie.child: tie.point for tie in self.ties}
        links = [Link("world"), *(Link(name, self._shapes(name, place)) for name, place in places.items())]
        joints = [Joint("base", self.base, "world", self.bodies[0].name)]
        for tie in self.ties:
            if tie.parent not in places:
                raise ValueError(f"model '{self.name}': the parent '{tie.parent}' of '{tie.name}' hangs on nothing.")
            joints.append(_joint(tie, tie.point - places[tie.parent]))
        missing = [name for name in self._by_name if name not in places]
        if missing:
            raise ValueError(f"model '{self.name}': body '{missing[0]}' hangs on nothing.")
        robot = Robot(links, joints, name=self.name)
        for body in self.bodies[1:]:
            robot.allow(self.chain(body.name)[0].parent, body.name)
        return robot

    def add_to(self, world: World, name: str, pose: ArrayLike | None = None) -> Handle:
        """Put dynamic bodies, joints and motors into a world.

        Parameters
        ----------
        world : World
        name : str
            Bodies are called "name/body", joints "name/joint".
        pose : pose, optional
            `world_from_model`; the identity unless given.

        Returns
        -------
        Handle
            To command it, and to ask where it is.
        """
        from .driving import put

        return put(self, world, name, np.eye(4) if pose is None else one_pose(pose, "pose"))

    def _shapes(self, name: str, place: Floats) -> list[Any]:
        body = self._by_name.get(name)
        return [] if body is None else [body.shape.at(from_translation(-place) @ body.pose)]

    def __repr__(self) -> str:
        return f"Model({self.name!r}, {len(self.bodies)} bodies, {len(self.joints)} joints)"


def _joint(tie: ModelJoint, origin: Floats) -> Joint:
    kind = KINDS[tie.kind]
    if tie.kind == "fixed":
        return Joint(tie.name, kind, tie.parent, tie.child, origin)
    if kind == "revolute" and not isfinite(tie.upper - tie.lower):
        kind = "continuous"
    return Joint(tie.name, kind, tie.parent, tie.child, origin, tie.axis, tie.lower, tie.upper)
