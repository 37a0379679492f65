"""Truth without a rival for convex shapes: tangent planes laid a chosen gap apart.

A contact of a shape is a direction with a point where the plane across that direction supports the shape. Two shapes
placed with their supporting planes `gap` apart and the two points opposite each other are exactly `gap` apart if
`gap >= 0`: the planes bound the distance from below, the points from above. For `gap < 0` the planes still say that the
signed distance is no less. It is equal if a ball of radius `-gap` that touches the Minkowski difference from inside at
that point fits into it; every contact knows the radius of such a ball.
"""

from dataclasses import dataclass, replace

import numpy as np

import clearance as cl
from solids import EPS, bounding_radius, core, faces_of, is_curved, reach, scaled, support, unit

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


def _ring(rng, n):
    angle = rng.uniform(0, 2 * np.pi, n)
    zero = np.zeros(n)
    return np.stack([np.cos(angle), np.sin(angle), zero], 1), np.stack([-np.sin(angle), np.cos(angle), zero], 1)


def _between(rng, u, v):
    """Draw directions strictly between two that are less than half a turn apart."""
    t = rng.uniform(0.02, 0.98, size=(len(u), 1))
    return unit((1 - t) * u + t * v)


def _inner_weights(rng, n, k):
    raw = rng.exponential(size=(n, k)) + 0.1
    return raw / raw.sum(axis=1, keepdims=True)


def _sphere_contacts(rng, shape, n):
    direction = unit(rng.normal(size=(n, 3)))
    return [_contact(direction, shape.radius * direction, ball=shape.radius)]


def _ellipsoid_contacts(rng, shape, n):
    radii = np.array(shape.radii)
    directions = unit(rng.normal(size=(n, 3)) / np.where(rng.random((n, 1)) < 0.5, 1.0, radii / radii.max()))
    return [_contact(directions, support(shape, directions), ball=radii.min() ** 2 / radii.max())]


def _capsule_contacts(rng, shape, n):
    end, (side, _) = unit(rng.normal(size=(n, 3))), _ring(rng, n)
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
        _contact(side, tip + down * (rim - tip), unit(rim - tip), 1, side_ball),
        _contact(-z, radius * out * radial - length / 2 * z, 0.0, 2, base_ball),
        _contact(_between(rng, side, -z), rim, tangent),
        _contact(_between(rng, side, z), tip),
    ]


def _half_space_contacts(rng, shape, n):
    length = np.linalg.norm(shape.normal)
    normal = np.tile(np.array(shape.normal) / length, (n, 1))
    aside = np.cross(normal, rng.normal(size=(n, 3)))
    return [_contact(normal, shape.offset / length * normal + aside, 0.0, 2, np.inf)]


def _polytope_contacts(rng, shape, n):
    vertices, radius = core(shape)
    normals, corners, edges = faces_of(shape)

    away = unit(rng.normal(size=(n, 3)))
    found = [_contact(away, support(shape, away), ball=radius)]

    i, j, u, v = (
        np.array(column) for column in zip(*(edges[k] for k in rng.integers(len(edges), size=n)), strict=True)
    )
    direction, t = _between(rng, u, v), rng.uniform(0.1, 0.9, size=(n, 1))
    point = (1 - t) * vertices[i] + t * vertices[j] + radius * direction
    found.append(_contact(direction, point, unit(vertices[j] - vertices[i]), 1, radius))

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
    first = unit(np.cross(axis, directions))
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
    (normals_a, _, edges_a), (normals_b, _, edges_b) = faces_of(a), faces_of(b)
    along_a, along_b = (
        np.unique(np.round(unit(np.array([v[j] - v[i] for i, j, _, _ in edges])), 12), axis=0)
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


def _is_flat(shape):
    return isinstance(shape, cl.SweptTriangle) and shape.radius == 0


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
    normal = unit(rng.normal(size=(n, 3)))
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

    point_a = sum(radii) * rng.uniform(-1, 1, size=(n, 3)) + far * unit(rng.normal(size=(n, 3)))
    point_b = point_a + gap[:, None] * normal
    pose_a, pose_b = np.tile(np.eye(4), (2, n, 1, 1))
    pose_a[:, :3, :3], pose_a[:, :3, 3] = rotation_a, point_a - arm_a
    pose_b[:, :3, :3], pose_b[:, :3, 3] = rotation_b, point_b - arm_b

    exact = (gap >= 0) | (ball > 0)
    smooth = (ball > 0) | crossing
    rounding = 8 * EPS * _largest(a, pose_a, b, pose_b)
    two_sided = _is_flat(a) and _is_flat(b) and np.abs(gap) <= rounding  # in one plane both ways out are as short
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
        normal_known=exact & (smooth | (gap > 0.01 * sum(radii))) & ~np.asarray(two_sided),
        points_known=exact & ((gap >= 0) | smooth) & ((contact_a.extent * contact_b.extent == 0) | crossing),
        size=sum(radii),
        rounding=rounding,
    )
