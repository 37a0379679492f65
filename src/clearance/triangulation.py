"""Flat polygons of mesh files cut into triangles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__: list[str] = []

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_CORNERS = 1000  # of a polygon with a corner that points inwards
STRAIGHT = 1e-12  # of the area: a corner that points inwards by less does not


def triangles_of(vertices: Floats, polygons: Sequence[Sequence[int]]) -> Integers:
    """Cut polygons into triangles, in their order; corners that are no vertices stay for others to refuse.

    Convex ones become fans around their first corner. Others would get triangles outside of them that way, so their
    ears are cut off one by one.
    """
    counts = np.array([len(polygon) for polygon in polygons], dtype=np.int64)
    ends = np.cumsum(counts - 2)
    faces = np.empty((int(ends[-1]) if len(ends) else 0, 3), dtype=np.int64)
    for count in np.unique(counts).tolist():
        chosen = np.flatnonzero(counts == count)
        corners = np.array([polygons[k] for k in chosen.tolist()], dtype=np.int64)
        fans = np.stack(
            [np.broadcast_to(corners[:, :1], (len(chosen), count - 2)), corners[:, 1:-1], corners[:, 2:]], axis=-1
        )
        faces[(ends[chosen] - (count - 2))[:, None] + np.arange(count - 2)] = fans
        for k in _with_a_corner_inwards(vertices, corners).tolist():
            end = int(ends[chosen[k]])
            faces[end - (count - 2) : end] = _without_ears(vertices, corners[k])
    return faces


def _with_a_corner_inwards(vertices: Floats, corners: Integers) -> Integers:
    """Which of some polygons with as many corners each are not convex, as far as numbers tell."""
    if corners.shape[1] == 3 or not len(vertices):
        return np.empty(0, dtype=np.int64)
    exist = np.all((corners >= 0) & (corners < len(vertices)), axis=1)
    points = vertices[np.where(exist[:, None], corners, 0)]
    with np.errstate(all="ignore"):
        normals = _normals(points)
        ahead = np.roll(points, -1, axis=1) - points
        turns = np.einsum("ijk,ik->ij", np.cross(np.roll(ahead, 1, axis=1), ahead), normals)
        inwards = (turns < -STRAIGHT * np.einsum("ij,ij->i", normals, normals)[:, None]).any(axis=1)
    return np.flatnonzero(exist & inwards)


def _normals(points: Floats) -> Floats:
    """Of polygons, twice as long as their areas (Newell)."""
    seen = points - points[:, :1]
    return np.asarray(np.cross(seen[:, 1:-1], seen[:, 2:]).sum(axis=1))


def _without_ears(vertices: Floats, polygon: Integers) -> list[tuple[int, int, int]]:
    """Cut off corners with nothing of the polygon inside, until a triangle is left (Meisters, 1975)."""
    if len(polygon) > MOST_CORNERS:
        raise ValueError(
            f"a face of {len(polygon)} corners is not convex, but at most {MOST_CORNERS} corners can be cut off then."
        )
    flat = _flat(vertices[polygon])
    least = STRAIGHT * float(np.ptp(flat, axis=0).max()) ** 2
    ring, found = list(range(len(polygon))), []
    while len(ring) > 3:
        ear = next((k for k in range(len(ring)) if _is_ear(flat, ring, k, least)), 1)  # crossed polygons may have none
        found.append((ring[ear - 1], ring[ear], ring[(ear + 1) % len(ring)]))
        del ring[ear]
    return [(int(polygon[a]), int(polygon[b]), int(polygon[c])) for a, b, c in [*found, tuple(ring)]]


def _flat(points: Floats) -> Floats:
    """A polygon seen from above, so that it goes round counterclockwise."""
    normal = _normals(points[None])[0]
    axis = int(np.abs(normal).argmax())
    x, y = (axis + 1) % 3, (axis + 2) % 3
    return points[:, [x, y] if normal[axis] > 0.0 else [y, x]]


def _is_ear(flat: Floats, ring: Sequence[int], k: int, least: float) -> bool:
    """Whether a corner can be cut off. An area below `least` is nothing."""
    a, b, c = (flat[ring[(k + step) % len(ring)]] for step in (-1, 0, 1))
    turn = float(_turn(a, b, c))
    if turn <= least:
        return turn >= -least and float((a - b) @ (c - b)) <= 0.0  # on the way from one to the other
    others = flat[ring]
    inside = (_turn(a, b, others) > least) & (_turn(b, c, others) > least) & (_turn(c, a, others) > least)
    # Corners on the side that is cut would be cut off, too; the ends of it are none of them.
    between = np.einsum("ij,ij->i", others - a, others - c) < -least
    return not (inside | between & (np.abs(_turn(c, a, others)) <= least)).any()


def _turn(p: Floats, q: Floats, r: Floats) -> Floats:
    """Twice the area of a triangle, negative if it goes round clockwise."""
    return np.asarray((q[0] - p[0]) * (r[..., 1] - p[1]) - (q[1] - p[1]) * (r[..., 0] - p[0]))
