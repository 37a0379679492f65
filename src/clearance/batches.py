"""Long batches in chunks: on any executor, with progress, into a file that an interrupted run goes on with.

A task is a callable that maps some rows to columns: a structured array or a mapping of arrays, as many rows long. It
may return a pair, the columns and a tally (a mapping of counts); tallies are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .batch_files import BatchFile, Layout
from .chunks import (
    MOST_ROWS,
    Chunk,
    Chunks,
    Columns,
    Range,
    Tally,
    Task,
    add,
    checked_ranges,
    chunks_here,
    fill,
    pieces,
)
from .fingerprints import about
from .jobs import chunks_on, count_workers
from .progress import reporter

__all__ = ["Chunk", "gather", "in_chunks"]

LEAST_BLOCKS = 16  # of a chunk: enough for the threads of one machine
CHUNKS = 64  # that a batch is cut into, if no limit is met


def in_chunks(
    task: Task,
    rows: Any,
    *,
    chunk: int | None = None,
    block: int = 1,
    executor: Executor | None = None,
    progress: Any = False,
    done: Sequence[Range] = (),
) -> Chunks:
    """Work through rows chunk by chunk, each of them once, here or on an executor.

    What an executor fails to do is done again in this process, with a warning. If the task itself fails, all chunks
    before the first that failed still come, and then its error: that of a run without the executor.

    Parameters
    ----------
    task : callable
        Maps rows to columns, see the top of this module. Pickled once, and unpickled once by every worker.
    rows : array_like, (n, ...)
        Only a few chunks are read at a time, so it may be a memmap, or anything else with a length and slices.
    chunk : int, optional
        Rows of a chunk, rounded up to whole blocks.
    block : int
        Chunks begin at multiples of this. A task whose rows depend on others of the same block gives the same bits for
        any chunk and any executor.
    executor : concurrent.futures.Executor, optional
        Chunks are done in this process, one after another, unless given. Never more than about two jobs per worker wait
        or run.
    progress : bool or callable
        See `clearance.progress.reporter`; told the fraction of rows that are done.
    done : sequence of (start, stop)
        Rows to be skipped, in whole blocks.

    Returns
    -------
    iterator of Chunk
        In the order of rows without an executor, else as they are finished.

    Examples
    --------
    >>> def squares(rows):
    ...     return {"square": rows**2}
    >>> for chunk in in_chunks(squares, np.arange(5.0), chunk=2):
    ...     print(chunk.where, chunk.columns["square"])
    slice(0, 2, None) [0. 1.]
    slice(2, 4, None) [4. 9.]
    slice(4, 5, None) [16.]
    """
    return _Plan(task, rows, chunk, block, executor, progress).chunks(done)


def gather(
    task: Task,
    rows: Any,
    dtype: DTypeLike,
    *,
    chunk: int | None = None,
    block: int = 1,
    executor: Executor | None = None,
    progress: Any = False,
    out: str | PathLike[str] | None = None,
    overwrite: bool = False,
) -> tuple[Columns, Tally]:
    """Work through rows as `in_chunks` does and put the columns together, in memory or in a file.

    Parameters
    ----------
    task, rows
        As for `in_chunks`.
    dtype : dtype_like
        Names and types of the columns.
    chunk, block, executor, progress
        As for `in_chunks`.
    out : path_like, optional
        A .npy file for one structured array, which `numpy.load(out, mmap_mode="r")` reads. Until it is complete, a
        small file `out` + ".part" beside it tells which rows are done, and the same call goes on from there; the chunk,
        the executor and fields of a dataclass task that are not compared may differ. All rows are read once more than
        without, to know them again.
    overwrite : bool
        Replace what is at `out`, unless it can be gone on with.

    Returns
    -------
    columns : dict of ndarray
        Views of the file, not writeable, if there is one.
    tally : dict of int

    Raises
    ------
    FileExistsError
        If there is a complete file at `out`.
    ValueError
        If the file at `out` was begun with something else, or it is damaged.

    Examples
    --------
    >>> def squares(rows):
    ...     return {"square": rows**2}
    >>> columns, tally = gather(squares, np.arange(5.0), [("square", "f8")], chunk=2, out="squares.npy")
    >>> np.load("squares.npy")["square"]
    array([ 0.,  1.,  4.,  9., 16.])
    """
    kind: np.dtype[Any] = np.dtype(dtype)
    if not kind.names or kind.hasobject:
        raise ValueError(f"dtype must have named columns of numbers, but it is {kind!r}.")
    plan = _Plan(task, rows, chunk, block, executor, progress)
    return _in_memory(plan, kind) if out is None else _in_file(plan, kind, Path(out), overwrite)


@dataclass
class _Plan:
    """What is to be done with which rows, and how: arguments of the caller's, checked."""

    task: Task
    rows: Any
    chunk: int | None
    block: int
    executor: Executor | None
    progress: Any

    def __post_init__(self) -> None:
        if not callable(self.task):
            raise TypeError(f"task must be callable, but it is {self.task!r}.")
        _check_executor(self.executor)
        self.report = reporter(self.progress)
        has_rows = hasattr(self.rows, "shape") and len(self.rows.shape) > 0
        self.rows = self.rows if has_rows else np.atleast_1d(self.rows)
        self.block = _positive("block", self.block)
        self.size = self.chunk_size()

    def chunk_size(self) -> int:
        if self.chunk is None:
            parts = CHUNKS if self.executor is None else max(CHUNKS, 4 * count_workers(self.executor))
            size = min(max(-(-len(self.rows) // parts), LEAST_BLOCKS * self.block), MOST_ROWS)
        else:
            size = _positive("chunk", self.chunk)
        return -(-size // self.block) * self.block

    def chunks(self, done: Sequence[Range] = ()) -> Chunks:
        count = len(self.rows)
        ranges = checked_ranges(done, count, self.block)
        wheres = pieces(ranges, count, self.size)
        if self.executor is None:
            chunks = chunks_here(self.task, self.rows, wheres)
        else:
            chunks = chunks_on(self.executor, self.task, self.rows, wheres)
        return _accounted(chunks, count, sum(stop - start for start, stop in ranges), self.report)


def _check_executor(executor: Any) -> None:
    if executor is not None and not isinstance(executor, Executor):
        hint = " (of a dask client: client.get_executor())" if hasattr(executor, "get_executor") else ""
        raise TypeError(f"executor must be a concurrent.futures.Executor{hint}, but it is {executor!r}.")


def _positive(name: str, value: int) -> int:
    try:
        number = index(value)
    except TypeError as error:
        raise TypeError(f"{name} must be an integer, but it is {value!r}.") from error
    if number < 1:
        raise ValueError(f"{name} must be positive, but it is {number}.")
    return number


def _accounted(chunks: Chunks, count: int, finished: int, report: Callable[[float], Any] | None) -> Chunks:
    """Pass chunks on, report progress, and make sure in the end that no row was left out."""
    with closing(chunks):
        if report:
            report(finished / count if count else 1.0)
        for chunk in chunks:
            yield chunk
            finished += chunk.where.stop - chunk.where.start
            if report:
                report(finished / count)
    if finished != count:
        raise AssertionError(f"{count} rows were to be done, but {finished} are.")


def _in_memory(plan: _Plan, kind: np.dtype[Any]) -> tuple[Columns, Tally]:
    count = len(plan.rows)
    columns = {name: np.empty((count, *kind[name].shape), kind[name].base) for name in kind.names or ()}
    tally: Tally = {}
    with closing(plan.chunks()) as chunks:
        for chunk in chunks:
            fill({name: column[chunk.where] for name, column in columns.items()}, chunk)
            add(tally, chunk.tally)
    return columns, tally


def _in_file(plan: _Plan, kind: np.dtype[Any], out: Path, overwrite: bool) -> tuple[Columns, Tally]:
    layout = Layout(kind, len(plan.rows), plan.block, about(plan.task, plan.rows, kind, plan.block))
    with BatchFile(out, layout, overwrite) as file:
        with closing(plan.chunks(file.done)) as chunks:
            for chunk in chunks:
                file.write(chunk)
        file.complete()
    found = np.load(out, mmap_mode="r")
    return {name: found[name] for name in kind.names or ()}, file.tally
