"""Concave bodies as several sphere-swept hulls: CoACD says where to cut, and every triangle is proved to be inside.

Wei, Liu, Ling and Su, Approximate convex decomposition for 3D meshes with collision-aware concavity and tree search
(2022), cut a body into pieces that are nearly convex. The pieces are no proof of anything: they approximate the mesh.
So the triangles of the mesh itself are shared out among them, halved where they belong to several, and each hull is
fitted around all corners of its share. A hull is convex, so it contains its triangles. It needs SciPy and CoACD:
`pip install clearance[decompose]`.
"""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from .fit import EPS, Count, as_count, farthest, fit_swept_hull
from .shapes import Compound, ConvexHull, Mesh
from .steiner import FLAT, import_extra, principal_axes, swept_volume

__all__ = ["fit_swept_hulls"]

Floats = NDArray[np.float64]

LEAST, MOST = 0.01, 1.0  # concavities that CoACD takes
OVERLAP = 0.01  # how far a triangle may stick out of a piece before it is halved, as a share of the size of the mesh
MOST_HALVINGS = 32


def fit_swept_hulls(mesh: Mesh, n_points: Count = "auto", *, concavity: float = 0.05, seed: int = 0) -> Compound:
    """Fit several sphere-swept hulls around a mesh, one for each piece that is nearly convex.

    Every triangle is inside the union of the hulls. If they had more volume together than a single one, then that is
    what the compound has.

    Parameters
    ----------
    mesh : Mesh
        A surface that is closed is best. One with holes is cut as if it were made of thin sheet.
    n_points : int or "auto"
        How many points each hull may have, see `fit_swept_hull`.
    concavity : float
        How deep a hollow may be that is not cut apart, 0.01 to 1, about as a share of half the size of the mesh: the
        less, the more hulls.
    seed : int
        Of everything that is drawn at random.

    Returns
    -------
    Compound
        Its parts are of the type ConvexHull, in the frame of the mesh.

    Raises
    ------
    ImportError
        If SciPy or CoACD is not there.

    Examples
    --------
    >>> corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> sides = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    >>> two = Mesh(np.concatenate([corners, corners + [5, 0, 0]]), np.concatenate([sides, sides + 4]))
    >>> [round(swept_volume(hull), 3) for hull in fit_swept_hulls(two, 4).parts]
    [0.167, 0.167]
    """
    if not isinstance(mesh, Mesh):
        raise TypeError(f"mesh must be a Mesh, but it is {mesh!r:.200}.")
    return Compound(hulls_around(mesh, as_count(n_points), as_concavity(concavity), seed))


def hulls_around(mesh: Mesh, count: Count, concavity: float, seed: int = 0) -> list[ConvexHull]:
    triangles = mesh.vertices[mesh.faces]
    pieces = _pieces(triangles, concavity, seed)
    whole = fit_swept_hull(triangles.reshape(-1, 3), count, seed=seed)
    if len(pieces) == 1:
        return [whole]
    hulls = [_with_room(fit_swept_hull(share, count, seed=seed)) for share in _shares(triangles, pieces)]
    return hulls if sum(map(swept_volume, hulls)) < swept_volume(whole) else [whole]


def as_concavity(concavity: float) -> float:
    """Read a threshold of CoACD."""
    is_number = isinstance(concavity, int | float | np.integer | np.floating) and isfinite(concavity)
    if not is_number or not LEAST <= concavity <= MOST:
        raise ValueError(f"concavity must be a number from {LEAST} to {MOST:g}, but it is {concavity!r}.")
    return float(concavity)


def _pieces(triangles: Floats, concavity: float, seed: int) -> list[Floats]:
    """Corners of the pieces that CoACD cuts a mesh into; one, if there is nothing to cut."""
    coacd = import_extra("coacd", "splitting", "decompose")
    vertices, faces = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    faces = faces.reshape(-1, 3)
    is_real = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    if len(vertices) < 4 or not is_real.any() or _is_flat(vertices):
        return [vertices]
    coacd.set_log_level("error")
    found = coacd.run_coacd(coacd.Mesh(vertices, faces[is_real]), threshold=concavity, seed=seed)
    return [np.asarray(piece, dtype=np.float64) for piece, _ in found] or [vertices]


def _is_flat(vertices: Floats) -> bool:
    widths = principal_axes(vertices)[1]
    return bool(widths[2] <= FLAT * widths[0])


def _shares(triangles: Floats, pieces: list[Floats]) -> list[Floats]:
    """Corners of the pieces, and of the triangles that each of them gets: together these are all triangles.

    A triangle goes to the piece that it sticks out of least. It is halved first if its corners by themselves, each with
    a piece of its own, would stick out less.
    """
    room = OVERLAP * float(np.ptp(triangles.reshape(-1, 3), axis=0).max())
    shares = [[piece] for piece in pieces]
    for halvings in range(MOST_HALVINGS + 1):
        away = _distances(triangles, pieces)
        outside, alone = away.max(axis=2), away.min(axis=0).max(axis=1)
        longest = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2).max(axis=1)
        is_done = (outside.min(axis=0) <= alone + room) | (longest <= room) | (halvings == MOST_HALVINGS)
        owner = np.where(is_done, outside.argmin(axis=0), -1)
        for k, share in enumerate(shares):
            share.append(triangles[owner == k].reshape(-1, 3))
        triangles = _halved(triangles[~is_done])
        if not len(triangles):
            break
    return [np.concatenate(share) for share in shares]


def _distances(triangles: Floats, pieces: list[Floats]) -> Floats:
    """How far the corners of triangles are from each piece, (pieces, triangles, 3)."""
    corners, where = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    return np.stack([farthest(piece, corners)[where].reshape(-1, 3) for piece in pieces])


def _halved(triangles: Floats) -> Floats:
    """Cut triangles from the middle of their longest edges."""
    lengths = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2)
    turned = (lengths.argmax(axis=1)[:, None] + np.arange(3)) % 3
    a, b, c = np.moveaxis(triangles[np.arange(len(triangles))[:, None], turned], 1, 0)
    middle = 0.5 * a + 0.5 * b
    return np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])


def _with_room(hull: ConvexHull) -> ConvexHull:
    """Halves of a triangle cover it up to the rounding of their corners, which adds up."""
    size = float(np.abs(hull.points).max()) + hull.radius
    return ConvexHull(hull.points, hull.radius + MOST_HALVINGS * EPS * size)
