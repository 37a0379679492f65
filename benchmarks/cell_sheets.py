"""Bent sheets, and how finely they are tessellated: what everything in the generated cell is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Soup = tuple[Floats, Ints]
Field = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, eq=False)
class Patch:
    """A sheet over the rectangle `[0, length] x [0, width]`, in metres, laid into space by `surface`, then `place`."""

    surface: Field
    length: float
    width: float
    grain: tuple[float, float] = (1.0, 1.0)  # how much longer than elsewhere the cells are, along length and width
    least: tuple[int, int] = (1, 1)  # cells
    folds: Sequence[float] = ()  # where along the length a grid line must lie
    borders: tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]] | None = None  # of the second coordinate
    hole: Field | None = None  # signed distance from the openings, negative inside
    place: Floats = field(default_factory=lambda: np.eye(4))  # affine

    def at(self, place: Floats) -> Patch:
        return replace(self, place=place @ self.place)

    def coordinates(self, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        if self.borders is None:
            return p, q
        low, high = (border(p) for border in self.borders)
        return p, low + (high - low) * q / self.width

    def share_left_by_holes(self) -> float:
        if self.hole is None:
            return 1.0
        middles = (np.arange(96) + 0.5) / 96
        p, q = np.meshgrid(self.length * middles, self.width * middles, indexing="ij")
        return float(np.mean(self.hole(*self.coordinates(p, q)) >= 0))


class Grid(TypedDict, total=False):
    """How a patch is cut, as in `Patch`."""

    grain: tuple[float, float]
    least: tuple[int, int]


@lru_cache(maxsize=8)
def grid_faces(rows: int, columns: int) -> Ints:
    vertices: Ints = np.arange((rows + 1) * (columns + 1), dtype=np.int32).reshape(rows + 1, columns + 1)
    a, b, c, d = vertices[:-1, :-1], vertices[:-1, 1:], vertices[1:, :-1], vertices[1:, 1:]
    return np.stack([a, c, b, b, c, d], axis=-1).reshape(-1, 3)


def grid_lines(patch: Patch, rows: int) -> Floats:
    """Even steps along the length, the nearest of them moved onto each fold."""
    lines = np.linspace(0.0, patch.length, rows + 1)
    for fold in patch.folds:
        lines[round(fold / patch.length * rows)] = fold
    return lines


def cut(p: Floats, q: Floats, faces: Ints, hole: Field) -> tuple[Floats, Floats, Ints]:
    """Drop what lies inside the openings, and pull the vertices just inside onto the rim by Newton's steps."""
    faces = faces[~(hole(p, q) < 0)[faces].all(axis=1)]
    used, faces_flat = np.unique(faces, return_inverse=True)
    p, q, step = p[used], q[used], 1e-6
    inside = hole(p, q) < 0
    for _ in range(3):
        x, y = p[inside], q[inside]
        depth = hole(x, y)
        slope_x, slope_y = (hole(x + step, y) - depth) / step, (hole(x, y + step) - depth) / step
        steepness_sq = np.maximum(slope_x**2 + slope_y**2, 0.1)
        p[inside], q[inside] = x - depth * slope_x / steepness_sq, y - depth * slope_y / steepness_sq
    return p, q, faces_flat.reshape(-1, 3).astype(np.int32)


def mesh(patch: Patch, rows: int, columns: int) -> Soup:
    lines, rails = grid_lines(patch, rows), np.linspace(0.0, patch.width, columns + 1)
    p, q = (values.ravel() for values in np.meshgrid(lines, rails, indexing="ij"))
    p, q = patch.coordinates(p, q)
    faces = grid_faces(rows, columns)
    if patch.hole is not None:
        p, q, faces = cut(p, q, faces, patch.hole)
    return patch.surface(p, q) @ patch.place[:3, :3].T + patch.place[:3, 3], faces


def merged(soups: Sequence[Soup]) -> Soup:
    """One soup of many."""
    firsts = np.cumsum([0, *(len(vertices) for vertices, _ in soups[:-1])])
    faces = [faces + np.int32(first) for (_, faces), first in zip(soups, firsts, strict=True)]
    return np.concatenate([vertices for vertices, _ in soups]), np.concatenate(faces)


def tessellated(patches: Sequence[Patch], triangles: int) -> Soup:
    """All patches as one soup of about so many triangles: the common length of an edge is found by bisection."""
    spans = np.array([(patch.length / patch.grain[0], patch.width / patch.grain[1]) for patch in patches])
    least = np.array([(max(patch.least[0], len(patch.folds) + 1), patch.least[1]) for patch in patches])
    left = np.array([patch.share_left_by_holes() for patch in patches])

    def cells(edge: float) -> NDArray[np.int64]:
        wanted = np.rint(spans / edge).astype(np.int64)
        return np.where(wanted > least, wanted, least)

    fine, coarse = 1e-5, 10.0
    for _ in range(50):
        edge = np.sqrt(fine * coarse)
        fine, coarse = (edge, coarse) if 2 * cells(edge).prod(axis=1) @ left > triangles else (fine, edge)
    return merged([mesh(patch, *map(int, count)) for patch, count in zip(patches, cells(coarse), strict=True)])
