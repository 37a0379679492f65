"""Models in a world: put there as dynamic bodies with joints and motors, and commanded through handles.

With steps of 1 or 2 ms wheels roll as told to within half a percent; with 10 ms turns are wider by up to a tenth.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..poses import from_axis_angle, from_translation, inverse
from ..shapes import Sphere
from .ackermann import Ackermann
from .differential_drive import DifferentialDrive
from .materials import Material

if TYPE_CHECKING:
    from .descriptions import Model, ModelBody, ModelJoint
    from .world import World

__all__ = ["AckermannHandle", "DifferentialHandle", "Handle", "put"]

Floats = NDArray[np.float64]

LINK_SIZE, LINK_SHARE = 0.01, 0.5  # of massless links that need a body: its radius, its mass in masses of the child


class Handle:
    """A model in a world. Made by `Model.add_to`.

    What the model holds by servos is at zero until `hold` says otherwise.

    Attributes
    ----------
    model : Model
    world : World
    name : str
    names : tuple of str
        Of its bodies in the world. After those of the model come bodies without extent that stand for massless links
        between a joint that turns freely and another one.
    joints : tuple of str
        Of its joints in the world. Joints whose axes meet, and which are all held, are one ball joint there, named
        after the last of them; those that are locked are none.
    """

    def __init__(self, model: Model, world: World, name: str, names: tuple[str, ...], joints: tuple[str, ...]) -> None:
        self.model, self.world, self.name, self.names, self.joints = model, world, name, names, joints
        self._angles = {joint.name: 0.0 for joint in model.joints if joint.role == "hold"}

    @property
    def pose(self) -> Floats:
        """Where the frame of the model is, told by its first body: `world_from_model`."""
        first = self.model.bodies[0]
        return np.asarray(self.world.pose(self.names[0]) @ inverse(first.pose))

    @property
    def state(self) -> Floats:
        """Where a vehicle is seen from above: x, y and yaw."""
        pose = self.pose
        return np.array([pose[0, 3], pose[1, 3], np.arctan2(pose[1, 0], pose[0, 0])])

    @property
    def velocity(self) -> Floats:
        """How the frame of the model moves: linear and angular velocity in the world, (6,)."""
        moving = np.array(self.world.velocity(self.names[0]))
        # The shape of the first body is centred, so its origin is its centre of mass.
        to_frame = self.pose[:3, 3] - self.world.pose(self.names[0])[:3, 3]
        moving[:3] += np.cross(moving[3:], to_frame)
        return moving

    @property
    def twist(self) -> Floats:
        """How a vehicle moves in its own frame: ahead, to the left, and its yaw rate."""
        moving, turn = self.velocity, self.pose[:3, :3]
        return np.array([turn[:, 0] @ moving[:3], turn[:, 1] @ moving[:3], turn[:, 2] @ moving[3:]])

    def command(self, speed: float, turn: float, /) -> None:
        """Drive; what a turn is depends on the vehicle: a steering angle in radians, or a turn rate in rad/s."""
        raise TypeError(f"'{self.model.name}' has no wheels to drive by; hold its joints instead.")

    def mount(self, name: str) -> Floats:
        """Tell where a sensor is: `world_from_sensor`."""
        mount = self.model.mount(name)
        return np.asarray(self.world.pose(f"{self.name}/{mount.body}") @ mount.pose)

    def hold(self, angles: Mapping[str, float]) -> None:
        """Let servos go to angles.

        Parameters
        ----------
        angles : mapping of str to float
            By names of joints of the model, in radians, or metres of those that slide. Joints that are not named stay
            as they are.
        """
        for name, angle in angles.items():
            if name not in self._angles:
                raise KeyError(f"'{self.model.name}' holds no joint '{name}'; there are {', '.join(self._angles)}.")
            joint = next(joint for joint in self.model.joints if joint.name == name)
            if not joint.lower <= angle <= joint.upper:
                told = f"from {joint.lower:g} to {joint.upper:g}"
                raise ValueError(f"joint '{name}' must be held at a value {told}, but it is {angle!r}.")
        self._angles |= angles
        touched = {joint.name for joint in self.model.joints if joint.name in angles}
        for body in self.model.bodies:
            chain = [joint for joint in self.model.chain(body.name) if joint.kind != "fixed" and not joint.is_locked]
            if touched & {joint.name for joint in chain}:
                self._hold_chain(body, chain)

    def _hold_chain(self, body: ModelBody, chain: list[ModelJoint]) -> None:
        last, torque = f"{self.name}/{chain[-1].name}", min(joint.torque for joint in chain)
        if len(chain) == 1:
            self.world.hold(last, self._angles[chain[0].name], torque)
            return
        carrier = self.model.body(chain[0].parent)
        turned = np.eye(4)
        for joint in chain:
            turned = turned @ from_axis_angle(joint.axis, self._angles[joint.name])
        target = inverse(carrier.pose) @ turned @ body.pose
        self.world.hold(last, target[:3, :3], torque)


class AckermannHandle(Handle):
    """A vehicle with steered wheels in a world."""

    def command(self, speed: float, steering: float) -> None:
        """Steer and turn all wheels for a motion; they get there as fast as their motors let them.

        Parameters
        ----------
        speed : float
            Of the middle of the rear axle, in m/s, negative backwards.
        steering : float
            As `Ackermann` has it, in radians.
        """
        drive = self.model.drive
        assert isinstance(drive, Ackermann)
        angles, speeds = drive.wheel_angles(steering), drive.wheel_speeds(speed, steering)
        for joint, wheel in self._wheels:
            name = f"{self.name}/{joint.name}"
            if joint.role == "steer":
                self.world.hold(name, float(angles[wheel]), joint.torque, speed=drive.max_steering_rate)
            else:
                self.world.drive(name, float(speeds[wheel]), joint.torque)

    @property
    def turns(self) -> Floats:
        """By what angles the rear left and the rear right wheel have turned, as `Ackermann.odometry` takes them."""
        rear = {wheel: joint for joint, wheel in self._wheels if joint.role == "drive"}
        return np.array([self.world.joint_value(f"{self.name}/{rear[wheel].name}") for wheel in (2, 3)])

    @cached_property
    def _wheels(self) -> list[tuple[ModelJoint, int]]:
        """Joints that steer or drive, and the numbers of their wheels."""
        drive = self.model.drive
        assert isinstance(drive, Ackermann)
        return [
            (joint, int(np.argmin(np.linalg.norm(drive.wheels - joint.point[:2], axis=1))))
            for joint in self.model.joints
            if joint.role == "drive" or (joint.role == "steer" and not joint.is_locked)
        ]


class DifferentialHandle(Handle):
    """A vehicle whose wheels do not steer in a world."""

    def command(self, speed: float, turn_rate: float) -> None:
        """Turn the wheels for a motion; they get there as fast as their motors let them.

        Parameters
        ----------
        speed : float
            In m/s, negative backwards.
        turn_rate : float
            In rad/s, positive to the left.
        """
        drive = self.model.drive
        assert isinstance(drive, DifferentialDrive)
        self.turn_wheels(*drive.wheel_speeds(speed, turn_rate))

    @property
    def turns(self) -> Floats:
        """By what angles wheels on the left and on the right have turned, as `odometry` of the drive takes them."""
        driven = [joint for joint in self.model.joints if joint.role == "drive"]
        angles = np.array([self.world.joint_value(f"{self.name}/{joint.name}") for joint in driven])
        is_left = np.array([joint.point[1] > 0.0 for joint in driven])
        return np.array([angles[is_left].mean(), angles[~is_left].mean()])

    def turn_wheels(self, left: float, right: float) -> None:
        """Turn the wheels of both sides.

        Parameters
        ----------
        left, right : float
            In rad/s.
        """
        if not (isfinite(left) and isfinite(right)):
            raise ValueError(f"left and right must be finite, but they are {left!r} and {right!r}.")
        for joint in self.model.joints:
            if joint.role == "drive":
                self.world.drive(
                    f"{self.name}/{joint.name}", float(left if joint.point[1] > 0.0 else right), joint.torque
                )


def put(model: Model, world: World, name: str, pose: ArrayLike) -> Handle:
    """Put a model into a world; `Model.add_to` calls it.

    Parameters
    ----------
    model : Model
    world : World
    name : str
    pose : ndarray, (4, 4)
        `world_from_model`.

    Returns
    -------
    Handle

    Examples
    --------
    >>> from clearance.simulation import World, models
    >>> world = World()
    >>> world.add("ground", HalfSpace([0, 0, 1], 0.0), motion="fixed")
    >>> truck = models.monster_truck().add_to(world, "truck")
    >>> truck.command(0.5, 0.0)
    >>> world.step(1000)
    >>> bool(0.4 < truck.state[0] < 0.5)
    True
    """
    names = [f"{name}/{body.name}" for body in model.bodies]
    if taken := set(names) & set(world.names):
        raise ValueError(f"there is a body '{min(taken)}' in the world already.")
    world_from_model = np.asarray(pose, dtype=np.float64)
    links: list[str] = []
    joints: list[str] = []
    for body in model.bodies:
        at, material = world_from_model @ body.pose, Material(friction=body.friction)
        world.add(f"{name}/{body.name}", body.shape, at, mass=body.mass, material=material, group=name)
    for body in model.bodies:
        chain = model.chain(body.name)
        moving = [joint for joint in chain if not joint.is_locked or joint.kind == "fixed"]
        if not chain:
            continue
        if len(moving) > 1 and all(joint.role == "hold" for joint in moving):
            joints.append(_join(world, name, "ball", chain[0].parent, body.name, moving[-1], world_from_model))
            continue
        carrier = chain[0].parent
        for joint in moving:
            child = body.name if joint is moving[-1] else joint.child
            if joint is not moving[-1]:
                links.append(f"{name}/{child}")
                at = world_from_model @ from_translation(joint.point)
                _add_link(world, links[-1], at, body, name)
            joints.append(_join(world, name, joint.kind, carrier, child, joint, world_from_model))
            carrier = child
    return _handle(model, world, name, (*names, *links), tuple(joints))


def _add_link(world: World, name: str, pose: Floats, child: ModelBody, group: str) -> None:
    """A body for a massless link: too small to touch anything, but not much easier to turn than what hangs on it."""
    mass, radius = LINK_SHARE * child.mass, child.shape.ball[1]
    turning = np.full(3, 0.4 * mass * radius**2)
    world.add(name, Sphere(LINK_SIZE), pose, mass=mass, inertia=turning, group=group, visible=False, collides=False)


def _join(
    world: World, name: str, kind: str, parent: str, child: str, joint: ModelJoint, world_from_model: Floats
) -> str:
    point = world_from_model[:3, :3] @ joint.point + world_from_model[:3, 3]
    axis = world_from_model[:3, :3] @ joint.axis
    limits = (joint.lower, joint.upper) if kind in ("hinge", "slide") and isfinite(joint.upper - joint.lower) else None
    world.join(f"{name}/{joint.name}", kind, f"{name}/{parent}", f"{name}/{child}", point, axis, limits=limits)
    return f"{name}/{joint.name}"


def _handle(model: Model, world: World, name: str, names: tuple[str, ...], joints: tuple[str, ...]) -> Handle:
    kinds = {Ackermann: AckermannHandle, DifferentialDrive: DifferentialHandle}
    handle = kinds.get(type(model.drive), Handle)(model, world, name, names, joints)
    handle.hold({joint.name: 0.0 for joint in model.joints if joint.role == "hold"})
    if isinstance(handle, AckermannHandle | DifferentialHandle):
        handle.command(0.0, 0.0)
    return handle
