"""How far a robot is from touching anything, now and throughout its next movement."""

from . import elements, errors, poses, samples
from .contacts import ContactBatch, Contacts, contacts
from .queries import Gap, Gaps, Work, collides, distance, within
from .scene import PairTable, Scene
from .shapes import (
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

__version__ = "0.1.0"

__all__ = [
    "Box",
    "Capsule",
    "Compound",
    "Cone",
    "ContactBatch",
    "Contacts",
    "ConvexHull",
    "Cylinder",
    "Ellipsoid",
    "Gap",
    "Gaps",
    "HalfSpace",
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
    "contacts",
    "distance",
    "elements",
    "errors",
    "poses",
    "samples",
    "within",
]
