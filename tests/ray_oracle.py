"""Where rays meet shapes first: slow, obvious, without trees.

A convex shape is where a convex function is not positive, and along a ray that stays convex: its least value is found
by trisection, and where it first falls to zero by bisection. Triangles are tried one by one. Rays that graze a shape
have no well-defined answer in floating point, so the answer is a bracket: `low` is where the ray meets the shape grown
by a slack of a few roundings, `high` where it meets the shape shrunk by as much.
"""

from functools import partial

import numpy as np

import clearance as cl
from clearance import poses
from solids import core, faces_of, support, unit

EPS = np.finfo(float).eps
TOLERANCE = 1e-9
SLACK = 1e-12
GAPS = (0.0, 1e-15, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3, 0.1)


# Convex shapes as functions ------------------------------------------------------------------------------------------


def _norm(vectors):
    return np.sqrt(np.sum(vectors * vectors, axis=-1))


def _to_segment(x, p, q):
    along = q - p
    part = np.clip((x - p) @ along / max(along @ along, np.finfo(float).tiny), 0.0, 1.0)
    return _norm(x - p - part[:, None] * along)


def _to_triangles(x, triangles):
    """Distances of points (..., 3) from triangles (..., 3, 3): from their planes above them, from edges beside them."""
    corners = np.moveaxis(triangles, -2, 0)
    normals = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    beside, is_above = np.inf, normals.any(axis=-1)
    for k in range(3):
        from_corner, along = x - corners[k], corners[(k + 1) % 3] - corners[k]
        length_sq = np.maximum(np.sum(along * along, axis=-1), np.finfo(float).tiny)
        part = np.clip(np.sum(from_corner * along, axis=-1) / length_sq, 0.0, 1.0)
        beside = np.minimum(beside, _norm(from_corner - part[..., None] * along))
        is_above = is_above & (np.sum(from_corner * np.cross(normals, along), axis=-1) >= 0)
    above = np.abs(np.sum((x - corners[0]) * normals, axis=-1)) / np.maximum(_norm(normals), np.finfo(float).tiny)
    return np.where(is_above, above, beside)


def _swept(shape):
    """The function of a polytope swept by a sphere: distance from its faces, or depth below them, less the radius."""
    points, radius = core(shape)
    if len(points) <= 2:
        return lambda x: _to_segment(x, points[0], points[-1]) - radius
    if len(points) == 3:
        return lambda x: _to_triangles(x, points) - radius
    normals, corners, _ = faces_of(shape)
    offsets = np.array([normal @ points[own[0]] for normal, own in zip(normals, corners, strict=True)])
    if radius == 0.0:
        return lambda x: np.max(x @ normals.T - offsets, axis=1)
    assert all(len(own) == 3 for own in corners), "facets of hulls drawn at random are triangles"
    triangles = np.array([points[own] for own in corners])

    def level(x):
        depth = np.max(x @ normals.T - offsets, axis=1)
        return np.where(depth <= 0, depth, np.min(_to_triangles(x[:, None], triangles), axis=1)) - radius

    return level


def level_of(shape):
    """Return a convex function of points that is positive outside a shape and grows no faster than a distance.

    Parameters
    ----------
    shape : Shape
        Convex: one of `solids.KINDS`.

    Returns
    -------
    callable
        From (n, 3) points in the frame of the shape to (n,).
    """
    if isinstance(shape, cl.Box):
        return lambda x: np.max(np.abs(x) - np.array(shape.size) / 2, axis=1)
    if isinstance(shape, cl.Ellipsoid):
        return lambda x: (_norm(x / shape.radii) - 1) * min(shape.radii)
    if isinstance(shape, cl.HalfSpace):
        length = np.linalg.norm(shape.normal)
        return lambda x: (x @ shape.normal - shape.offset) / length
    if isinstance(shape, cl.Cylinder):
        return lambda x: np.maximum(_norm(x[:, :2]) - shape.radius, np.abs(x[:, 2]) - shape.length / 2)
    if isinstance(shape, cl.Cone):
        sine, cosine = np.array([shape.radius, shape.length]) / np.hypot(shape.radius, shape.length)
        half = shape.length / 2
        return lambda x: np.maximum(cosine * _norm(x[:, :2]) + sine * (x[:, 2] - half), -half - x[:, 2])
    return _swept(shape)


def _first_below(level, origins, directions, values, centre, reach):
    """Return where a convex function first falls to any of some values along rays, inf where it does not: (k, n).

    Farther from the centre than its reach the function is larger than all of them.
    """
    middle = np.sum((centre - origins) * directions, axis=1)
    start, end = (np.maximum(0.0, middle + sign * 2 * reach) for sign in (-1, 1))
    origins = origins + start[:, None] * directions

    def along(t):
        return level(origins + t[:, None] * directions)

    low, high = np.zeros(len(origins)), end - start
    for _ in range(85):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        falls = along(left) > along(right)
        low, high = np.where(falls, left, low), np.where(falls, high, right)
    least = np.where(along(low) <= along(high), low, high)
    return np.array([start + _bisected(along, least, value) for value in values])


def _bisected(along, least, value):
    low, high = np.zeros(len(least)), least.copy()
    for _ in range(60):
        middle = (low + high) / 2
        is_outside = along(middle) > value
        low, high = np.where(is_outside, middle, low), np.where(is_outside, high, middle)
    first = np.where(along(np.zeros(len(least))) <= value, 0.0, high)
    return np.where(along(least) <= value, first, np.inf)


def _bracket_convex(shape, origins, directions, slack):
    low, high = _first_below(level_of(shape), origins, directions, (slack, -slack), np.zeros(3), size_of(shape) + slack)
    if isinstance(shape, cl.SweptTriangle) and core(shape)[1] == 0.0:
        high = _surely_crossed(core(shape)[0][None], origins, directions, slack)[0]
    return low, high


def _bracket_half_space(shape, origins, directions, slack):
    """Heights over the plane are known to a slack, and how fast they fall to some roundings."""
    height, speed = level_of(shape)(origins), directions @ unit(np.array(shape.normal))
    ends = []
    for sign in (-1, 1):
        above, falling = height + sign * slack, -speed - sign * 8 * EPS
        with np.errstate(divide="ignore"):
            ends.append(np.where(above <= 0, 0.0, np.where(falling > 0, above / falling, np.inf)))
    return ends


# Triangles -----------------------------------------------------------------------------------------------------------


def _clip(heights, speeds, low, high):
    """Narrow intervals of t to where `heights + t * speeds >= 0`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        at = -heights / speeds
    low = np.where(speeds > 0, np.maximum(low, at), low)
    high = np.where(speeds < 0, np.minimum(high, at), high)
    return low, np.where((speeds == 0) & (heights < 0), -np.inf, high)


def _edges(triangles):
    """Yield a corner and the inward normals of each edge of (m, 3, 3) triangles, and at last the normals of planes."""
    normals = unit(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]))
    for k in range(3):
        a, b = triangles[:, k], triangles[:, (k + 1) % 3]
        yield a, unit(np.cross(normals, b - a))
    yield triangles[:, 0], normals


def _heights(triangles, origins, directions):
    """Yield heights of origins above the edges of triangles and speeds away from them, at last those of the planes."""
    for corners, normals in _edges(triangles):
        yield np.einsum("mni,mi->mn", origins - corners[:, None], normals), normals @ directions.T


def _times(triangles, origins, directions, margin, thickness):
    """Return when rays are between the edges, widened by a margin, and when in the slab of triangles: four (m, n)."""
    shape = (len(triangles), len(origins))
    always = np.zeros(shape), np.full(shape, np.inf)
    *edges, (height, speed) = _heights(triangles, origins, directions)
    inside = always
    for distance, away in edges:
        inside = _clip(distance + margin, away, *inside)
    slab = _clip(thickness - height, -speed, *_clip(height + thickness, speed, *always))
    return inside, slab, np.abs(height) > thickness


def _perhaps_crossed(triangles, origins, directions, slack):
    """Return where rays enter triangles made thick and wide by a slack, inf where they do not: (m, n)."""
    inside, slab, _ = _times(triangles, origins, directions, slack, slack)
    enters, leaves = np.maximum(inside[0], slab[0]), np.minimum(inside[1], slab[1])
    return np.where(enters <= leaves, enters, np.inf)


def _surely_crossed(triangles, origins, directions, slack):
    """Return where rays leave the slab of a triangle, if they came from outside and never were near an edge: (m, n)."""
    inside, slab, starts_outside = _times(triangles, origins, directions, -slack, slack)
    is_sure = (slab[0] <= slab[1]) & (inside[0] < slab[0]) & (slab[1] < inside[1]) & starts_outside
    return np.where(is_sure, slab[1], np.inf)


def _with_area(triangles):
    """Leave out triangles thinner than rounding lets anybody tell their plane; a ray may hit them or not."""
    area = _norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]))
    longest = np.max([_norm(triangles[:, k] - triangles[:, k - 1]) for k in range(3)], axis=0)
    return area > 1e-3 * longest**2


def _bracket_triangles(triangles, origins, directions, slack):
    """Slivers, whose planes are not well-defined, may be hit anywhere near their edges."""
    wide = _with_area(triangles)
    low, high = (np.full(len(origins), np.inf) for _ in range(2))
    if wide.any():
        low = np.min(_perhaps_crossed(triangles[wide], origins, directions, slack), axis=0)
        high = np.min(_surely_crossed(triangles[wide], origins, directions, slack), axis=0)
    slivers = triangles[~wide]
    centres = slivers.mean(axis=1)
    reach = np.max(_norm(slivers - centres[:, None]), axis=1, initial=0.0) + slack
    aside = _norm(np.cross(centres[:, None] - origins, directions))
    which, ray = np.nonzero(aside < 1.01 * reach[:, None] + 8 * slack)
    if len(ray):
        level = partial(_to_triangles, triangles=slivers[which])
        first = _first_below(level, origins[ray], directions[ray], (slack,), centres[which], reach[which])[0]
        np.minimum.at(low, ray, first)
    return low, high


# Whatever is placed --------------------------------------------------------------------------------------------------


def size_of(shape):
    """Return about half the extent of a shape, 1 for a half-space."""
    if isinstance(shape, cl.Placed):
        return size_of(shape.shape)
    if isinstance(shape, cl.Compound):
        return max(np.linalg.norm(_pose_of(part)[:3, 3]) + size_of(part) for part in shape.parts)
    if isinstance(shape, cl.HalfSpace):
        return 1.0
    if isinstance(shape, cl.Mesh | cl.HeightField):
        return float(np.max(_norm(shape.vertices)))
    if isinstance(shape, cl.PointCloud):
        return float(np.max(_norm(shape.points))) + shape.radius
    return float(np.max(_norm(support(shape, np.vstack([np.eye(3), -np.eye(3)])))))


def _pose_of(item):
    return item.pose if isinstance(item, cl.Placed) else np.eye(4)


def in_frame(pose, origins, directions):
    """Return rays as seen from a frame, their directions of unit length."""
    inverse = poses.inverse(pose)
    return origins @ inverse[:3, :3].T + inverse[:3, 3], unit(directions) @ inverse[:3, :3].T


def bracket(target, origins, directions, slack=None):
    """Find where rays meet a shape first.

    Parameters
    ----------
    target : Shape or Placed
    origins, directions : (n, 3) ndarray
        Directions of any length but zero.
    slack : float, optional
        By how much the shape is grown and shrunk; a few roundings unless given.

    Returns
    -------
    low, high : (n,) ndarray
        The first hit lies between them; inf where there is none.
    """
    if slack is None:
        slack = rounding(target, origins)
    shape = target.shape if isinstance(target, cl.Placed) else target
    origins, directions = in_frame(_pose_of(target), origins, directions)
    if isinstance(shape, cl.Compound):
        parts = [bracket(part, origins, directions, slack) for part in shape.parts]
        return tuple(np.min(ends, axis=0) for ends in zip(*parts, strict=True))
    if isinstance(shape, cl.Mesh | cl.HeightField):
        return _bracket_triangles(shape.vertices[shape.faces], origins, directions, slack)
    if isinstance(shape, cl.PointCloud):
        balls = [bracket(cl.Sphere(shape.radius).at(point), origins, directions, slack) for point in shape.points]
        return tuple(np.min(ends, axis=0) for ends in zip(*balls, strict=True))
    if isinstance(shape, cl.HalfSpace):
        return _bracket_half_space(shape, origins, directions, slack)
    return _bracket_convex(shape, origins, directions, slack)


def rounding(target, origins):
    """Return a few roundings of the largest coordinate, and never less than `SLACK` of the size of a shape."""
    largest = np.max(np.abs(origins), initial=0.0) + np.max(np.abs(_pose_of(target)[:3, 3])) + size_of(target)
    return SLACK * size_of(target) + 32 * EPS * largest


# Rays that are likely to go wrong ------------------------------------------------------------------------------------


def surface_points(rng, shape, n):
    """Draw points on a shape, many of them on edges and corners, and normals there."""
    normals = unit(rng.normal(size=(n, 3)))
    axes = rng.random(n) < 0.3
    normals[axes] = np.sign(normals[axes]) * np.eye(3)[rng.integers(3, size=axes.sum())]
    if isinstance(shape, cl.HalfSpace):
        normal = unit(np.array(shape.normal))
        points = rng.normal(size=(n, 3))
        points -= np.outer(points @ normal - shape.offset / np.linalg.norm(shape.normal), normal)
        return points, np.tile(normal, (n, 1))
    if isinstance(shape, cl.Mesh | cl.HeightField):
        return _triangle_points(rng, shape.vertices[shape.faces], n)
    if isinstance(shape, cl.PointCloud):
        return shape.points[rng.integers(len(shape.points), size=n)] + shape.radius * normals, normals
    points = support(shape, normals)
    # Between two points of the same face or edge there is a third.
    other = support(shape, normals + 1e-9 * rng.normal(size=(n, 3)))
    return points + rng.choice([0.0, 0.5], size=(n, 1)) * (other - points), normals


def _triangle_points(rng, triangles, n):
    """Draw a third each of corners, points of edges and points of faces."""
    weights = rng.dirichlet(np.ones(3), size=n)
    weights[: n // 3] = [1, 0, 0]
    weights[n // 3 : 2 * n // 3, 2] = 0
    weights = rng.permuted(weights / weights.sum(axis=1, keepdims=True), axis=1)
    chosen = triangles[rng.integers(len(triangles), size=n)]
    normals = np.cross(chosen[:, 1] - chosen[:, 0], chosen[:, 2] - chosen[:, 0])
    flat = ~normals.any(axis=1)
    normals[flat] = rng.normal(size=(flat.sum(), 3))
    return np.einsum("nk,nki->ni", weights, chosen), unit(normals)


def _gaps(rng, n, size):
    return size * rng.choice(GAPS, size=(n, 1)) * rng.choice([-1.0, 1.0], size=(n, 1))


def _across(rng, normals):
    """Draw unit vectors at right angles to others."""
    return unit(np.cross(normals, unit(rng.normal(size=normals.shape)) + 0.1))


def draw_rays(rng, shape, n):
    """Draw rays in the frame of a shape: aimed at its edges, grazing it, starting on it, inside it and far away.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : Shape
        No compound.
    n : int

    Returns
    -------
    origins, directions : (n, 3) ndarray
        Directions of all lengths.
    """
    size = size_of(shape)
    points, normals = surface_points(rng, shape, n)
    points = points + _gaps(rng, n, size) * normals
    away = size * 10.0 ** rng.uniform(-1, 1, size=(n, 1))
    kind = rng.integers(6, size=(n, 1))
    sideways = _across(rng, normals)
    anywhere = unit(rng.normal(size=(n, 3)))
    straight = np.sign(rng.normal(size=(n, 1))) * np.eye(3)[rng.integers(3, size=n)]
    directions = np.select(
        [kind == 0, kind <= 2, kind == 3], [sideways, anywhere, straight], -unit(normals + anywhere / 2)
    )
    away = np.select([kind == 2, kind == 5], [0.0 * away, away * 10.0 ** rng.uniform(1, 5, size=(n, 1))], away)
    origins = points - away * directions
    inside = rng.random(n) < 0.05
    origins[inside] *= 0.1
    return origins, directions * 10.0 ** rng.uniform(-3, 3, size=(n, 1))
