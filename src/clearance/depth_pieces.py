"""Shapes as a depth buffer draws them: triangles, and solids that beams meet in closed form."""

from __future__ import annotations

import itertools
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .shapes import Box, Cone, ConvexHull, Cylinder, Ellipsoid, HalfSpace, PointCloud, Shape
from .surfaces import is_surface, surface

Floats: TypeAlias = NDArray[np.float64]

KINDS = {"box": 0, "ellipsoid": 1, "cylinder": 2, "cone": 3, "capsule": 4, "half-space": 5}


class Solid(NamedTuple):
    """A curved solid or a box: one of `KINDS`, its frame, and half its extent along the axes of that."""

    kind: str
    pose: Floats
    half: Floats


def pieces_of(shape: Shape) -> tuple[Floats, list[Solid]]:
    """Cut a shape that is no compound into triangles (m, 3, 3) and solids, whose union it is as seen from outside."""
    none = np.empty((0, 3, 3))
    if is_surface(shape):
        return shape.vertices[shape.faces], []
    if isinstance(shape, Box):
        return none, [Solid("box", np.eye(4), 0.5 * np.array(shape.size))]
    if isinstance(shape, Ellipsoid):
        return none, [Solid("ellipsoid", np.eye(4), np.array(shape.radii))]
    if isinstance(shape, Cylinder | Cone):
        half = np.array([shape.radius, shape.radius, 0.5 * shape.length])
        return none, [Solid("cylinder" if isinstance(shape, Cylinder) else "cone", np.eye(4), half)]
    if isinstance(shape, HalfSpace):
        length_sq = float(shape.normal @ shape.normal)
        frame = _frame_along(np.asarray(shape.normal), shape.offset / length_sq * np.asarray(shape.normal))
        return none, [Solid("half-space", frame, np.ones(3))]
    if isinstance(shape, PointCloud):
        return none, [_ball(point, shape.radius) for point in shape.points]
    if shape.elements:
        ((core, radius),) = shape.elements
        return _swept(core, np.array([[0, 1, 2]] if len(core) == 3 else np.empty((0, 3), dtype=np.int64)), radius)
    if isinstance(shape, ConvexHull):
        return _hull(shape)
    raise TypeError(f"a depth buffer cannot draw a {type(shape).__name__}.")


def _hull(shape: ConvexHull) -> tuple[Floats, list[Solid]]:
    """Faces of a hull, and the balls and capsules that round it; points in a plane get some thickness."""
    hull = surface(ConvexHull(shape.points))
    corners, faces = np.asarray(hull.vertices), np.asarray(hull.faces)
    if shape.radius == 0.0:
        return corners[faces], []
    return _swept(corners, faces, shape.radius)


def _swept(core: Floats, faces: NDArray[np.int64], radius: float) -> tuple[Floats, list[Solid]]:
    """Sweep corners, edges and faces by a ball: balls, capsules, and faces moved out to both sides."""
    triangles = core[faces]
    if radius == 0.0 and len(faces):
        return triangles, []
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    shift = radius * normals[:, None]
    edges = {tuple(sorted((int(face[i]), int(face[i - 1])))) for face in faces for i in range(3)}
    pairs = edges or set(itertools.combinations(range(len(core)), 2))
    solids = [_capsule(core[i], core[j], radius) for i, j in pairs] or [_ball(core[0], radius)]
    return np.concatenate([triangles + shift, triangles - shift]), solids


def _ball(centre: Floats, radius: float) -> Solid:
    pose = np.eye(4)
    pose[:3, 3] = centre
    return Solid("ellipsoid", pose, np.full(3, radius))


def _capsule(p: Floats, q: Floats, radius: float) -> Solid:
    length = float(np.linalg.norm(q - p))
    if length == 0.0:
        return _ball(p, radius)
    return Solid("capsule", _frame_along(q - p, 0.5 * (p + q)), np.array([radius, radius, 0.5 * length + radius]))


def _frame_along(axis: Floats, origin: Floats) -> Floats:
    """A pose whose z points along an axis."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3] = np.stack([x, np.cross(z, x), z, origin], axis=1)
    return pose
