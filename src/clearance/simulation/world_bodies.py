"""Bodies of a world: what they are, where they are, what pushes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, poses
from ..links import as_shape
from ..shapes import HalfSpace, Placed, Shape
from ..surfaces import leaves
from .laws import Laws
from .masses import Mass, mass_of
from .materials import Elastic, Hard, Material, Soft, as_vector, surface_numbers

__all__ = ["Bodies", "BodyRecord", "as_pose"]

Floats = NDArray[np.float64]
MOTIONS = ("dynamic", "kinematic", "fixed")
BROAD_PHASES = ("grid", "hierarchy", "combined", "all")


@dataclass(frozen=True)
class BodyRecord:
    """What a body was added with."""

    shape: Shape
    motion: str
    mass: Mass | None
    material: Material
    group: str | None
    visible: bool
    collides: bool


class Bodies(Laws):
    """Rigid bodies by name, and how they meet; a `World` is made of them."""

    def __init__(
        self,
        gravity: ArrayLike,
        step: float,
        contact: Hard | Soft | Elastic | None,
        broad_phase: str,
        threads: int | None,
    ) -> None:
        super().__init__(gravity, step, Hard() if contact is None else contact, threads)
        if broad_phase not in BROAD_PHASES:
            raise ValueError(f"broad_phase must be one of {', '.join(BROAD_PHASES)}, but it is {broad_phase!r}.")
        self._broad_phase = broad_phase
        self._world = _core.World(self._gravity, self._step, self._law, self._contact.iterations, broad_phase)
        self._bodies: dict[str, BodyRecord] = {}
        self._numbers: dict[str, int] = {}
        self._groups: dict[str, int] = {}
        self._ignored: list[tuple[str, str]] = []

    def add(
        self,
        name: str,
        shape: Shape | Placed | Iterable[Shape | Placed],
        pose: ArrayLike | None = None,
        *,
        density: float = 1000.0,
        mass: float | None = None,
        inertia: ArrayLike | None = None,
        motion: str = "dynamic",
        material: Material | None = None,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        group: str | None = None,
        visible: bool = True,
        collides: bool = True,
    ) -> None:
        """Add a body.

        Parameters
        ----------
        name : str
            Not yet in the world.
        shape : Shape, Placed, or several of them
            Placed shapes stand in the frame of the body. Meshes, height fields, point clouds and half-spaces have no
            inside: they are fixed or kinematic, or come with a mass and an inertia.
        pose : pose, optional
            `world_from_body` of the frame of the shape; the identity unless given.
        density : float
            In kg/m^3.
        mass : float, optional
            In kg, instead of a density.
        inertia : array_like, (3, 3) or (3,), optional
            About the centre of mass, in the frame of the shape; found from shape and mass unless given.
        motion : {"dynamic", "kinematic", "fixed"}
            Kinematic bodies move with their velocity whatever happens; fixed ones do not move.
        material : Material, optional
        velocity : array_like, (3,) or (6,)
            Of the centre of mass in m/s, and the angular velocity in rad/s, in the world.
        group : str, optional
            Bodies of one group, the parts of a robot say, do not touch each other.
        visible : bool
            Whether `scene` and `ray_target` show it.
        collides : bool
            Whether it touches anything; a body that does not may still be held by joints.
        """
        self._check_new(name, self._bodies, "body")
        if motion not in MOTIONS:
            raise ValueError(f"motion must be one of {', '.join(MOTIONS)}, but it is {motion!r}.")
        one = as_shape(shape) if isinstance(shape, Shape | Placed | Iterable) else None
        if one is None:
            raise TypeError(f"the shape of body '{name}' must be one or several shapes, but it is {shape!r}.")
        own = Material() if material is None else material
        if not isinstance(own, Material):
            raise TypeError(f"material must be a Material, but it is {material!r}.")
        if motion != "dynamic" and (mass is not None or inertia is not None):
            raise ValueError(f"body '{name}' is {motion}: it has no mass and no inertia.")
        if group is not None and not isinstance(group, str):
            raise TypeError(f"a group has a string for a name, but that of body '{name}' is {group!r}.")
        moving = _velocity(velocity)
        if motion == "fixed" and moving.any():
            raise ValueError(f"body '{name}' is fixed, but it has a velocity of {moving.tolist()}.")
        if motion == "dynamic" and any(isinstance(part, HalfSpace) for part, _ in leaves(one, np.eye(4))):
            raise ValueError(f"body '{name}' has a half-space, which nothing moves: make it fixed or kinematic.")
        resisting = mass_of(one, density, mass, inertia) if motion == "dynamic" else None
        record = BodyRecord(one, motion, resisting, own, group, bool(visible), bool(collides))
        self._insert(name, record, np.eye(4) if pose is None else as_pose(pose), moving)

    def _insert(self, name: str, record: BodyRecord, pose: Floats, velocity: Floats) -> None:
        mass = record.mass or Mass(1.0, np.zeros(3), np.eye(3))
        group = -1 if record.group is None else self._groups.setdefault(record.group, len(self._groups))
        self._world.add(
            record.shape,
            pose,
            record.motion,
            mass.mass,
            mass.centre,
            mass.inertia,
            surface_numbers(record.material, self._contact),
            np.ascontiguousarray(velocity[:3]),
            np.ascontiguousarray(velocity[3:]),
            group,
            record.collides,
        )
        self._bodies[name] = record
        self._numbers[name] = len(self._numbers)

    def remove(self, name: str) -> None:
        """Remove a body and its contacts."""
        self._world.remove(self._number(name))
        del self._bodies[name]
        self._numbers = {other: k for k, other in enumerate(self._bodies)}
        self._ignored = [pair for pair in self._ignored if name not in pair]

    def set(self, name: str, pose: ArrayLike | None = None, velocity: ArrayLike | None = None) -> None:
        """Put a body elsewhere, at once, or give it another velocity.

        Parameters
        ----------
        name : str
        pose : pose, optional
            `world_from_body`.
        velocity : array_like, (3,) or (6,), optional
            Linear, and angular; zero spin if that is left out.
        """
        number = self._number(name)
        moving = None if velocity is None else _velocity(velocity)
        if moving is not None and self._bodies[name].motion == "fixed" and moving.any():
            raise ValueError(f"body '{name}' is fixed, so it cannot have a velocity.")
        if pose is not None:
            self._world.set_pose(number, as_pose(pose))
        if moving is not None:
            self._world.set_velocity(number, np.ascontiguousarray(moving[:3]), np.ascontiguousarray(moving[3:]))

    def guide(self, name: str, pose: ArrayLike) -> None:
        """Take a kinematic body to a pose during the next step; after that it stands.

        Parameters
        ----------
        name : str
        pose : pose
            `world_from_body` at the end of the step.
        """
        number = self._number(name)
        if self._bodies[name].motion != "kinematic":
            raise ValueError(f"body '{name}' is {self._bodies[name].motion}; only kinematic bodies can be guided.")
        self._world.guide(number, as_pose(pose))

    def push(
        self,
        name: str,
        force: ArrayLike = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0),
        at: ArrayLike | None = None,
    ) -> None:
        """Let a force and a torque act on a body during the next call of `step`, however many steps that takes.

        Parameters
        ----------
        name : str
        force : array_like, (3,)
            In newtons, along the axes of the world.
        torque : array_like, (3,)
            In N m.
        at : array_like, (3,), optional
            Where the force acts, in the world; at the centre of mass unless given.
        """
        self._act(name, force, torque, at, is_impulse=False)

    def kick(self, name: str, impulse: ArrayLike, at: ArrayLike | None = None) -> None:
        """Change the velocity of a body at once.

        Parameters
        ----------
        name : str
        impulse : array_like, (3,)
            In N s.
        at : array_like, (3,), optional
            Where, in the world; at the centre of mass unless given.
        """
        self._act(name, as_vector(impulse, "impulse"), (0.0, 0.0, 0.0), at, is_impulse=True)

    def _act(self, name: str, force: ArrayLike, torque: ArrayLike, at: ArrayLike | None, *, is_impulse: bool) -> None:
        number = self._number(name)
        if self._bodies[name].motion != "dynamic":
            raise ValueError(f"body '{name}' is {self._bodies[name].motion}: no force moves it.")
        place = self._world.centre(number) if at is None else as_vector(at, "at")
        self._world.push(number, as_vector(force, "force"), as_vector(torque, "torque"), place, is_impulse)

    def ignore(self, a: str, b: str) -> None:
        """Let two bodies pass through each other.

        Parameters
        ----------
        a, b : str
        """
        if a == b:
            raise ValueError(f"a body does not touch itself: {a!r}.")
        self._world.ignore(self._number(a), self._number(b))
        self._ignored.append((a, b))

    @property
    def names(self) -> list[str]:
        """Names of the bodies in the order of adding."""
        return list(self._bodies)

    @property
    def poses(self) -> Floats:
        """`world_from_body` of all bodies, (n, 4, 4), in the order of `names`."""
        return self._world.poses()

    @property
    def velocities(self) -> Floats:
        """Velocities of the centres of mass and angular velocities of all bodies, (n, 6), in the world."""
        return self._world.velocities()

    @property
    def centres(self) -> Floats:
        """Centres of mass of all bodies, (n, 3), in the world."""
        return self._world.centres()

    def pose(self, name: str) -> Floats:
        """Give the pose of a body, `world_from_body`."""
        return self._world.pose(self._number(name))

    def velocity(self, name: str) -> Floats:
        """Give the velocity of the centre of mass of a body and its angular velocity, (6,)."""
        return self._world.velocity(self._number(name))

    def shape(self, name: str) -> Shape:
        """Give the shape of a body, in its own frame."""
        self._number(name)
        return self._bodies[name].shape

    def motion(self, name: str) -> str:
        """Tell whether a body is dynamic, kinematic or fixed."""
        self._number(name)
        return self._bodies[name].motion

    def mass(self, name: str) -> Mass | None:
        """Give mass, centre of mass and inertia of a body, in its frame; None of bodies that nothing moves."""
        self._number(name)
        return self._bodies[name].mass

    def _number(self, name: str) -> int:
        if name not in self._bodies:
            raise KeyError(f"there is no body '{name}' in the world.")
        return self._numbers[name]

    @staticmethod
    def _check_new(name: Any, known: Any, what: str) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError(f"a {what} has a string for a name, but it is {name!r}.")
        if name in known:
            raise ValueError(f"there is a {what} '{name}' in the world already.")


def as_pose(value: ArrayLike) -> Floats:
    """Give one pose as a (4, 4) array.

    Parameters
    ----------
    value : pose

    Returns
    -------
    ndarray, (4, 4)

    Examples
    --------
    >>> as_pose([1.0, 2.0, 3.0])[:3, 3]
    array([1., 2., 3.])
    """
    pose = poses.as_poses(value)
    if pose.shape != (4, 4):
        raise ValueError(f"a body has one pose, but there are {pose.shape[:-2]} of them.")
    return np.ascontiguousarray(pose)


def _velocity(value: ArrayLike) -> Floats:
    vector = poses.as_floats(value, "velocity")
    if vector.shape not in ((3,), (6,)) or not np.isfinite(vector).all():
        raise ValueError(f"velocity must be three or six finite numbers, but it is {value!r}.")
    return np.concatenate([vector, np.zeros(6 - len(vector))])
