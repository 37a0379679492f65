"""Long batches in chunks: on any executor, with progress, into a file that an interrupted run goes on with.

A task is a callable that maps some rows to columns: a structured array or a mapping of arrays, as many rows long. It
may return a pair, the columns and a tally (a mapping of counts); tallies are added up.
"""

from __future__ import annotations

import copyreg
import errno
import itertools
import json
import os
import pickle
import sys
import time
import warnings
from bisect import insort
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import closing, suppress
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from io import BytesIO
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .meshio import write_whole
from .progress import reporter

if sys.platform != "win32":
    import fcntl

__all__ = ["Chunk", "fingerprint", "gather", "in_chunks"]

Columns: TypeAlias = dict[str, NDArray[Any]]
Tally: TypeAlias = dict[str, int]
Task: TypeAlias = Callable[[NDArray[Any]], Any]
Range: TypeAlias = tuple[int, int]
Chunks: TypeAlias = Generator["Chunk", None, None]

LEAST_BLOCKS = 16  # of a chunk: enough for the threads of one machine
MOST_ROWS = 65536  # of a chunk, unless the caller wants more
CHUNKS = 64  # that a batch is cut into, if no limit is met


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
    if not callable(task):
        raise TypeError(f"task must be callable, but it is {task!r}.")
    if executor is not None and not isinstance(executor, Executor):
        hint = " (of a dask client: client.get_executor())" if hasattr(executor, "get_executor") else ""
        raise TypeError(f"executor must be a concurrent.futures.Executor{hint}, but it is {executor!r}.")
    report = reporter(progress)
    rows = _sliceable(rows)
    count, block = len(rows), _positive("block", block)
    size = _chunk_size(count, chunk, block, executor)
    ranges = _checked_ranges(done, count, block)
    pieces = _pieces(ranges, count, size)
    chunks = _here(task, rows, pieces) if executor is None else _there(task, rows, pieces, executor)
    return _accounted(chunks, count, sum(stop - start for start, stop in ranges), report)


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
    kind, rows, block = _record_type(dtype), _sliceable(rows), _positive("block", block)
    how: dict[str, Any] = {"chunk": chunk, "block": block, "executor": executor, "progress": progress}
    in_chunks(task, rows, **how).close()  # nothing is done yet, but arguments are checked
    if out is None:
        columns: Columns = {name: np.empty((len(rows), *kind[name].shape), kind[name].base) for name in _names(kind)}
        tally: Tally = {}
        with closing(in_chunks(task, rows, **how)) as chunks:
            for part in chunks:
                _fill({name: column[part.where] for name, column in columns.items()}, part)
                _add(tally, part.tally)
        return columns, tally
    with _Records(Path(out), kind, len(rows), block, _about(task, rows, kind, block), overwrite) as records:
        with closing(in_chunks(task, rows, done=records.done, **how)) as chunks:
            for part in chunks:
                records.write(part)
        records.complete()
    found = np.load(out, mmap_mode="r")
    return {name: found[name] for name in _names(kind)}, records.tally


# Chunks --------------------------------------------------------------------------------------------------------------


def _sliceable(rows: Any) -> Any:
    return rows if hasattr(rows, "shape") and len(rows.shape) > 0 else np.atleast_1d(rows)


def _positive(name: str, value: int) -> int:
    try:
        number = index(value)
    except TypeError as error:
        raise TypeError(f"{name} must be an integer, but it is {value!r}.") from error
    if number < 1:
        raise ValueError(f"{name} must be positive, but it is {number}.")
    return number


def _chunk_size(count: int, chunk: int | None, block: int, executor: Executor | None) -> int:
    if chunk is None:
        parts = CHUNKS if executor is None else max(CHUNKS, 4 * _workers(executor))
        size = min(max(-(-count // parts), LEAST_BLOCKS * block), MOST_ROWS)
    else:
        size = _positive("chunk", chunk)
    return -(-size // block) * block


def _checked_ranges(done: Iterable[Range], count: int, block: int) -> list[Range]:
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


def _pieces(done: Sequence[Range], count: int, size: int) -> Iterator[slice]:
    begin = 0
    for start, stop in [*done, (count, count)]:
        for k in range(begin, start, size):
            yield slice(k, min(k + size, start))
        begin = stop


def _accounted(chunks: Chunks, count: int, finished: int, report: Callable[[float], Any] | None) -> Chunks:
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


def _read(rows: Any, where: slice) -> NDArray[Any]:
    """Read some rows; never a memmap, whose pickle would be one as well."""
    return np.ascontiguousarray(np.asarray(rows[where]))


def _here(task: Task, rows: Any, pieces: Iterable[slice]) -> Chunks:
    for where in pieces:
        yield Chunk(where, *_done(task, _read(rows, where)))


def _done(task: Task, rows: NDArray[Any]) -> tuple[Columns, Tally]:
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


def _fill(target: Mapping[str, NDArray[Any]], chunk: Chunk) -> None:
    if set(target) != set(chunk.columns):
        raise ValueError(f"task returned columns {sorted(chunk.columns)}, but {sorted(target)} were expected.")
    for name, column in chunk.columns.items():
        if column.shape != target[name].shape:
            expected = ("n", *target[name].shape[1:])
            raise ValueError(f"task returned '{name}' of shape {column.shape}, but {expected} was expected.")
        np.copyto(target[name], column)


def _add(total: Tally, tally: Tally) -> None:
    for name, number in tally.items():
        total[name] = total.get(name, 0) + number


# Executors -----------------------------------------------------------------------------------------------------------

CACHED_TASKS = 4  # that a worker keeps
SMALL_TASK = 65536  # bytes that are sent along with every job
FAILURES = 3  # in a row: not by chance
LOOK_AGAIN = 1.0  # seconds after which workers are counted anew: clusters grow and shrink

_tasks: dict[str, Task] = {}  # of a worker, by digest; oldest first
_job_numbers = itertools.count()  # dask takes equal jobs for one


class _Answer(NamedTuple):
    """Of a worker. An error comes as text: its class need not survive pickling, for the task is tried again here."""

    result: tuple[Columns, Tally] | None = None
    failure: str = ""
    is_final: bool = False  # the executor will not do any other job either


def _work(digest: str, pickled: bytes | None, number: int, rows: NDArray[Any]) -> tuple[Any, ...] | None:
    """Run a task in a worker. None: its bytes have not come with any job so far, so send them."""
    task = _tasks.get(digest)
    if task is None and pickled is None:
        return None
    try:
        if task is None:
            task = _tasks.setdefault(digest, _unpickled(pickled or b""))
            for oldest in list(_tasks)[:-CACHED_TASKS]:
                _tasks.pop(oldest, None)
        return tuple(_Answer(_done(task, rows)))
    except Exception as error:
        return tuple(_Answer(failure=_told(error)))


def _pickled(task: Task) -> bytes:
    try:
        return pickle.dumps((_version(), task), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise TypeError(f"an executor needs a task that can be pickled, but: {_told(error)}") from error


def _unpickled(data: bytes) -> Task:
    version, task = pickle.loads(data)
    if version != _version():  # other bits, maybe
        raise ImportError(f"the worker has version {_version()} of clearance, but {version} is needed")
    return task  # type: ignore[no-any-return]


def _version() -> str:
    from . import __version__

    return __version__


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _workers(executor: Executor) -> int:
    """How many jobs an executor does at a time; there is no common way to ask."""
    try:
        client = getattr(executor, "_client", None)  # dask
        found = getattr(executor, "_max_workers", 0) if client is None else sum(client.ncores().values())
    except Exception:
        found = 0
    return found if isinstance(found, int) and found > 0 else os.cpu_count() or 1


class _Jobs:
    """The jobs that an executor has got and not done, few at a time."""

    def __init__(self, task: Task, rows: Any, executor: Executor) -> None:
        self.pickled = _pickled(task)
        self.digest = blake2b(self.pickled, digest_size=16).hexdigest()
        self.rows, self.executor = rows, executor
        self.waiting: dict[Future[Any], slice] = {}
        self.is_usable = True
        self.failures = 0
        self.sent = 0
        self.count_workers()

    def count_workers(self) -> None:
        self.workers, self.counted = _workers(self.executor), time.monotonic()

    def has_room(self) -> bool:
        if time.monotonic() > self.counted + LOOK_AGAIN:
            self.count_workers()
        return self.is_usable and len(self.waiting) <= 2 * self.workers

    def submit(self, where: slice, with_task: bool = False) -> None:
        """Hand a job over. If the executor refuses it, then it counts as failed."""
        with_task = with_task or len(self.pickled) <= SMALL_TASK or self.sent < self.workers
        self.sent += 1
        rows = _read(self.rows, where)
        try:
            future = self.executor.submit(
                _work, self.digest, self.pickled if with_task else None, next(_job_numbers), rows
            )
        except Exception as error:
            self.is_usable = False
            future = Future()
            future.set_exception(error)
        self.waiting[future] = where

    def finished(self) -> list[tuple[slice, _Answer]]:
        """Wait for some jobs to end, and take their answers, first rows first."""
        ended = wait(self.waiting, return_when=FIRST_COMPLETED).done
        in_order = sorted(ended, key=lambda future: self.waiting[future].start)
        answers = [(self.waiting.pop(future), self.answer_of(future)) for future in in_order]
        for where, answer in answers:
            if answer is None:
                self.submit(where, with_task=True)
        return [(where, answer) for where, answer in answers if answer is not None]

    def answer_of(self, future: Future[Any]) -> _Answer | None:
        try:
            error = future.exception()
        except CancelledError as cancelled:
            error = cancelled
        if error is None and future.result() is None:
            return None
        found = _Answer(*future.result()) if error is None else _Answer(failure=_told(error))
        self.failures = self.failures + 1 if found.failure else 0
        if self.failures >= FAILURES or isinstance(error, BrokenExecutor):
            self.is_usable = False
        return found if self.is_usable else found._replace(is_final=True)

    def cancel(self, after: int = -1) -> None:
        for future in [future for future, where in self.waiting.items() if where.start > after]:
            future.cancel()
            del self.waiting[future]


def _there(task: Task, rows: Any, pieces: Iterator[slice], executor: Executor) -> Chunks:
    jobs = _Jobs(task, rows, executor)
    failed: tuple[int, Exception] | None = None  # the first chunk that cannot be done here, either
    told = False
    try:
        while True:
            while failed is None and jobs.has_room() and (where := next(pieces, None)) is not None:
                jobs.submit(where)
            if not jobs.waiting:
                break
            for where, answer in jobs.finished():
                if answer.result is not None:
                    yield Chunk(where, *answer.result)
                    continue
                if failed is not None and where.start > failed[0]:
                    continue
                try:
                    result = _done(task, _read(rows, where))
                except Exception as error:
                    failed = where.start, error
                    jobs.cancel(after=where.start)
                    continue
                if not told:
                    _warn(where, answer)
                    told = answer.is_final
                yield Chunk(where, *result)
        if failed is not None:
            raise failed[1]
    finally:
        jobs.cancel()
        _tasks.pop(jobs.digest, None)  # left by threads of this process
    yield from _here(task, rows, pieces)


def _warn(where: slice, answer: _Answer) -> None:
    rest = " It is given no more of them." if answer.is_final else ""
    warnings.warn(
        f"the executor failed at rows {where.start} to {where.stop - 1} ({answer.failure}); they are computed in this "
        f"process.{rest}",
        RuntimeWarning,
        stacklevel=_outside(),
    )


def _outside() -> int:
    """How many calls up the library was called, so that a warning points there."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back
    return level


# Fingerprints --------------------------------------------------------------------------------------------------------

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))


def fingerprint(value: Any) -> str:
    """Digest what pickle would keep of a value, the same in every process: equal parts give equal digests.

    Pickles of equal values may differ: sets have another order in every process, and whether two equal strings are one
    object shows.

    Parameters
    ----------
    value : object
        Anything that can be pickled.

    Returns
    -------
    str

    Examples
    --------
    >>> fingerprint({"elbow", "wrist"}) == fingerprint({"wrist", "elbow"})
    True
    """
    return _digest(value, {}, {}).hex()


def _digest(value: Any, known: dict[int, tuple[Any, bytes]], above: dict[int, int]) -> bytes:
    """Digest a value from the digests of its parts. `known` keeps values alive: an id is not given away again."""
    kind = type(value)
    if kind in PLAIN:
        return _hashed(kind.__name__, repr(value).encode())
    if id(value) in known:
        return known[id(value)][1]
    if id(value) in above:  # a loop: tell how far up it leads
        return _hashed("loop", str(len(above) - above[id(value)]).encode())
    above[id(value)] = len(above)
    name, parts = _parts(value)
    digests = [
        _hashed("bytes", part) if isinstance(part, memoryview) else _digest(part, known, above) for part in parts
    ]
    found = _hashed(name, *(sorted(digests) if kind in (set, frozenset) else digests))
    del above[id(value)]
    known[id(value)] = value, found
    return found


def _hashed(name: str, *parts: bytes | memoryview) -> bytes:
    state = blake2b(f"{name} {len(parts)} ".encode(), digest_size=16)
    for part in parts:
        state.update(part)
    return state.digest()


def _parts(value: Any) -> tuple[str, Iterable[Any]]:
    """What a value is and what it is made of."""
    kind = type(value)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        descr = repr(np.lib.format.dtype_to_descr(value.dtype))
        return f"array {descr} {value.shape}", [_bytes_of(value)]
    if kind in (tuple, list, set, frozenset):
        return kind.__name__, value
    if kind is dict:
        return "dict", itertools.chain.from_iterable(value.items())
    if isinstance(value, type) or (hasattr(value, "__qualname__") and not hasattr(value, "__self__")):
        return _global_name(value), ()
    reduce = copyreg.dispatch_table.get(kind)
    reduced = reduce(value) if reduce else value.__reduce_ex__(5)
    if isinstance(reduced, str):
        return f"global {getattr(value, '__module__', '')}.{reduced}", ()
    # Items of lists and dictionaries that are subclasses come as iterators.
    return "object", [list(part) if isinstance(part, Iterator) else part for part in reduced]


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _global_name(value: Any) -> str:
    name = f"{value.__module__}.{value.__qualname__}"
    if "<" in name:
        raise TypeError(f"a task must not hold {name}: functions within functions cannot be told apart by name.")
    return f"global {name}"


def _about(task: Task, rows: Any, dtype: np.dtype[Any], block: int) -> dict[str, Any]:
    """What a result depends on, by name, to tell what is different the next time."""
    parts = {"task": _shown(task)}
    if is_dataclass(task) and not isinstance(task, type):
        parts = {field.name: _shown(getattr(task, field.name)) for field in fields(task) if field.compare}
        parts["task"] = _global_name(type(task)).removeprefix("global ")
    own = {"version": _version(), "dtype": repr(np.lib.format.dtype_to_descr(dtype)), "block": str(block)}
    return {"task": parts, "run": own | {"rows": _rows_shown(rows)}}


def _shown(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    plain = repr(value) if type(value) in PLAIN else ""
    return plain if 0 < len(plain) <= 60 else f"digest {fingerprint(value)}"


def _rows_shown(rows: Any) -> str:
    """Shape and digest of all rows, of which a piece is in memory at a time."""
    state = blake2b(digest_size=16)
    for where in _pieces((), len(rows), MOST_ROWS):
        piece = _read(rows, where)
        state.update(f"{piece.dtype.str} {piece.shape} ".encode())
        state.update(_bytes_of(piece))
    return f"shape {tuple(rows.shape)}, digest {state.hexdigest()}"


# Files ---------------------------------------------------------------------------------------------------------------

FORMAT = "clearance batch 1"
SAVE_EVERY = 1.0  # seconds: what a power failure may cost


def _record_type(dtype: DTypeLike) -> np.dtype[Any]:
    kind: np.dtype[Any] = np.dtype(dtype)
    if not kind.names or kind.hasobject:
        raise ValueError(f"dtype must have named columns of numbers, but it is {kind!r}.")
    return kind


def _names(kind: np.dtype[Any]) -> tuple[str, ...]:
    return kind.names or ()


class _Records:
    """A .npy file that is written piece by piece, and a small file beside it that tells which rows are there.

    The data of a piece are on the disk before the small file says so, and the small file is there before the first
    data: a .npy file without one is complete. Data are written, not mapped: a disk that is full gives an error, where
    a mapped file would kill the process.
    """

    def __init__(
        self, path: Path, dtype: np.dtype[Any], count: int, block: int, about: dict[str, Any], overwrite: bool
    ) -> None:
        if path.suffix != ".npy":
            raise ValueError(f"out must be a name that ends in .npy, but it is {str(path)!r}.")
        self.path, self.part = path, path.with_name(path.name + ".part")
        self.dtype, self.count, self.block, self.about = dtype, count, block, about
        self.header = _header(dtype, count)
        self.done: list[Range] = []
        self.tally: Tally = {}
        self.is_complete = False
        self.saved = time.monotonic()
        self.fd = self.opened()
        try:
            self.begin(overwrite)
        except BaseException:
            self.close()
            raise

    def opened(self) -> int:
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        if sys.platform != "win32":
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until it is closed, or the process ends
            except OSError as error:  # others: this file system has no locks
                if error.errno in (errno.EACCES, errno.EAGAIN):
                    os.close(fd)
                    raise BlockingIOError(error.errno, "another process is writing to it", str(self.path)) from error
        return fd

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    def begin(self, overwrite: bool) -> None:
        """Go on with what is there, or start anew."""
        size = os.fstat(self.fd).st_size
        try:
            if self.part.exists():
                self.resume(size)
            elif size:
                raise FileExistsError(errno.EEXIST, "out is there already, and complete; delete it", str(self.path))
        except (ValueError, FileExistsError):
            if not overwrite:
                raise
            self.done, self.tally = [], {}
        if self.done:
            return
        self.save()
        if size:  # whoever still reads the old file may keep it
            self.close()
            self.path.unlink()
            self.fd = self.opened()
        try:
            self.allocate()
        except OSError:
            self.path.unlink()
            self.part.unlink()
            raise

    def allocate(self) -> None:
        size = len(self.header) + self.count * self.dtype.itemsize
        self.put(0, self.header)
        os.ftruncate(self.fd, size)
        if hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(self.fd, 0, size)
            except OSError as error:  # other errors: this file system cannot, and the file grows as it is written
                if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
                    text = f"{os.strerror(error.errno)}: {size} bytes are needed"
                    raise OSError(error.errno, text, str(self.path)) from error

    def resume(self, size: int) -> None:
        """Take over what is done; an error if it is not the same that is to be done now, or cannot be."""
        anew = f"Delete {self.path} and {self.part} to start anew."
        try:
            state = json.loads(self.part.read_bytes())
            if not isinstance(state, dict) or state.get("format") != FORMAT:
                raise ValueError(f"it is not a '{FORMAT}'")
            about, done, tally = state["about"], state["done"], state["tally"]
            if not all(isinstance(about[group], dict) for group in self.about):
                raise ValueError("'about' should be made of groups")
            if not all(type(number) is int for number in (*itertools.chain(*done), *tally.values())):
                raise ValueError("'done' and 'tally' should be made of integers")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{self.part} is damaged: {_told(error)}. {anew}") from error
        if differences := _differences(about, self.about):
            raise ValueError(f"{self.path} was begun with {'; with '.join(differences)}. {anew}")
        try:
            self.done = _checked_ranges(done, self.count, self.block)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self.part} is damaged: {error} {anew}") from error
        self.tally = tally
        expected = len(self.header) + self.count * self.dtype.itemsize
        if self.done and size != expected:
            raise ValueError(f"{self.path} has {size} bytes, but {expected} were expected. {anew}")
        if self.done and os.read(self.fd, len(self.header)) != self.header:
            raise ValueError(f"{self.path} is damaged: its header is not that of {self.count} such records. {anew}")

    def write(self, chunk: Chunk) -> None:
        where = chunk.where
        records = np.zeros(where.stop - where.start, self.dtype)  # zeros also between columns that are aligned
        _fill({name: records[name] for name in _names(self.dtype)}, chunk)
        self.put(len(self.header) + where.start * self.dtype.itemsize, _bytes_of(records))
        insort(self.done, (where.start, where.stop))
        self.done = _joined(self.done)
        _add(self.tally, chunk.tally)
        if time.monotonic() > self.saved + SAVE_EVERY:
            self.save()

    def put(self, offset: int, data: bytes | memoryview) -> None:
        os.lseek(self.fd, offset, os.SEEK_SET)
        left = memoryview(data)
        while left:
            left = left[os.write(self.fd, left) :]

    def save(self) -> None:
        os.fsync(self.fd)
        state = {"format": FORMAT, "about": self.about, "done": self.done, "tally": self.tally}
        write_whole(self.part, json.dumps(state, indent=1).encode())
        self.saved = time.monotonic()

    def complete(self) -> None:
        os.fsync(self.fd)
        self.part.unlink(missing_ok=True)
        self.is_complete = True

    def __enter__(self) -> _Records:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.is_complete:
            with suppress(OSError):  # what was saved before still holds
                self.save()
        self.close()


def _header(dtype: np.dtype[Any], count: int) -> bytes:
    header = BytesIO()
    descr = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": (count,)})
    return header.getvalue()


def _joined(ranges: Sequence[Range]) -> list[Range]:
    joined: list[Range] = []
    for start, stop in ranges:
        if joined and joined[-1][1] == start:
            start = joined.pop()[0]
        joined.append((start, stop))
    return joined


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    found = []
    for group, parts in now.items():
        for name in sorted(parts.keys() | before[group].keys()):
            old, new = (side.get(name, "absent") for side in (before[group], parts))
            if old != new:
                shown = "digest" not in f"{old} {new}"
                found.append(f"{name} = {old}, now it is {new}" if shown else f"other values of {name}")
    return found
