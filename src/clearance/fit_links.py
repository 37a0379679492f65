"""Swept hulls for all links of a robot: every mesh once, on any executor, with progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .batches import in_chunks
from .fit import Count, as_count, fit_swept_hull
from .fit_pieces import as_concavity, hulls_around
from .shapes import ConvexHull, Mesh

__all__: list[str] = []

Hulls: TypeAlias = list[ConvexHull]

CONCAVITY = 0.05  # where meshes are split, unless the caller says


@dataclass(frozen=True, eq=False)
class LinkFits:
    """How meshes of links become swept hulls; `Robot.from_urdf` tells what the attributes mean."""

    n_points: Count = 8
    split: bool | float = False
    executor: Executor | None = None
    progress: Any = False

    def __post_init__(self) -> None:
        as_count(self.n_points)
        if not isinstance(self.split, bool):
            as_concavity(self.split)

    def around(self, meshes: Iterable[Mesh]) -> dict[Mesh, Hulls]:
        """Fit hulls around meshes; around equal ones once."""
        rows = _objects(list(dict.fromkeys(meshes)))
        task = _Task(self.n_points, CONCAVITY if self.split is True else self.split)
        found = np.empty_like(rows)
        for chunk in in_chunks(task, rows, chunk=1, executor=self.executor, progress=self.progress):
            found[chunk.where] = chunk.columns["hulls"]
        return dict(zip(rows, found, strict=True))


@dataclass(frozen=True)
class _Task:
    """What a worker needs to know."""

    n_points: Count
    concavity: float  # zero: nothing is split

    def __call__(self, meshes: NDArray[Any]) -> dict[str, NDArray[Any]]:
        return {"hulls": _objects([self.hulls_of(mesh) for mesh in meshes])}

    def hulls_of(self, mesh: Mesh) -> Hulls:
        if self.concavity:
            return hulls_around(mesh, self.n_points, self.concavity)
        # Files may hold vertices that no triangle uses.
        return [fit_swept_hull(mesh.vertices[np.unique(mesh.faces)], self.n_points)]


def _objects(things: Sequence[Any]) -> NDArray[Any]:
    """Put things in a row, whatever they are."""
    row = np.empty(len(things), dtype=object)
    for k, thing in enumerate(things):
        row[k] = thing
    return row
