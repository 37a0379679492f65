"""Space cut into boxes of blocks, one for each rank, with about as many particles in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cuts", "grid_of_ranks"]

Integers = NDArray[np.int64]
Gather = Callable[[Any], list[Any]]


def grid_of_ranks(count: int, extent: NDArray[np.float64]) -> tuple[int, int, int]:
    """Split a number of ranks into three factors, so that boxes have little surface.

    Parameters
    ----------
    count : int
        Of ranks.
    extent : ndarray, (3,)
        How many layers of blocks along each axis have particles in them.

    Returns
    -------
    tuple of int, (3,)

    Examples
    --------
    >>> grid_of_ranks(8, np.array([10.0, 10.0, 10.0]))
    (2, 2, 2)
    >>> grid_of_ranks(4, np.array([40.0, 10.0, 2.0]))
    (4, 1, 1)
    """
    splits = [(x, y, count // (x * y)) for x in _divisors(count) for y in _divisors(count // x)]

    def surface(split: tuple[int, int, int]) -> float:
        a, b, c = extent / split
        return float(a * b + b * c + c * a)

    return min(splits, key=surface)


def _divisors(count: int) -> list[int]:
    return [k for k in range(1, count + 1) if count % k == 0]


@dataclass(frozen=True, eq=False)
class Cuts:
    """Where space is cut: along x first, each slab along y, each bar of it along z.

    Attributes
    ----------
    x : ndarray of int, (nx - 1,)
        Numbers of the blocks at which the next box begins.
    y : ndarray of int, (nx, ny - 1)
    z : ndarray of int, (nx, ny, nz - 1)
    everywhere : ndarray of int, (6,)
        Lower and upper bounds of the numbers of blocks.
    """

    x: Integers
    y: Integers
    z: Integers
    everywhere: Integers

    @classmethod
    def balanced(cls, blocks: Integers, everywhere: Integers, ranks: int, allgather: Gather) -> Cuts:
        """Cut so that all ranks get about as many particles.

        Parameters
        ----------
        blocks : ndarray of int, (n, 3)
            Numbers of the blocks that the particles of this rank are in.
        everywhere : ndarray of int, (6,)
        ranks : int
        allgather : callable
            Gives what all ranks have, as a list.

        Returns
        -------
        Cuts

        Examples
        --------
        >>> blocks = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [7, 0, 0]])
        >>> cuts = Cuts.balanced(blocks, np.array([0, 0, 0, 8, 1, 1]), 2, lambda mine: [mine])
        >>> cuts.x, cuts.owners(blocks)
        (array([2]), array([0, 0, 1, 1]))
        """
        layers = allgather([np.unique(blocks[:, axis]) for axis in range(3)])
        extent = [max(1, np.unique(np.concatenate([mine[axis] for mine in layers])).size) for axis in range(3)]
        nx, ny, nz = grid_of_ranks(ranks, np.array(extent, dtype=float))
        x = _cuts(np.zeros(len(blocks), dtype=np.int64), blocks[:, 0], 1, nx, allgather)[0]
        ix = np.searchsorted(x, blocks[:, 0], side="right")
        y = _cuts(ix, blocks[:, 1], nx, ny, allgather)
        iy = (y[ix] <= blocks[:, 1, None]).sum(axis=1)
        z = _cuts(ix * ny + iy, blocks[:, 2], nx * ny, nz, allgather)
        return cls(x, y, z.reshape(nx, ny, nz - 1), everywhere)

    def owners(self, blocks: Integers) -> Integers:
        """Tell which rank blocks belong to.

        Parameters
        ----------
        blocks : ndarray of int, (n, 3)

        Returns
        -------
        ndarray of int, (n,)
        """
        _, ny, shorter = self.z.shape
        ix = np.searchsorted(self.x, blocks[:, 0], side="right")
        iy = (self.y[ix] <= blocks[:, 1, None]).sum(axis=1)
        iz = (self.z[ix, iy] <= blocks[:, 2, None]).sum(axis=1)
        return np.asarray((ix * ny + iy) * (shorter + 1) + iz, dtype=np.int64)

    @property
    def boxes(self) -> list[Integers]:
        """Lower and upper numbers of the blocks of each rank, (6,)."""
        low, high = self.everywhere[:3], self.everywhere[3:]
        result = []
        for i, (x0, x1) in enumerate(pairwise([low[0], *self.x, high[0]])):
            for j, (y0, y1) in enumerate(pairwise([low[1], *self.y[i], high[1]])):
                for z0, z1 in pairwise([low[2], *self.z[i, j], high[2]]):
                    result.append(np.array([x0, y0, z0, x1, y1, z1], dtype=np.int64))
        return result


def _cuts(slabs: Integers, layers: Integers, count: int, parts: int, allgather: Gather) -> Integers:
    """Cut each of some slabs into parts with about as many particles: the layers at which the next part begins."""
    own, counts = np.unique(np.stack([slabs, layers]), axis=1, return_counts=True)
    told = allgather((own, counts))
    rows = np.concatenate([theirs for theirs, _ in told], axis=1)
    found, places = np.unique(rows, axis=1, return_inverse=True)
    totals = np.bincount(places.ravel(), np.concatenate([many for _, many in told]), found.shape[1])
    result = np.zeros((count, parts - 1), dtype=np.int64)
    for slab in range(count):
        here = found[0] == slab
        if here.any():
            result[slab] = _even(found[1, here], totals[here], parts)
    return result


def _even(layers: Integers, counts: NDArray[np.float64], parts: int) -> Integers:
    """Tell where sums of counts before a layer, or before what is beyond the last, are nearest to even shares."""
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    wanted = sums[-1] * np.arange(1, parts) / parts
    nearest = np.abs(sums - wanted[:, None]).argmin(axis=1)
    return np.asarray(np.append(layers, layers[-1] + 1)[nearest], dtype=np.int64)
