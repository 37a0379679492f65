"""How far a robot is from touching anything, now and throughout its next movement."""

from . import elements, poses, samples
from .queries import Gap, Gaps, Work, collides, distance, within
from .scene import PairTable, Scene
from .shapes import (
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

__version__ = "0.1.0"

__all__ = [
    "Capsule",
    "Compound",
    "Gap",
    "Gaps",
    "PairTable",
    "Placed",
    "PlacedBatch",
    "Scene",
    "Shape",
    "Sphere",
    "SweptPoint",
    "SweptSegment",
    "SweptTriangle",
    "Work",
    "collides",
    "distance",
    "elements",
    "poses",
    "samples",
    "within",
]
