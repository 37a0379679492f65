"""Laser scanners: beams out, ranges in, as NumPy arrays and with the fields of a ROS message."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cache, cached_property
from math import floor, inf, isfinite, pi
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .depth_buffer import Grid, depth_buffer
from .poses import as_poses, inverse
from .rays import RayTarget, Target, _target_of
from .scan_noise import Noise
from .shapes import Placed, Shape

__all__ = ["LaserScanner", "Scan"]

Floats: TypeAlias = NDArray[np.float64]
Names: TypeAlias = str | int | Iterable[str | int]
NO_POINT = np.full(3, np.nan)
MOST_BEAMS = 100_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Scan:
    """What a laser scanner has measured, with the fields of `sensor_msgs/LaserScan` and some more.

    Attributes
    ----------
    ranges : ndarray of float32, (beams,) or (rows, beams)
        In metres. As REP 117 says: inf is no return, -inf is nearer than `range_min`, NaN is a beam that was lost.
    index : ndarray of int32, (beams,) or (rows, beams)
        Which body was hit: its number in the scene or list, -1 for none.
    angle_min, angle_max, angle_increment : float
        Of the first beam, of the last one, and from one to the next; radians about z, counter-clockwise from x.
    time_increment, scan_time : float
        In seconds: from one beam to the next, which is 0 since all are taken at once, and from scan to scan.
    range_min, range_max : float
        In metres.
    intensities : ndarray of float32, (0,)
        Empty.
    stamp : float
        When it was taken, in seconds.
    frame_id : str
    elevations : ndarray, (rows,)
        Of the rows, in radians.
    pose : ndarray, (4, 4)
        `world_from_sensor`.
    """

    ranges: NDArray[np.float32]
    index: NDArray[np.int32]
    angle_min: float
    angle_max: float
    angle_increment: float
    time_increment: float
    scan_time: float
    range_min: float
    range_max: float
    intensities: NDArray[np.float32]
    stamp: float
    frame_id: str
    elevations: Floats
    pose: Floats

    @property
    def angles(self) -> Floats:
        """Of the beams of each row, in radians."""
        return np.asarray(self.angle_min + self.angle_increment * np.arange(self.ranges.shape[-1]), dtype=np.float64)

    @property
    def points(self) -> Floats:
        """Where the beams end in the world (..., 3), NaN for those without a range."""
        return self._local_points() @ self.pose[:3, :3].T + self.pose[:3, 3]

    def _local_points(self) -> Floats:
        directions = _directions(self.angles, self.elevations).reshape((*self.ranges.shape, 3))
        finite = np.isfinite(self.ranges)[..., None]
        return np.where(finite, np.where(finite, self.ranges[..., None], 0.0) * directions, NO_POINT)

    def to_message(self) -> dict[str, Any]:
        """Give the fields of a ROS `sensor_msgs/LaserScan`, by name and in their order.

        Returns
        -------
        dict
        """
        if self.ranges.ndim > 1:
            raise ValueError(f"a LaserScan has one row, but this has {len(self.ranges)}; take to_point_cloud().")
        names = ("angle_min", "angle_max", "angle_increment", "time_increment", "scan_time", "range_min", "range_max")
        fields = {name: float(getattr(self, name)) for name in names}
        return {"header": self._header(), **fields, "ranges": self.ranges, "intensities": self.intensities}

    def to_point_cloud(self) -> dict[str, Any]:
        """Give the fields of a ROS `sensor_msgs/PointCloud2`: x, y, z of every beam in the frame of the sensor.

        Returns
        -------
        dict
        """
        points = self._local_points().astype("<f4")
        height, width = np.atleast_2d(self.ranges).shape
        fields = [{"name": name, "offset": 4 * k, "datatype": 7, "count": 1} for k, name in enumerate("xyz")]
        return {
            "header": self._header(),
            "height": height,
            "width": width,
            "fields": fields,
            "is_bigendian": False,
            "point_step": 12,
            "row_step": 12 * width,
            "data": np.frombuffer(points.tobytes(), dtype=np.uint8),
            "is_dense": bool(np.isfinite(self.ranges).all()),
        }

    def _header(self) -> dict[str, Any]:
        seconds = floor(self.stamp)
        nanoseconds = round((self.stamp - seconds) * 1e9)
        carry, nanoseconds = divmod(nanoseconds, 10**9)
        return {"stamp": {"sec": seconds + carry, "nanosec": nanoseconds}, "frame_id": self.frame_id}

    def __repr__(self) -> str:
        seen = np.isfinite(self.ranges)
        nearest = f", nearest={self.ranges[seen].min():.6g}" if seen.any() else ""
        return f"Scan({' x '.join(map(str, self.ranges.shape))}, {np.count_nonzero(seen)} returns{nearest})"


@dataclass(frozen=True, eq=False)
class LaserScanner:
    """A laser scanner on a body: one row of beams, or a grid of them.

    Attributes
    ----------
    beams : int
        In each row.
    fov : float
        Angle from the first beam of a row to the last, in radians; of a full circle the last is one step short of it.
    rows : int
        At equal elevations, the lowest first; a single one lies in the plane.
    vertical_fov : float
        Angle from the first row to the last, in radians.
    range_min, range_max : float
        In metres.
    mount : pose, optional
        `body_from_sensor`; the sensor looks along its x, z is up.
    rate : float
        Scans a second.
    noise : Noise, optional
        None measures exactly.
    hidden : str, int, or several
        Bodies that the scanner does not see. A name that is no body stands for all bodies called name/something.
    method : {"rays", "depth"}
        Beams are cast as rays, in double precision; or all bodies are drawn into a depth buffer, which is quicker for
        many beams and few bodies, in single precision. Without OpenGL there is a warning, and rays.
    frame_id : str

    Examples
    --------
    >>> scene = Scene()
    >>> scene.add("wall", Box([0.2, 10.0, 2.0]), pose=[3.1, 0.0, 0.0])
    >>> scanner = LaserScanner(beams=5, fov=1.0, range_max=10.0)
    >>> scan = scanner.scan(scene, pose=[0.0, 0.0, 0.5])
    >>> scan.ranges.round(3).tolist()
    [3.4179999828338623, 3.0959999561309814, 3.0, 3.0959999561309814, 3.4179999828338623]
    >>> scan.points[2].tolist()
    [3.0, 0.0, 0.5]
    """

    beams: int = 1081
    fov: float = 1.5 * pi
    _: KW_ONLY
    rows: int = 1
    vertical_fov: float = 0.0
    range_min: float = 0.0
    range_max: float = 30.0
    mount: Any = None
    rate: float = 40.0
    noise: Noise | None = None
    hidden: Names = ()
    method: str = "rays"
    frame_id: str = "laser"

    def __post_init__(self) -> None:
        check_count("beams", self.beams)
        check_count("rows", self.rows)
        check_count("beams times rows", int(self.beams) * int(self.rows))
        if not 0.0 < self.fov <= 2.0 * pi + 1e-9:
            raise ValueError(f"fov must be positive and at most a full circle, but it is {self.fov!r} radians.")
        if not 0.0 <= self.vertical_fov < pi:
            raise ValueError(f"vertical_fov must be at least 0 and below pi radians, but it is {self.vertical_fov!r}.")
        check_sensor(self.range_min, self.range_max, self.rate, self.method)
        settle(self)

    @cached_property
    def grid(self) -> Grid:
        """The beams in the frame of the sensor."""
        angles, elevations = self._angles(), self._elevations()
        steps = tuple(float(np.diff(a)[0]) if len(a) > 1 else 1.0 for a in (angles, elevations))
        return Grid(
            _directions(angles, elevations), False, (float(angles[0]), float(elevations[0])), (steps[0], steps[1])
        )

    @property
    def directions(self) -> Floats:
        """Unit vectors along the beams (rows, beams, 3), in the frame of the sensor."""
        return self.grid.directions

    @property
    def period(self) -> float:
        """From one scan to the next, in seconds."""
        return 1.0 / self.rate

    def is_due(self, time: float, previous: float | None = None) -> bool:
        """Tell whether it is time for a scan.

        Parameters
        ----------
        time : float
            In seconds.
        previous : float, optional
            Of the last scan.

        Returns
        -------
        bool
            Scans fall due at multiples of the period, and at once if there was none.
        """
        return previous is None or floor(time * self.rate + 1e-9) > floor(previous * self.rate + 1e-9)

    def scan(
        self,
        target: Target,
        pose: Any = None,
        *,
        ignore: Names = (),
        time: float = 0.0,
        rng: np.random.Generator | int | None = None,
    ) -> Scan:
        """Measure.

        Parameters
        ----------
        target : Scene, Shape, Placed, several of them, RayTarget or World
            What is around.
        pose : pose, optional
            `world_from_body` of the body that carries the scanner.
        ignore : str, int, or several
            Bodies that let beams pass: those that the scanner is mounted on. The name of a robot stands for its links.
        time : float
            In seconds: the stamp of the scan.
        rng : numpy.random.Generator or int, optional
            What noise is drawn from; its seed and the time unless given.

        Returns
        -------
        Scan
        """
        sensor, masked = one_pose(pose, "pose") @ self.mount, [*several(self.hidden), *several(ignore)]
        true, bodies = look(target, sensor, self.grid, self.range_max, masked, self.method)
        ranges = measured(true, self.range_min, self.range_max, self.noise, time, rng)
        dims = (self.beams,) if self.rows == 1 else (self.rows, self.beams)
        angles = self._angles()
        return Scan(
            ranges=ranges.reshape(dims),
            index=bodies.reshape(dims),
            angle_min=float(angles[0]),
            angle_max=float(angles[-1]),
            angle_increment=self.grid.step[0] if self.beams > 1 else 0.0,
            time_increment=0.0,
            scan_time=self.period,
            range_min=self.range_min,
            range_max=self.range_max,
            intensities=np.empty(0, dtype=np.float32),
            stamp=float(time),
            frame_id=self.frame_id,
            elevations=self._elevations(),
            pose=sensor,
        )

    def _angles(self) -> Floats:
        if self.beams == 1:
            return np.zeros(1)
        steps = self.beams - (self.fov < 2.0 * pi - 1e-9)
        return np.asarray(-0.5 * self.fov + self.fov / steps * np.arange(self.beams), dtype=np.float64)

    def _elevations(self) -> Floats:
        return np.zeros(1) if self.rows == 1 else np.linspace(-0.5, 0.5, self.rows) * self.vertical_fov


# What all range sensors have in common. -------------------------------------------------------------------------------


def look(
    target: Target, sensor: Floats, grid: Grid, farthest: float, masked: list[str | int], method: str
) -> tuple[Floats, NDArray[np.int32]]:
    """Give true ranges along the beams of a grid and the bodies they end on, inf and -1 where there is nothing."""
    bodies = bodies_of(target)
    ignored = numbers_of(bodies, masked)
    if method == "depth" and _can_draw():
        return _drawn(bodies, sensor, grid, farthest, ignored)
    directions = (grid.directions.reshape(-1, 3) @ sensor[:3, :3].T).reshape(grid.directions.shape)
    hits = bodies.cast(sensor[:3, 3], directions, farthest, ignore=ignored)
    return hits.distance, hits.index


def _drawn(
    bodies: RayTarget, sensor: Floats, grid: Grid, farthest: float, ignored: list[int]
) -> tuple[Floats, NDArray[np.int32]]:
    # A surface that is drawn has no inside; a ray knows whether the sensor is within a solid.
    within = bodies.cast(sensor[:3, 3], sensor[:3, 0], 0.0, ignore=ignored)
    dims = grid.directions.shape[:2]
    if within.is_hit:
        return np.zeros(dims), np.full(dims, within.index, dtype=np.int32)
    ranges, index_ = depth_buffer().ranges(bodies.shapes, inverse(sensor) @ bodies.poses, grid, farthest, ignored)
    return ranges.astype(np.float64), index_


@cache
def _can_draw() -> bool:
    try:
        depth_buffer()
    except (ImportError, OSError) as error:
        warnings.warn(f"scanning by rays instead of a depth buffer: {error}", RuntimeWarning, stacklevel=2)
        return False
    return True


def measured(
    ranges: Floats,
    range_min: float,
    range_max: float,
    noise: Noise | None,
    time: float,
    rng: np.random.Generator | int | None,
) -> NDArray[np.float32]:
    """Add noise to true ranges, and say what is too near or too far."""
    if not isfinite(time):
        raise ValueError(f"time must be finite, but it is {time!r}.")
    if noise is not None:
        ranges = noise.apply(ranges, noise.generator(time) if rng is None else np.random.default_rng(rng))
    too_near, too_far = ranges < range_min, ranges > range_max
    return np.where(too_near, -inf, np.where(too_far, inf, ranges)).astype(np.float32)


def bodies_of(target: Target) -> RayTarget:
    """What is around, body by body; a compound is one of them."""
    return _target_of([target] if isinstance(target, Shape | Placed) else target)


def numbers_of(target: RayTarget, masked: list[str | int]) -> list[int]:
    """Numbers of bodies, from names, names of robots that they are links of, or numbers."""
    number_of = {name: k for k, name in enumerate(target.names or [])}
    numbers = []
    for item in masked:
        if not isinstance(item, str):
            numbers.append(index(item))
            continue
        links = (k for name, k in number_of.items() if name.startswith(f"{item}/"))
        found = [number_of[item]] if item in number_of else list(links)
        if not found:
            raise KeyError(f"there is no body '{item}' that could be hidden or ignored.")
        numbers.extend(found)
    return numbers


def several(names: Names) -> list[str | int]:
    """One name or number, or several, as a list."""
    return list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]


def one_pose(value: Any, name: str) -> Floats:
    """Read one rigid pose; None is the identity."""
    pose = np.eye(4) if value is None else as_poses(value)
    if pose.shape != (4, 4):
        raise ValueError(f"{name} must be one pose, but it has shape {pose.shape}.")
    rotation = pose[:3, :3]
    is_rigid = np.isfinite(pose).all() and np.abs(rotation.T @ rotation - np.eye(3)).max() <= 1e-6
    if not is_rigid or np.linalg.det(rotation) < 0.0:
        raise ValueError(f"{name} must be a rigid pose, but it is {pose.tolist()}.")
    return pose


def settle(sensor: Any) -> None:
    """Read the mount and the hidden bodies of a sensor once and for all."""
    object.__setattr__(sensor, "mount", one_pose(sensor.mount, "mount"))
    object.__setattr__(sensor, "hidden", tuple(several(sensor.hidden)))
    noise = getattr(sensor, "noise", None)
    if noise is not None and not isinstance(noise, Noise):
        raise TypeError(f"noise must be a Noise or None, but it is {noise!r}.")


def check_count(name: str, value: object) -> None:
    """Refuse what is no whole number of beams that memory holds."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 1 <= value <= MOST_BEAMS:
        raise ValueError(f"{name} must be a whole number of 1 to {MOST_BEAMS}, but it is {value!r}.")


def check_sensor(range_min: float, range_max: float, rate: float, method: str) -> None:
    """Refuse limits, rates and methods that no sensor has."""
    if not 0.0 <= range_min < range_max:
        raise ValueError(f"ranges must be 0 <= range_min < range_max, but they are {range_min!r} and {range_max!r}.")
    if not 0.0 < rate < inf:
        raise ValueError(f"rate must be positive and finite, but it is {rate!r}.")
    if method not in ("rays", "depth"):
        raise ValueError(f"method must be 'rays' or 'depth', but it is {method!r}.")


def _directions(angles: Floats, elevations: Floats) -> Floats:
    level = np.cos(elevations)[:, None]
    x, y = level * np.cos(angles), level * np.sin(angles)
    return np.stack([x, y, np.broadcast_to(np.sin(elevations)[:, None], x.shape)], axis=-1)
