"""How joints brake: where they can get to if they are told to in the next cycle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf, pi
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .mechanisms import Configuration
from .poses import as_floats
from .robots import Robot

__all__ = ["Braking"]

Floats = NDArray[np.float64]
LEAST_DECELERATION = 1e-9  # with less, joints stop nowhere

PerJoint: TypeAlias = ArrayLike | Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Braking:
    """What is known of how joints brake.

    A joint may go on with its worst acceleration for a latency, and then slows down with at least its deceleration.
    Everything is in radians or metres and seconds: a number for all joints, one per velocity, or numbers by name of
    joint, where others keep the default. Equations 35 to 37 of Täubig, Bäuml and Frese (2011).

    Parameters
    ----------
    latency : float, array_like (nv,) or mapping
        Time from a measurement until braking begins if the next verdict says so: a cycle of the control loop, and what
        it takes to measure, to tell and to get the message through.
    acceleration : float, array_like (nv,) or mapping
        The worst until then.
    deceleration : float, array_like (nv,) or mapping
        The least from then on.
    uncertainty : float, array_like (nv,) or mapping
        Of measured positions.
    command_error : float, array_like (nv,) or mapping
        How far accelerations may be from what is commanded, where that is known.

    Examples
    --------
    >>> slide = Robot([Link("rail"), Link("cart")], [Joint("x", "prismatic", "rail", "cart", axis=[1, 0, 0])])
    >>> low, high = Braking(latency=0.01, acceleration=20.0, deceleration=20.0).intervals(slide, [0.0], [1.0])
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([0.0], [0.047])
    """

    latency: PerJoint = 0.01
    acceleration: PerJoint = 20.0
    deceleration: PerJoint = 20.0
    uncertainty: PerJoint = 0.0
    command_error: PerJoint = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            said = getattr(self, field.name)
            for number in said.values() if isinstance(said, Mapping) else [said]:
                _check(field.name, as_floats(number, field.name))

    def intervals(
        self, robot: Robot, q: Configuration, qd: ArrayLike, command: ArrayLike | None = None
    ) -> tuple[Floats, Floats]:
        """Tell where joints can get to until they stand still.

        Parameters
        ----------
        robot : Robot
            Its limits are respected, unless a joint is at one or beyond it already.
        q : array_like, (dof,), or mapping of str to float
        qd : array_like, (nv,)
        command : array_like, (nv,), optional
            Accelerations until braking begins, if they are known.

        Returns
        -------
        q_low, q_high : ndarray, (dof,)
            As `sweep` takes them.
        """
        if isinstance(q, Mapping):
            q = whole_configuration(robot, q)
        row, dims = robot._rows(q)
        if dims != ():
            raise ValueError(f"intervals takes one configuration, but there are {dims}.")
        given = None if command is None else velocities_of(robot, command, "command")
        box, _ = _core.braking_box(
            robot._kinematics.tree,
            self.columns(robot),
            robot.lower.tolist(),
            robot.upper.tolist(),
            row[0],
            velocities_of(robot, qd, "qd"),
            given,
        )
        return _ends_of(robot, box)

    def columns(self, robot: Robot) -> list[list[float]]:
        """Give all numbers by velocity of a robot, in the order of the parameters."""
        return [self._column(robot, field.name).tolist() for field in fields(self)]

    def _column(self, robot: Robot, name: str) -> Floats:
        said = getattr(self, name)
        if isinstance(said, Mapping):
            column = np.full(robot.nv, getattr(type(self), name))
            for joint, number in said.items():
                at = _velocities_of_joint(robot, joint)
                numbers = as_floats(number, name)
                if numbers.shape not in ((), (at.stop - at.start,)):
                    raise ValueError(f"{name} of joint '{joint}' must be a number, but it is {number!r:.100}.")
                column[at] = numbers
        else:
            column = as_floats(said, name)
            if column.shape not in ((), (robot.nv,)):
                raise ValueError(f"{name} must be a number or have shape ({robot.nv},), but it has {column.shape}.")
            column = np.broadcast_to(column, (robot.nv,))
        return column


def _check(name: str, numbers: Floats) -> None:
    least = LEAST_DECELERATION if name == "deceleration" else 0.0
    if not ((numbers >= least) & (numbers < inf)).all():
        what = f"positive, at least {least:g}" if name == "deceleration" else "not negative"
        raise ValueError(f"{name} must be finite and {what}, but it is {numbers}.")


def whole_configuration(robot: Robot, values: Mapping[str, Any]) -> Floats:
    """Make a configuration of values of all joints.

    Parameters
    ----------
    robot : Robot
    values : mapping of str to float or array_like
        None of the joints may be left out: where they are has been measured. They need not be finite.

    Returns
    -------
    ndarray, (dof,)
    """
    missing = [joint for joint in robot.joint_names if joint not in values]
    if missing:
        raise KeyError(f"q must have values of all joints, but there is none of '{missing[0]}'.")
    known = {joint: np.nan_to_num(as_floats(value, f"q['{joint}']")) for joint, value in values.items()}
    q = robot.configuration(known)
    for joint in robot._kinematics.active:
        first = robot._kinematics.first_value[joint.name]
        q[first : first + joint.values] = values[joint.name]
    return q


def velocities_of(robot: Robot, given: ArrayLike, name: str) -> Floats:
    """Read velocities or accelerations of all joints.

    Parameters
    ----------
    robot : Robot
    given : array_like, (nv,)
    name : str
        For messages.

    Returns
    -------
    ndarray, (nv,)
    """
    if isinstance(given, Mapping):
        raise TypeError(f"{name} must be an array of {robot.nv} numbers, not a mapping.")
    array = as_floats(given, name)
    if array.shape != (robot.nv,):
        raise ValueError(f"{name} must have shape ({robot.nv},), but it has {array.shape}.")
    return array


def _velocities_of_joint(robot: Robot, name: str) -> slice:
    first = 0
    for joint in robot._kinematics.active:
        if joint.name == name:
            return slice(first, first + joint.velocities)
        first += joint.velocities
    raise KeyError(f"there is no joint '{name}' to brake; there are {', '.join(robot.joint_names)}.")


def _ends_of(robot: Robot, box: _core.JointBox) -> tuple[Floats, Floats]:
    """Turn a box of the core into two configurations: turns of a floating joint go as far either way."""
    low, high = np.array(box.low), np.array(box.high)
    for joint in robot._kinematics.active:
        if joint.quaternion is None:
            continue
        first = robot._kinematics.first_value[joint.name] + joint.quaternion.start
        middle, angle = low[first : first + 4].copy(), float(high[first])
        if angle > 0.5 * pi:
            raise ValueError(
                f"joint '{joint.name}' may turn by {angle:.3g} rad until it stands: no interval covers that."
            )
        cosine, sine = np.cos(0.5 * angle), np.sin(0.5 * angle)
        x, y, z, w = middle / np.linalg.norm(middle)
        # By the angle about the x axis of the body, either way.
        for end, side in ((low, -sine), (high, sine)):
            end[first : first + 4] = [
                cosine * x + side * w,
                cosine * y + side * z,
                cosine * z - side * y,
                cosine * w - side * x,
            ]
    return low, high
