"""Shapes: immutable, picklable values in their own frame, centred, axes along z.

`shape.at(pose)` places one. A pose is a `(4, 4)` array, a vector of length 3 (a translation), or an object with
`.homogeneous` or `.as_matrix()`; `(..., 4, 4)` is a batch.
"""

from __future__ import annotations

from typing import Any

from ._core import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Placed,
    PlacedBatch,
    Shape,
    Sphere,
    SweptPoint,
    SweptSegment,
    SweptTriangle,
)

__all__ = [
    "Box",
    "Capsule",
    "Compound",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Ellipsoid",
    "HalfSpace",
    "Placed",
    "PlacedBatch",
    "Shape",
    "Sphere",
    "SweptPoint",
    "SweptSegment",
    "SweptTriangle",
    "place",
]


def place(shape: Shape, pose: Any) -> Placed | PlacedBatch:
    """Place a shape, as `shape.at(pose)` does; a name that pickle can find.

    Parameters
    ----------
    shape : Shape
    pose : pose or batch of poses
        Whatever `shape.at` takes.

    Returns
    -------
    Placed or PlacedBatch

    Examples
    --------
    >>> place(Sphere(1.0), [1.0, 0.0, 0.0]) == Sphere(1.0).at([1.0, 0.0, 0.0])
    True
    """
    placed: Placed | PlacedBatch = shape.at(pose)
    return placed
