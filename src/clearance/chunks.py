"""A chunk of a batch: rows that are done together, and what a task makes of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from operator import index
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Chunk"]

Columns: TypeAlias = dict[str, NDArray[Any]]
Tally: TypeAlias = dict[str, int]
Task: TypeAlias = Callable[[NDArray[Any]], Any]
Range: TypeAlias = tuple[int, int]
Chunks: TypeAlias = Generator["Chunk", None, None]

MOST_ROWS = 65536  # that are in memory at a time, unless the caller wants more


class Chunk(NamedTuple):
    """The rows of a batch that were done together, and what came of them.

    Attributes
    ----------
    where : slice
        Which rows.
    columns : dict of ndarray
        As many rows long.
    tally : dict of int
        What was counted on the way; empty if the task counts nothing.
    """

    where: slice
    columns: Columns
    tally: Tally


# Rows in --------------------------------------------------------------------------------------------------------------


def checked_ranges(done: Iterable[Range], count: int, block: int) -> list[Range]:
    """Ranges in order; an error unless they are disjoint and consist of whole blocks."""
    ranges = sorted((index(start), index(stop)) for start, stop in done)
    before = 0
    for start, stop in ranges:
        if not before <= start < stop <= count:
            raise ValueError(f"done has rows {start} to {stop}, but {before} to {count} were left.")
        if start % block or (stop % block and stop != count):
            raise ValueError(f"done has rows {start} to {stop}, but blocks have {block} rows.")
        before = stop
    return ranges


def pieces(done: Sequence[Range], count: int, size: int) -> Iterator[slice]:
    """Cut the rows that are not done."""
    begin = 0
    for start, stop in [*done, (count, count)]:
        for k in range(begin, start, size):
            yield slice(k, min(k + size, start))
        begin = stop


def read(rows: Any, where: slice) -> NDArray[Any]:
    """Read some rows; never a memmap, whose pickle would be one as well."""
    return np.ascontiguousarray(np.asarray(rows[where]))


# Columns out ----------------------------------------------------------------------------------------------------------


def computed(task: Task, rows: NDArray[Any]) -> tuple[Columns, Tally]:
    """What a task makes of rows, in the one form it is passed on in; an error if it is not as many rows long."""
    answer = task(rows)
    found, tally = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, {})
    if isinstance(found, np.ndarray) and found.dtype.names:
        found = {name: found[name] for name in found.dtype.names}
    if not isinstance(found, Mapping):
        raise TypeError(f"task must return a structured array or a mapping of arrays, but it returned {found!r}.")
    columns = {name: np.asarray(column) for name, column in found.items()}
    for name, column in columns.items():
        if column.shape[:1] != (len(rows),):
            raise ValueError(f"task returned '{name}' of shape {column.shape} for {len(rows)} rows.")
    return columns, {name: int(number) for name, number in tally.items()}


def chunks_here(task: Task, rows: Any, wheres: Iterable[slice]) -> Chunks:
    """Do chunks in this process, one after another."""
    for where in wheres:
        yield Chunk(where, *computed(task, read(rows, where)))


def fill(target: Mapping[str, NDArray[Any]], chunk: Chunk) -> None:
    """Copy the columns of a chunk to where they belong; an error if they are not those expected."""
    if set(target) != set(chunk.columns):
        raise ValueError(f"task returned columns {sorted(chunk.columns)}, but {sorted(target)} were expected.")
    for name, column in chunk.columns.items():
        if column.shape != target[name].shape:
            expected = ("n", *target[name].shape[1:])
            raise ValueError(f"task returned '{name}' of shape {column.shape}, but {expected} was expected.")
        np.copyto(target[name], column)


def add(total: Tally, tally: Tally) -> None:
    """Add what one chunk counted to what all did."""
    for name, number in tally.items():
        total[name] = total.get(name, 0) + number
