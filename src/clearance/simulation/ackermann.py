"""Vehicles that steer like cars: how their wheels have to steer and turn so that all of them roll.

After K. Petersen, Effiziente Kollisionserkennung und echtzeitfähige Simulation der Kinematik, Dynamik und Sensorik
autonomer Fahrzeuge, 2007, section 6.2. A vehicle moves in the plane; its state is (x, y, yaw), its frame has x ahead
and y to the left, and angles are positive to the left, so that one formula serves for left and right, forwards and
backwards. Everything broadcasts over leading dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan, inf, pi

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
    not_negative,
    positive,
    refuse_sliding,
    rolled,
    rows,
    times,
)

__all__ = ["Ackermann"]


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
        keep(self, positive, "wheel_base", "track", "wheel_radius")
        keep(self, limit, "max_speed", "max_steering_rate")
        if self.max_steering is not None:
            keep(self, limit, "max_steering")
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
        angles = finite(angle, "angle")
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
        motion = rows(twist, "twist", 3)
        refuse_sliding(motion)
        ahead, turning = motion[..., 0], motion[..., 2]
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
        return along_arc(state, *times(twist[..., [0, 2]], duration))

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
        return rolled(state, turns, self.wheel_radius, self.track)

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
        angle = np.clip(finite(steering, "steering"), -most, most)
        if before is not None:
            start = finite(before, "before")
            change = self.max_steering_rate * not_negative(duration, "duration") if duration else 0.0
            angle = start + np.clip(angle - start, -change, change)
        return np.clip(finite(speed, "speed"), -self.max_speed, self.max_speed)[()], angle[()]

    def _directions(self, steering: ArrayLike) -> tuple[Floats, Floats]:
        """Velocities of the wheels along and across the vehicle for a speed of one: along is above zero."""
        curvature = np.asarray(self.curvature(steering))[..., None]
        x, y = self.wheels.T
        return 1.0 - curvature * y, curvature * x

    def _checked(self, steering: ArrayLike) -> Floats:
        angle = finite(steering, "steering")
        beyond = np.abs(angle) >= self.sharpest
        if beyond.any():
            told = f"below {self.sharpest:.6g}: the centre of the turn would lie between the wheels"
            raise ValueError(f"steering must be {told}, but it is {angle[beyond].flat[0]!r}.")
        if self.max_steering is not None:
            check_limit(angle, self.max_steering, "steering")
        return angle[()]

    def _speed(self, speed: ArrayLike) -> Floats:
        return check_limit(finite(speed, "speed"), self.max_speed, "speed")[()]
