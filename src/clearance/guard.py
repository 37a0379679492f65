"""The guard: says in every cycle of a control loop whether a robot may go on, or has to brake now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._core import Verdict
from .braking import Braking, velocities_of, whole_configuration
from .mechanisms import Configuration, one_pose
from .poses import as_floats
from .robots import Pair, Robot
from .skeletons import Skeleton
from .sweep import Operators, Swept, check_robot, checked_points, points_of_one
from .worlds import World, settled

__all__ = ["Guard", "Replay", "Verdict"]

Floats = NDArray[np.float64]

TYPICAL_SPEED = 1.0  # of joints that have no limit, per second

REASONS = ("clear", "receding", "pair", "budget", "input", "stale")
BLIND = ("input", "stale")


@dataclass(frozen=True, eq=False)
class Replay:
    """Verdicts of many cycles, column by column.

    Attributes
    ----------
    stop : ndarray of bool, (n,)
    reason : ndarray of str, (n,)
    pair : ndarray of str, (n, 2)
    lower, distance, time_to_contact, work : ndarray, (n,)
        As in `Verdict`.
    seconds : ndarray, (n,)
        How long each cycle took.
    """

    stop: NDArray[np.bool_]
    reason: NDArray[np.str_]
    pair: NDArray[Any]
    lower: Floats
    distance: Floats
    time_to_contact: Floats
    work: Floats
    seconds: Floats


class Guard:
    """Watch a robot: brake before it touches itself or anything around it.

    In every cycle it takes where all joints can get to if they brake in the next one, sweeps all links over these
    intervals, and proves for every pair of swept volumes that they stay farther apart than the margin. If it cannot
    prove that it says stop. Proofs of the cycle before are carried over, less what the volumes have changed by, so
    that few pairs have to be looked at; how much work goes into these is limited. Robot and world are as they were when
    the guard was made, and all distances are those of convex parts: a cylinder counts as the prism of eight sides
    around it, a concave mesh as its hull.

    After Täubig, Bäuml and Frese, Real-time Swept Volume and Distance Computation for Self Collision Detection, 2011.

    Parameters
    ----------
    robot : Robot
        Links count as their convex parts; `Robot.from_urdf(collision="swept")` gives parts of few points.
    world : Scene, shapes or None
        Surfaces may have up to 2000 triangles or points; `fit_swept_hulls` makes convex parts of larger ones.
    braking : Braking
    budget : int, optional
        Operations per cycle that go into distances: as many as it takes if None.
    seconds : float, optional
        The same as time, which makes verdicts depend on the machine.
    margin : float
        Distance to keep, on top of those that `Robot.set_margin` asks for.
    timeout : float, optional
        An update that comes later than this after the one before, in seconds, is answered with stop.
    operators : mapping of str to str, "auto" or None
        See `sweep`. "auto" chooses for intervals as they come with half of the largest speeds.
    max_points : int
        Of all swept volumes.
    speeds : mapping of str to float, optional
        Bodies of the world that may move, and how fast any point of them may. They are taken to be where they were seen
        last, and anywhere that they can have got to since then and until the robot stands still.

    Examples
    --------
    >>> x = Joint("x", "prismatic", "rail", "cart", axis=[1, 0, 0])
    >>> slide = Robot([Link("rail"), Link("cart", Sphere(0.1))], [x])
    >>> guard = Guard(slide, {"wall": Box([0.2, 1.0, 1.0]).at([1.0, 0.0, 0.0])})
    >>> verdict = guard.update([0.0], [1.0])
    >>> verdict.stop, verdict.pair, round(verdict.lower, 6)
    (False, ('cart', 'wall'), 0.753)
    >>> verdict = guard.update([0.79], [1.0])
    >>> verdict.stop, verdict.reason, round(verdict.distance, 6), round(verdict.time_to_contact, 6)
    (True, 'pair', 0.01, 0.01)
    """

    def __init__(
        self,
        robot: Robot,
        world: World = None,
        *,
        braking: Braking | None = None,
        budget: int | None = 55_000,
        seconds: float | None = None,
        margin: float = 0.0,
        timeout: float | None = None,
        operators: Operators = "auto",
        max_points: int = 1000,
        speeds: Mapping[str, float] | None = None,
    ) -> None:
        check_robot(robot)
        if not isinstance(braking, Braking | None):
            raise TypeError(f"braking must be a Braking, but it is {braking!r:.100}.")
        self._robot = robot
        self._braking = Braking() if braking is None else braking
        self._margin = _length(margin, "margin")
        self._skeleton = Skeleton.of(robot)
        self._is_swept = False
        cell, self._pairs = robot._cell(settled(world))
        self._bodies = {name: k for k, name in enumerate(cell.names)}
        self._speeds = {
            self._body(name): _length(speed, f"speeds['{name}']") for name, speed in _mapping(speeds, "speeds").items()
        }
        columns = self._braking.columns(robot)
        lower, upper = robot.lower.tolist(), robot.upper.tolist()
        speed = np.minimum(np.where(np.isfinite(robot.velocity), 0.5 * robot.velocity, TYPICAL_SPEED), 1e3)
        typical, _ = _core.braking_box(robot._kinematics.tree, columns, lower, upper, robot.neutral, speed, None)
        self._guard = _core.Guard(
            cell,
            columns,
            (lower, upper),
            typical,
            points_of_one(robot, operators),
            checked_points(max_points),
            list(self._speeds),
            list(self._speeds.values()),
            self._margin,
            _budget(budget),
            inf if seconds is None else _length(seconds, "seconds"),
            inf if timeout is None else _length(timeout, "timeout"),
        )

    def update(
        self,
        q: Configuration | None,
        qd: ArrayLike | None,
        *,
        command: ArrayLike | None = None,
        time: float | None = None,
        moving: Mapping[str, ArrayLike] | None = None,
    ) -> Verdict:
        """Take the state of the robot, and say whether it has to brake now.

        Parameters
        ----------
        q : array_like, (dof,), mapping of str to float, or None
            Where the joints are. Without any, and with NaN or infinite numbers, it says stop.
        qd : array_like, (nv,), or None
            How fast they are.
        command : array_like, (nv,), optional
            Accelerations that the joints have until braking can begin; the worst of `braking` unless given.
        time : float, optional
            When q and qd were measured, in seconds. It must not go backwards; with NaN it says stop.
        moving : mapping of str to pose, optional
            Where bodies of the world are that may move. One that is not seen, or with NaN, may be anywhere it can have
            got to since it was, which takes a time to tell; before that, and without a time, it means stop.

        Returns
        -------
        Verdict
        """
        seen = [(self._moving_body(name), _seen(pose, name)) for name, pose in _mapping(moving, "moving").items()]
        verdict = self._guard.update(
            None if q is None else self._configuration(q),
            None if qd is None else velocities_of(self._robot, _unmasked(qd), "qd"),
            None if command is None else velocities_of(self._robot, _unmasked(command), "command"),
            None if time is None else float(time),
            [(body, pose) for body, pose in seen if pose is not None],
        )
        self._is_swept = self._is_swept or verdict.reason not in BLIND
        return verdict

    def replay(
        self, q: ArrayLike, qd: ArrayLike, *, command: ArrayLike | None = None, time: ArrayLike | None = None
    ) -> Replay:
        """Go through many cycles, of a recording say.

        Parameters
        ----------
        q : array_like, (n, dof)
        qd : array_like, (n, nv)
        command : array_like, (n, nv), optional
        time : array_like, (n,), optional
            Cycles of which it is NaN are stops.

        Returns
        -------
        Replay
            Bodies that may move stay where they were seen last.
        """
        reasons, pairs, *columns = self._guard.replay(
            _rows(q, "q", self._robot.dof),
            _rows(qd, "qd", self._robot.nv),
            None if command is None else _rows(command, "command", self._robot.nv),
            None if time is None else _times(time),
        )
        self._is_swept = self._is_swept or not np.isin(reasons, [REASONS.index(reason) for reason in BLIND]).all()
        named = np.array([*self._pairs, ("", "")], dtype=object).reshape(-1, 2)
        return Replay(reasons > REASONS.index("receding"), np.array(REASONS)[reasons], named[pairs], *columns)

    def reset(self) -> None:
        """Forget all that has been seen."""
        self._guard.reset()
        self._is_swept = False

    def sweep(self) -> Swept:
        """Give the swept volumes of the last cycle that had input, in the frames that links are compared in.

        Returns
        -------
        Swept
        """
        if not self._is_swept:
            raise ValueError("nothing has been swept yet; update comes first.")
        return Swept(self._robot, self._skeleton, self._guard.box, self._guard.swept())

    @property
    def robot(self) -> Robot:
        """The robot; what has changed of it since the guard was made does not count."""
        return self._robot

    @property
    def braking(self) -> Braking:
        """How its joints brake."""
        return self._braking

    @property
    def margin(self) -> float:
        """Distance that all pairs keep."""
        return self._margin

    @property
    def bounds(self) -> dict[Pair, float]:
        """Lower bounds for the distances of swept volumes after the last cycle that had input."""
        return dict(zip(self._pairs, self._guard.bounds, strict=True))

    @property
    def points(self) -> int:
        """How many points the swept volumes have."""
        return self._guard.points

    @property
    def volumes(self) -> int:
        """How many swept volumes there are."""
        return self._guard.volumes

    def _configuration(self, q: Configuration) -> Floats | None:
        if isinstance(q, Mapping):
            return whole_configuration(self._robot, q)
        array = as_floats(_unmasked(q), "q")
        if array.shape != (self._robot.dof,):
            raise ValueError(f"q must have shape ({self._robot.dof},), but it has {array.shape}.")
        return array

    def _body(self, name: str) -> int:
        known = list(self._bodies)[len(self._skeleton.links) :]
        if name not in known:
            raise KeyError(f"there is no body '{name}' in the world; there are {', '.join(known) or 'none'}.")
        return self._bodies[name]

    def _moving_body(self, name: str) -> int:
        body = self._body(name)
        if body not in self._speeds:
            raise KeyError(f"'{name}' stands still: speeds does not name it.")
        return body

    def __reduce__(self) -> Any:
        raise TypeError("a guard cannot be copied or pickled; make another one from the same robot and world.")

    def __repr__(self) -> str:
        return f"Guard({self._skeleton.name!r}, {len(self._pairs)} pairs, {self.volumes} volumes, {self.points} points)"


def _seen(pose: ArrayLike, name: str) -> Floats | None:
    """Read a pose; numbers that are not finite mean that a body was not seen."""
    try:
        numbers = np.asarray(pose, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    return one_pose(pose, f"moving['{name}']") if np.isfinite(numbers).all() else None


def _unmasked(given: Any) -> Any:
    """What is masked is not known."""
    if not isinstance(given, np.ma.MaskedArray):
        return given
    return np.where(np.ma.getmaskarray(given), nan, given.data)


def _mapping(given: Any, name: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a mapping from names of bodies, but it is {given!r:.100}.")
    return given


def _times(given: ArrayLike) -> Floats:
    times = as_floats(given, "time")
    if times.ndim != 1:
        raise ValueError(f"time must have shape (n,), but it has {times.shape}.")
    return times


def _rows(given: ArrayLike, name: str, width: int) -> Floats:
    array = as_floats(given, name)
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"{name} must have shape (n, {width}), but it has {array.shape}.")
    return array


def _length(number: Any, name: str) -> float:
    try:
        value = float(number)
    except (TypeError, ValueError):
        value = nan
    if not 0.0 <= value < inf:
        raise ValueError(f"{name} must be a finite number, not negative, but it is {number!r:.100}.")
    return value


def _budget(budget: int | None) -> int | None:
    if budget is None:
        return None
    if not isinstance(budget, int | np.integer) or not 0 <= budget < 2**62:
        raise ValueError(f"budget must be a number of operations or None, but it is {budget!r}.")
    return int(budget)
