"""Meshes of shapes, to look at or to hand on. They need trimesh and scipy: `pip install clearance[view]`."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from .shapes import (
    Box,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Placed,
    PointCloud,
    Shape,
)
from .shapes import Mesh as TriangleMesh

if TYPE_CHECKING:
    import trimesh

__all__ = ["mesh_of"]

Floats = NDArray[np.float64]
Mesh: TypeAlias = Any  # a trimesh.Trimesh, a library that is imported only to draw

THIN = 1e-3  # what has no thickness is drawn this thick, relative to its length
MOST_BALLS = 10_000  # of a larger cloud a sample is drawn


def mesh_of(shape: Shape) -> trimesh.Trimesh:
    """Mesh the surface of a shape, part by part.

    Parameters
    ----------
    shape : Shape
        Parts thinner than a thousandth of their length are made that thick. Of a half-space there is a plate around
        the other parts, or two metres wide if there are none.

    Returns
    -------
    trimesh.Trimesh
        In the frame of the shape; one closed convex surface per part, inside the true one by less than 1 % of its
        radius. Meshes and height fields are given as they are. Of a cloud there is one ball per point, the rounder the
        fewer there are; of more than 10 000 an even sample.

    Examples
    --------
    >>> from clearance import Capsule
    >>> capsule = mesh_of(Capsule(radius=0.1, length=1.0))
    >>> capsule.is_watertight, capsule.extents.round(3).tolist()
    (True, [0.2, 0.2, 1.2])
    """
    parts = list(leaves(shape, np.eye(4)))
    solids = [surface(leaf).apply_transform(pose) for leaf, pose in parts if not isinstance(leaf, HalfSpace)]
    around = np.concatenate([solid.vertices for solid in solids]) if solids else np.empty((0, 3))
    plates = [plate(leaf, pose, around) for leaf, pose in parts if isinstance(leaf, HalfSpace)]
    mesh: trimesh.Trimesh = extra("trimesh").util.concatenate([*solids, *plates])
    return mesh


def leaves(shape: Shape, pose: Floats) -> Iterator[tuple[Shape, Floats]]:
    """Walk through the parts of a shape at a pose, down to those that are no compounds, each with its own pose."""
    if not isinstance(shape, Compound):
        yield shape, pose
        return
    for part in shape.parts:
        if isinstance(part, Placed):
            yield from leaves(part.shape, pose @ part.pose)
        else:
            yield from leaves(part, pose)


def surface(shape: Shape, fine: bool = True) -> Mesh:
    """Mesh a shape that is finite and no compound, in its own frame."""
    if is_surface(shape):
        return extra("trimesh").Trimesh(shape.vertices, shape.faces, process=False)
    if isinstance(shape, PointCloud):
        return balls(shape.points, shape.radius)
    if shape.elements:
        ((core, radius),) = shape.elements
        return _around_element(core, radius, fine)
    if isinstance(shape, Box):
        return _around_points(0.5 * shape.size * list(itertools.product([-1.0, 1.0], repeat=3)), 0.0, fine)
    if isinstance(shape, Cylinder):
        z = 0.5 * shape.length
        return _turned([(shape.radius, -z), (shape.radius, z), (0.0, z)], fine)
    if isinstance(shape, Cone):
        z = 0.5 * shape.length
        return _turned([(shape.radius, -z), (0.0, z)], fine)
    if isinstance(shape, Ellipsoid):
        ball = extra("trimesh").creation.icosphere(subdivisions=4 if fine else 3)
        normals = ball.vertices / shape.radii
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return _mesh(ball.vertices * shape.radii, ball.faces, normals)
    if isinstance(shape, ConvexHull):
        return _around_points(shape.points, shape.radius, fine)
    raise TypeError(f"there is no picture of a {type(shape).__name__} yet.")


def is_surface(shape: Shape) -> TypeGuard[TriangleMesh | HeightField]:
    """Tell whether a shape is a surface, which need be neither closed nor convex."""
    return isinstance(shape, TriangleMesh | HeightField)


def two_sided(mesh: Mesh) -> Mesh:
    """Give every triangle a front on either side and corners of its own."""
    corners = np.concatenate([mesh.triangles, mesh.triangles[:, ::-1]])
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    faces = np.arange(3 * len(corners)).reshape(-1, 3)
    return _mesh(corners.reshape(-1, 3), faces, np.repeat(normals, 3, axis=0))


def coarse(mesh: Mesh, cell: float) -> Mesh:
    """Move vertices to the middle of all those in the same cubic cell; triangles that end up flat or twice vanish."""
    cells = np.floor((mesh.vertices - mesh.bounds[0]) / cell).astype(np.int64)
    _, group, count = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    middles = np.stack([np.bincount(group, weights=axis) for axis in mesh.vertices.T], axis=1) / count[:, None]
    faces = group[mesh.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return extra("trimesh").Trimesh(middles, faces[np.sort(first)], process=False)


def with_sharp_edges(mesh: Mesh, shape: Shape) -> Mesh:
    """Give both sides of every edge normals of their own, where a shape has edges."""
    is_round = bool(shape.elements) or isinstance(shape, Ellipsoid)
    if is_round or (isinstance(shape, ConvexHull) and shape.radius > 0.0):
        return mesh
    origin, size = mesh.bounds[0], float(mesh.extents.max())
    at_unit_size = extra("trimesh").Trimesh((mesh.vertices - origin) / size, mesh.faces, process=False)
    shaded = extra("trimesh").graph.smooth_shade(at_unit_size, angle=np.radians(25.0), facet_minarea=None)
    return _mesh(size * shaded.vertices + origin, shaded.faces, shaded.vertex_normals)


def plate(half_space: HalfSpace, pose: Floats, around: Floats) -> Mesh:
    """Mesh as much of a half-space as lies under some points, as a thin rectangular plate below its surface."""
    normal = pose[:3, :3] @ half_space.normal
    origin = pose[:3, 3] + half_space.offset * normal
    along = np.cross([0.0, 0.0, 1.0] if abs(normal[2]) < 0.99 else [0.0, 1.0, 0.0], normal)
    along /= np.linalg.norm(along)
    axes = np.stack([along, np.cross(normal, along)])
    seen = (around - origin) @ axes.T if len(around) else np.array([[-1.0, -1.0], [1.0, 1.0]])
    low, high = seen.min(axis=0), seen.max(axis=0)
    margin = 0.07 * np.linalg.norm(high - low) * bool(len(around))
    (left, front), (right, back) = low - margin, high + margin
    edge = np.array([(left, front), (right, front), (right, back), (left, back)]) @ axes + origin
    depth = THIN * np.linalg.norm(edge[2] - edge[0])
    return _hull(np.concatenate([edge, edge - depth * normal]))


def arrow(start: Floats, along: Floats, thickness: float) -> list[Mesh]:
    """Mesh an arrow: a dot where it starts, a shaft, a head."""
    length = float(np.linalg.norm(along))
    turn = extra("trimesh").geometry.align_vectors([0.0, 0.0, 1.0], along)
    turn[:3, 3] = start
    head = min(8.0 * thickness, 0.5 * length)
    shaft = surface(Cylinder(thickness, length - head), fine=False).apply_translation([0.0, 0.0, 0.5 * (length - head)])
    tip = surface(Cone(0.4 * head, head), fine=False).apply_translation([0.0, 0.0, length - 0.5 * head])
    dot = _around_element(np.zeros((1, 3)), 2.5 * thickness, fine=False)
    return [part.apply_transform(turn) for part in (dot, shaft, tip)]


def stroke(points: Floats, thickness: float) -> list[Mesh]:
    """Mesh a line between two points with a dot at either end."""
    ends = [_around_element(point[None], 2.5 * thickness) for point in points]
    return [_around_element(points, thickness), *ends]


def threads(segments: Floats, thickness: float) -> Mesh:
    """Mesh very many lines: a prism with three sides each, (n, 2, 3)."""
    along = segments[:, 1] - segments[:, 0]
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    one = np.cross(along, np.eye(3)[np.argmin(np.abs(along), axis=1)])
    one /= np.maximum(np.linalg.norm(one, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    other = np.cross(along, one)
    angle = np.array([0.0, 2.0, 4.0])[:, None, None] * np.pi / 3.0
    across = np.moveaxis(np.cos(angle) * one + np.sin(angle) * other, 0, 1)  # (n, 3, 3)
    corners = segments[:, :, None] + thickness * across[:, None]
    sides = [face for k in range(3) for face in ((k, (k + 1) % 3, 3 + k), ((k + 1) % 3, 3 + (k + 1) % 3, 3 + k))]
    faces = np.array(sides) + 6 * np.arange(len(segments))[:, None, None]
    normals = np.repeat(across[:, None], 2, axis=1)
    return _mesh(corners.reshape(-1, 3), faces.reshape(-1, 3), normals.reshape(-1, 3))


def extra(name: str) -> Any:
    """Import what only pictures need, or say how to get it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"pictures need {name}; get it with: pip install clearance[view]") from error


def _mesh(vertices: Floats, faces: NDArray[np.int64], normals: Floats) -> Mesh:
    return extra("trimesh").Trimesh(vertices, faces, vertex_normals=normals, process=False)


def _hull(points: Floats) -> Mesh:
    """The convex hull, made at unit size: trimesh merges points that are nearer than 1e-8, and drops small faces."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    size = float(np.abs(points - middle).max())
    hull = extra("trimesh").convex.convex_hull((points - middle) / size)
    return extra("trimesh").Trimesh(size * hull.vertices + middle, hull.faces, process=False)


def _around_element(core: Floats, radius: float, fine: bool = True) -> Mesh:
    """The convex hull of spheres at the vertices of a core."""
    origin, core = core[0], core - core[0]
    radius = max(radius, THIN * float(np.abs(core).max())) or THIN
    points = core[:, None] + radius * _directions(core, fine)
    hull = _hull(points.reshape(-1, 3))
    return _swept(hull, core, radius, origin)


def balls(points: Floats, radius: float) -> Mesh:
    """Mesh a ball around every point, or around some if there are very many."""
    if len(points) > MOST_BALLS:
        points = points[np.linspace(0, len(points) - 1, MOST_BALLS).astype(np.int64)]
    radius = max(radius, THIN * float(np.ptp(points, axis=0).max())) or THIN
    ball = extra("trimesh").creation.icosphere(subdivisions=3 if len(points) < 100 else 1 if len(points) < 2000 else 0)
    vertices = points[:, None] + radius * ball.vertices
    faces = ball.faces + len(ball.vertices) * np.arange(len(points))[:, None, None]
    return _mesh(vertices.reshape(-1, 3), faces.reshape(-1, 3), np.tile(ball.vertices, (len(points), 1)))


def _swept(hull: Mesh, core: Floats, radius: float, origin: Floats) -> Mesh:
    """Normals point away from the nearest corner of the core, which every vertex was swept from."""
    extra("scipy")
    from scipy.spatial import KDTree

    _, nearest = KDTree(core).query(hull.vertices)
    return _mesh(hull.vertices + origin, hull.faces, (hull.vertices - core[nearest]) / radius)


def _directions(core: Floats, fine: bool) -> Floats:
    """A sphere of directions with circles across the edges of a core, which make faces flat and flanks straight."""
    directions = _sphere(3 if fine else 2)
    angle = np.linspace(0.0, 2.0 * np.pi, 64 if fine else 32, endpoint=False)[:, None]
    face_normal = np.cross(core[1] - core[0], core[2] - core[0]) if len(core) == 3 else np.zeros(3)
    circles = []
    for p, q in itertools.combinations(core, 2):
        if (p == q).all():
            continue
        along = (q - p) / np.linalg.norm(q - p)
        start = face_normal if face_normal.any() else np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
        start = start / np.linalg.norm(start)
        circles.append(np.cos(angle) * start + np.sin(angle) * np.cross(along, start))
        # A direction beside the circle would raise a ridge on the flank.
        directions = directions[np.abs(directions @ along) > (0.06 if fine else 0.12)]
    return np.concatenate([directions, *circles])


@functools.cache
def _sphere(subdivisions: int) -> Floats:
    return np.array(extra("trimesh").creation.icosphere(subdivisions=subdivisions).vertices)


def _turned(profile: list[tuple[float, float]], fine: bool) -> Mesh:
    """Turn a profile of radii and heights about z, from the rim of the base upwards."""
    sections = 64 if fine else 32
    base = np.array(profile[0])
    # Rings about as far apart as the sections are: long slivers are hard to cut and to light.
    apart = 2.0 * np.pi * base[0] / sections
    line = [base * [0.0, 1.0], base]
    for start, end in itertools.pairwise(np.array(profile)):
        rings = int(np.clip(np.linalg.norm(end - start) / apart, 1.0, 48.0))
        line.extend(np.linspace(start, end, rings + 1)[1:])
    size = np.abs(profile).max()  # trimesh merges points that are nearer than 1e-8
    turned = extra("trimesh").creation.revolve(np.array(line) / size, sections=sections)
    return _mesh(size * turned.vertices, turned.faces, turned.vertex_normals)


def _around_points(points: Floats, radius: float, fine: bool) -> Mesh:
    """The convex hull of points, swept by a ball."""
    origin = points.mean(axis=0)
    points = points - origin
    extent = float(np.abs(points).max())
    if extent == 0.0:
        return _around_element(origin[None], radius, fine)
    points, radius = points / extent, radius / extent  # at unit size, since normals of tiny faces would be lost
    # Points in a plane or on a line have no hull of their own: they get a little thickness.
    for axis in np.linalg.eigh(points.T @ points)[1].T:
        if np.ptp(points @ axis) < THIN:
            half = max(0.5 * THIN - radius, 1e-6)
            points = np.concatenate([points + half * axis, points - half * axis])
    hull = _hull(points)
    if radius > 0.0:
        hull = _swept(_hull(_rounded(hull, radius, fine)), hull.vertices, radius, np.zeros(3))
    return _mesh(extent * hull.vertices + origin, hull.faces, hull.vertex_normals)


def _rounded(hull: Mesh, radius: float, fine: bool) -> Floats:
    """Points of a swept polytope: on its faces, across its edges, and around its corners."""
    directions = _sphere(3 if fine else 2)
    corners = hull.vertices[np.argmax(hull.vertices @ directions.T, axis=0)] + radius * directions
    faces = hull.triangles + radius * hull.face_normals[:, None]
    points = [corners, faces.reshape(-1, 3)]
    step = 0.1 if fine else 0.2  # radians
    for ends, (one, other), angle in zip(
        hull.vertices[hull.face_adjacency_edges],
        hull.face_normals[hull.face_adjacency],
        hull.face_adjacency_angles,
        strict=True,
    ):
        for part in np.linspace(0.0, 1.0, int(np.ceil(angle / step)) + 1)[1:-1]:
            across = np.sin((1.0 - part) * angle) * one + np.sin(part * angle) * other
            points.append(ends + radius * across / np.linalg.norm(across))
    return np.concatenate(points)
