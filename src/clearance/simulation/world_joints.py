"""Joints of a world: what holds bodies together, and motors that move them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import poses
from .materials import LARGEST, Elastic, Hard, Soft, as_vector, checked_number
from .world_bodies import Bodies, Floats

__all__ = ["JointRecord", "JointedBodies"]

KINDS = ("hinge", "ball", "fixed", "slide")
FASTEST_TURN = 0.5  # radians in a step


@dataclass(frozen=True)
class JointRecord:
    """What a joint was made with, and what its motor does."""

    kind: str
    a: str | None
    b: str | None
    limits: tuple[float, float]
    task: str = "none"
    target: float = 0.0
    most: float = inf
    fastest: float = inf
    turn: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


class JointedBodies(Bodies):
    """Bodies that joints hold together; a `World` is made of them."""

    def __init__(
        self,
        gravity: ArrayLike,
        step: float,
        contact: Hard | Soft | Elastic | None,
        broad_phase: str,
        threads: int | None,
    ) -> None:
        super().__init__(gravity, step, contact, broad_phase, threads)
        self._joints: dict[str, JointRecord] = {}
        self._joint_numbers: dict[str, int] = {}

    def remove(self, name: str) -> None:
        """Remove a body, its contacts and its joints."""
        super().remove(name)
        self._joints = {key: joint for key, joint in self._joints.items() if name not in (joint.a, joint.b)}
        self._joint_numbers = {key: k for k, key in enumerate(self._joints)}

    def join(
        self,
        name: str,
        kind: str,
        a: str | None,
        b: str | None,
        point: ArrayLike,
        axis: ArrayLike | None = None,
        *,
        limits: tuple[float, float] | None = None,
    ) -> None:
        """Join two bodies where they are; they no longer touch each other.

        Parameters
        ----------
        name : str
            Of the joint.
        kind : {"hinge", "ball", "fixed", "slide"}
        a, b : str or None
            Bodies; None is the ground.
        point : array_like, (3,)
            In the world.
        axis : array_like, (3,), optional
            Of hinges and slides, in the world, of any length but zero. b turns about it, or moves along it, as seen
            from a.
        limits : (float, float), optional
            Least and largest value of a hinge in radians, of a slide in metres; now it is zero.
        """
        self._check_new(name, self._joints, "joint")
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, but it is {kind!r}.")
        numbers = [-1 if body is None else self._number(body) for body in (a, b)]
        if numbers[0] == numbers[1]:
            raise ValueError(
                f"joint '{name}' must join two bodies, or one with the ground, but it has {a!r} and {b!r}."
            )
        if not any(body is not None and self._bodies[body].motion == "dynamic" for body in (a, b)):
            raise ValueError(f"joint '{name}' joins two bodies that nothing moves: {a!r} and {b!r}.")
        if axis is None and kind in ("hinge", "slide"):
            raise ValueError(f"joint '{name}' is a {kind}: it needs an axis.")
        low, high = (-inf, inf) if limits is None else _limits(limits, name, kind)
        along = poses._unit((0.0, 0.0, 1.0) if axis is None else axis, "axis")
        number = self._world.join(kind, numbers[0], numbers[1], as_vector(point, "point"), along)
        if limits is not None:
            self._world.set_limits(number, float(low), float(high))
        self._joints[name] = JointRecord(kind, a, b, (float(low), float(high)))
        self._joint_numbers[name] = number

    def part(self, name: str) -> None:
        """Remove a joint; its bodies still pass through each other."""
        self._world.part(self._joint(name))
        record = self._joints[name]
        if record.a is not None and record.b is not None:
            self._ignored.append((record.a, record.b))
        del self._joints[name]
        self._joint_numbers = {key: k for k, key in enumerate(self._joints)}

    def drive(self, name: str, speed: float, torque: float = inf) -> None:
        """Let a motor turn a hinge, or move a slide, at a speed.

        Parameters
        ----------
        name : str
            Of the joint.
        speed : float
            In rad/s, or m/s.
        torque : float
            The most that the motor has, in N m, or N.
        """
        target = checked_number(speed, "speed", -LARGEST)
        if self._joint(name) >= 0 and self._joints[name].kind == "hinge" and abs(target) * self._step > FASTEST_TURN:
            most = FASTEST_TURN / self._step
            raise ValueError(f"speed must be at most {most:g} rad/s, half a radian in a step, but it is {speed!r}.")
        self._motor(name, "drive", target, torque, inf, np.eye(3), ("hinge", "slide"))

    def hold(self, name: str, value: ArrayLike = 0.0, torque: float = inf, *, speed: float = inf) -> None:
        """Let a motor bring a joint to a value and hold it there.

        Parameters
        ----------
        name : str
            Of the joint.
        value : float, or array_like, (3, 3) or (4, 4)
            In radians or metres; of a ball joint the rotation of b as seen from a.
        torque : float
            The most that the motor has, in N m, or N.
        speed : float
            The fastest it goes there, in rad/s or m/s.
        """
        fastest = speed if speed == inf else checked_number(speed, "speed", above=True)
        self._joint(name)
        if self._joints[name].kind == "ball":
            turn = np.asarray(value, dtype=np.float64)
            pose = np.eye(4)
            if turn.shape not in ((3, 3), (4, 4)):
                raise ValueError(f"a ball joint holds a rotation of shape (3, 3), but value has {turn.shape}.")
            pose[:3, :3] = turn[:3, :3]
            self._motor(name, "hold", 0.0, torque, fastest, pose[:3, :3], ("ball",))
        else:
            target = checked_number(value, "value", -LARGEST)
            self._motor(name, "hold", target, torque, fastest, np.eye(3), ("hinge", "slide"))

    def release(self, name: str) -> None:
        """Switch the motor of a joint off."""
        self._motor(name, "none", 0.0, inf, inf, np.eye(3), KINDS)

    def _motor(
        self, name: str, task: str, target: float, torque: float, fastest: float, turn: Floats, kinds: Sequence[str]
    ) -> None:
        number, record = self._joint(name), self._joints[name]
        if record.kind not in kinds:
            raise ValueError(f"joint '{name}' is of kind '{record.kind}', which cannot {task} that way.")
        most = torque if torque == inf else checked_number(torque, "torque")
        self._world.set_motor(number, task, target, most, fastest, _as_pose_of(turn))
        self._joints[name] = replace(
            record, task=task, target=target, most=most, fastest=fastest, turn=tuple(turn.ravel().tolist())
        )

    @property
    def joints(self) -> list[str]:
        """Names of the joints in the order of joining."""
        return list(self._joints)

    def joint_value(self, name: str) -> float:
        """Tell how far a hinge has turned, in radians and beyond full turns, or a slide has moved, in metres."""
        return self._world.joint_value(self._joint(name))

    def joint_speed(self, name: str) -> float:
        """Tell how fast a hinge turns, in rad/s, or a slide moves, in m/s."""
        return self._world.joint_speed(self._joint(name))

    def _joint(self, name: str) -> int:
        if name not in self._joints:
            raise KeyError(f"there is no joint '{name}' in the world.")
        return self._joint_numbers[name]


def _limits(limits: Any, name: str, kind: str) -> tuple[float, float]:
    try:
        low, high = (float(limit) for limit in limits)
    except (TypeError, ValueError) as error:
        raise ValueError(f"limits of joint '{name}' must be two numbers, but they are {limits!r}.") from error
    if kind not in ("hinge", "slide"):
        raise ValueError(f"joint '{name}' is of kind '{kind}', which has no limits; hinges and slides have.")
    if not low <= 0.0 <= high:
        raise ValueError(
            f"limits of joint '{name}' must hold its present value, which is zero, but they are {limits!r}."
        )
    return low, high


def _as_pose_of(turn: Floats) -> Floats:
    pose = np.eye(4)
    pose[:3, :3] = turn
    return pose
