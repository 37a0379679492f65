"""How far a robot is from touching anything, now and throughout its next movement."""

from . import elements, errors, poses, samples, simulation
from .bezier import sweep_bezier
from .braking import Braking
from .clearances import Clearances, clearances, is_clear
from .contacts import ContactBatch, Contacts, contacts
from .fit import fit_swept_hull
from .fit_pieces import fit_swept_hulls
from .guard import Guard, Replay, Verdict
from .meshio import load_mesh
from .paths import PathReport, check_path
from .queries import Gap, Gaps, Work, collides, distance, within
from .range_sensors import DepthCamera, DepthImage, Echo, LightBarrier, Ultrasound
from .rays import Hits, RayTarget, raycast
from .robots import Joint, Link, Mimic, PairGaps, Robot, RobotGap, SamplingReport
from .scan_noise import Noise
from .scanner import LaserScanner, Scan
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
from .sweep import Swept, sweep
from .vehicle_guard import VehicleBraking, VehicleGuard, VehicleVerdict

__version__ = "0.1.0"

__all__ = [
    "Box",
    "Braking",
    "Capsule",
    "Clearances",
    "Compound",
    "Cone",
    "ContactBatch",
    "Contacts",
    "ConvexHull",
    "Cylinder",
    "DepthCamera",
    "DepthImage",
    "Echo",
    "Ellipsoid",
    "Gap",
    "Gaps",
    "Guard",
    "HalfSpace",
    "HeightField",
    "Hits",
    "Joint",
    "LaserScanner",
    "LightBarrier",
    "Link",
    "Mesh",
    "Mimic",
    "Nearest",
    "NearestBatch",
    "Noise",
    "PairGaps",
    "PairTable",
    "PathReport",
    "Placed",
    "PlacedBatch",
    "PointCloud",
    "RayTarget",
    "Replay",
    "Robot",
    "RobotGap",
    "SamplingReport",
    "Scan",
    "Scene",
    "Search",
    "Shape",
    "Sphere",
    "Swept",
    "SweptPoint",
    "SweptSegment",
    "SweptTriangle",
    "Ultrasound",
    "VehicleBraking",
    "VehicleGuard",
    "VehicleVerdict",
    "Verdict",
    "Work",
    "check_path",
    "clearances",
    "collides",
    "contacts",
    "distance",
    "elements",
    "errors",
    "fit_swept_hull",
    "fit_swept_hulls",
    "is_clear",
    "load_mesh",
    "poses",
    "raycast",
    "samples",
    "simulation",
    "sweep",
    "sweep_bezier",
    "within",
]
