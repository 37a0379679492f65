"""Sliders for the joints of a robot."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, isfinite, log10, pi
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..links import Joint
from ..poses import from_rpy, from_xyzw, to_xyzw
from ..robots import Robot

__all__: list[str] = []

Floats = NDArray[np.float64]

FAR = 1.0  # metres that a joint without limits can be moved by
RPY = ("roll", "pitch", "yaw")


class _Knob(NamedTuple):
    """One slider: what it is called, and how far it goes."""

    label: str
    lower: float
    upper: float


class Joints:
    """Sliders on a server for the values of a configuration, within the limits of the joints.

    Quaternions are turned by roll, pitch and yaw. Joints that mimic others have no sliders: they follow.

    Parameters
    ----------
    server : viser.ViserServer
    robot : Robot
    q : ndarray, (dof,)
        Where they are at first.
    changed : callable
        Called without arguments whenever somebody has moved a slider.
    """

    def __init__(self, server: Any, robot: Robot, q: Floats, changed: Callable[[], None]) -> None:
        self._joints = [joint for joint in robot.joints if joint.values]
        self._q, self._changed, self._is_following = q.copy(), changed, False
        self._sliders: list[list[Any]] = []
        for joint, values in zip(self._joints, self._split(q), strict=True):
            knobs = zip(_knobs(joint, values), _shown(joint, values), strict=True)
            self._sliders.append([_slider(server, knob, value) for knob, value in knobs])
        self._seen = self._values()
        for slider in (slider for sliders in self._sliders for slider in sliders):
            slider.on_update(self._tell)

    @property
    def q(self) -> Floats:
        """The configuration that the sliders stand for; what was given is kept where no slider has moved."""
        values = self._values()
        parts = self._split(self._q)
        for k, joint in enumerate(self._joints):
            if values[k] != self._seen[k]:
                parts[k] = _values(joint, values[k])
        self._q, self._seen = np.concatenate([np.empty(0), *parts]), values
        return self._q.copy()

    @q.setter
    def q(self, q: Floats) -> None:
        self._q, self._is_following = q.copy(), True
        shown = [_shown(joint, values) for joint, values in zip(self._joints, self._split(q), strict=True)]
        for sliders, values in zip(self._sliders, shown, strict=True):
            for slider, value in zip(sliders, values, strict=True):
                slider.value = min(max(value, slider.min), slider.max)
        self._seen, self._is_following = self._values(), False

    def _tell(self, event: Any) -> None:
        # Sliders that follow the robot do not move it.
        if event.client is not None or not self._is_following:
            self._changed()

    def _values(self) -> list[list[float]]:
        return [[float(slider.value) for slider in sliders] for sliders in self._sliders]

    def _split(self, q: Floats) -> list[Floats]:
        return np.split(q, np.cumsum([joint.values for joint in self._joints])[:-1]) if self._joints else []


def _knobs(joint: Joint, values: Floats) -> list[_Knob]:
    """The sliders that a joint gets."""
    turning = [_Knob(f"{joint.name} {axis}", -pi, pi) for axis in RPY]
    places = [_Knob(f"{joint.name} {axis}", at - FAR, at + FAR) for axis, at in zip("xyz", values, strict=False)]
    if joint.kind == "planar":
        return [*places[:2], turning[2]]
    if joint.kind == "floating":
        return [*places, *turning]
    if joint.kind == "ball":
        return turning
    reach = FAR if joint.kind == "prismatic" else pi
    lower = joint.lower if isfinite(joint.lower) else min(values[0], joint.upper) - reach
    upper = joint.upper if isfinite(joint.upper) else max(values[0], joint.lower) + reach
    return [_Knob(joint.name, lower, upper)]


def _shown(joint: Joint, values: Floats) -> list[float]:
    """Values of a joint as its sliders show them."""
    if joint.quaternion is None:
        return [float(value) for value in values]
    turn = from_xyzw(values[joint.quaternion])
    pitch = -np.arcsin(np.clip(turn[2, 0], -1.0, 1.0))
    rpy = (np.arctan2(turn[2, 1], turn[2, 2]), pitch, np.arctan2(turn[1, 0], turn[0, 0]))
    return [float(value) for value in (*values[: joint.quaternion.start], *rpy)]


def _values(joint: Joint, shown: list[float]) -> Floats:
    """Values of a joint that its sliders stand for."""
    if joint.quaternion is None:
        return np.array(shown)
    return np.concatenate([shown[:-3], to_xyzw(from_rpy(shown[-3:]))])


def _slider(server: Any, knob: _Knob, value: float) -> Any:
    """A slider in round steps of about a thousandth of its way, which ends at the last steps within the limits."""
    if knob.upper <= knob.lower:
        return _Fixed(value, knob.lower, knob.upper)
    digits = ceil(log10(2000.0 / (knob.upper - knob.lower)))
    step = 10.0**-digits
    lower = round(ceil(knob.lower / step - 1e-6) * step, digits)
    upper = round(floor(knob.upper / step + 1e-6) * step, digits)
    shown = min(max(round(value, digits), lower), upper)
    return server.gui.add_slider(knob.label, lower, upper, step, shown)


class _Fixed:
    """What stands in for the slider of a joint that cannot move."""

    def __init__(self, value: float, lower: float, upper: float) -> None:
        self.value, self.min, self.max = value, lower, upper

    def on_update(self, changed: Callable[[Any], None]) -> None:
        """Never call anybody."""
