"""Where two shapes touch or overlap: one normal, and up to four points with depths for each pair of touching parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _core
from .queries import Floats, Single, _spread, _thread_count
from .shapes import PlacedBatch

__all__ = ["ContactBatch", "Contacts", "contacts"]


@dataclass(frozen=True, eq=False)
class Contacts:
    """A contact manifold.

    Attributes
    ----------
    normal : ndarray, (3,)
        Unit vector from a to b, of the deepest pair of parts; also when nothing touches.
    points : ndarray, (k, 3)
        In the world, halfway between the two surfaces. k is 0 when the shapes are apart.
    depths : ndarray, (k,)
        In metres along the normal: how far the surfaces reach into each other there.
    normals : ndarray, (k, 3)
        The normal of the pair of parts that each point belongs to.
    parts : ndarray of int, (k, 2)
        Which parts of a and b these are.
    features : ndarray of int, (k, 2)
        Which triangles, where these parts are meshes or height fields, or points of clouds; -1 where they are neither.
    """

    normal: Floats
    points: Floats
    depths: Floats
    normals: Floats
    parts: NDArray[np.int64]
    features: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.depths)


@dataclass(frozen=True, eq=False)
class ContactBatch:
    """The contacts of many placements in flat arrays; `batch[k]` are those of placement k.

    Attributes
    ----------
    normal : ndarray, (n, 3)
        One for each placement.
    points, depths, normals, parts, features : ndarray, (total, ...)
        As in `Contacts`, of all placements one after the other.
    offsets : ndarray of int, (n + 1,)
        The points of placement k are those from `offsets[k]` to `offsets[k + 1]`.
    """

    normal: Floats
    points: Floats
    depths: Floats
    normals: Floats
    parts: NDArray[np.int64]
    features: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.normal)

    def __getitem__(self, k: int) -> Contacts:
        if not -len(self) <= k < len(self):
            raise IndexError(f"placement {k} of {len(self)}")
        k %= len(self)
        own = slice(self.offsets[k], self.offsets[k + 1])
        columns: tuple[NDArray[Any], ...] = (self.points, self.depths, self.normals, self.parts, self.features)
        return Contacts(self.normal[k], *(column[own] for column in columns))


@overload
def contacts(a: Single, b: Single, *, method: str = ..., plane: str = ..., threads: int | None = ...) -> Contacts: ...
@overload
def contacts(
    a: PlacedBatch, b: Single | PlacedBatch, *, method: str = ..., plane: str = ..., threads: int | None = ...
) -> ContactBatch: ...
@overload
def contacts(
    a: Single, b: PlacedBatch, *, method: str = ..., plane: str = ..., threads: int | None = ...
) -> ContactBatch: ...
def contacts(
    a: Single | PlacedBatch,
    b: Single | PlacedBatch,
    *,
    method: str = "epa",
    plane: str = "manifold",
    threads: int | None = None,
) -> Contacts | ContactBatch:
    """Find where two shapes touch or overlap: faces meet in up to four points, edges in two, corners in one.

    Parameters
    ----------
    a, b : Shape, Placed or PlacedBatch
        Their poses broadcast against each other; a batch of any shape is flattened.
    method : {"epa", "mpr"}
        How the depth of overlapping cores is found: by expanding a polytope, which is exact, or by refining a portal,
        which is quicker and deeper than necessary at times.
    plane : {"manifold", "deepest", "corners", "section"}
        What stands for the contact with a half-space: a manifold as everywhere, or one point: the middle of the deepest
        feature, the mean of the corners below the plane weighted with their depths (bodies with corners), or the
        centroid of the section moved down to the surface (boxes).
    threads : int, optional
        For batches; all cores unless given.

    Returns
    -------
    Contacts or ContactBatch
        Nothing but a normal for shapes that are apart.

    Examples
    --------
    A box of one metre that has sunk into the ground by a centimetre stands on four corners:

    >>> found = contacts(HalfSpace([0.0, 0.0, 1.0], 0.0), Box([1.0, 1.0, 1.0]).at([0.0, 0.0, 0.49]))
    >>> len(found), found.depths.round(9).tolist(), found.normal.tolist()
    (4, [0.01, 0.01, 0.01, 0.01], [0.0, 0.0, 1.0])
    """
    if not isinstance(a, PlacedBatch) and not isinstance(b, PlacedBatch):
        normal, *flat, _ = _core.contacts(a, b, 1, method, plane, 1)
        return Contacts(normal[0], *flat)
    dims_a, dims_b = (x.dims if isinstance(x, PlacedBatch) else () for x in (a, b))
    dims = np.broadcast_shapes(dims_a, dims_b)
    found: tuple[Any, ...] = _core.contacts(
        _spread(a, dims), _spread(b, dims), int(np.prod(dims)), method, plane, _thread_count(threads)
    )
    return ContactBatch(*found)
