"""Vehicles: does one that has to stop now come to rest before it meets anything?

The footprint of the vehicle is swept along all ways on which it can come to rest, and the distance of that area to what
a laser scanner sees, or to what is known to stand in the world, is bounded from below. After H. Täubig, U. Frese,
C. Hertzberg, C. Lüth, S. Mohr, E. Vorobev, D. Walter, Guaranteeing functional safety: design for provability and
computer-aided verification, 2011, and H. Täubig, B. Bäuml, U. Frese, Real-time swept volume and distance computation
for self collision detection, 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan, pi
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import VehicleGuardCore
from .poses import as_floats

__all__ = ["VehicleBraking", "VehicleGuard", "VehicleVerdict"]

Floats: TypeAlias = NDArray[np.float64]

FASTEST = 1e6  # metres or radians per second: what is faster was not measured
FARTHEST = 1e30  # metres
LONGEST = 3600.0  # seconds
LEAST = 1e-9  # metres or radians per second squared: with less, lengths are no numbers any more


@dataclass(frozen=True, kw_only=True, eq=False)
class VehicleBraking:
    """How a vehicle comes to rest.

    Its twist is (vx, vy, yaw rate) along the axes of its own body. Three things are taken on trust:

    - During `latency` seconds every component of the twist changes at any rates up to `acceleration`. If a command is
      given, rates are those of the command, up to `command_error`.
    - Then the vehicle brakes. With `path="arc"` the twist keeps its direction: all components are multiplied by one
      factor that falls from 1 to 0 at the rate 1 / T at least, where T is the longest of the times `|component|` /
      deceleration. So the vehicle stays on an arc about the centre of rotation that it has when braking begins. With
      `path="any"` the components brake for themselves, the magnitude of each falling at least at the rate of its
      deceleration, and the vehicle may take any way that results.
    - The true pose is the one that is given, shifted by up to `uncertainty` along both axes of the body and turned by
      up to its last entry. This matters for obstacles of the world; a scan is taken from the vehicle itself.

    A vehicle that begins to brake earlier stays within what is guarded, unless there is a command.

    Parameters
    ----------
    latency : float
        Longest time until the brakes act, in seconds: of measuring, one cycle, and passing on the verdict.
    acceleration : array_like, (3,)
        In m/s², m/s² and rad/s². Zero sideways, for a vehicle on wheels that do not slip.
    deceleration : array_like, (3,)
        That the brakes achieve in any case; above zero.
    uncertainty : array_like, (3,)
        In metres, metres and radians.
    command_error : array_like, (3,)
        How far accelerations may be off those of a command.
    path : {"arc", "any"}

    Examples
    --------
    >>> braking = VehicleBraking(latency=0.1, acceleration=[1.0, 0.0, 2.0], deceleration=[2.0, 2.0, 4.0])
    >>> braking.path
    'arc'
    """

    latency: float = 0.05
    acceleration: ArrayLike
    deceleration: ArrayLike
    uncertainty: ArrayLike = (0.0, 0.0, 0.0)
    command_error: ArrayLike = (0.0, 0.0, 0.0)
    path: Literal["arc", "any"] = "arc"

    def __post_init__(self) -> None:
        object.__setattr__(self, "latency", _not_negative(self.latency, "latency"))
        for name in ("acceleration", "deceleration", "uncertainty", "command_error"):
            object.__setattr__(self, name, _three_of(getattr(self, name), name))
        if self.latency > LONGEST:
            raise ValueError(f"latency must be no more than an hour, but it is {self.latency} s.")
        if not (np.asarray(self.deceleration) >= LEAST).all():
            raise ValueError(f"deceleration must be above zero, at least {LEAST:g}, but it is {self.deceleration!r}.")
        if self.path not in ("arc", "any"):
            raise ValueError(f'path must be "arc" or "any", but it is {self.path!r}.')


@dataclass(frozen=True, eq=False)
class VehicleVerdict:
    """What a guard says of one cycle. Points and directions are in the world.

    Attributes
    ----------
    stop : bool
        Whether the vehicle has to brake: it is not proved that it may still do so later.
    reason : str
        "clear"; "receding": something is within the margin, but proved to come no closer; "obstacle" or "scan": what is
        in the way; "input": numbers that are missing, not finite or absurd; "stale": times that go backwards, or
        advance by too much.
    lower : float
        No more than the distance of the critical obstacle, wherever the vehicle goes until it rests, in metres. Of
        everything that is in the way the critical one is nearest; if nothing is, of what recedes; else of all.
    distance : float
        No more than its distance at present.
    time_to_contact : float
        Nothing that is in the way is within the margin earlier, in seconds. Infinite if nothing is.
    point : ndarray, (2,)
        Of the critical obstacle, where it is nearest to the swept area.
    swept_point : ndarray, (2,)
        Of the swept area, where it is nearest to the obstacle.
    normal : ndarray, (2,)
        Unit vector from the swept area to the obstacle.
    index : int
        Of the point of the scan, or of the obstacle in the list. -1: none.
    """

    stop: bool
    reason: str
    lower: float
    distance: float
    time_to_contact: float
    point: Floats
    swept_point: Floats
    normal: Floats
    index: int

    def __bool__(self) -> bool:
        raise TypeError("a verdict is neither true nor false; ask for its attribute `stop`.")


class VehicleGuard:
    """Watch over a vehicle in the plane: tell it to stop as long as it still can.

    Every cycle all ways to rest are swept with the footprint, in pieces along the way, and bounded from outside: no
    vehicle that moves as `braking` says leaves the swept area. A verdict is clear if that area is farther than the
    margin from everything. Obstacles stand still. What a cycle costs grows with the number of pieces, and with that of
    obstacles; the core allocates nothing in it, unless a scan has more points than any before.

    Parameters
    ----------
    footprint : array_like, (n, 2), or list of parts
        In the frame of the vehicle, in metres. A part is the convex hull of points (n, 2), or a tuple of points and a
        radius that rounds it: `[([[0.0, 0.0]], 0.3)]` is a disc. A footprint that is not convex is a list of convex
        parts.
    obstacles : array_like, (n, 2), or list of outlines
        In the world. Points, or outlines of any form (k, 2): of a point, a wall between two, or a solid.
    braking : VehicleBraking
    margin : float
        Distance to keep, in metres.
    pieces : int
        How finely ways are divided. More make the area smaller and a cycle longer.
    scan_radius : float
        How far points of a scan may be off, in metres.
    timeout : float
        Longest time from one cycle to the next, in seconds. None: any.

    Examples
    --------
    >>> braking = VehicleBraking(acceleration=[1.0, 0.0, 2.0], deceleration=[2.0, 2.0, 4.0])
    >>> box = [[-0.5, -0.3], [0.5, -0.3], [0.5, 0.3], [-0.5, 0.3]]
    >>> guard = VehicleGuard(box, [[[2.0, -1.0], [2.0, 1.0]]], braking=braking, margin=0.05)
    >>> verdict = guard.update([0.0, 0.0, 0.0], [1.5, 0.0, 0.0])
    >>> verdict.stop, round(verdict.lower, 2)
    (False, 0.81)
    >>> verdict = guard.update([0.9, 0.0, 0.0], [1.5, 0.0, 0.0])
    >>> verdict.stop, verdict.reason, round(guard.speed_factor(), 1)
    (True, 'obstacle', 0.9)
    """

    def __init__(
        self,
        footprint: Any,
        obstacles: Any = None,
        *,
        braking: VehicleBraking,
        margin: float = 0.0,
        pieces: int = 8,
        scan_radius: float = 0.0,
        timeout: float | None = None,
    ) -> None:
        if not isinstance(braking, VehicleBraking):
            raise ValueError(f"braking must be a VehicleBraking, but it is {braking!r:.200}.")
        if isinstance(pieces, bool) or not isinstance(pieces, int | np.integer) or not 1 <= pieces <= 1000:
            raise ValueError(f"pieces must be a number from 1 to 1000, but it is {pieces!r}.")
        self._timeout = inf if timeout is None else _not_negative(timeout, "timeout")
        outlines = [] if obstacles is None else _outlines_from(obstacles)
        self._needs_scan = not outlines
        self._time = -inf
        self._is_set = False
        self._core = VehicleGuardCore(
            _parts_from(footprint),
            outlines,
            braking.latency,
            np.asarray(braking.acceleration),
            np.asarray(braking.deceleration),
            np.asarray(braking.command_error),
            np.asarray(braking.uncertainty),
            braking.path == "arc",
            _not_negative(margin, "margin"),
            _not_negative(scan_radius, "scan_radius"),
            int(pieces),
        )

    def update(
        self,
        pose: ArrayLike | None,
        velocity: ArrayLike | None,
        *,
        scan: ArrayLike | None = None,
        command: ArrayLike | None = None,
        time: float | None = None,
    ) -> VehicleVerdict:
        """Look at one cycle.

        Parameters
        ----------
        pose : array_like, (3,)
            x, y and yaw of the vehicle in the world. None: unknown, which is a reason to stop.
        velocity : array_like, (3,)
            Of its origin along the axes of its body, and its yaw rate. None: unknown.
        scan : array_like, (m, 2)
            Points that a scanner sees, in the frame of the vehicle; NaN or infinite where nothing came back. The
            vehicle itself must not be among them. It may be None only if the guard knows obstacles: then nothing but
            these is looked at, so a scanner that fails has to be noticed by the caller.
        command : array_like, (3,)
            Accelerations until the brakes act, if they are known.
        time : float
            When the input was measured, in seconds. It must not go backwards, nor advance by more than `timeout`, if
            that is given; then it may not be None.

        Returns
        -------
        VehicleVerdict

        Examples
        --------
        >>> braking = VehicleBraking(acceleration=[1.0, 0.0, 2.0], deceleration=[2.0, 2.0, 4.0])
        >>> guard = VehicleGuard([([[0.0, 0.0]], 0.3)], braking=braking)
        >>> verdict = guard.update([5.0, 0.0, 0.0], [1.0, 0.0, 0.0], scan=[[0.4, 0.0], [np.nan, np.nan]])
        >>> verdict.reason, verdict.point
        ('scan', array([5.4, 0. ]))
        >>> guard.update([np.nan, 0.0, 0.0], [1.0, 0.0, 0.0], scan=[[0.4, 0.0]]).reason
        'input'
        """
        inputs = [
            None if value is None else _row_of(value, name, 3)
            for value, name in ((pose, "pose"), (velocity, "velocity"), (command, "command"))
        ]
        points = None if scan is None else _points_from(scan, "scan", least=0)
        at, twist, commanded = inputs
        is_late = self._is_late(time)
        if at is None or twist is None or (points is None and self._needs_scan):
            return _blind("input")
        if not (_is_below(at, FARTHEST) and _is_below(twist, FASTEST)) or not (
            commanded is None or _is_below(commanded, FASTEST)
        ):
            return _blind("input")
        proof, is_scanned, index, lower, distance, until, point, swept_point, normal = self._core.look(
            at, twist, commanded, points
        )
        self._is_set = True
        if is_late:
            return _blind("stale")
        if index < 0:
            point = swept_point = normal = np.full(2, nan)
        in_the_way = "scan" if is_scanned else "obstacle"
        reason = ("clear", "receding", in_the_way)[proof]
        return VehicleVerdict(proof == 2, reason, lower, distance, until, point, swept_point, normal, index)

    def _is_late(self, time: float | None) -> bool:
        """Whether times do not advance as they must; the next is measured against this one."""
        if time is None:
            return isfinite(self._timeout)
        before, self._time = self._time, float(time) if isfinite(time) else self._time
        return not before <= time < inf or (before > -inf and time - before > self._timeout)

    def speed_factor(self, halvings: int = 7) -> float:
        """Find how much slower the last input would have to be for a clear verdict.

        Parameters
        ----------
        halvings : int
            How closely: the factor is short of the largest by 1 / 2**halvings at most, if slower is always safer. Each
            costs as much as a cycle.

        Returns
        -------
        float
            A factor of the velocity from 0 to 1 whose verdict is clear, or receding. 0 if there is none above, and also
            if the vehicle is too close to something even at rest.

        Examples
        --------
        >>> braking = VehicleBraking(acceleration=[1.0, 0.0, 2.0], deceleration=[2.0, 2.0, 4.0])
        >>> guard = VehicleGuard([([[0.0, 0.0]], 0.3)], [[1.0, 0.0]], braking=braking)
        >>> guard.update([0.0, 0.0, 0.0], [3.0, 0.0, 0.0]).stop
        True
        >>> guard.speed_factor()
        0.5078125
        """
        self._check_set()
        if not isinstance(halvings, int | np.integer) or not 0 <= halvings <= 60:
            raise ValueError(f"halvings must be a number from 0 to 60, but it is {halvings!r}.")
        return float(self._core.clear_factor(int(halvings)))

    def swept(self) -> list[tuple[Floats, float]]:
        """Give the area that the last cycle guarded: a union of convex polygons, each rounded by a radius.

        Returns
        -------
        list of tuples of ndarray (n, 2) and float
            In the world, counterclockwise. What the uncertainty of the pose adds is left out.

        Examples
        --------
        >>> braking = VehicleBraking(latency=0.0, acceleration=[0.0, 0.0, 0.0], deceleration=[2.0, 2.0, 4.0])
        >>> guard = VehicleGuard([([[0.0, 0.0]], 0.3)], [[1.0, 0.0]], braking=braking, pieces=1)
        >>> verdict = guard.update([0.0, 0.0, 0.0], [1.0, 0.0, 0.0])
        >>> guard.swept()[-1][0]
        array([[0.  , 0.  ],
               [0.25, 0.  ]])
        """
        self._check_set()
        return list(self._core.swept())

    def area(self, corners: int = 32) -> list[Floats]:
        """Outline the pieces of the swept area, for pictures.

        Parameters
        ----------
        corners : int
            Of a full circle of what is rounded.

        Returns
        -------
        list of ndarray, (n, 2)
            Polygons in the world, counterclockwise; the area is their union.

        Examples
        --------
        >>> braking = VehicleBraking(acceleration=[1.0, 0.0, 2.0], deceleration=[2.0, 2.0, 4.0])
        >>> guard = VehicleGuard([([[0.0, 0.0]], 0.3)], [[1.0, 0.0]], braking=braking, pieces=4)
        >>> verdict = guard.update([0.0, 0.0, 0.0], [1.0, 0.0, 0.0])
        >>> [len(outline) > 32 for outline in guard.area()]
        [True, True, True, True, True]
        """
        if not isinstance(corners, int | np.integer) or corners < 3:
            raise ValueError(f"corners must be 3 or more, but it is {corners!r}.")
        return [_rounded(points, radius, corners) for points, radius in self.swept()]

    def __reduce__(self) -> Any:
        raise TypeError("a guard cannot be copied or pickled; make another one.")

    def _check_set(self) -> None:
        if not self._is_set:
            raise ValueError("the guard has seen no input yet: call update() with a pose and a velocity first.")


def _blind(reason: str) -> VehicleVerdict:
    """The verdict on what cannot be looked at."""
    nowhere = np.full(2, nan)
    return VehicleVerdict(True, reason, -inf, -inf, 0.0, nowhere, nowhere, nowhere, -1)


def _rounded(points: Floats, radius: float, corners: int) -> Floats:
    """Points of the boundary: the farthest in all directions of a circle, and beside the normals of sides."""
    if radius == 0.0:
        return points
    along = np.roll(points, -1, axis=0) - points
    normals = np.arctan2(-along[:, 0], along[:, 1])
    around = 2.0 * pi / corners * np.arange(corners)
    angles = np.sort(np.concatenate([around, normals - 1e-6, normals + 1e-6]) % (2.0 * pi))
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    farthest: Floats = points[np.argmax(directions @ points.T, axis=1)] + radius * directions
    return farthest


def _is_below(values: Floats, largest: float) -> bool:
    return all(abs(value) <= largest for value in values.tolist())


def _not_negative(value: float, name: str) -> float:
    if not isinstance(value, int | float | np.number) or not 0.0 <= value < inf:
        raise ValueError(f"{name} must be finite and not negative, but it is {value!r}.")
    return float(value)


def _row_of(value: ArrayLike, name: str, length: int) -> Floats:
    row = as_floats(value, name)
    if row.shape != (length,):
        raise ValueError(f"{name} must have {length} numbers, but it has shape {row.shape}.")
    return row


def _three_of(value: ArrayLike, name: str) -> Floats:
    row = _row_of(value, name, 3).copy()
    if not (np.isfinite(row).all() and (row >= 0.0).all() and (row <= FASTEST).all()):
        raise ValueError(f"{name} must be three numbers from 0 to {FASTEST:g}, but it is {row}.")
    row.setflags(write=False)
    return row


def _points_from(value: ArrayLike, name: str, least: int = 1) -> Floats:
    points = as_floats(value, name)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < least:
        raise ValueError(f"{name} must have shape (n, 2), but it has shape {points.shape}.")
    return points


def _finite_points(value: ArrayLike, name: str) -> Floats:
    points = _points_from(value, name)
    if not (np.abs(points) <= FARTHEST).all():
        raise ValueError(f"{name} must be finite and below {FARTHEST:g}, but it is {points}.")
    return points


def _is_part(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and np.ndim(value[0]) == 2 and np.ndim(value[1]) == 0


def _is_array_of_points(value: Any) -> bool:
    try:
        return np.ndim(value) == 2
    except ValueError:  # rows of different lengths
        return False


def _parts_from(footprint: Any) -> list[tuple[Floats, float]]:
    if _is_part(footprint) or _is_array_of_points(footprint):
        footprint = [footprint]
    if not isinstance(footprint, Sequence | np.ndarray) or len(footprint) == 0:
        raise ValueError(f"footprint must be points (n, 2) or a list of parts, but it is {footprint!r:.200}.")
    parts = []
    for k, part in enumerate(footprint):
        points, radius = part if _is_part(part) else (part, 0.0)
        name = f"part {k} of the footprint"
        parts.append((_finite_points(points, name), _not_negative(radius, f"the radius of {name}")))
    return parts


def _outlines_from(obstacles: Any) -> list[Floats]:
    if _is_array_of_points(obstacles):
        return list(_finite_points(obstacles, "obstacles")[:, None, :])
    if not isinstance(obstacles, Sequence | np.ndarray):
        raise ValueError(f"obstacles must be points (n, 2) or a list of outlines, but it is {obstacles!r:.200}.")
    return [_finite_points(outline, f"obstacle {k}") for k, outline in enumerate(obstacles)]
