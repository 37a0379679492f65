"""Space cut into boxes of blocks, one for each rank, with about as many particles in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cuts", "grid_of_ranks"]

Integers = NDArray[np.int64]
Sum = Callable[[Integers], Integers]


def grid_of_ranks(count: int, extent: NDArray[np.float64]) -> tuple[int, int, int]:
    """Split a number of ranks into three factors, so that boxes have little surface.

    Parameters
    ----------
    count : int
        Of ranks.
    extent : ndarray, (3,)
        How far particles are spread along each axis, in blocks.

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
    def balanced(cls, blocks: Integers, everywhere: Integers, ranks: int, add: Sum, most: Sum) -> Cuts:
        """Cut so that all ranks get about as many particles.

        Parameters
        ----------
        blocks : ndarray of int, (n, 3)
            Numbers of the blocks that the particles of this rank are in.
        everywhere : ndarray of int, (6,)
        ranks : int
        add, most : callable
            Sum, and largest, of an array over all ranks.

        Returns
        -------
        Cuts

        Examples
        --------
        >>> blocks = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [7, 0, 0]])
        >>> alone = lambda numbers: numbers
        >>> cuts = Cuts.balanced(blocks, np.array([0, 0, 0, 8, 1, 1]), 2, alone, alone)
        >>> cuts.x, cuts.owners(blocks)
        (array([2]), array([0, 0, 1, 1]))
        """
        bounds = most(np.stack([-blocks, blocks]).max(axis=1, initial=-(1 << 30)))
        lower, upper = -bounds[0], bounds[1]
        if (upper < lower).any():  # nobody has a particle
            lower = upper = np.zeros(3, dtype=np.int64)
        extent = upper - lower + 1
        nx, ny, nz = grid_of_ranks(ranks, extent.astype(float))
        near = blocks - lower
        x = _cuts(add(np.bincount(near[:, 0], minlength=extent[0]))[None], nx)[0]
        ix = np.searchsorted(x, near[:, 0], side="right")
        y = _cuts(add(_counts((ix, near[:, 1]), (nx, extent[1]))), ny)
        iy = (y[ix] <= near[:, 1, None]).sum(axis=1)
        z = _cuts(add(_counts((ix * ny + iy, near[:, 2]), (nx * ny, extent[2]))), nz)
        return cls(x + lower[0], y + lower[1], z.reshape(nx, ny, nz - 1) + lower[2], everywhere)

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


def _counts(places: tuple[Integers, Integers], shape: tuple[int, int]) -> Integers:
    flat = np.ravel_multi_index(places, shape)
    return np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape).astype(np.int64)


def _cuts(counts: Integers, parts: int) -> Integers:
    """Cut each row of counts into parts with about the same sum: where the next part begins."""
    sums = np.cumsum(counts, axis=1)
    wanted = sums[:, -1:] * np.arange(1, parts) / parts
    # The end of the layer whose sum is nearest to what is wanted.
    before = np.concatenate([np.zeros((len(sums), 1), dtype=np.int64), sums], axis=1)
    return np.asarray(np.abs(before[:, None, :] - wanted[:, :, None]).argmin(axis=2), dtype=np.int64)
