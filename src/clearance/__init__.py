"""How far a robot is from touching anything, now and throughout its next movement."""

from . import elements, errors, poses, samples
from .contacts import ContactBatch, Contacts, contacts
from .meshio import load_mesh
from .queries import Gap, Gaps, Work, collides, distance, within
from .scene import Nearest, NearestBatch, PairTable, Scene, Search
from .shapes import (
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
    "HeightField",
    "Mesh",
    "Nearest",
    "NearestBatch",
    "PairTable",
    "Placed",
    "PlacedBatch",
    "PointCloud",
    "Scene",
    "Search",
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
    "load_mesh",
    "poses",
    "samples",
    "within",
]
