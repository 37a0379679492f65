"""Bezier motions: a curve stays in the hull of its control points, and so does whatever moves along it."""

from __future__ import annotations

from operator import index
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .links import Link
from .poses import as_floats
from .robots import Robot
from .shapes import ConvexHull, Shape
from .sweep import Operators, Swept, sweep

__all__ = ["sweep_bezier"]

Floats = NDArray[np.float64]


@overload
def sweep_bezier(body: Shape, controls: ArrayLike, *, pieces: int = 1) -> list[ConvexHull]: ...
@overload
def sweep_bezier(
    body: Robot, controls: ArrayLike, *, pieces: int = 1, operators: Operators = "auto", max_points: int = 10_000
) -> list[Swept]: ...
def sweep_bezier(
    body: Robot | Shape,
    controls: ArrayLike,
    *,
    pieces: int = 1,
    operators: Operators = "auto",
    max_points: int = 10_000,
) -> list[Swept] | list[ConvexHull]:
    """Sweep a shape or a robot along a Bezier curve.

    Parameters
    ----------
    body : Shape or Robot
        A shape moves in space without turning, a robot moves all its joints.
    controls : array_like, (n, 3) or (n, dof)
        Control points of the curve. Joints of a robot must not be floating or ball joints.
    pieces : int
        How many parts of equal time the curve is cut into: volumes of more and shorter pieces are smaller.
    operators, max_points
        For robots, see `sweep`.

    Returns
    -------
    list of ConvexHull or of Swept
        For every piece in turn: the volumes of all convex parts of a shape, or those of a robot.

    Examples
    --------
    >>> hulls = sweep_bezier(Sphere(0.1), [[0, 0, 0], [1, 1, 0], [2, 0, 0]], pieces=2)
    >>> [(len(hull.points), hull.radius) for hull in hulls]
    [(3, 0.1), (3, 0.1)]
    >>> round(distance(hulls[0], Sphere(0.1).at([0.0, 1.0, 0.0])).distance, 3)
    0.507
    """
    count = index(pieces)
    if count < 1:
        raise ValueError(f"pieces must be 1 or more, but it is {pieces!r}.")
    width = body.dof if isinstance(body, Robot) else 3
    given = as_floats(controls, "controls")
    if given.ndim != 2 or given.shape[1] != width or not len(given) or not np.isfinite(given).all():
        raise ValueError(f"controls must be finite and of shape (n, {width}), but they are {given!r:.100}.")
    parts = _cut(given, count)
    if not isinstance(body, Robot):
        return [hull for part in parts for hull in _hulls_along(body, part)]
    if any(joint.quaternion is not None for joint in body.joints):
        raise ValueError("controls have no quaternions: the robot must not have floating or ball joints.")
    return [
        sweep(body, part.min(axis=0), part.max(axis=0), operators=operators, max_points=max_points) for part in parts
    ]


def _cut(controls: Floats, count: int) -> list[Floats]:
    """Control points of equal parts of a curve, by the construction of de Casteljau."""
    parts = []
    for left in range(count, 0, -1):
        first, controls = _split(controls, 1.0 / left)
        parts.append(first)
    return parts


def _split(controls: Floats, t: float) -> tuple[Floats, Floats]:
    rows = [controls]
    while len(rows[-1]) > 1:
        rows.append((1.0 - t) * rows[-1][:-1] + t * rows[-1][1:])
    return np.array([row[0] for row in rows]), np.array([row[-1] for row in reversed(rows)])


def _hulls_along(shape: Shape, controls: Floats) -> list[ConvexHull]:
    still = sweep(Robot([Link("body", shape)], []), [], [])
    return [ConvexHull((hull.points[:, None] + controls).reshape(-1, 3), hull.radius) for hull in still.volumes("body")]
