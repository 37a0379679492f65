"""Shapes: immutable, picklable values in their own frame, centred, axes along z.

`shape.at(pose)` places one. A pose is a `(4, 4)` array, a vector of length 3 (a translation), or an object with
`.homogeneous` or `.as_matrix()`; `(..., 4, 4)` is a batch.
"""

from ._core import (
    Capsule,
    Compound,
    Placed,
    PlacedBatch,
    Shape,
    Sphere,
    SweptPoint,
    SweptSegment,
    SweptTriangle,
)

__all__ = [
    "Capsule",
    "Compound",
    "Placed",
    "PlacedBatch",
    "Shape",
    "Sphere",
    "SweptPoint",
    "SweptSegment",
    "SweptTriangle",
]
