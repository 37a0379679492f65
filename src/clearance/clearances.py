"""How close a robot comes to itself and to its world, at one configuration or at millions."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .mechanisms import Configuration
from .queries import Gaps, Work, _fields, _thread_count
from .robots import Pair, Robot, _limit, check_margin, check_robot
from .worlds import World, obstacles_of, settled

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["Clearances", "clearances", "is_clear"]

Floats: TypeAlias = NDArray[np.float64]

GAP_COLUMNS = [name for name in Gaps.__dataclass_fields__ if name != "work"]
COUNTERS = (
    "pairs",
    "volume_tests",
    "element_tests",
    "triangle_tests",
    "iterations",
    "queue_operations",
    "front_size",
    "front_bytes",
)
RECORD = np.dtype(
    [(name, "f8") for name in ("distance", "lower", "upper")]
    + [(name, "f8", 3) for name in ("point_a", "point_b", "normal")]
    + [(name, "i4") for name in ("feature_a", "feature_b", "part_a", "part_b", "pair_index")]
)


@dataclass(frozen=True, eq=False, repr=False)
class Clearances(Gaps):
    """The nearest pair of every configuration: the columns of `Gaps`, and which pair it is.

    Attributes
    ----------
    pair_index : ndarray of int32, (...)
        Into `pairs`; -1 where nothing is as near as asked.
    pairs : tuple of pairs of str
        All that were checked.
    """

    pair_index: NDArray[np.int32]
    pairs: tuple[Pair, ...]

    @property
    def pair(self) -> Any:
        """Names of the two bodies: an array of pairs, or one pair for a single configuration."""
        names = np.empty(len(self.pairs) + 1, dtype=object)
        names[:] = [*self.pairs, ("", "")]
        return names[self.pair_index]

    def __repr__(self) -> str:
        if self.distance.size == 0:
            return f"Clearances(shape={self.distance.shape})"
        nearest = np.unravel_index(np.argmin(self.distance), self.distance.shape)
        least, pair = float(self.distance[nearest]), self[nearest].pair
        return f"Clearances(shape={self.distance.shape}, nearest={least:.9g}, pair={pair})"

    def __getitem__(self, index: Any) -> Clearances:
        columns = {name: getattr(self, name)[index] for name in [*GAP_COLUMNS, "pair_index"]}
        return Clearances(**columns, work=self.work, pairs=self.pairs)


def is_clear(
    robot: Robot, world: World, q: Configuration, margin: float = 0.0, *, threads: int | None = None
) -> bool | NDArray[np.bool_]:
    """Tell whether a robot keeps its distance from itself and from the world.

    Parameters
    ----------
    robot : Robot
    world : Scene, shapes or None
    q : array_like, (..., dof), or mapping of str to float
    margin : float
        In metres, on top of what `Robot.set_margin` asks for.
    threads : int, optional
        For batches; all cores unless given.

    Returns
    -------
    bool or ndarray of bool, (...)
        True where all checked pairs are farther apart than the margin.

    Examples
    --------
    >>> turn = Joint("turn", "revolute", "foot", "gun", axis=[1, 0, 0])
    >>> turret = Robot([Link("foot"), Link("gun", Capsule(0.1, 1.0))], [turn])
    >>> floor = HalfSpace([0.0, 0.0, 1.0], -0.5)
    >>> is_clear(turret, floor, [[0.0], [1.0], [1.5]]).tolist()
    [False, True, True]
    """
    check_robot(robot)
    check_margin(margin)
    if type(q) is np.ndarray and q.ndim == 1 and q.dtype == np.float64 and threads is None:
        return robot._cell(world)[0].is_clear_one(q, margin)
    rows, dims = robot._rows(q)
    found = robot._cell(world)[0].is_clear(rows, margin, _thread_count(threads)).reshape(dims)
    return found if dims else bool(found)


def clearances(
    robot: Robot,
    world: World,
    q: Configuration,
    *,
    at_most: float = inf,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Any = False,
    chunk: int | None = None,
    out: str | PathLike[str] | None = None,
    overwrite: bool = False,
) -> Clearances:
    """Measure how far a robot is from touching itself or the world, with proofs and witness points.

    Parameters
    ----------
    robot : Robot
    world : Scene, shapes or None
    q : array_like, (..., dof), or mapping of str to float
        May be a memmap that is larger than memory, together with `out`.
    at_most : float
        Nothing farther away than this is looked for.
    threads : int, optional
        All cores unless given. It changes no result.
    executor : concurrent.futures.Executor, optional
        Processes of this or of other machines that do the work, chunk by chunk. What they fail to do is done here,
        with a warning.
    progress : bool or callable
        True shows a bar on a terminal.
    chunk : int, optional
        Configurations that are done at a time.
    out : path, optional
        A .npy file for the results, one record each; the same call goes on with a file that was interrupted.
    overwrite : bool
        Replace a file that is complete.

    Returns
    -------
    Clearances
        Of shape (...).

    Examples
    --------
    >>> turn = Joint("turn", "revolute", "foot", "gun", axis=[1, 0, 0])
    >>> turret = Robot([Link("foot"), Link("gun", Capsule(0.1, 1.0))], [turn])
    >>> found = clearances(turret, {"floor": HalfSpace([0.0, 0.0, 1.0], -1.0)}, np.linspace(0.0, 1.5, 4)[:, None])
    >>> found.distance.round(3).tolist(), found[0].pair
    ([0.4, 0.461, 0.63, 0.865], ('gun', 'floor'))
    """
    check_robot(robot)
    world = settled(world)
    plain = executor is None and progress is False and chunk is None and out is None
    rows, dims = robot._rows(q)
    cell, pairs = robot._cell(world)
    limit, count = _limit(at_most), _thread_count(threads)
    if plain:
        columns, work, index = cell.nearest(rows, limit, count)
        return Clearances(**_fields(columns, dims), work=work, pair_index=index.reshape(dims), pairs=pairs)
    from .batches import gather  # executors and files, which most programs do without

    alone = executor is not None and threads is None  # the executor keeps all cores busy
    task = _Task(robot, _frozen(world), limit, 1 if alone else count)
    found, tally = gather(
        task, rows, RECORD, chunk=chunk, executor=executor, progress=progress, out=out, overwrite=overwrite
    )
    shaped = {name: column.reshape(dims + column.shape[1:]) for name, column in found.items()}
    return Clearances(**shaped, work=_work_from(tally), pairs=pairs)


@dataclass(frozen=True)
class _Task:
    """What a worker needs to know."""

    robot: Robot
    world: Any
    at_most: float
    threads: int = field(compare=False)

    def __call__(self, rows: Floats) -> tuple[dict[str, Any], dict[str, int]]:
        columns, work, index = self.robot._cell(self.world)[0].nearest(
            np.ascontiguousarray(rows, dtype=np.float64), self.at_most, self.threads
        )
        names = [*GAP_COLUMNS, "pair_index"]
        return dict(zip(names, (*columns, index), strict=True)), _counts(work)


def _frozen(world: World) -> dict[str, Any]:
    """A world that does not change while others work on it."""
    return {name: shape.at(pose) for name, shape, pose in obstacles_of(world)}


def _counts(work: Work) -> dict[str, int]:
    return dict(zip(COUNTERS, work.__getstate__(), strict=True))


def _work_from(counts: dict[str, int]) -> Work:
    work = Work.__new__(Work)
    work.__setstate__([counts.get(name, 0) for name in COUNTERS])
    return work
