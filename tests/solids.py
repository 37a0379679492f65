"""Convex shapes of every kind, drawn at random, and their support functions: slow, obvious, without the library."""

from functools import lru_cache
from itertools import product

import numpy as np
import pytest

import clearance as cl

EPS = np.finfo(float).eps
KINDS = (
    "Sphere",
    "Box",
    "Capsule",
    "Cylinder",
    "Cone",
    "Ellipsoid",
    "ConvexHull",
    "rounded ConvexHull",
    "SweptTriangle",
    "HalfSpace",
)
PAIRS = [pair for pair in product(KINDS, repeat=2) if pair != ("HalfSpace", "HalfSpace")]


def draw_shape(rng, kind, size=1.0):
    """Draw a shape whose measures lie between a fifth of `size` and `size`.

    Parameters
    ----------
    rng : numpy.random.Generator
    kind : str
        One of `KINDS`.
    size : float

    Returns
    -------
    Shape
    """
    u, v, w = size * 10.0 ** rng.uniform(-0.7, 0.0, size=3)
    points = size * rng.normal(size=(rng.integers(5, 11), 3)) / 3
    return {
        "Sphere": lambda: cl.Sphere(u),
        "Box": lambda: cl.Box([u, v, w]),
        "Capsule": lambda: cl.Capsule(u / 2, v),
        "Cylinder": lambda: cl.Cylinder(u / 2, v),
        "Cone": lambda: cl.Cone(u / 2, v),
        "Ellipsoid": lambda: cl.Ellipsoid([u, v, w]),
        "ConvexHull": lambda: cl.ConvexHull(points),
        "rounded ConvexHull": lambda: cl.ConvexHull(points, u / 4),
        "SweptTriangle": lambda: cl.SweptTriangle(*points[:3], u / 4 if rng.random() < 0.8 else 0.0),
        "HalfSpace": lambda: cl.HalfSpace(rng.normal(size=3), size * rng.normal()),
    }[kind]()


def scaled(shape, factor):
    """Return the same shape `factor` times as large."""
    if isinstance(shape, cl.Sphere):
        return cl.Sphere(shape.radius * factor)
    if isinstance(shape, cl.Box):
        return cl.Box(np.multiply(shape.size, factor))
    if isinstance(shape, cl.Capsule | cl.Cylinder | cl.Cone):
        return type(shape)(shape.radius * factor, shape.length * factor)
    if isinstance(shape, cl.Ellipsoid):
        return cl.Ellipsoid(np.multiply(shape.radii, factor))
    if isinstance(shape, cl.HalfSpace):
        return cl.HalfSpace(shape.normal, shape.offset * factor)
    points, radius = core(shape)
    if isinstance(shape, cl.SweptTriangle):
        return cl.SweptTriangle(*(points * factor), radius * factor)
    return cl.ConvexHull(points * factor, radius * factor)


def is_curved(shape):
    """Tell whether a shape is anything but a polytope swept by a sphere."""
    return isinstance(shape, cl.Cylinder | cl.Cone | cl.Ellipsoid)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


# Support -------------------------------------------------------------------------------------------------------------


def core(shape):
    """Return the vertices and the radius of a polytope swept by a sphere."""
    if isinstance(shape, cl.Sphere):
        return np.zeros((1, 3)), shape.radius
    if isinstance(shape, cl.Capsule):
        return np.array([[0, 0, -shape.length / 2], [0, 0, shape.length / 2]]), shape.radius
    if isinstance(shape, cl.Box):
        return np.array(list(product(*((-edge / 2, edge / 2) for edge in shape.size)))), 0.0
    if isinstance(shape, cl.ConvexHull):
        return np.array(shape.points), shape.radius
    ((points, radius),) = shape.elements
    return points, radius


def support(shape, directions):
    """Return the points of a finite shape, in its own frame, that lie farthest along directions.

    Parameters
    ----------
    shape : Shape
    directions : (n, 3) ndarray
        Of any length but zero.

    Returns
    -------
    (n, 3) ndarray
    """
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    if isinstance(shape, cl.Ellipsoid):
        stretched = directions * shape.radii
        return shape.radii * stretched / np.linalg.norm(stretched, axis=1, keepdims=True)
    if isinstance(shape, cl.Cylinder | cl.Cone):
        across = np.linalg.norm(directions[:, :2], axis=1, keepdims=True)
        rim = shape.radius * directions[:, :2] / np.where(across > 0, across, 1.0)
        top = np.full((len(directions), 1), shape.length / 2)
        if isinstance(shape, cl.Cylinder):
            return np.hstack([rim, np.where(directions[:, 2:] < 0, -top, top)])
        at_tip = shape.length * directions[:, 2:] > shape.radius * across
        return np.where(at_tip, np.hstack([0 * rim, top]), np.hstack([rim, -top]))
    vertices, radius = core(shape)
    return vertices[np.argmax(directions @ vertices.T, axis=1)] + radius * directions


def bounding_radius(shape):
    """Return the radius of the smallest ball around a shape, 0 for a half-space; the ball of a hull may be 1 % larger.

    Parameters
    ----------
    shape : Shape

    Returns
    -------
    float
    """
    if isinstance(shape, cl.HalfSpace):
        return 0.0
    if isinstance(shape, cl.Ellipsoid):
        return max(shape.radii)
    if isinstance(shape, cl.Cylinder):
        return np.hypot(shape.radius, shape.length / 2)
    if isinstance(shape, cl.Cone):
        flat = shape.length <= shape.radius
        return shape.radius if flat else (shape.radius**2 / shape.length + shape.length) / 2
    vertices, radius = core(shape)
    centre = vertices.mean(axis=0)
    for k in range(100):  # Bădoiu and Clarkson: go ever smaller steps towards the farthest vertex
        farthest = vertices[np.argmax(np.linalg.norm(vertices - centre, axis=1))]
        centre = centre + (farthest - centre) / (k + 2)
    return np.max(np.linalg.norm(vertices - centre, axis=1)) + radius


def reach(shape):
    """Return how far a shape extends from the origin of its own frame; for a half-space, the distance of its plane."""
    if isinstance(shape, cl.HalfSpace):
        return abs(shape.offset) / np.linalg.norm(shape.normal)
    if isinstance(shape, cl.Cylinder | cl.Cone):
        return np.hypot(shape.radius, shape.length / 2)
    if isinstance(shape, cl.Ellipsoid):
        return max(shape.radii)
    vertices, radius = core(shape)
    return np.max(np.linalg.norm(vertices, axis=1)) + radius


def hull_of(points, **options):
    """Return SciPy's hull of points; tests that need one skip where there is no SciPy."""
    spatial = pytest.importorskip("scipy.spatial", reason="hulls of points need scipy")
    return spatial.ConvexHull(points, **options)


@lru_cache
def faces_of(shape):
    """Return normals of the facets with the vertices of each, and edges as (i, j, two normals next to it)."""
    vertices, _ = core(shape)
    if len(vertices) == 3:
        normal = unit(np.cross(vertices[1] - vertices[0], vertices[2] - vertices[0]))
        edges = []
        for i, j in ((0, 1), (1, 2), (2, 0)):
            outward = unit(np.cross(vertices[j] - vertices[i], normal))
            edges += [(i, j, outward, normal), (i, j, outward, -normal)]
        return np.array([normal, -normal]), [[0, 1, 2]] * 2, edges
    hull = hull_of(vertices)
    normals = hull.equations[:, :3]
    _, first, group = np.unique(np.round(normals, 9) + 0.0, axis=0, return_index=True, return_inverse=True)
    corners = [np.unique(hull.simplices[group == k]) for k in range(len(first))]
    edges = []
    for s, neighbours in enumerate(hull.neighbors):
        for k, t in enumerate(neighbours):
            if s < t and group[s] != group[t]:
                i, j = np.delete(hull.simplices[s], k)
                edges.append((i, j, normals[s], normals[t]))
    return normals[first], corners, edges
