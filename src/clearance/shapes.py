"""Shapes: immutable, picklable values in their own frame, centred, axes along z.

`shape.at(pose)` places one. A pose is a `(4, 4)` array, a vector of length 3 (a translation), or an object with
`.homogeneous` or `.as_matrix()`; `(..., 4, 4)` is a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Mesh,
    Placed,
    PlacedBatch,
    PointCloud,
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
    "HeightField",
    "Mesh",
    "Placed",
    "PlacedBatch",
    "PointCloud",
    "Shape",
    "Sphere",
    "SweptPoint",
    "SweptSegment",
    "SweptTriangle",
    "as_faces",
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


def as_faces(value: Any) -> NDArray[np.int64]:
    """Read numbers of vertices as a contiguous array of integers, or say what they are instead.

    Parameters
    ----------
    value : array_like
        Whole numbers.

    Returns
    -------
    ndarray of int64

    Examples
    --------
    >>> as_faces([[0, 1, 2]])
    array([[0, 1, 2]])
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"faces must be rows of three numbers of vertices, but it is {value!r:.200}.") from error
    if array.size > 0 and array.dtype.kind not in "iu":
        raise ValueError(f"faces must be integers, the numbers of vertices, but its type is {array.dtype}.")
    return np.asarray(array, dtype=np.int64, order="C")
