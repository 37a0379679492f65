"""Truth without a rival for convex shapes: tangent planes laid a chosen gap apart, and a slow oracle for the rest.

A contact of a shape is a direction with a point where the plane across that direction supports the shape. Two shapes
placed with their supporting planes `gap` apart and the two points opposite each other are exactly `gap` apart if
`gap >= 0`: the planes bound the distance from below, the points from above. For `gap < 0` the planes still say that the
signed distance is no less. It is equal if a ball of radius `-gap` that touches the Minkowski difference from inside at
that point fits into it; every contact knows the radius of such a ball.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
from scipy import spatial

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


# Contacts of one shape -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contact:
    """Places where planes support a shape, in its own frame.

    Attributes
    ----------
    direction, point : (n, 3) ndarray
    line : (n, 3) ndarray
        Along the edge or the rim where the plane touches, zero elsewhere.
    extent : (n,) ndarray of int
        Dimension of what touches the plane: 0 a point, 1 a segment, 2 an area.
    ball : (n,) ndarray
        Radius of a ball in the shape that touches the plane at the point; 0 at edges, rims and corners.
    """

    direction: np.ndarray
    point: np.ndarray
    line: np.ndarray
    extent: np.ndarray
    ball: np.ndarray


def _contact(direction, point, line=0.0, extent=0, ball=0.0):
    n = len(direction)
    line = np.broadcast_to(np.asarray(line, dtype=float), (n, 3))
    return Contact(direction, point, line, np.full(n, extent), np.broadcast_to(ball, n) * np.ones(n))


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _ring(rng, n):
    angle = rng.uniform(0, 2 * np.pi, n)
    zero = np.zeros(n)
    return np.stack([np.cos(angle), np.sin(angle), zero], 1), np.stack([-np.sin(angle), np.cos(angle), zero], 1)


def _between(rng, u, v):
    """Draw directions strictly between two that are less than half a turn apart."""
    t = rng.uniform(0.02, 0.98, size=(len(u), 1))
    return _unit((1 - t) * u + t * v)


def _inner_weights(rng, n, k):
    raw = rng.exponential(size=(n, k)) + 0.1
    return raw / raw.sum(axis=1, keepdims=True)


def _sphere_contacts(rng, shape, n):
    direction = _unit(rng.normal(size=(n, 3)))
    return [_contact(direction, shape.radius * direction, ball=shape.radius)]


def _ellipsoid_contacts(rng, shape, n):
    radii = np.array(shape.radii)
    directions = _unit(rng.normal(size=(n, 3)) / np.where(rng.random((n, 1)) < 0.5, 1.0, radii / radii.max()))
    return [_contact(directions, support(shape, directions), ball=radii.min() ** 2 / radii.max())]


def _capsule_contacts(rng, shape, n):
    end, (side, _) = _unit(rng.normal(size=(n, 3))), _ring(rng, n)
    z = np.eye(3)[2]
    along = shape.length / 2 * rng.uniform(-0.9, 0.9, size=(n, 1)) * z
    return [
        _contact(end, support(shape, end), ball=shape.radius),
        _contact(side, along + shape.radius * side, z, 1, shape.radius),
    ]


def _cylinder_contacts(rng, shape, n):
    radius, half = shape.radius, shape.length / 2
    radial, tangent = _ring(rng, n)
    z = rng.choice([-1.0, 1.0], size=(n, 1)) * np.eye(3)[2]
    height, out = rng.uniform(0, 0.9, size=(2, n, 1))
    return [
        _contact(radial, radius * radial + half * height * z, z, 1, np.minimum(radius, half * (1 - height[:, 0]))),
        _contact(z, radius * out * radial + half * z, 0.0, 2, np.minimum(half, radius * (1 - out[:, 0]))),
        _contact(_between(rng, radial, z), radius * radial + half * z, tangent),
    ]


def _cone_contacts(rng, shape, n):
    radius, length = shape.radius, shape.length
    slant = np.hypot(radius, length)
    sine, cosine = radius / slant, length / slant  # of half the angle at the tip
    radial, tangent = _ring(rng, n)
    z = np.tile(np.eye(3)[2], (n, 1))
    side = cosine * radial + sine * z
    down, out = rng.uniform(0.1, 0.9, size=(2, n, 1))
    tip, rim = length / 2 * z, radius * radial - length / 2 * z
    side_ball = np.minimum(slant * down * sine / cosine, length * (1 - down) / (1 + sine))[:, 0]
    base_ball = cosine * radius * (1 - out[:, 0]) / (1 + sine)
    return [
        _contact(side, tip + down * (rim - tip), _unit(rim - tip), 1, side_ball),
        _contact(-z, radius * out * radial - length / 2 * z, 0.0, 2, base_ball),
        _contact(_between(rng, side, -z), rim, tangent),
        _contact(_between(rng, side, z), tip),
    ]


def _half_space_contacts(rng, shape, n):
    length = np.linalg.norm(shape.normal)
    normal = np.tile(np.array(shape.normal) / length, (n, 1))
    aside = np.cross(normal, rng.normal(size=(n, 3)))
    return [_contact(normal, shape.offset / length * normal + aside, 0.0, 2, np.inf)]


@lru_cache
def _faces(shape):
    """Return normals of the facets with the vertices of each, and edges as (i, j, two normals next to it)."""
    vertices, _ = core(shape)
    if len(vertices) == 3:
        normal = _unit(np.cross(vertices[1] - vertices[0], vertices[2] - vertices[0]))
        edges = []
        for i, j in ((0, 1), (1, 2), (2, 0)):
            outward = _unit(np.cross(vertices[j] - vertices[i], normal))
            edges += [(i, j, outward, normal), (i, j, outward, -normal)]
        return np.array([normal, -normal]), [[0, 1, 2]] * 2, edges
    hull = spatial.ConvexHull(vertices)
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


def _polytope_contacts(rng, shape, n):
    vertices, radius = core(shape)
    normals, corners, edges = _faces(shape)

    away = _unit(rng.normal(size=(n, 3)))
    found = [_contact(away, support(shape, away), ball=radius)]

    i, j, u, v = (
        np.array(column) for column in zip(*(edges[k] for k in rng.integers(len(edges), size=n)), strict=True)
    )
    direction, t = _between(rng, u, v), rng.uniform(0.1, 0.9, size=(n, 1))
    point = (1 - t) * vertices[i] + t * vertices[j] + radius * direction
    found.append(_contact(direction, point, _unit(vertices[j] - vertices[i]), 1, radius))

    which = rng.integers(len(normals), size=n)
    point = np.array([_inner_weights(rng, 1, len(corners[k]))[0] @ vertices[corners[k]] for k in which])
    room = np.max(vertices @ normals.T, axis=0) - point @ normals.T
    cosine = normals[which] @ normals.T
    ball = np.min(np.where(cosine > 1 - 1e-9, np.inf, room / np.maximum(1 - cosine, 1e-9)), axis=1)
    found.append(_contact(normals[which], point + radius * normals[which], 0.0, 2, radius + np.maximum(ball, 0.0)))
    return found


def contacts_of(rng, shape, n):
    """Draw places where planes touch a shape: corners, edges, rims, sides and faces in equal parts.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : Shape
    n : int

    Returns
    -------
    Contact
    """
    maker = {
        cl.Sphere: _sphere_contacts,
        cl.Ellipsoid: _ellipsoid_contacts,
        cl.Capsule: _capsule_contacts,
        cl.Cylinder: _cylinder_contacts,
        cl.Cone: _cone_contacts,
        cl.HalfSpace: _half_space_contacts,
    }.get(type(shape), _polytope_contacts)
    kinds = maker(rng, shape, n)
    which = rng.integers(len(kinds), size=n)
    columns = (np.stack([getattr(kind, name) for kind in kinds]) for name in Contact.__dataclass_fields__)
    return Contact(*(column[which, np.arange(n)] for column in columns))


# Placements of two shapes --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tangent:
    """Placements of two shapes with supporting planes a known gap apart.

    Attributes
    ----------
    a, b : Shape
    pose_a, pose_b : (n, 4, 4) ndarray
    gap : (n,) ndarray
        The signed distance where `exact`, a lower bound of it elsewhere.
    normal, point_a, point_b : (n, 3) ndarray
    exact, normal_known, points_known : (n,) ndarray of bool
        What is known of the signed distance, and whether normal and witness points are unique and well determined.
    size : float
        Sum of the radii of the bounding balls.
    rounding : (n,) ndarray
        What rounding of the coordinates excuses: 8 eps of the largest.
    """

    a: cl.Shape
    b: cl.Shape
    pose_a: np.ndarray
    pose_b: np.ndarray
    gap: np.ndarray
    normal: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray
    exact: np.ndarray
    normal_known: np.ndarray
    points_known: np.ndarray
    size: float
    rounding: np.ndarray

    @property
    def placed(self):
        return self.a.at(self.pose_a), self.b.at(self.pose_b)

    @property
    def allowed(self):
        """Largest error of the distance that the library grants itself; rounding may turn a touch into an overlap."""
        loose = (self.gap <= self.rounding) & (is_curved(self.a) or is_curved(self.b))
        return np.where(loose, 1e-7, 1e-9) * self.size + self.rounding

    def swapped(self):
        return replace(
            self,
            a=self.b,
            b=self.a,
            pose_a=self.pose_b,
            pose_b=self.pose_a,
            normal=-self.normal,
            point_a=self.point_b,
            point_b=self.point_a,
        )

    def moved(self, pose):
        """Move everything by one pose; what rounding excuses grows with the coordinates."""
        pose_a, pose_b = pose @ self.pose_a, pose @ self.pose_b
        rotation, shift = pose[:3, :3], pose[:3, 3]
        return replace(
            self,
            pose_a=pose_a,
            pose_b=pose_b,
            normal=self.normal @ rotation.T,
            point_a=self.point_a @ rotation.T + shift,
            point_b=self.point_b @ rotation.T + shift,
            rounding=self.rounding + 8 * EPS * _largest(self.a, pose_a, self.b, pose_b),
        )

    def scaled(self, factor):
        """Make everything `factor` times as large."""
        poses = [pose * np.where(np.arange(4) < 3, 1.0, factor) for pose in (self.pose_a, self.pose_b)]
        for pose in poses:
            pose[:, 3, 3] = 1.0
        lengths = {k: getattr(self, k) * factor for k in ("gap", "point_a", "point_b", "size", "rounding")}
        a, b = scaled(self.a, factor), scaled(self.b, factor)
        return replace(self, a=a, b=b, pose_a=poses[0], pose_b=poses[1], **lengths)


def _largest(a, pose_a, b, pose_b):
    """Return the largest coordinate of either body."""
    return np.maximum(*(np.linalg.norm(pose[:, :3, 3], axis=1) + reach(s) for s, pose in ((a, pose_a), (b, pose_b))))


def _basis(directions):
    """Return rotations whose third column is the direction; exact for directions along an axis."""
    axis = np.eye(3)[np.argmin(np.abs(directions), axis=1)]
    first = _unit(np.cross(axis, directions))
    return np.stack([first, np.cross(directions, first), directions], axis=-1)


def _spins(rng, n):
    """Turn about z by any angle, or by a multiple of a quarter turn."""
    quarters = rng.random(n) < 0.3
    angle = np.where(quarters, np.pi / 2 * rng.integers(4, size=n), rng.uniform(0, 2 * np.pi, n))
    cosine, sine = np.cos(angle), np.sin(angle)
    cosine, sine = (np.where(quarters, np.round(x), x) for x in (cosine, sine))
    spins = np.tile(np.eye(3), (n, 1, 1))
    spins[:, 0, 0] = spins[:, 1, 1] = cosine
    spins[:, 1, 0], spins[:, 0, 1] = sine, -sine
    return spins


def _ball_between_edges(a, rotation_a, b, rotation_b, normal, offset):
    """Return the radius of the ball in A - B that touches it at the crossing of two edges.

    Every facet of the Minkowski difference of two polytopes is across a normal of one of them or the product of two
    edges; `offset` is the point of A - B where the ball touches.
    """
    (vertices_a, _), (vertices_b, _) = core(a), core(b)
    (normals_a, _, edges_a), (normals_b, _, edges_b) = _faces(a), _faces(b)
    along_a, along_b = (
        np.unique(np.round(_unit(np.array([v[j] - v[i] for i, j, _, _ in edges])), 12), axis=0)
        for v, edges in ((vertices_a, edges_a), (vertices_b, edges_b))
    )
    along_a, along_b = along_a @ np.swapaxes(rotation_a, 1, 2), along_b @ np.swapaxes(rotation_b, 1, 2)
    products = np.cross(along_a[:, :, None], along_b[:, None]).reshape(len(normal), -1, 3)
    length = np.linalg.norm(products, axis=-1, keepdims=True)
    products = np.where(length > 1e-6, products / np.maximum(length, 1e-6), normal[:, None])
    turned_a, turned_b = normals_a @ np.swapaxes(rotation_a, 1, 2), normals_b @ np.swapaxes(rotation_b, 1, 2)
    axes = np.concatenate([turned_a, -turned_b, products, -products], axis=1)
    highest_a = np.max(axes @ (rotation_a @ vertices_a.T), axis=-1)
    lowest_b = np.min(axes @ (rotation_b @ vertices_b.T), axis=-1)
    room = highest_a - lowest_b - np.einsum("nkd,nd->nk", axes, offset)
    cosine = np.einsum("nkd,nd->nk", axes, normal)
    ball = np.where(cosine > 1 - 1e-9, np.inf, room / np.maximum(1 - cosine, 1e-9)).min(axis=1)
    return np.maximum(ball, 0.0)


def _gaps(rng, n, size, ball):
    """Draw gaps of either sign from 1e-12 of the size to all of it, and exact zeros; half the ball bounds the depth."""
    relative = 10.0 ** rng.uniform(-12, 0, n)
    depth = relative * np.where(ball > 0, np.minimum(ball / 2, size), size)
    gap = np.where(rng.random(n) < 0.5, relative * size, -depth)
    return np.where(rng.random(n) < 0.1, 0.0, gap)


def tangents(rng, a, b, n, far=0.0):
    """Place two shapes with supporting planes a drawn gap apart.

    Parameters
    ----------
    rng : numpy.random.Generator
    a, b : Shape
        At most one half-space.
    n : int
    far : float
        How far from the origin.

    Returns
    -------
    Tangent
    """
    contact_a, contact_b = contacts_of(rng, a, n), contacts_of(rng, b, n)
    normal = _unit(rng.normal(size=(n, 3)))
    plain = rng.random(n) < 0.3
    normal[plain] = np.eye(3)[rng.integers(3, size=plain.sum())]
    basis = _basis(normal)
    rotation_a = basis @ _spins(rng, n) @ np.swapaxes(_basis(contact_a.direction), 1, 2)
    rotation_b = basis @ _spins(rng, n) @ np.swapaxes(_basis(-contact_b.direction), 1, 2)
    arm_a, line_a = (np.einsum("nij,nj->ni", rotation_a, x) for x in (contact_a.point, contact_a.line))
    arm_b, line_b = (np.einsum("nij,nj->ni", rotation_b, x) for x in (contact_b.point, contact_b.line))

    crossing = np.linalg.norm(np.cross(line_a, line_b), axis=1) > 0.1
    ball = contact_a.ball + contact_b.ball
    sharp = crossing & (ball == 0)
    if sharp.any() and not (is_curved(a) or is_curved(b)):
        turned = rotation_a[sharp], b, rotation_b[sharp]
        ball[sharp] = _ball_between_edges(a, *turned, normal[sharp], (arm_a - arm_b)[sharp])
    radii = [bounding_radius(s) for s in (a, b)]
    gap = _gaps(rng, n, min(r for r in radii if r > 0), ball)

    point_a = sum(radii) * rng.uniform(-1, 1, size=(n, 3)) + far * _unit(rng.normal(size=(n, 3)))
    point_b = point_a + gap[:, None] * normal
    pose_a, pose_b = np.tile(np.eye(4), (2, n, 1, 1))
    pose_a[:, :3, :3], pose_a[:, :3, 3] = rotation_a, point_a - arm_a
    pose_b[:, :3, :3], pose_b[:, :3, 3] = rotation_b, point_b - arm_b

    exact = (gap >= 0) | (ball > 0)
    smooth = (ball > 0) | crossing
    return Tangent(
        a,
        b,
        pose_a,
        pose_b,
        gap,
        normal,
        point_a,
        point_b,
        exact,
        normal_known=exact & (smooth | (gap > 0.01 * sum(radii))),
        points_known=exact & ((gap >= 0) | smooth) & ((contact_a.extent * contact_b.extent == 0) | crossing),
        size=sum(radii),
        rounding=8 * EPS * _largest(a, pose_a, b, pose_b),
    )


# Witness points ------------------------------------------------------------------------------------------------------


def _above(shape, points):
    """Return how far points near the surface of a shape, in its own frame, lie above it; negative below.

    A point beside an edge counts as no farther than the planes next to the edge say, which is less by a factor.
    """
    if isinstance(shape, cl.HalfSpace):
        return (points @ shape.normal - shape.offset) / np.linalg.norm(shape.normal)
    if isinstance(shape, cl.Ellipsoid):
        level = np.linalg.norm(points / shape.radii, axis=1)
        return (level - 1) * level / np.linalg.norm(points / np.square(shape.radii), axis=1)
    across, z = np.linalg.norm(points[:, :2], axis=1), points[:, 2]
    if isinstance(shape, cl.Cylinder):
        return np.maximum(across - shape.radius, np.abs(z) - shape.length / 2)
    if isinstance(shape, cl.Cone):
        slant = np.hypot(shape.radius, shape.length)
        side = (shape.length * across + shape.radius * (z - shape.length / 2)) / slant
        return np.maximum(side, -z - shape.length / 2)
    vertices, radius = core(shape)
    if len(vertices) <= 2:
        return np.linalg.norm(points - np.clip(points, vertices[0], vertices[-1]), axis=1) - radius
    if radius == 0 and len(vertices) > 3:
        normals, _, _ = _faces(shape)
        return np.max(points @ normals.T - np.max(vertices @ normals.T, axis=0), axis=1)
    simplices = [[0, 1, 2]] if len(vertices) == 3 else spatial.ConvexHull(vertices).simplices
    return np.array([np.linalg.norm(_nearest_on_triangles(vertices[simplices] - p)) for p in points]) - radius


def witness_error(shape, poses, points):
    """Return how far claimed witness points are from the surface of a shape, or a little less.

    Parameters
    ----------
    shape : Shape
    poses : (n, 4, 4) ndarray
    points : (n, 3) ndarray
        In the world.

    Returns
    -------
    (n,) ndarray
    """
    return np.abs(_above(shape, np.einsum("nji,nj->ni", poses[:, :3, :3], points - poses[:, :3, 3])))


# Any placement -------------------------------------------------------------------------------------------------------


def _sweep(n):
    """Return n directions that cover the sphere evenly: a spiral of golden turns."""
    z = 1 - (2 * np.arange(n) + 1) / n
    angle = np.pi * (1 + 5**0.5) * np.arange(n)
    across = np.sqrt(1 - z * z)
    return np.stack([across * np.cos(angle), across * np.sin(angle), z], axis=1)


def _nearest_on_triangles(triangles):
    """Return the point nearest to the origin of all triangles (m, 3, 3)."""
    p, u, v = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    normal = np.cross(u, v)
    normal_sq = np.maximum(np.einsum("mi,mi->m", normal, normal), 1e-300)
    foot = normal * (np.einsum("mi,mi->m", normal, p) / normal_sq)[:, None]
    s = np.einsum("mi,mi->m", np.cross(foot - p, v), normal) / normal_sq
    t = np.einsum("mi,mi->m", np.cross(u, foot - p), normal) / normal_sq
    candidates = [foot[(s >= 0) & (t >= 0) & (s + t <= 1)]]
    for start, end in ((0, 1), (1, 2), (2, 0)):
        p, u = triangles[:, start], triangles[:, end] - triangles[:, start]
        length_sq = np.maximum(np.einsum("mi,mi->m", u, u), 1e-300)
        candidates.append(p + np.clip(-np.einsum("mi,mi->m", u, p) / length_sq, 0, 1)[:, None] * u)
    candidates = np.vstack(candidates)
    return candidates[np.argmin(np.linalg.norm(candidates, axis=1))]


def signed_distance_between(a, pose_a, b, pose_b, *, tolerance=1e-10):
    """Enclose the signed distance of two finite shapes, apart or however deep, by planes and points of B - A.

    The least depth of supporting planes bounds the signed distance from below, the hull of their points from above.
    After a sweep of directions, planes are added where that hull comes nearest to the origin. B - A must be solid. The
    tolerance is reached unless the least depth is the same in many directions, as in concentric bodies.

    Parameters
    ----------
    a, b : Shape
    pose_a, pose_b : (4, 4) ndarray
    tolerance : float
        Relative to the sum of the bounding radii.

    Returns
    -------
    lower, upper : float
    """

    def lowest(normals):
        at_a, at_b = normals @ pose_a[:3, :3], normals @ pose_b[:3, :3]
        points_a = support(a, at_a) @ pose_a[:3, :3].T
        points_b = support(b, -at_b) @ pose_b[:3, :3].T
        return points_b - points_a + (pose_b[:3, 3] - pose_a[:3, 3])

    normals = _sweep(400)
    points = lowest(normals)
    lower = np.max(np.einsum("ni,ni->n", normals, points))
    size = bounding_radius(a) + bounding_radius(b)
    for _ in range(60):
        _, first = np.unique(np.round(points / (1e-13 * size)), axis=0, return_index=True)
        hull = spatial.ConvexHull(points[first], qhull_options="Qt Q12")
        offsets = hull.equations[:, 3]
        normals, upper = -hull.equations[np.argsort(-offsets)[:8], :3], np.max(offsets)
        if upper > 0:
            nearest = _nearest_on_triangles(hull.points[hull.simplices[offsets > 0]])
            upper = np.linalg.norm(nearest)
            if upper > 0:
                normals = np.vstack([normals, nearest / upper])
        found = lowest(normals)
        lower = max(lower, np.max(np.einsum("ni,ni->n", normals, found)))
        if upper - lower <= tolerance * size:
            break
        points = np.vstack([hull.points[hull.vertices], found])
    return lower, upper
