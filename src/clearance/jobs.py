"""Chunks on an executor: few jobs at a time, the task sent once, and what it fails to do is done here."""

from __future__ import annotations

import itertools
import os
import pickle
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from hashlib import blake2b
from typing import Any, TypeAlias

from numpy.typing import NDArray

from .chunks import Chunk, Chunks, Columns, Tally, Task, chunks_here, computed, read
from .fingerprints import version

__all__: list[str] = []

# Of a worker: a result, or else what went wrong. An error comes as text, for its class need not survive pickling, and
# the task is tried again here.
Answer: TypeAlias = tuple[tuple[Columns, Tally] | None, str]

CACHED_TASKS = 4  # that a worker keeps
SMALL_TASK = 65536  # bytes that are sent along with every job
FAILURES = 3  # in a row: not by chance
LOOK_AGAIN = 1.0  # seconds after which workers are counted anew: clusters grow and shrink

_tasks: dict[str, Task] = {}  # of a worker, by digest; oldest first
_job_numbers = itertools.count()  # dask takes equal jobs for one


def chunks_on(executor: Executor, task: Task, rows: Any, wheres: Iterator[slice]) -> Chunks:
    """Do chunks on an executor, as they are finished; see `in_chunks` for what becomes of failures."""
    jobs = _Jobs(task, rows, executor)
    failed: tuple[int, Exception] | None = None  # the first chunk that cannot be done here, either
    try:
        jobs.fill(wheres)
        while jobs.waiting:
            for where, (result, failure) in jobs.finished():
                if result is None and failed is not None and where.start > failed[0]:
                    continue
                try:
                    columns, tally = result or computed(task, read(rows, where))
                except Exception as error:
                    failed = where.start, error
                    jobs.cancel(after=where.start)
                    continue
                if failure:
                    jobs.warn(where, failure)
                yield Chunk(where, columns, tally)
            if failed is None:
                jobs.fill(wheres)
        if failed is not None:
            raise failed[1]
    finally:
        jobs.cancel()
        _tasks.pop(jobs.digest, None)  # left by threads of this process
    yield from chunks_here(task, rows, wheres)


class _Jobs:
    """The jobs that an executor has got and not done, few at a time."""

    def __init__(self, task: Task, rows: Any, executor: Executor) -> None:
        self.pickled = _pickled(task)
        self.digest = blake2b(self.pickled, digest_size=16).hexdigest()
        self.rows, self.executor = rows, executor
        self.waiting: dict[Future[Any], slice] = {}
        self.is_usable = True
        self.is_given_up = False  # and the caller has been told
        self.failures = 0
        self.sent = 0
        self.count_workers()

    def count_workers(self) -> None:
        self.workers, self.counted = count_workers(self.executor), time.monotonic()

    def fill(self, wheres: Iterator[slice]) -> None:
        while self.has_room() and (where := next(wheres, None)) is not None:
            self.submit(where)

    def has_room(self) -> bool:
        if time.monotonic() > self.counted + LOOK_AGAIN:
            self.count_workers()
        return self.is_usable and len(self.waiting) <= 2 * self.workers

    def submit(self, where: slice, with_task: bool = False) -> None:
        """Hand a job over. If the executor refuses it, then it counts as failed."""
        with_task = with_task or len(self.pickled) <= SMALL_TASK or self.sent < self.workers
        pickled = self.pickled if with_task else None
        self.sent += 1
        rows = read(self.rows, where)
        try:
            future = self.executor.submit(_work, self.digest, pickled, next(_job_numbers), rows)
        except Exception as error:
            self.is_usable = False
            future = Future()
            future.set_exception(error)
        self.waiting[future] = where

    def finished(self) -> list[tuple[slice, Answer]]:
        """Wait for some jobs to end, and take their answers, first rows first."""
        ended = wait(self.waiting, return_when=FIRST_COMPLETED).done
        in_order = sorted(ended, key=lambda future: self.waiting[future].start)
        answers = [(self.waiting.pop(future), self.answer_of(future)) for future in in_order]
        for where, answer in answers:
            if answer is None:
                self.submit(where, with_task=True)
        return [(where, answer) for where, answer in answers if answer is not None]

    def answer_of(self, future: Future[Any]) -> Answer | None:
        try:
            error = future.exception()
        except CancelledError as cancelled:
            error = cancelled
        answer: Answer | None = future.result() if error is None else (None, _told(error))
        if answer is not None:
            self.failures = self.failures + 1 if answer[1] else 0
            if self.failures >= FAILURES or isinstance(error, BrokenExecutor):
                self.is_usable = False
        return answer

    def warn(self, where: slice, failure: str) -> None:
        """Tell what is done here instead; no more of it once the executor gets no more jobs."""
        if self.is_given_up:
            return
        self.is_given_up = not self.is_usable
        rest = " It is given no more of them." if self.is_given_up else ""
        warnings.warn(
            f"the executor failed at rows {where.start} to {where.stop - 1} ({failure}); they are computed in this "
            f"process.{rest}",
            RuntimeWarning,
            stacklevel=_outside(),
        )

    def cancel(self, after: int = -1) -> None:
        for future in [future for future, where in self.waiting.items() if where.start > after]:
            future.cancel()
            del self.waiting[future]


def count_workers(executor: Executor) -> int:
    """How many jobs an executor does at a time; there is no common way to ask."""
    try:
        client = getattr(executor, "_client", None)  # dask
        found = getattr(executor, "_max_workers", 0) if client is None else sum(client.ncores().values())
    except Exception:
        found = 0
    return found if isinstance(found, int) and found > 0 else os.cpu_count() or 1


def _outside() -> int:
    """How many calls up the library was called, so that a warning points there."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        level, frame = level + 1, frame.f_back
    return level


# In a worker ----------------------------------------------------------------------------------------------------------


def _work(digest: str, pickled: bytes | None, number: int, rows: NDArray[Any]) -> Answer | None:
    """Run a task in a worker. None: its bytes have not come with any job so far, so send them."""
    task = _tasks.get(digest)
    if task is None and pickled is None:
        return None
    try:
        if task is None:
            task = _tasks.setdefault(digest, _unpickled(pickled or b""))
            for oldest in list(_tasks)[:-CACHED_TASKS]:
                _tasks.pop(oldest, None)
        return computed(task, rows), ""
    except Exception as error:
        return None, _told(error)


def _pickled(task: Task) -> bytes:
    try:
        return pickle.dumps((version(), task), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise TypeError(f"an executor needs a task that can be pickled, but: {_told(error)}") from error


def _unpickled(data: bytes) -> Task:
    needed, task = pickle.loads(data)
    if needed != version():  # other bits, maybe
        raise ImportError(f"the worker has version {version()} of clearance, but {needed} is needed")
    return task  # type: ignore[no-any-return]


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
