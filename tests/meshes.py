"""Sample meshes as plain arrays, drawn from a seed, and placements of two of them, most near contact.

Every sample is about one metre large and has no more than a few hundred triangles, so that all pairs of triangles can
be tried. Nothing here uses the library.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from strategies import rigid_motions

SCALES = (1e-9, 1e-3, 1.0, 1e3, 1e9)


class Soup(NamedTuple):
    """Vertices (n, 3) and faces (m, 3)."""

    vertices: np.ndarray
    faces: np.ndarray

    @property
    def triangles(self):
        """Corners of every triangle, (m, 3, 3)."""
        return self.vertices[self.faces]

    def scaled(self, factor):
        return Soup(self.vertices * factor, self.faces)

    def moved(self, pose):
        return Soup(self.vertices @ pose[:3, :3].T + pose[:3, 3], self.faces)


# Surfaces over a grid ------------------------------------------------------------------------------------------------


def _grid_faces(n, m, *, closed_u=False, closed_v=False):
    """Return two triangles for each cell of a grid of n x m vertices; a closed direction returns to its start."""
    i, j = np.meshgrid(np.arange(n if closed_u else n - 1), np.arange(m if closed_v else m - 1), indexing="ij")
    corner = [((i + di) % n * m + (j + dj) % m).ravel() for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return np.vstack([np.stack([corner[k] for k in tri], axis=1) for tri in ((0, 1, 2), (0, 2, 3))])


def bumpy_sphere(rng, n=7, m=10):
    """A sphere with bumps: no two of its triangles are alike, its poles are fans of triangles without area."""
    polar, around = np.meshgrid(np.linspace(0, np.pi, n), np.linspace(0, 2 * np.pi, m, endpoint=False), indexing="ij")
    bumps = rng.normal(size=3)
    radius = 0.5 * (1 + 0.2 * np.sin(3 * polar) * np.cos(2 * around + bumps[0]) + 0.1 * np.sin(2 * polar + bumps[1]))
    unit = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1)
    unit[0], unit[-1] = [0, 0, 1], [0, 0, -1]
    radius[0], radius[-1] = radius[0, 0], radius[-1, 0]
    return Soup((radius[..., None] * unit).reshape(-1, 3), _grid_faces(n, m, closed_v=True))


def torus(rng, n=12, m=7):
    u, v = np.meshgrid(*(np.linspace(0, 2 * np.pi, k, endpoint=False) for k in (n, m)), indexing="ij")
    tube = rng.uniform(0.1, 0.2)
    across = 0.4 + tube * np.cos(v)
    points = np.stack([across * np.cos(u), across * np.sin(u), tube * np.sin(v)], axis=-1)
    return Soup(points.reshape(-1, 3), _grid_faces(n, m, closed_u=True, closed_v=True))


def sheet(rng, n=8, m=9):
    """An open, wavy sheet."""
    x, y = np.meshgrid(np.linspace(-0.6, 0.6, n), np.linspace(-0.6, 0.6, m), indexing="ij")
    z = 0.2 * np.sin(4 * x + rng.normal()) * np.cos(3 * y + rng.normal())
    return Soup(np.stack([x, y, z], axis=-1).reshape(-1, 3), _grid_faces(n, m))


def plate(rng, n=6, m=6):
    """A flat grid: its box has no thickness, and all its triangles lie in one plane."""
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, n), np.linspace(-0.5, 0.5, m), indexing="ij")
    return Soup(np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3), _grid_faces(n, m))


# Solids with edges ---------------------------------------------------------------------------------------------------


def box(rng=None):
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.4, 0.4) for z in (-0.3, 0.3)])
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return Soup(corners, np.array([[q[i] for i in tri] for q in quads for tri in ((0, 1, 2), (0, 2, 3))]))


def gear(rng, teeth=12):
    """A gear: two fans of slivers that start from one corner each, and a rim of narrow quads."""
    n = 4 * teeth
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    radius = np.where(np.arange(n) // 2 % 2 == 0, 0.5, 0.42)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    top, bottom = (np.column_stack([rim, np.full(n, z)]) for z in (0.05, -0.05))
    k, after, zero = np.arange(n), (np.arange(n) + 1) % n, np.zeros(n, dtype=int)
    faces = [(zero, k, after), (zero + n, n + k, n + after), (k, after, n + after), (k, n + after, n + k)]
    return Soup(np.vstack([top, bottom]), np.vstack([np.stack(corners, axis=1) for corners in faces]))


# Soups ---------------------------------------------------------------------------------------------------------------


def _soup(corners):
    """Return the soup of m triangles (m, 3, 3) that share no vertex."""
    return Soup(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def random_soup(rng, n=60):
    centres = rng.uniform(-0.5, 0.5, size=(n, 1, 3))
    return _soup(centres + 0.1 * rng.normal(size=(n, 3, 3)) * 10.0 ** rng.uniform(-2, 0.3, size=(n, 1, 1)))


def needles(rng, n=40):
    """Triangles up to 1e9 times as long as wide."""
    start, along = rng.uniform(-0.5, 0.5, size=(2, n, 1, 3))
    width = 10.0 ** rng.uniform(-9, -2, size=(n, 1, 1))
    weights = np.array([0.0, 1.0, 0.5])[:, None]
    return _soup(start + weights * along + width * rng.normal(size=(n, 3, 3)))


def without_area(rng, n=40):
    """Triangles that are segments or points, and some that are neither."""
    corners = random_soup(rng, n).triangles.copy()
    corners[: n // 3] = corners[: n // 3, :1]
    corners[n // 3 : 2 * n // 3, 2] = corners[n // 3 : 2 * n // 3, 0]
    return _soup(corners)


def duplicates(rng, n=8, copies=15):
    """Every triangle many times over, its corners in any order."""
    corners = np.repeat(random_soup(rng, n).triangles, copies, axis=0)
    order = rng.random(corners.shape[:2]).argsort(axis=1)
    return _soup(np.take_along_axis(corners, order[..., None], axis=1))


def one_triangle(rng):
    return _soup(rng.uniform(-0.5, 0.5, size=(1, 3, 3)))


def lattice(rng, n=40):
    """Small whole numbers: ties, contacts and degeneracies of every kind."""
    return _soup(rng.integers(-2, 3, size=(n, 3, 3)) / 4.0)


SAMPLES = {
    "bumpy sphere": bumpy_sphere,
    "torus": torus,
    "gear": gear,
    "plate": plate,
    "box": box,
    "sheet": sheet,
    "soup": random_soup,
    "needles": needles,
    "without area": without_area,
    "duplicates": duplicates,
    "one triangle": one_triangle,
    "lattice": lattice,
}
CLOSED = ("bumpy sphere", "torus", "gear", "box")


def sample(name, seed=0):
    """Draw a named sample mesh.

    Parameters
    ----------
    name : str
        One of `SAMPLES`.
    seed : int

    Returns
    -------
    Soup
    """
    return SAMPLES[name](np.random.default_rng([seed, list(SAMPLES).index(name)]))


# The same surface, cut otherwise -------------------------------------------------------------------------------------


def shuffled(rng, soup):
    """Put triangles, their corners and all vertices in another order."""
    order = rng.permutation(len(soup.vertices))
    place = np.argsort(order)
    faces = place[soup.faces][rng.permutation(len(soup.faces))]
    turned = np.take_along_axis(faces, rng.random(faces.shape).argsort(axis=1), axis=1)
    return Soup(soup.vertices[order], turned)


def subdivided(soup):
    """Cut every triangle into four at the middles of its edges."""
    p, q, s = np.moveaxis(soup.triangles, 1, 0)
    pq, qs, sp = (p + q) / 2, (q + s) / 2, (s + p) / 2
    small = [(p, pq, sp), (pq, q, qs), (sp, qs, s), (pq, qs, sp)]
    return _soup(np.concatenate([np.stack(corners, axis=1) for corners in small]))


def split(rng, soup, parts):
    """Deal the triangles out at random to at most `parts` soups."""
    owner = rng.integers(parts, size=len(soup.faces))
    return [Soup(soup.vertices, soup.faces[owner == k]) for k in range(parts) if np.any(owner == k)]


def merged(soups):
    starts = np.cumsum([0, *(len(s.vertices) for s in soups[:-1])])
    faces = [s.faces + start for s, start in zip(soups, starts, strict=True)]
    return Soup(np.vstack([s.vertices for s in soups]), np.vstack(faces))


# Placements ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Placements:
    """Poses (n, 4, 4) of two soups, and their distance (n,) with its direction (n, 3), NaN where it is not known."""

    pose_a: np.ndarray
    pose_b: np.ndarray
    gap: np.ndarray
    normal: np.ndarray

    def __len__(self):
        return len(self.gap)

    def moved(self, motion):
        return Placements(motion @ self.pose_a, motion @ self.pose_b, self.gap, self.normal @ motion[:3, :3].T)

    def scaled(self, factor):
        pose_a, pose_b = self.pose_a.copy(), self.pose_b.copy()
        for pose in (pose_a, pose_b):
            pose[:, :3, 3] *= factor
        return Placements(pose_a, pose_b, self.gap * factor, self.normal)


def _unit(rng, n):
    vectors = rng.normal(size=(n, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _turned(poses, points):
    """Turn points (k, 3) by every pose: (n, k, 3)."""
    return points @ np.swapaxes(poses[:, :3, :3], 1, 2)


def _unknown(pose_a, pose_b):
    n = len(pose_a)
    return Placements(pose_a, pose_b, np.full(n, np.nan), np.full((n, 3), np.nan))


def _small_gaps(rng, n):
    return np.where(rng.random(n) < 0.1, 0.0, 10.0 ** rng.uniform(-9, -1, n))


def tangent(rng, a, b, n):
    """Lay planes a small gap apart; a's farthest vertex and b's nearest face each other across it.

    The planes bound the distance from below, the two vertices from above: it is the gap.
    """
    pose_a, pose_b = rigid_motions(rng, n), rigid_motions(rng, n)
    normal, gap, rows = _unit(rng, n), _small_gaps(rng, n), np.arange(n)
    used_a, used_b = (np.unique(s.triangles.reshape(-1, 3), axis=0) for s in (a, b))
    world_a, turned_b = _turned(pose_a, used_a) + pose_a[:, None, :3, 3], _turned(pose_b, used_b)
    highest = np.argmax(np.einsum("nki,ni->nk", world_a, normal), axis=1)
    lowest = np.argmin(np.einsum("nki,ni->nk", turned_b, normal), axis=1)
    pose_b[:, :3, 3] = world_a[rows, highest] + gap[:, None] * normal - turned_b[rows, lowest]
    return Placements(pose_a, pose_b, gap, normal)


def _upon(rng, a, b, n):
    """A vertex of b a small gap beside a point of a triangle of a: surfaces mostly cross, some just do not."""
    pose_a, pose_b = rigid_motions(rng, n), rigid_motions(rng, n)
    weights = rng.dirichlet(np.ones(3), size=n)
    foot = np.einsum("nk,nki->ni", weights, a.triangles[rng.integers(len(a.faces), size=n)])
    world = np.einsum("nij,nj->ni", pose_a[:, :3, :3], foot) + pose_a[:, :3, 3]
    vertex = b.triangles[rng.integers(len(b.faces), size=n), 0]
    aside = _small_gaps(rng, n)[:, None] * _unit(rng, n)
    pose_b[:, :3, 3] = world + aside - np.einsum("nij,nj->ni", pose_b[:, :3, :3], vertex)
    return _unknown(pose_a, pose_b)


def _nested(rng, a, b, n):
    """About the same centre."""
    pose_a, pose_b = rigid_motions(rng, n), rigid_motions(rng, n)
    pose_b[:, :3, 3] = pose_a[:, :3, 3] + 0.05 * rng.normal(size=(n, 3))
    return _unknown(pose_a, pose_b)


def _around(rng, a, b, n):
    """Up to two metres apart."""
    pose_a, pose_b = rigid_motions(rng, n), rigid_motions(rng, n)
    pose_b[:, :3, 3] = pose_a[:, :3, 3] + rng.uniform(0.1, 2.0, size=(n, 1)) * _unit(rng, n)
    return _unknown(pose_a, pose_b)


def _upright(rng, a, b, n):
    """Axes along axes, steps of a quarter: faces lie in faces and edges on edges."""
    pose_a, pose_b = (np.tile(np.eye(4), (n, 1, 1)) for _ in range(2))
    turns = np.stack([np.roll(np.eye(3), k, axis=0) for k in range(3)])
    pose_b[:, :3, :3] = turns[rng.integers(3, size=n)]
    pose_b[:, :3, 3] = rng.integers(-4, 5, size=(n, 3)) / 4.0
    return _unknown(pose_a, pose_b)


def _far(rng, a, b, n):
    """Near contact, up to a million metres from the origin."""
    placed = tangent(rng, a, b, n)
    away = 10.0 ** rng.uniform(2, 6) * _unit(rng, 1)[0]
    pose_a, pose_b = placed.pose_a.copy(), placed.pose_b.copy()
    for pose in (pose_a, pose_b):
        pose[:, :3, 3] += away
    return _unknown(pose_a, pose_b)


FAMILIES = {
    "tangent": tangent,
    "upon": _upon,
    "nested": _nested,
    "around": _around,
    "upright": _upright,
    "far": _far,
}


def placements(rng, a, b, n, family):
    """Draw poses of two soups of about unit size.

    Parameters
    ----------
    rng : numpy.random.Generator
    a, b : Soup
    n : int
    family : str
        One of `FAMILIES`.

    Returns
    -------
    Placements
    """
    return FAMILIES[family](rng, a, b, n)


def path(rng, start, n, step=0.02):
    """Draw a coherent sequence of poses: each a small screw motion after the one before.

    Parameters
    ----------
    rng : numpy.random.Generator
    start : (4, 4) ndarray
    n : int
    step : float
        Metres and radians between neighbours.

    Returns
    -------
    (n, 4, 4) ndarray
    """
    axis, shift = _unit(rng, 2)
    cross = np.cross(np.eye(3), -axis)
    turn = np.eye(3) + np.sin(step) * cross + (1 - np.cos(step)) * cross @ cross
    poses = [np.array(start, dtype=float)]
    for _ in range(n - 1):
        pose = poses[-1].copy()
        pose[:3, :3] = turn @ pose[:3, :3]
        pose[:3, 3] += step * shift
        poses.append(pose)
    return np.stack(poses)


# What Hypothesis draws -----------------------------------------------------------------------------------------------


def names():
    return st.sampled_from(list(SAMPLES))


def families():
    return st.sampled_from(list(FAMILIES))


def scales():
    """Draw a size in metres, from nanometres to a million kilometres."""
    return st.sampled_from(SCALES)


def volumes():
    return st.sampled_from(["obb", "rss"])
