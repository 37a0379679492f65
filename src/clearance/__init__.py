"""How far a robot is from touching anything, now and throughout its next movement.

Shapes, queries, scenes and robots are imported at once. The rest is when it is first asked for, so that a program that
needs none of it starts sooner.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from . import errors, poses
from .clearances import Clearances, clearances, is_clear
from .contacts import ContactBatch, Contacts, contacts
from .queries import Gap, Gaps, Work, collides, distance, within
from .robots import Joint, Link, Mimic, PairGaps, Robot, RobotGap, SamplingReport
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

if TYPE_CHECKING:
    from . import elements, samples, simulation
    from .bezier import sweep_bezier
    from .braking import Braking
    from .fit import fit_swept_hull
    from .fit_pieces import fit_swept_hulls
    from .guard import Guard, Replay, Verdict
    from .meshio import load_mesh
    from .paths import PathReport, check_path
    from .range_sensors import DepthCamera, DepthImage, Echo, LightBarrier, Ultrasound
    from .rays import Hits, RayTarget, raycast
    from .scan_noise import Noise
    from .scanner import LaserScanner, Scan
    from .vehicle_guard import VehicleBraking, VehicleGuard, VehicleVerdict
    from .viewer import view

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
    "view",
    "within",
]

# What is imported later: names, and modules that they are in; these are the imports that type checkers see above.
# A function named like its module cannot be here: whoever imports the module puts it in the place of the function.
_LATER = {
    "Braking": "braking",
    "DepthCamera": "range_sensors",
    "DepthImage": "range_sensors",
    "Echo": "range_sensors",
    "Guard": "guard",
    "Hits": "rays",
    "LaserScanner": "scanner",
    "LightBarrier": "range_sensors",
    "Noise": "scan_noise",
    "PathReport": "paths",
    "RayTarget": "rays",
    "Replay": "guard",
    "Scan": "scanner",
    "Ultrasound": "range_sensors",
    "VehicleBraking": "vehicle_guard",
    "VehicleGuard": "vehicle_guard",
    "VehicleVerdict": "vehicle_guard",
    "Verdict": "guard",
    "check_path": "paths",
    "elements": "elements",
    "fit_swept_hull": "fit",
    "fit_swept_hulls": "fit_pieces",
    "load_mesh": "meshio",
    "raycast": "rays",
    "samples": "samples",
    "simulation": "simulation",
    "sweep_bezier": "bezier",
    "view": "viewer",
}

if not TYPE_CHECKING:  # who checks types takes any name for one that exists where there is a `__getattr__`

    def __getattr__(name):
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"{__name__}.{_LATER[name]}")
        found = module if name == _LATER[name] else getattr(module, name)
        globals()[name] = found
        return found

    def __dir__():
        return sorted({*globals(), *__all__})
