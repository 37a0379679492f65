"""Range sensors other than laser scanners: a light barrier, an ultrasonic sensor, a depth camera."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from math import cos, inf, pi, tan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import poses
from .depth_buffer import Grid
from .queries import collides
from .rays import RayTarget, Target
from .scan_noise import Noise
from .scanner import (
    Names,
    bodies_of,
    check_count,
    check_sensor,
    look,
    measured,
    numbers_of,
    one_pose,
    settle,
    several,
)
from .shapes import Cone, Placed

__all__ = ["DepthCamera", "DepthImage", "Echo", "LightBarrier", "Ultrasound"]

Floats: TypeAlias = NDArray[np.float64]
BISECTIONS = 30  # of the range of an ultrasonic sensor: to a billionth of it


@dataclass(frozen=True, eq=False)
class LightBarrier:
    """A beam of light that tells whether anything is in its way, but not where.

    Attributes
    ----------
    length : float
        Of the beam, in metres.
    mount : pose, optional
        `body_from_sensor`; the beam runs along its x.
    hidden : str, int, or several
        Bodies that the light passes through.

    Examples
    --------
    >>> barrier = LightBarrier(2.0)
    >>> barrier.is_blocked(Sphere(0.1).at([1.5, 0.0, 0.0])), barrier.is_blocked(Sphere(0.1).at([2.5, 0.0, 0.0]))
    (True, False)
    """

    length: float
    _: KW_ONLY
    mount: Any = None
    hidden: Names = ()

    def __post_init__(self) -> None:
        if not 0.0 < self.length < inf:
            raise ValueError(f"length must be positive and finite, but it is {self.length!r}.")
        settle(self)

    def is_blocked(self, target: Target, pose: Any = None, *, ignore: Names = ()) -> bool:
        """Tell whether anything is in the beam; whatever is found first ends the search.

        Parameters
        ----------
        target : Scene, Shape, Placed, several of them, RayTarget or World
        pose : pose, optional
            `world_from_body` of the body that carries the light.
        ignore : str, int, or several
            Bodies that the barrier is mounted on.

        Returns
        -------
        bool
        """
        sensor, bodies = one_pose(pose, "pose") @ self.mount, bodies_of(target)
        ignored = numbers_of(bodies, [*several(self.hidden), *several(ignore)])
        found = bodies.cast(sensor[:3, 3], sensor[:3, 0], self.length, any_hit=True, ignore=ignored)
        return bool(found.is_hit)


@dataclass(frozen=True)
class Echo:
    """What an ultrasonic sensor hears.

    Attributes
    ----------
    range : float
        In metres: `upper`, but inf beyond `range_max` and -inf below `range_min`.
    lower, upper : float
        Proved: nothing within the cone is nearer than the one, and something is not farther than the other. Where
        nothing is, that is up to `range_max`, and inf.
    index : int
        Which body, -1 for none.
    """

    range: float
    lower: float
    upper: float
    index: int


@dataclass(frozen=True, eq=False)
class Ultrasound:
    """An ultrasonic sensor: how far away the nearest thing is within a cone.

    Every surface is taken to reflect, whichever way it faces, and sound to travel straight out and back. A bundle of
    rays finds something near; cones that touch nothing prove what cannot be nearer, so that a wire between two rays
    is not missed.

    Attributes
    ----------
    angle : float
        Opening of the cone from side to side, in radians, below pi.
    range_min, range_max : float
        In metres.
    rings : int
        Of rays about the axis.
    mount : pose, optional
        `body_from_sensor`; the cone opens along its x.
    hidden : str, int, or several
        Bodies that do not reflect.

    Examples
    --------
    >>> sonar = Ultrasound(angle=0.5, range_max=4.0)
    >>> echo = sonar.listen(Cylinder(0.01, 2.0).at([2.0, 0.3, 0.0]))
    >>> echo.lower <= np.hypot(2.0, 0.3) - 0.01 <= echo.upper < 2.02
    True
    """

    angle: float = pi / 6.0
    _: KW_ONLY
    range_min: float = 0.02
    range_max: float = 5.0
    rings: int = 8
    mount: Any = None
    hidden: Names = ()

    def __post_init__(self) -> None:
        if not 0.0 < self.angle < pi:
            raise ValueError(f"angle must be positive and below pi radians, but it is {self.angle!r}.")
        check_count("rings", self.rings)
        check_sensor(self.range_min, self.range_max, 1.0, "rays")
        if self.range_max == inf:
            raise ValueError("range_max must be finite, but it is inf.")
        settle(self)

    @cached_property
    def directions(self) -> Floats:
        """Unit vectors along the rays (n, 3), in the frame of the sensor."""
        tilts = [0.0] + [0.5 * self.angle * k / self.rings for k in range(1, self.rings + 1) for _ in range(6 * k)]
        turns = [0.0] + [2.0 * pi * j / (6 * k) for k in range(1, self.rings + 1) for j in range(6 * k)]
        tilt, turn = np.array(tilts), np.array(turns)
        return np.stack([np.cos(tilt), np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn)], axis=-1)

    def listen(self, target: Target, pose: Any = None, *, ignore: Names = ()) -> Echo:
        """Find the nearest thing within the cone.

        Parameters
        ----------
        target : Scene, Shape, Placed, several of them, RayTarget or World
        pose : pose, optional
            `world_from_body` of the body that carries the sensor.
        ignore : str, int, or several
            Bodies that it is mounted on.

        Returns
        -------
        Echo
        """
        sensor, bodies = one_pose(pose, "pose") @ self.mount, bodies_of(target)
        ignored = numbers_of(bodies, [*several(self.hidden), *several(ignore)])
        hits = bodies.cast(sensor[:3, 3], self.directions @ sensor[:3, :3].T, self.range_max, ignore=ignored)
        nearest = int(np.argmin(hits.distance))
        seen, number = float(hits.distance[nearest]), int(hits.index[nearest])
        clear, reached, touched = self._first_touch(bodies, sensor, ignored, min(seen, self.range_max))
        # What lies within the cone at some depth along its axis is at most this much farther from the tip.
        upper, number = min((seen, number), (reached / cos(0.5 * self.angle), touched))
        heard = -inf if upper < self.range_min else inf if upper > self.range_max else upper
        return Echo(heard, min(clear, upper), upper, number)

    def _first_touch(
        self, bodies: RayTarget, sensor: Floats, ignored: list[int], farthest: float
    ) -> tuple[float, float, int]:
        """Bisect how long a cone may be until it touches something: clear up to here, touched by there, by what."""
        if farthest == 0.0:
            return 0.0, inf, -1
        parts = [
            (k, shape.at(at))
            for k, (shape, at) in enumerate(zip(bodies.shapes, bodies.poses, strict=True))
            if k not in ignored
        ]
        touched = [(k, part) for k, part in parts if collides(self._cone(farthest, sensor), part)]
        if not touched:
            return farthest, inf, -1
        clear, reached = 0.0, farthest
        for _ in range(BISECTIONS):
            length = 0.5 * (clear + reached)
            met = [(k, part) for k, part in touched if collides(self._cone(length, sensor), part)]
            clear, reached, touched = (clear, length, met) if met else (length, reached, touched)
        return clear, reached, touched[0][0]

    def _cone(self, length: float, sensor: Floats) -> Placed:
        placed: Placed = Cone(length * tan(0.5 * self.angle), length).at(
            sensor @ poses.from_rpy([0.0, -0.5 * pi, 0.0], translation=[0.5 * length, 0.0, 0.0])
        )
        return placed


@dataclass(frozen=True, eq=False, repr=False)
class DepthImage:
    """What a depth camera has measured; the first row is the topmost, the first column the leftmost.

    Attributes
    ----------
    depth : ndarray of float32, (height, width)
        Along the axis of the camera, in metres; inf, -inf and NaN as in ranges.
    ranges : ndarray of float32, (height, width)
        Along the ray of the pixel, in metres; as REP 117 says, inf is no return, -inf nearer than `range_min`.
    index : ndarray of int32, (height, width)
        Which body, -1 for none.
    points : ndarray, (height, width, 3)
        In the world, NaN where there is none.
    stamp : float
        When it was taken, in seconds.
    """

    depth: NDArray[np.float32]
    ranges: NDArray[np.float32]
    index: NDArray[np.int32]
    points: Floats
    stamp: float

    def __repr__(self) -> str:
        height, width = self.depth.shape
        return f"DepthImage({width} x {height}, {np.count_nonzero(np.isfinite(self.depth))} returns)"


@dataclass(frozen=True, eq=False)
class DepthCamera:
    """A camera that measures depth: a pinhole, square pixels.

    Attributes
    ----------
    width, height : int
        In pixels.
    fov : float
        Horizontal, from edge to edge of the image, in radians, below pi.
    range_min, range_max : float
        In metres along the rays.
    mount : pose, optional
        `body_from_sensor`; the camera looks along its x, y is left, z is up.
    rate : float
        Images a second.
    noise : Noise, optional
        Of the ranges.
    hidden : str, int, or several
        Bodies that the camera does not see.
    method : {"rays", "depth"}
        As for a laser scanner.

    Examples
    --------
    >>> camera = DepthCamera(4, 3, fov=1.0)
    >>> image = camera.image(Box([1.0, 9.0, 9.0]).at([2.5, 0.0, 0.0]))
    >>> image.depth.round(5).tolist()[0]
    [2.0, 2.0, 2.0, 2.0]
    """

    width: int = 160
    height: int = 120
    fov: float = pi / 3.0
    _: KW_ONLY
    range_min: float = 0.0
    range_max: float = 10.0
    mount: Any = None
    rate: float = 30.0
    noise: Noise | None = None
    hidden: Names = ()
    method: str = "rays"

    def __post_init__(self) -> None:
        check_count("width", self.width)
        check_count("height", self.height)
        if not 0.0 < self.fov < pi:
            raise ValueError(f"fov must be positive and below pi radians, but it is {self.fov!r}.")
        check_sensor(self.range_min, self.range_max, self.rate, self.method)
        settle(self)

    @property
    def focal_length(self) -> float:
        """In pixels."""
        return 0.5 * self.width / tan(0.5 * self.fov)

    @property
    def intrinsics(self) -> Floats:
        """The camera matrix (3, 3): pixels are counted from the centre of the first, x is right, y down, z ahead."""
        f = self.focal_length
        return np.array([[f, 0.0, 0.5 * (self.width - 1)], [0.0, f, 0.5 * (self.height - 1)], [0.0, 0.0, 1.0]])

    @cached_property
    def grid(self) -> Grid:
        """The rays of the pixels in the frame of the sensor."""
        step = 1.0 / self.focal_length
        right, down = (step * (np.arange(n) - 0.5 * (n - 1)) for n in (self.width, self.height))
        rays = np.stack(np.broadcast_arrays(1.0, -right, -down[:, None]), axis=-1)
        directions = rays / np.linalg.norm(rays, axis=-1, keepdims=True)
        return Grid(directions, True, (float(right[0]), float(down[0])), (step, step))

    def image(
        self,
        target: Target,
        pose: Any = None,
        *,
        ignore: Names = (),
        time: float = 0.0,
        rng: np.random.Generator | int | None = None,
    ) -> DepthImage:
        """Take an image.

        Parameters
        ----------
        target : Scene, Shape, Placed, several of them, RayTarget or World
        pose : pose, optional
            `world_from_body` of the body that carries the camera.
        ignore : str, int, or several
            Bodies that it is mounted on.
        time : float
            In seconds.
        rng : numpy.random.Generator or int, optional
            What noise is drawn from; its seed and the time unless given.

        Returns
        -------
        DepthImage
        """
        sensor, directions = one_pose(pose, "pose") @ self.mount, self.grid.directions
        masked = [*several(self.hidden), *several(ignore)]
        true, bodies = look(target, sensor, self.grid, self.range_max, masked, self.method)
        ranges = measured(true, self.range_min, self.range_max, self.noise, time, rng)
        finite = np.where(np.isfinite(ranges), ranges, np.nan)[..., None]
        return DepthImage(
            depth=(ranges * directions[..., 0]).astype(np.float32),
            ranges=ranges,
            index=bodies,
            points=sensor[:3, 3] + finite * (directions @ sensor[:3, :3].T),
            stamp=float(time),
        )
