"""Swept points, segments and triangles as plain arrays: millions of pairs in one call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
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
    radii_a, radii_b = (np.asarray(r, dtype=np.float64, order="C") for r in (radius_a, radius_b))
    dims = np.broadcast_shapes(cores_a.shape[:-2], cores_b.shape[:-2], radii_a.shape, radii_b.shape)
    gaps = _room_for(dims) if out is None else _checked(out, dims)
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
    array = np.ascontiguousarray(value, dtype=np.float64)
    if array.ndim < 2 or array.shape[-1] != 3 or array.shape[-2] not in (1, 2, 3):
        raise ValueError(f"{name} must have shape (..., 1 to 3, 3), but it has {array.shape}.")
    return array


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
    if out.distance.shape != dims:
        raise ValueError(f"out has shape {out.distance.shape}, but the gaps have {dims}.")
    return out
