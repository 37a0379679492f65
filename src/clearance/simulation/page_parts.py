"""What pages that play are made of: three.js, arrays as text, meshes of bodies, and where they are looked at from."""

from __future__ import annotations

import base64
import html
import itertools
import json
import re
from importlib.resources import files
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..meshio import write_whole
from ..shapes import HalfSpace, Shape
from ..surfaces import Mesh, extra, is_surface, leaves, plate, surface, two_sided, with_sharp_edges
from .scenario import View

__all__: list[str] = []

Floats = NDArray[np.float64]

FIELD_OF_VIEW = np.radians(40.0)
VIEW_FROM = (0.7, -0.5, 0.55)  # towards the viewer, unless somebody says where that is


def write_page(path: str | PathLike[str], script: str, title: str, summary: str, data: dict[str, Any]) -> None:
    """Write a page with a clock and a slider; a script among the data of the package says what it shows when."""
    folder = files("clearance") / "data"
    filled = {
        "$TITLE": html.escape(title),
        "$SUMMARY": html.escape(summary),
        "$LIBRARY": _library(),
        "$DATA": json.dumps(data).replace("<", "\\u003c"),
        "$SCRIPT": (folder / script).read_text(encoding="utf-8"),
    }
    page = (folder / "playback.html").read_text(encoding="utf-8")
    page = re.sub("|".join(map(re.escape, filled)), lambda place: filled[place[0]], page)
    write_whole(path, page.encode())


def _library() -> str:
    """three.js as trimesh brings it along, without the viewer that follows it."""
    trimesh = extra("trimesh")
    packed = trimesh.resources.get_bytes("templates/viewer.zip")
    template = trimesh.util.decompress(packed, file_type="zip")["viewer.html.template"].read().decode()
    _, found, rest = template.partition("<script>")
    library, viewer, _ = rest.partition("var camera,controls,scene,renderer,tracklight;")
    if not found or not viewer:
        raise ImportError(f"the viewer of trimesh {trimesh.__version__} is not the one that pages are made with.")
    return str(library)


def packed(values: Any, kind: Any) -> str:
    """Turn numbers into text that a page can read."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def packed_mesh(mesh: Mesh) -> dict[str, str]:
    """Turn a mesh into text that a page can read."""
    return {
        "vertices": packed(mesh.vertices, np.float32),
        "normals": packed(mesh.vertex_normals, np.float32),
        "faces": packed(mesh.faces, np.uint32),
    }


def is_finite(shape: Shape) -> bool:
    """Tell whether a shape ends somewhere."""
    return bool(np.isfinite(shape.ball[1]))


def body_mesh(shape: Shape, body_from_world: Floats | None = None, around: Floats | None = None) -> Mesh:
    """Mesh one body, with normals that tell round from sharp; of a half-space there is a plate near some points."""
    parts = []
    for leaf, place in leaves(shape, np.eye(4)):
        if isinstance(leaf, HalfSpace) and body_from_world is not None and around is not None:
            nearby = around @ body_from_world[:3, :3].T + body_from_world[:3, 3]
            parts.append(with_sharp_edges(plate(leaf, place, nearby), leaf))
        elif is_surface(leaf):
            parts.append(two_sided(surface(leaf)).apply_transform(place))
        else:
            parts.append(with_sharp_edges(surface(leaf, fine=False).apply_transform(place), leaf))
    return parts[0] if len(parts) == 1 else extra("trimesh").util.concatenate(parts)


def box_around(bounds: Floats, poses: Floats) -> Floats:
    """Give two corners of a box around all places where a body within some bounds has been."""
    corners = np.array(list(itertools.product(*bounds.T)))
    points = corners @ np.swapaxes(poses[:, :3, :3], 1, 2) + poses[:, None, :3, 3]
    return np.array([points.min(axis=(0, 1)), points.max(axis=(0, 1))])


def without_jumps(quaternions: Floats) -> Floats:
    """Of two quaternions that mean the same, choose the one near that of the frame before: (t, ..., 4)."""
    turned = (np.sum(quaternions[1:] * quaternions[:-1], axis=-1) < 0.0).cumsum(axis=0) % 2
    chosen = quaternions.copy()
    chosen[1:] *= 1.0 - 2.0 * turned[..., None]
    return chosen


def camera(view: View, around: Floats) -> dict[str, Any]:
    """Say what a page turns about, and from where: an angle about z, one above the horizon, and a distance."""
    low, high = around.min(axis=0), around.max(axis=0)
    target, radius = 0.5 * (low + high), max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    distance = radius / float(np.sin(0.5 * FIELD_OF_VIEW)) * 0.9
    towards = np.array(VIEW_FROM) / np.linalg.norm(VIEW_FROM)
    if view.position is None:
        target = target - [0.0, 0.0, 0.15 * radius]  # what is near takes more room, and so does the slider
    else:
        yaw, pitch = np.radians([view.yaw_deg, view.pitch_deg])
        towards = -np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)])
        eye = np.array(view.position)
        # The page turns about the point of the line of sight that is nearest to the middle of everything.
        distance = max(float((eye - target) @ towards), 0.05 * radius)
        target = eye - distance * towards
    far = view.far or 20.0 * max(distance, radius)
    return {
        "target": target.tolist(),
        "distance": distance,
        "azimuth": float(np.arctan2(towards[1], towards[0])),
        "elevation": float(np.arcsin(towards[2])),
        "near": view.near or 1e-4 * far,
        "far": far,
        "light": list(view.light or (0.35 * radius, -0.6 * radius, 1.5 * radius)),
    }
