"""A slow oracle for convex shapes at any placement, deep ones too, and for the points that witness a distance."""

import numpy as np

import clearance as cl
from solids import bounding_radius, core, faces_of, hull_of, support

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
        normals, _, _ = faces_of(shape)
        return np.max(points @ normals.T - np.max(vertices @ normals.T, axis=0), axis=1)
    simplices = [[0, 1, 2]] if len(vertices) == 3 else hull_of(vertices).simplices
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
        hull = hull_of(points[first], qhull_options="Qt Q12")
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
