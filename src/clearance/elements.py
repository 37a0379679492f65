"""Swept points, segments and triangles as plain arrays: millions of pairs in one call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .poses import as_floats
from .queries import _thread_count

__all__ = ["ElementGaps", "closest"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ElementGaps:
    """Gaps between rows of swept elements.

    Attributes
    ----------
    distance, lower, upper : ndarray, (...)
        Signed distance and its bracket, in metres.
    point_a, point_b, normal : ndarray, (..., 3)
        Witness points on the swept surfaces, and the unit vector from a to b.
    weights_a, weights_b : ndarray, (..., 3)
        Where the closest points of the cores lie: weights of their vertices (unused ones are zero). For a segment the
        second weight is its parameter.
    """

    distance: Floats
    lower: Floats
    upper: Floats
    point_a: Floats
    point_b: Floats
    normal: Floats
    weights_a: Floats
    weights_b: Floats


def closest(
    a: ArrayLike,
    b: ArrayLike,
    radius_a: ArrayLike = 0.0,
    radius_b: ArrayLike = 0.0,
    *,
    threads: int | None = None,
    out: ElementGaps | None = None,
) -> ElementGaps:
    """Find the exact gaps between swept points, segments and triangles.

    Parameters
    ----------
    a, b : array_like, (..., 1 to 3, 3)
        Vertices of the cores: one for points, two for segments, three for triangles. Leading dimensions broadcast.
    radius_a, radius_b : array_like, (...)
        Radii of the spheres that are swept over the cores.
    threads : int, optional
        All cores unless given; it changes no result.
    out : ElementGaps, optional
        An earlier result of the same shape to write into, which saves the time to allocate a large one.

    Returns
    -------
    ElementGaps

    Examples
    --------
    >>> segment = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    >>> crossing = [[1.0, -1.0, 0.5], [1.0, 1.0, 0.5]]
    >>> gaps = closest(segment, crossing, radius_a=0.1)
    >>> float(gaps.distance), gaps.weights_a.tolist()
    (0.4, [0.5, 0.5, 0.0])
    """
    cores_a, cores_b = _cores(a, "a"), _cores(b, "b")
    radii_a, radii_b = as_floats(radius_a, "radius_a"), as_floats(radius_b, "radius_b")
    dims = _common_dims(a=cores_a.shape[:-2], b=cores_b.shape[:-2], radius_a=radii_a.shape, radius_b=radii_b.shape)
    gaps = _room_for(dims) if out is None else _checked(out, dims)
    if out is not None:
        cores_a, cores_b, radii_a, radii_b = (_apart_from(gaps, x) for x in (cores_a, cores_b, radii_a, radii_b))
    _core.closest(
        _rows(cores_a, dims, 2),
        _rows(radii_a, dims, 0),
        _rows(cores_b, dims, 2),
        _rows(radii_b, dims, 0),
        gaps.distance.reshape(-1),
        gaps.lower.reshape(-1),
        gaps.upper.reshape(-1),
        gaps.point_a.reshape(-1, 3),
        gaps.point_b.reshape(-1, 3),
        gaps.normal.reshape(-1, 3),
        gaps.weights_a.reshape(-1, 3),
        gaps.weights_b.reshape(-1, 3),
        _thread_count(threads),
    )
    return gaps


def _cores(value: ArrayLike, name: str) -> Floats:
    array = as_floats(value, name)
    if array.ndim < 2 or array.shape[-1] != 3 or array.shape[-2] not in (1, 2, 3):
        raise ValueError(f"{name} must have shape (..., 1 to 3, 3), but it has {array.shape}.")
    return array


def _common_dims(**dims: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*dims.values())
    except ValueError as error:
        listed = ", ".join(f"{name} {shape}" for name, shape in dims.items())
        raise ValueError(f"leading dimensions must broadcast against each other, but they are: {listed}.") from error


def _apart_from(room: ElementGaps, array: Floats) -> Floats:
    """Rows are written while others are still to be read: what shares memory with the results is copied first."""
    return array.copy() if any(np.may_share_memory(array, column) for column in vars(room).values()) else array


def _rows(array: Floats, dims: tuple[int, ...], trailing: int) -> Floats:
    """One row per pair, or a single row that serves all of them."""
    tail = array.shape[array.ndim - trailing :]
    lead = array.shape[: array.ndim - trailing]
    if lead != dims and int(np.prod(lead)) != 1:
        array = np.ascontiguousarray(np.broadcast_to(array, dims + tail))
    return array.reshape((-1, *tail))


def _room_for(dims: tuple[int, ...]) -> ElementGaps:
    return ElementGaps(*(np.empty(dims) for _ in range(3)), *(np.empty((*dims, 3)) for _ in range(5)))


def _checked(out: ElementGaps, dims: tuple[int, ...]) -> ElementGaps:
    for name, room in vars(out).items():
        shape = dims if name in ("distance", "lower", "upper") else (*dims, 3)
        if not (isinstance(room, np.ndarray) and room.shape == shape and room.dtype == np.float64):
            raise ValueError(f"out.{name} must be a float64 array of shape {shape}, but it is {room!r:.200}.")
        if not (room.flags.c_contiguous and room.flags.writeable):
            raise ValueError(f"out.{name} must be contiguous and writable.")
    return out
