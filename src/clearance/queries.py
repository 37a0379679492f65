"""Distance queries. A single pair passes straight through to the core; here batches are broadcast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from math import inf, isnan
from operator import index
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import Gap, Work
from .shapes import Placed, PlacedBatch, Shape

__all__ = ["Gap", "Gaps", "Work", "collides", "distance", "within"]

Single: TypeAlias = Shape | Placed
Floats: TypeAlias = NDArray[np.float64]

MOST_THREADS = 1024

Query = TypeVar("Query", bound=Callable[..., Any])


def _quick(answers: Callable[[Any], Any]) -> Callable[[Query], Query]:
    """Let the core answer calls for one pair and without options at once: to enter Python takes as long as they do."""

    def stand_for(query: Query) -> Query:
        standing: Query = answers(query)
        update_wrapper(standing, query)
        return standing

    return stand_for


@dataclass(frozen=True, eq=False, repr=False)
class Gaps:
    """The gaps of a batch, field by field; `gaps[k]` narrows all of them.

    Attributes
    ----------
    distance, lower, upper : ndarray, (...)
        In metres: `lower <= true distance <= upper`.
    point_a, point_b, normal : ndarray, (..., 3)
        In the world: `point_b - point_a == distance * normal`.
    feature_a, feature_b : ndarray of int32, (...)
        The closest triangle where a shape is a mesh there, or point where it is a cloud, else its closest part.
    part_a, part_b : ndarray of int32, (...)
        Which part of either shape is closest.
    work : Work
        What the whole batch took.
    """

    distance: Floats
    lower: Floats
    upper: Floats
    point_a: Floats
    point_b: Floats
    normal: Floats
    feature_a: NDArray[np.int32]
    feature_b: NDArray[np.int32]
    part_a: NDArray[np.int32]
    part_b: NDArray[np.int32]
    work: Work

    def __len__(self) -> int:
        return len(self.distance)

    def __getitem__(self, index: Any) -> Gaps:
        narrowed = {name: getattr(self, name)[index] for name in self.__dataclass_fields__ if name != "work"}
        return Gaps(**narrowed, work=self.work)

    def __repr__(self) -> str:
        if self.distance.size == 0:
            return f"Gaps(shape={self.distance.shape})"
        return f"Gaps(shape={self.distance.shape}, nearest={np.min(self.distance):.9g})"


@overload
def distance(
    a: Single,
    b: Single,
    *,
    hint: Gap | Gaps | None = ...,
    at_most: float = ...,
    tolerance: float | None = ...,
    threads: int | None = ...,
) -> Gap: ...
@overload
def distance(
    a: PlacedBatch,
    b: Single | PlacedBatch,
    *,
    hint: Gap | Gaps | None = ...,
    at_most: float = ...,
    tolerance: float | None = ...,
    threads: int | None = ...,
) -> Gaps: ...
@overload
def distance(
    a: Single,
    b: PlacedBatch,
    *,
    hint: Gap | Gaps | None = ...,
    at_most: float = ...,
    tolerance: float | None = ...,
    threads: int | None = ...,
) -> Gaps: ...
@_quick(_core.quick_distance)
def distance(
    a: Single | PlacedBatch,
    b: Single | PlacedBatch,
    *,
    hint: Gap | Gaps | None = None,
    at_most: float = inf,
    tolerance: float | None = None,
    threads: int | None = None,
) -> Gap | Gaps:
    """Measure how far two shapes are apart, with a proof.

    Parameters
    ----------
    a, b : Shape, Placed or PlacedBatch
        Poses broadcast against each other like NumPy arrays.
    hint : Gap or Gaps, optional
        An earlier answer for the same pair, to start from: iterations save steps, closed forms need none.
    at_most : float
        A pair proved farther apart than this is not looked at any closer: its `lower` exceeds `at_most`, `distance`
        and `upper` are infinite, points and normal are NaN.
    tolerance : float, optional
        Largest width of the bracket, relative to the size of the pair (the sum of its bounding radii). 1e-9 unless
        given, and 1e-7 for curved bodies that overlap; closed forms are better than that anyway.
    threads : int, optional
        For batches; all cores unless given. The number of threads does not change any result.

    Returns
    -------
    Gap or Gaps
        Signed distance in metres (negative: penetration), its bracket `lower <= true distance <= upper`, witness
        points and normal in the world.

    Raises
    ------
    clearance.errors.NotConverged
        If the bracket could not be made as narrow as asked; it carries the bracket.

    Examples
    --------
    >>> gap = distance(Sphere(1.0), Capsule(0.5, 2.0).at([3.0, 0.0, 0.0]))
    >>> gap.distance, gap.point_a.tolist(), gap.point_b.tolist()
    (1.5, [1.0, 0.0, 0.0], [2.5, 0.0, 0.0])
    """
    is_batch = type(a) is PlacedBatch or type(b) is PlacedBatch
    if hint is None and tolerance is None and threads is None and not is_batch:
        return _core.distance(a, b, at_most)  # type: ignore[arg-type]
    if hint is not None and not isinstance(hint, Gap | Gaps):
        raise TypeError(f"hint must be an earlier Gap or Gaps, but it is {hint!r}.")
    if tolerance is not None:
        _check_tolerance(tolerance)
    if is_batch:
        return _distance_batch(a, b, at_most, threads, tolerance=tolerance, hint=hint)
    if threads is not None:
        _thread_count(threads)
    start = hint if isinstance(hint, Gap) else None
    return _core.distance(a, b, at_most, tolerance or 0.0, start)  # type: ignore[arg-type]


@_quick(_core.quick_within)
def within(
    a: Single | PlacedBatch, b: Single | PlacedBatch, margin: float, *, threads: int | None = None
) -> bool | NDArray[np.bool_]:
    """Tell whether two shapes come closer than a margin, often sooner than `distance` would.

    Parameters
    ----------
    a, b : Shape, Placed or PlacedBatch
        Their poses broadcast against each other.
    margin : float
        In metres, not negative.
    threads : int, optional
        For batches; all cores unless given. The number of threads does not change any result.

    Returns
    -------
    bool or ndarray of bool
        `distance <= margin`.

    Examples
    --------
    >>> within(Sphere(1.0), Sphere(1.0).at([3.0, 0.0, 0.0]), margin=1.5)
    True
    """
    if isnan(margin) or margin < 0.0:
        raise ValueError(f"margin must be zero or positive, but it is {margin!r}.")
    return _closer(a, b, margin, threads)


@_quick(_core.quick_collides)
def collides(
    a: Single | PlacedBatch, b: Single | PlacedBatch, *, threads: int | None = None
) -> bool | NDArray[np.bool_]:
    """Tell whether two shapes touch or overlap.

    Parameters
    ----------
    a, b : Shape, Placed or PlacedBatch
        Their poses broadcast against each other.
    threads : int, optional
        For batches; all cores unless given. The number of threads does not change any result.

    Returns
    -------
    bool or ndarray of bool
        `distance <= 0`. Of shapes that touch but for rounding, it can say either.

    Examples
    --------
    >>> collides(Sphere(1.0), Sphere(1.0).at([2.5, 0.0, 0.0]))
    False
    """
    return _closer(a, b, 0.0, threads)


def _closer(
    a: Single | PlacedBatch, b: Single | PlacedBatch, margin: float, threads: int | None
) -> bool | NDArray[np.bool_]:
    if type(a) is PlacedBatch or type(b) is PlacedBatch:
        return np.asarray(_distance_batch(a, b, margin, threads, only_within=True).distance <= margin)
    if threads is not None:
        _thread_count(threads)
    return _core.within(a, b, margin)  # type: ignore[arg-type]


def _distance_batch(
    a: Single | PlacedBatch,
    b: Single | PlacedBatch,
    at_most: float,
    threads: int | None,
    *,
    tolerance: float | None = None,
    hint: Gap | Gaps | None = None,
    only_within: bool = False,
) -> Gaps:
    dims_a, dims_b = (x.dims if isinstance(x, PlacedBatch) else () for x in (a, b))
    dims = np.broadcast_shapes(dims_a, dims_b)
    rows = int(np.prod(dims))
    columns, work = _core.distance_batch(
        _spread(a, dims),
        _spread(b, dims),
        rows,
        at_most,
        tolerance or 0.0,
        None if hint is None else _hint_columns(hint, dims),
        only_within,
        _thread_count(threads),
    )
    return Gaps(**_fields(columns, dims), work=work)


def _fields(columns: tuple[Any, ...], dims: tuple[int, ...]) -> dict[str, Any]:
    """Columns of the core as fields of `Gaps` of a shape."""
    names = [name for name in Gaps.__dataclass_fields__ if name != "work"]
    return {name: column.reshape(dims + column.shape[1:]) for name, column in zip(names, columns, strict=True)}


def _hint_columns(hint: Gap | Gaps, dims: tuple[int, ...]) -> tuple[Any, ...]:
    integers = [
        np.ascontiguousarray(np.broadcast_to(np.asarray(getattr(hint, name), dtype=np.int32), dims)).reshape(-1)
        for name in ("feature_a", "feature_b", "part_a", "part_b")
    ]
    return np.ascontiguousarray(np.broadcast_to(hint.normal, (*dims, 3))).reshape(-1, 3), *integers


def _spread(value: Single | PlacedBatch, dims: tuple[int, ...]) -> Single | PlacedBatch:
    if not isinstance(value, PlacedBatch) or value.dims == dims:
        return value
    spread: PlacedBatch = value.shape.at(np.broadcast_to(value.poses, (*dims, 4, 4)))
    return spread


def _check_tolerance(tolerance: float) -> None:
    if not isinstance(tolerance, int | float | np.number):
        raise TypeError(f"tolerance must be a number, but it is {tolerance!r}.")
    if not 0.0 < tolerance < 1.0:
        raise ValueError(f"tolerance must be positive and below 1, but it is {tolerance!r}.")


def _thread_count(threads: int | None) -> int:
    """0 stands for all cores."""
    if threads is None:
        return 0
    try:
        count = index(threads)
    except TypeError as error:
        raise TypeError(f"threads must be an integer or None, but it is {threads!r}.") from error
    if not 1 <= count <= MOST_THREADS:
        raise ValueError(f"threads must be 1 to {MOST_THREADS}, or None for all cores, but it is {threads}.")
    return count
