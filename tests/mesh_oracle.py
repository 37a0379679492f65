"""Distances of meshes by trying every triangle: slow, obvious, no trees.

Pairs of triangles go through `clearance.elements`, which has an exact oracle of its own, and, so that nothing rests on
that code alone, through a second method in plain NumPy: edges against edges, corners against faces, and edges that
pierce faces.
"""

from itertools import product

import numpy as np

import clearance as cl
from clearance.elements import closest

EPS = np.finfo(float).eps
CHUNK = 2_000_000  # pairs of triangles at a time


# Where things are ----------------------------------------------------------------------------------------------------


def in_the_world(triangles, pose, origin=(0.0, 0.0, 0.0)):
    """Place triangles, and measure from `origin`: near it nothing is lost, however far it is from zero."""
    return triangles @ pose[:3, :3].T + (pose[:3, 3] - origin)


def bounding_radius(triangles):
    """Return the radius of a ball around triangles, about the middle of their box."""
    corners = triangles.reshape(-1, 3)
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
    return np.max(np.linalg.norm(corners - middle, axis=1))


def rounding(triangles, poses):
    """Return 8 eps times the largest coordinate of triangles in their own frame or in the world, for each pose."""
    reach = np.max(np.abs(triangles))
    return 8 * EPS * (reach + np.max(np.abs(np.reshape(poses, (-1, 4, 4))[:, :3, 3]), axis=1))


# Every pair of triangles ---------------------------------------------------------------------------------------------


def least_distance(a, b):
    """Return the distance of two sets of triangles, 0 where they meet.

    Parameters
    ----------
    a : (n, 3, 3) ndarray
    b : (m, 3, 3) ndarray

    Returns
    -------
    float
    """
    rows = max(1, CHUNK // len(b))
    least = min(np.min(closest(a[k : k + rows, None], b[None]).distance) for k in range(0, len(a), rows))
    return max(0.0, float(least))


def mesh_distances(a, pose_a, b, pose_b):
    """Return the distances of two meshes at n placements.

    Parameters
    ----------
    a, b : (k, 3, 3) ndarray
        Triangles in their own frames.
    pose_a, pose_b : (n, 4, 4) ndarray

    Returns
    -------
    (n,) ndarray
    """
    found = []
    for world_from_a, world_from_b in zip(pose_a, pose_b, strict=True):
        here = world_from_a[:3, 3]
        found.append(least_distance(in_the_world(a, world_from_a, here), in_the_world(b, world_from_b, here)))
    return np.array(found)


def touching(a, b):
    """Tell which triangles of a meet any of b: (n,) ndarray of bool."""
    return np.min(closest(a[:, None], b[None]).distance, axis=1) <= 0


# Triangles and a convex shape ----------------------------------------------------------------------------------------


def least_distance_to_convex(triangles, placed):
    """Return the distance of triangles in the world and a placed convex shape, 0 where a triangle is inside of it."""
    return max(0.0, min(cl.distance(cl.SweptTriangle(*t, 0.0), placed).distance for t in triangles))


def least_distance_to_half_space(triangles, half_space, pose):
    """Return the distance of triangles in the world and a placed half-space: the lowest corner decides."""
    length = np.linalg.norm(half_space.normal)
    local = (triangles.reshape(-1, 3) - pose[:3, 3]) @ pose[:3, :3]
    return max(0.0, float(np.min(local @ half_space.normal - half_space.offset)) / length)


def off_the_triangle(points, triangles):
    """Return how far points (n, 3) are from triangles (n, 3, 3), pair by pair."""
    return np.abs(closest(points[:, None], triangles).distance)


# The second method ---------------------------------------------------------------------------------------------------


def _dot(u, v):
    return np.einsum("...i,...i->...", u, v)


def _divided(x, y):
    """Return x / y, and 0 where y is 0."""
    return np.where(y != 0, x / np.where(y != 0, y, 1.0), 0.0)


def _point_segment_sq(point, start, along):
    s = np.clip(_divided(_dot(point - start, along), _dot(along, along)), 0, 1)
    return np.sum((start + s[..., None] * along - point) ** 2, axis=-1)


def _segment_segment_sq(p, u, q, v):
    """Try the inner solution and all ends: p + s u against q + t v."""
    ends = [_point_segment_sq(point, q, v) for point in (p, p + u)]
    ends += [_point_segment_sq(point, p, u) for point in (q, q + v)]
    w, uu, uv, vv = q - p, _dot(u, u), _dot(u, v), _dot(v, v)
    whole = uu * vv - uv * uv
    s = _divided(vv * _dot(u, w) - uv * _dot(v, w), whole)
    t = _divided(uv * _dot(u, w) - uu * _dot(v, w), whole)
    inside = (whole > 0) & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    inner = np.sum((w - s[..., None] * u + t[..., None] * v) ** 2, axis=-1)
    return np.minimum(np.where(inside, inner, np.inf), np.minimum.reduce(ends))


def _foot_is_inside(point, triangle):
    """Tell whether a point lies above or below the inside of a triangle, and give the unit normal."""
    p, q, s = np.moveaxis(triangle, -2, 0)
    normal = np.cross(q - p, s - p)
    sides = [_dot(np.cross(y - x, point - x), normal) for x, y in ((p, q), (q, s), (s, p))]
    length = np.linalg.norm(normal, axis=-1)
    return (np.minimum.reduce(sides) >= 0) & (length > 0), normal * _divided(np.ones_like(length), length)[..., None]


def _point_face_sq(point, triangle):
    inside, normal = _foot_is_inside(point, triangle)
    return np.where(inside, _dot(point - triangle[..., 0, :], normal) ** 2, np.inf)


def _segment_pierces(start, end, triangle):
    _, normal = _foot_is_inside(start, triangle)
    above, below = (_dot(x - triangle[..., 0, :], normal) for x in (start, end))
    crossing = start + _divided(above, above - below)[..., None] * (end - start)
    return (above * below <= 0) & (above != below) & _foot_is_inside(crossing, triangle)[0]


def second_distances(a, b):
    """Return the distances of triangles, pair by pair, by the second method; it loses digits on needles.

    Parameters
    ----------
    a, b : (..., 3, 3) ndarray
        They broadcast.

    Returns
    -------
    (...) ndarray
    """
    edges = ((0, 1), (1, 2), (2, 0))
    a, b = np.broadcast_arrays(a, b)
    ends = [[(t[..., i, :], t[..., j, :]) for i, j in edges] for t in (a, b)]
    squares = [_segment_segment_sq(p, q - p, r, s - r) for (p, q), (r, s) in product(*ends)]
    squares += [_point_face_sq(a[..., k, :], b) for k in range(3)] + [_point_face_sq(b[..., k, :], a) for k in range(3)]
    pierced = [_segment_pierces(*edge, b) for edge in ends[0]] + [_segment_pierces(*edge, a) for edge in ends[1]]
    return np.where(np.logical_or.reduce(pierced), 0.0, np.sqrt(np.minimum.reduce(squares)))


# What must hold of a gap ---------------------------------------------------------------------------------------------


def assert_at_most(found, allowed, what):
    """Check an error for all placements; tell the first that is too large."""
    found, allowed = np.broadcast_arrays(found, allowed)
    wrong = np.flatnonzero(~(found <= allowed))
    first = wrong[:1]
    assert len(wrong) == 0, f"{what}: {len(wrong)} of {found.size}, first {first}: {found[first]} > {allowed[first]}"


def assert_gaps_are_true(gaps, truth, size, slack, tolerance=1e-12):
    """Check a Gap or Gaps of surfaces against the true distances, and the contract of a gap.

    Parameters
    ----------
    gaps : Gap or Gaps
    truth : float or (n,) ndarray
    size : float
        Sum of the bounding radii of the pair.
    slack : float or (n,) ndarray
        What rounding of world coordinates excuses.
    tolerance : float
        Allowed error of the distance, relative to the size.
    """
    distance, lower, upper = (np.atleast_1d(getattr(gaps, name)) for name in ("distance", "lower", "upper"))
    allowed = tolerance * size + slack
    assert np.all(distance >= 0), f"a surface has no depth, but the least distance is {np.min(distance)}"
    assert_at_most(np.abs(distance - truth), allowed, "distance is off")
    assert_at_most(lower - truth, allowed, "lower is beyond the truth")
    assert_at_most(truth - upper, allowed, "the truth is beyond upper")
    assert_at_most(np.maximum(lower - distance, distance - upper), 0.0, "distance left its bracket")
    assert_at_most(upper - lower, max(tolerance, 1e-9) * size + slack, "bracket is wide")
    assert_contract(gaps, size, slack)


def assert_contract(gaps, size, slack):
    """Check that points, distance and normal fit together, and that normals have length one, also at distance 0."""
    distance = np.atleast_1d(gaps.distance)
    point_a, point_b, normal = (np.atleast_2d(getattr(gaps, name)) for name in ("point_a", "point_b", "normal"))
    assert_at_most(np.abs(np.linalg.norm(normal, axis=1) - 1), 4 * EPS, "normal is no unit vector")
    residual = np.linalg.norm(point_b - point_a - distance[:, None] * normal, axis=1)
    assert_at_most(residual, slack + 8 * EPS * (size + distance), "points, distance and normal disagree")


def assert_witnesses_lie_on(points, features, triangles, poses, allowed):
    """Check that points lie on the triangles named by features.

    Parameters
    ----------
    points : (3,) or (n, 3) ndarray
    features : int or (n,) ndarray of int
    triangles : (k, 3, 3) ndarray
        In their own frame.
    poses : (4, 4) or (n, 4, 4) ndarray
    allowed : float or (n,) ndarray
    """
    points, features, poses = np.atleast_2d(points), np.atleast_1d(features), np.reshape(poses, (-1, 4, 4))
    assert np.all((features >= 0) & (features < len(triangles))), features
    local = np.einsum("nji,nj->ni", poses[:, :3, :3], points - poses[:, :3, 3])
    assert_at_most(off_the_triangle(local, triangles[features]), allowed, "witness is off the triangle it names")
