"""Vehicles whose wheels do not steer: they turn because those of one side are faster.

After K. Petersen, Effiziente Kollisionserkennung und echtzeitfähige Simulation der Kinematik, Dynamik und Sensorik
autonomer Fahrzeuge, 2007, section 6.1. A vehicle moves in the plane; its state is (x, y, yaw), its frame has x ahead
and y to the left, and angles are positive to the left, so that one formula serves for left and right, forwards and
backwards. Everything broadcasts over leading dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, pi

import numpy as np
from numpy.typing import ArrayLike

from .rolling import (
    ROUNDING,
    Floats,
    along_arc,
    check_limit,
    finite,
    keep,
    limit,
    positive,
    refuse_sliding,
    rolled,
    rows,
    times,
)

__all__ = ["Caster", "DifferentialDrive"]

HALVINGS = 200  # of an interval, until doubles between its ends run out


@dataclass(frozen=True)
class Caster:
    """A wheel that is dragged along: its fork turns about an upright axis ahead of it.

    Parameters
    ----------
    x : float
        Where the axis of the fork is, ahead of the driven wheels; negative behind them.
    trail : float
        How far the wheel is behind that axis.
    radius : float
        Of the wheel.
    """

    x: float
    trail: float
    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", float(finite(self.x, "x")))
        keep(self, positive, "trail", "radius")


@dataclass(frozen=True)
class DifferentialDrive:
    """A vehicle whose wheels do not steer: it turns because those of one side are faster.

    With one axle, two wheels that roll carry it, together with a caster. With several axles all wheels are driven,
    those of one side equally fast, and they cannot all roll in a turn: they scrub, the faster the farther they are from
    the middle. Friction then slows the turn, as if the wheels were farther apart: the vehicle has an effective track.
    It follows from the balance of dry friction forces in slow motion, whatever the coefficient of friction, if both
    sides carry the same load.

    The frame of the vehicle is in the middle between the wheels, and its speed is that of this point. Wheels are in
    the order left, right.

    Parameters
    ----------
    track : float
        From the left wheels to the right wheels, in metres.
    wheel_radius : float
    axles : sequence of float
        How far ahead of the middle the axles are, symmetric about zero: what is ahead is also behind.
    loads : sequence of float, optional
        What share of the weight each axle carries, symmetric as well; equal shares unless given.
    caster : Caster, optional
    max_speed : float
        In m/s, forwards and backwards.
    max_turn_rate : float
        In rad/s.

    Examples
    --------
    >>> pioneer = DifferentialDrive(track=0.33, wheel_radius=0.0825)
    >>> pioneer.wheel_speeds(0.4, 1.0).round(3)
    array([2.848, 6.848])
    >>> pioneer.twist([2.0, -2.0])
    array([ 0.,  0., -1.])
    >>> volksbot = DifferentialDrive(track=0.4, wheel_radius=0.13, axles=[0.2, 0.0, -0.2])
    >>> round(volksbot.effective_track, 3)
    0.581
    """

    track: float
    wheel_radius: float
    axles: tuple[float, ...] = (0.0,)
    loads: tuple[float, ...] | None = None
    caster: Caster | None = None
    max_speed: float = inf
    max_turn_rate: float = inf

    def __post_init__(self) -> None:
        keep(self, positive, "track", "wheel_radius")
        keep(self, limit, "max_speed", "max_turn_rate")
        axles = finite(self.axles, "axles")
        if axles.ndim != 1 or not len(axles) or not _is_symmetric(axles, -1.0):
            raise ValueError(f"axles must be some numbers, symmetric about zero, but it is {self.axles!r:.200}.")
        loads = np.full(len(axles), 1.0 / len(axles)) if self.loads is None else finite(self.loads, "loads")
        if loads.shape != axles.shape or not (loads > 0.0).all() or not _is_symmetric(loads[np.argsort(axles)], 1.0):
            told = f"{len(axles)} numbers above zero, the same ahead and behind"
            raise ValueError(f"loads must be {told}, but it is {self.loads!r:.200}.")
        if not isinstance(self.caster, Caster | None):
            raise ValueError(f"caster must be a Caster, but it is {self.caster!r:.200}.")
        object.__setattr__(self, "axles", tuple(axles.tolist()))
        object.__setattr__(self, "loads", tuple((loads / loads.sum()).tolist()))

    @cached_property
    def effective_track(self) -> float:
        """How far apart wheels that do not scrub would be for the same turn; `track` if there is one axle.

        At unit yaw rate, wheels slip by u along and by x across. Friction forces have the direction of the slip, so
        the wheels turn the vehicle with a moment of load * (track / 2 * u - x²) / sqrt(u² + x²): zero in sum.
        """
        x, load = np.array(self.axles), np.array(self.loads)
        half, apart = 0.5 * self.track, x != 0.0
        held = half * load[~apart].sum() - (load * np.abs(x))[apart].sum()
        if held >= 0.0:
            return self.track  # the wheels in the middle do not slip
        low, high = 0.0, float((x**2).max()) / half
        for _ in range(HALVINGS):
            u = 0.5 * (low + high)
            moment = (load * (half * u - x**2) / np.hypot(u, x)).sum()
            low, high = (low, u) if moment >= 0.0 else (u, high)
        return self.track + 2.0 * high

    @property
    def wheels(self) -> Floats:
        """Where the driven wheels stand in the frame of the vehicle: (axles, 2, 2), left and right of each axle."""
        return np.array([[[x, 0.5 * self.track], [x, -0.5 * self.track]] for x in self.axles])

    def wheel_speeds(self, speed: ArrayLike, turn_rate: ArrayLike) -> Floats:
        """Turn the wheels for a motion.

        Parameters
        ----------
        speed : array_like, (...)
            In m/s, negative backwards.
        turn_rate : array_like, (...)
            In rad/s, positive to the left.

        Returns
        -------
        ndarray, (..., 2)
            Of all wheels on the left and on the right, in rad/s.
        """
        ahead, turning = self._command(speed, turn_rate)
        half = 0.5 * self.effective_track * turning
        return np.stack([ahead - half, ahead + half], axis=-1) / self.wheel_radius

    def twist(self, wheel_speeds: ArrayLike) -> Floats:
        """Tell how the vehicle moves: its velocity ahead and to the left, and its yaw rate.

        Parameters
        ----------
        wheel_speeds : array_like, (..., 2)
            Of the wheels on the left and on the right, in rad/s.

        Returns
        -------
        ndarray, (..., 3)
            In m/s, m/s and rad/s.
        """
        left, right = self.wheel_radius * np.moveaxis(rows(wheel_speeds, "wheel_speeds", 2), -1, 0)
        return np.stack([0.5 * (left + right), np.zeros_like(left), (right - left) / self.effective_track], axis=-1)

    def inverse(self, twist: ArrayLike) -> Floats:
        """Find the speeds of the wheels for a motion; the counterpart of `twist`.

        Parameters
        ----------
        twist : array_like, (..., 3)
            Nothing to the left: wheels would slide.

        Returns
        -------
        ndarray, (..., 2)
        """
        motion = rows(twist, "twist", 3)
        refuse_sliding(motion)
        return self.wheel_speeds(motion[..., 0], motion[..., 2])

    def advance(self, state: ArrayLike, speed: ArrayLike, turn_rate: ArrayLike, duration: ArrayLike) -> Floats:
        """Drive for some time without changing anything: along an arc, exactly.

        Parameters
        ----------
        state : array_like, (..., 3)
            x, y and yaw.
        speed, turn_rate : array_like, (...)
        duration : array_like, (...)
            In seconds; negative to go back in time.

        Returns
        -------
        ndarray, (..., 3)
            Yaw goes on beyond pi.
        """
        return along_arc(state, *times(np.stack(self._command(speed, turn_rate), axis=-1), duration))

    def odometry(self, state: ArrayLike, turns: ArrayLike) -> Floats:
        """Tell where the vehicle is after its wheels have turned at a constant ratio.

        Parameters
        ----------
        state : array_like, (..., 3)
        turns : array_like, (..., 2)
            By what angles the wheels on the left and on the right have turned, in radians.

        Returns
        -------
        ndarray, (..., 3)
        """
        return rolled(state, turns, self.wheel_radius, self.effective_track)

    def scrub(self, speed: ArrayLike, turn_rate: ArrayLike) -> Floats:
        """Tell at what velocities wheels slide over the ground.

        Parameters
        ----------
        speed, turn_rate : array_like, (...)

        Returns
        -------
        ndarray, (..., axles, 2, 2)
            Ahead and to the left, of the left and the right wheel of each axle. Zero if there is one axle.
        """
        ahead, turning = (value[..., None, None] for value in self._command(speed, turn_rate))
        rolled = self.wheel_radius * self.wheel_speeds(speed, turn_rate)[..., None, :]
        x, y = np.moveaxis(self.wheels, -1, 0)
        return np.stack(np.broadcast_arrays(ahead - turning * y - rolled, turning * x), axis=-1)

    def caster_motion(self, speed: ArrayLike, turn_rate: ArrayLike) -> tuple[Floats, Floats]:
        """Tell how the caster stands and turns once it has swung round.

        Parameters
        ----------
        speed, turn_rate : array_like, (...)

        Returns
        -------
        angle : ndarray, (...)
            Of the fork, zero if the wheel is dragged straight behind its axis. NaN if it never comes to rest: at rest,
            and in turns whose centre is nearer to the axis of the fork than the wheel.
        wheel_speed : ndarray, (...)
            In rad/s, not negative.
        """
        if self.caster is None:
            raise ValueError("the vehicle has no caster.")
        ahead, turning = self._command(speed, turn_rate)
        across = turning * self.caster.x
        fast = np.hypot(ahead, across)
        with np.errstate(divide="ignore", invalid="ignore"):
            swing = np.arcsin(turning * self.caster.trail / fast)
        angle = (np.arctan2(across, ahead) - swing + pi) % (2.0 * pi) - pi
        return angle, fast * np.cos(swing) / self.caster.radius

    def limited(self, speed: ArrayLike, turn_rate: ArrayLike) -> tuple[Floats, Floats]:
        """Clip a command to what the vehicle can do.

        Parameters
        ----------
        speed, turn_rate : array_like, (...)
            What is wanted.

        Returns
        -------
        speed, turn_rate : ndarray, (...)
        """
        ahead, turning = finite(speed, "speed"), finite(turn_rate, "turn_rate")
        most, sharpest = self.max_speed, self.max_turn_rate
        return np.clip(ahead, -most, most)[()], np.clip(turning, -sharpest, sharpest)[()]

    def _command(self, speed: ArrayLike, turn_rate: ArrayLike) -> tuple[Floats, Floats]:
        ahead = check_limit(finite(speed, "speed"), self.max_speed, "speed")
        turning = check_limit(finite(turn_rate, "turn_rate"), self.max_turn_rate, "turn_rate")
        ahead, turning = np.broadcast_arrays(ahead, turning)
        return ahead, turning


def _is_symmetric(values: Floats, sign: float) -> bool:
    ordered = np.sort(values) if sign < 0.0 else values
    return bool((np.abs(ordered - sign * ordered[::-1]) <= ROUNDING * np.abs(values).max()).all())
