"""Vehicles on wheels that roll: how wheels have to steer and turn for a motion, and what motion wheels make.

After K. Petersen, Effiziente Kollisionserkennung und echtzeitfähige Simulation der Kinematik, Dynamik und Sensorik
autonomer Fahrzeuge, 2007, sections 6.1 and 6.2. A vehicle moves in the plane; its state is (x, y, yaw), its frame has x
ahead and y to the left, and angles are positive to the left, so that one formula serves for left and right, forwards
and backwards. Everything broadcasts over leading dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import atan, inf, isfinite, pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..poses import as_floats

__all__ = ["Ackermann", "Caster", "DifferentialDrive"]

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # by which a command may be beyond a limit, relative to it
HALVINGS = 200  # of an interval, until doubles between its ends run out


@dataclass(frozen=True)
class Ackermann:
    """A vehicle whose front wheels steer so that the axes of all four wheels meet in one point.

    The point, the centre of the turn, lies on the line through the rear wheels. The frame of the vehicle is in the
    middle between these, and its speed is that of this point. One number tells how all wheels stand: the steering angle
    of a wheel in the middle between the front wheels, if there were one. Wheels are in the order front left, front
    right, rear left, rear right.

    Parameters
    ----------
    wheel_base : float
        From the rear axle to the front axle, in metres.
    track : float
        From the left wheels to the right wheels.
    wheel_radius : float
    max_steering : float, optional
        In radians, to either side. Unless given, and at most, the angle `sharpest` at which the centre of the turn
        comes to lie in a rear wheel.
    max_speed : float
        In m/s, forwards and backwards.
    max_steering_rate : float
        In rad/s. Only `limited` looks at it.

    Examples
    --------
    >>> truck = Ackermann(wheel_base=0.3, track=0.2, wheel_radius=0.08)
    >>> truck.wheel_angles(0.4).round(4)
    array([0.4574, 0.3549, 0.    , 0.    ])
    >>> truck.wheel_speeds(1.0, 0.4).round(2)
    array([11.97, 15.21, 10.74, 14.26])
    >>> round(truck.wheel_angles(truck.steering_of_wheel(-0.5, wheel=1))[1], 12)
    np.float64(-0.5)
    >>> truck.advance([0.0, 0.0, 0.0], 1.0, 0.4, np.pi * 0.3 / np.tan(0.4)).round(3) + 0.0  # half a circle
    array([0.   , 1.419, 3.142])
    """

    wheel_base: float
    track: float
    wheel_radius: float
    max_steering: float | None = None
    max_speed: float = inf
    max_steering_rate: float = inf

    def __post_init__(self) -> None:
        _keep(self, _positive, "wheel_base", "track", "wheel_radius")
        _keep(self, _limit, "max_speed", "max_steering_rate")
        if self.max_steering is not None:
            _keep(self, _limit, "max_steering")
            if self.max_steering >= self.sharpest:
                told = f"below {self.sharpest:.6g}, where the vehicle turns about one of its wheels"
                raise ValueError(f"max_steering must be {told}, but it is {self.max_steering!r}.")

    @property
    def sharpest(self) -> float:
        """The steering angle that is never reached: one of the rear wheels would turn on the spot."""
        return atan(2.0 * self.wheel_base / self.track)

    @property
    def wheels(self) -> Floats:
        """Where the wheels stand in the frame of the vehicle: (4, 2)."""
        half = 0.5 * self.track
        return np.array([[self.wheel_base, half], [self.wheel_base, -half], [0.0, half], [0.0, -half]])

    def curvature(self, steering: ArrayLike) -> Floats:
        """Tell how narrow a turn is: one over its radius in 1/m, positive to the left, zero straight ahead.

        Parameters
        ----------
        steering : array_like, (...)

        Returns
        -------
        ndarray, (...)
        """
        return np.asarray(np.tan(self._checked(steering)) / self.wheel_base)[()]

    def centre(self, steering: ArrayLike) -> Floats:
        """Find the centre of the turn in the frame of the vehicle.

        Parameters
        ----------
        steering : array_like, (...)

        Returns
        -------
        ndarray, (..., 2)
            At (0, infinity) straight ahead.
        """
        curvature = np.asarray(self.curvature(steering))
        with np.errstate(divide="ignore"):
            return np.stack([np.zeros_like(curvature), 1.0 / np.where(curvature == 0.0, 0.0, curvature)], axis=-1)

    def wheel_angles(self, steering: ArrayLike) -> Floats:
        """Steer the wheels so that all of them roll.

        Parameters
        ----------
        steering : array_like, (...)

        Returns
        -------
        ndarray, (..., 4)
            Rear wheels are at zero.
        """
        along, across = self._directions(steering)
        return np.arctan2(across, along)

    def wheel_speeds(self, speed: ArrayLike, steering: ArrayLike) -> Floats:
        """Turn the wheels so that all of them roll: as fast as their distances from the centre of the turn ask for.

        Parameters
        ----------
        speed : array_like, (...)
            In m/s, negative backwards.
        steering : array_like, (...)

        Returns
        -------
        ndarray, (..., 4)
            In rad/s.
        """
        along, across = self._directions(steering)
        return np.asarray(self._speed(speed))[..., None] * np.hypot(along, across) / self.wheel_radius

    def steering_of_wheel(self, angle: ArrayLike, wheel: int = 0) -> Floats:
        """Find the steering angle that goes with the angle of one of the front wheels.

        Parameters
        ----------
        angle : array_like, (...)
            In radians.
        wheel : {0, 1}
            Front left or front right.

        Returns
        -------
        ndarray, (...)
        """
        if isinstance(wheel, bool) or wheel not in (0, 1):
            raise ValueError(f"wheel must be 0 (front left) or 1 (front right), but it is {wheel!r}.")
        angles = _finite(angle, "angle")
        if (np.abs(angles) >= 0.5 * pi).any():
            raise ValueError(f"angle must be between -pi / 2 and pi / 2, but it is {angle!r:.200}.")
        x, y = self.wheels[wheel]
        slope = np.tan(angles)
        return self._checked(np.arctan2(self.wheel_base * slope, x + slope * y))

    def twist(self, speed: ArrayLike, steering: ArrayLike) -> Floats:
        """Tell how the vehicle moves: its velocity ahead and to the left, and its yaw rate.

        Parameters
        ----------
        speed, steering : array_like, (...)

        Returns
        -------
        ndarray, (..., 3)
            In m/s, m/s and rad/s.
        """
        ahead = np.asarray(self._speed(speed))
        turning = ahead * self.curvature(steering)
        return np.stack([np.broadcast_to(ahead, turning.shape), np.zeros_like(turning), turning], axis=-1)

    def inverse(self, twist: ArrayLike) -> tuple[Floats, Floats]:
        """Find speed and steering for a motion; the counterpart of `twist`.

        Parameters
        ----------
        twist : array_like, (..., 3)
            Nothing to the left, and no turning on the spot: wheels would slide. At rest wheels stand straight.

        Returns
        -------
        speed, steering : ndarray, (...)
        """
        ahead, left, turning = np.moveaxis(_rows(twist, "twist", 3), -1, 0)
        if (np.abs(left) > ROUNDING * np.abs(ahead)).any():
            raise ValueError(f"a twist to the left would make wheels slide, but it is {twist!r:.200}.")
        if ((ahead == 0.0) & (turning != 0.0)).any():
            raise ValueError(f"the vehicle cannot turn on the spot, but the twist is {twist!r:.200}.")
        steering = np.arctan2(self.wheel_base * turning * np.sign(ahead), np.where(ahead == 0.0, 1.0, np.abs(ahead)))
        return self._speed(ahead), self._checked(steering)

    def advance(self, state: ArrayLike, speed: ArrayLike, steering: ArrayLike, duration: ArrayLike) -> Floats:
        """Drive for some time without changing anything: along an arc, exactly.

        Parameters
        ----------
        state : array_like, (..., 3)
            x, y and yaw.
        speed, steering : array_like, (...)
        duration : array_like, (...)
            In seconds; negative to go back in time.

        Returns
        -------
        ndarray, (..., 3)
            Yaw goes on beyond pi.
        """
        twist = self.twist(speed, steering)
        return _along_arc(state, *_times(twist[..., [0, 2]], duration))

    def odometry(self, state: ArrayLike, turns: ArrayLike) -> Floats:
        """Tell where the vehicle is after its rear wheels have turned at a constant ratio.

        The rear wheels do not steer, so they tell the way and the turn; no steering angle is needed.

        Parameters
        ----------
        state : array_like, (..., 3)
        turns : array_like, (..., 2)
            By what angles the rear left and the rear right wheel have turned, in radians.

        Returns
        -------
        ndarray, (..., 3)
        """
        return _rolled(state, turns, self.wheel_radius, self.track)

    def limited(
        self, speed: ArrayLike, steering: ArrayLike, before: ArrayLike | None = None, duration: float = 0.0
    ) -> tuple[Floats, Floats]:
        """Clip a command to what the vehicle can do.

        Parameters
        ----------
        speed, steering : array_like, (...)
            What is wanted.
        before : array_like, (...), optional
            The steering angle at present. Unless given, any angle is reached at once.
        duration : float
            Time to get from there to the steering angle that is wanted, in seconds.

        Returns
        -------
        speed, steering : ndarray, (...)
        """
        most = (1.0 - ROUNDING) * self.sharpest if self.max_steering is None else self.max_steering
        angle = np.clip(_finite(steering, "steering"), -most, most)
        if before is not None:
            start = _finite(before, "before")
            change = self.max_steering_rate * _not_negative(duration, "duration") if duration else 0.0
            angle = start + np.clip(angle - start, -change, change)
        return np.clip(_finite(speed, "speed"), -self.max_speed, self.max_speed)[()], angle[()]

    def _directions(self, steering: ArrayLike) -> tuple[Floats, Floats]:
        """Velocities of the wheels along and across the vehicle for a speed of one: along is above zero."""
        curvature = np.asarray(self.curvature(steering))[..., None]
        x, y = self.wheels.T
        return 1.0 - curvature * y, curvature * x

    def _checked(self, steering: ArrayLike) -> Floats:
        angle = _finite(steering, "steering")
        beyond = np.abs(angle) >= self.sharpest
        if beyond.any():
            told = f"below {self.sharpest:.6g}: the centre of the turn would lie between the wheels"
            raise ValueError(f"steering must be {told}, but it is {angle[beyond].flat[0]!r}.")
        if self.max_steering is not None:
            _check_limit(angle, self.max_steering, "steering")
        return angle[()]

    def _speed(self, speed: ArrayLike) -> Floats:
        return _check_limit(_finite(speed, "speed"), self.max_speed, "speed")[()]


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
        object.__setattr__(self, "x", float(_finite(self.x, "x")))
        _keep(self, _positive, "trail", "radius")


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
        _keep(self, _positive, "track", "wheel_radius")
        _keep(self, _limit, "max_speed", "max_turn_rate")
        axles = _finite(self.axles, "axles")
        if axles.ndim != 1 or not len(axles) or not _is_symmetric(axles, -1.0):
            raise ValueError(f"axles must be some numbers, symmetric about zero, but it is {self.axles!r:.200}.")
        loads = np.full(len(axles), 1.0 / len(axles)) if self.loads is None else _finite(self.loads, "loads")
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
        left, right = self.wheel_radius * np.moveaxis(_rows(wheel_speeds, "wheel_speeds", 2), -1, 0)
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
        ahead, left, turning = np.moveaxis(_rows(twist, "twist", 3), -1, 0)
        if (np.abs(left) > ROUNDING * np.abs(ahead)).any():
            raise ValueError(f"a twist to the left would make wheels slide, but it is {twist!r:.200}.")
        return self.wheel_speeds(ahead, turning)

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
        return _along_arc(state, *_times(np.stack(self._command(speed, turn_rate), axis=-1), duration))

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
        return _rolled(state, turns, self.wheel_radius, self.effective_track)

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
        ahead, turning = _finite(speed, "speed"), _finite(turn_rate, "turn_rate")
        most, sharpest = self.max_speed, self.max_turn_rate
        return np.clip(ahead, -most, most)[()], np.clip(turning, -sharpest, sharpest)[()]

    def _command(self, speed: ArrayLike, turn_rate: ArrayLike) -> tuple[Floats, Floats]:
        ahead = _check_limit(_finite(speed, "speed"), self.max_speed, "speed")
        turning = _check_limit(_finite(turn_rate, "turn_rate"), self.max_turn_rate, "turn_rate")
        ahead, turning = np.broadcast_arrays(ahead, turning)
        return ahead, turning


def _along_arc(state: ArrayLike, way: Floats, turn: Floats) -> Floats:
    """Where a vehicle gets that goes some way while it turns by some angle.

    The chord of an arc is sin(turn / 2) / (turn / 2) times as long, and has the direction of the arc's middle.
    """
    x, y, yaw = np.moveaxis(_rows(state, "state", 3), -1, 0)
    chord, heading = way * np.sinc(turn / (2.0 * pi)), yaw + 0.5 * turn
    moved = (x + chord * np.cos(heading), y + chord * np.sin(heading), yaw + turn)
    return np.stack(np.broadcast_arrays(*moved), axis=-1)


def _rolled(state: ArrayLike, turns: ArrayLike, radius: float, track: float) -> Floats:
    left, right = radius * np.moveaxis(_rows(turns, "turns", 2), -1, 0)
    return _along_arc(state, 0.5 * (left + right), (right - left) / track)


def _times(rates: Floats, duration: ArrayLike) -> tuple[Floats, Floats]:
    way, turn = np.moveaxis(rates * _finite(duration, "duration")[..., None], -1, 0)
    return way, turn


def _is_symmetric(values: Floats, sign: float) -> bool:
    ordered = np.sort(values) if sign < 0.0 else values
    return bool((np.abs(ordered - sign * ordered[::-1]) <= ROUNDING * np.abs(values).max()).all())


def _keep(value: Any, check: Any, *names: str) -> None:
    for name in names:
        object.__setattr__(value, name, check(getattr(value, name), name))


def _positive(value: float, name: str) -> float:
    if _not_negative(value, name) == 0.0:
        raise ValueError(f"{name} must be above zero, but it is {value!r}.")
    return float(value)


def _limit(value: float, name: str) -> float:
    return inf if value == inf else _positive(value, name)


def _not_negative(value: float, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 <= value < inf:
        raise ValueError(f"{name} must be a number, finite and not negative, but it is {value!r}.")
    return float(value)


def _finite(value: ArrayLike, name: str) -> Floats:
    array = as_floats(value, name)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, but it is {value!r:.200}.")
    return array


def _rows(value: ArrayLike, name: str, length: int) -> Floats:
    array = _finite(value, name)
    if array.shape[-1:] != (length,):
        raise ValueError(f"{name} must have {length} numbers in its last dimension, but its shape is {array.shape}.")
    return array


def _check_limit(values: Floats, most: float, name: str) -> Floats:
    beyond = np.abs(values) > (1.0 + ROUNDING) * most if isfinite(most) else np.zeros(values.shape, dtype=bool)
    if beyond.any():
        raise ValueError(f"{name} must be from {-most:g} to {most:g}, but it is {values[beyond].flat[0]!r}.")
    return values
