"""Tasks and executors that behave, and others that do not, for the tests of long batches; workers import them."""

import os
import signal
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import clearance as cl
from clearance.batches import gather

BLOCK = 8
WAVES = np.dtype([("sum", "<f8"), ("sine", "<f8", (3,)), ("sign", "<i4")])
ROWS = np.arange(203.0)[:, None] * [1.0, 0.1, 0.01]
OPEN = threading.Event()  # lets chunks of this process go on that are held


@dataclass
class Waves:
    """Rows depend on those before them in their block, as warm starts do, so that another split gives other bits."""

    frequency: float = 3.0
    names: set = field(default_factory=lambda: {"elbow", "wrist", "base", "tool"})
    pause: float = field(default=0.0, compare=False)
    held_from: float = field(default=np.inf, compare=False)  # chunks from this row on are held

    def __call__(self, rows):
        time.sleep(self.pause)
        if (rows[:1, 0] >= self.held_from).any():
            hold()
        total = np.concatenate([np.cumsum(rows[k : k + BLOCK, 0] * 0.1) for k in range(0, len(rows), BLOCK)])
        sine = np.sin(self.frequency * rows)
        return {"sum": total, "sine": sine, "sign": np.sign(sine[:, 0]).astype(np.int32)}, {"rows": len(rows)}


def hold(longest=10.0):
    """Wait for `OPEN`. Whoever is interrupted holds nothing any more."""
    try:
        OPEN.wait(longest)
    except KeyboardInterrupt:
        OPEN.set()
        raise


WHOLE = Waves()(ROWS)[0]


def run(task=None, rows=ROWS, **how):
    return gather(task or Waves(), rows, WAVES, block=BLOCK, **how)


def assert_whole(columns, whole=WHOLE):
    assert list(columns) == list(whole)
    for name, column in columns.items():
        assert column.dtype == whole[name].dtype
        assert column.tobytes() == whole[name].tobytes(), name


@dataclass
class Logged(Waves):
    """Leaves a line for every chunk; fails in the way it is told to at one row, as often as it is told to."""

    log: str = field(default="", compare=False)
    at: float = field(default=np.nan, compare=False)
    way: str = field(default="", compare=False)
    times: int = field(default=10**9, compare=False)
    parent: int = field(default_factory=os.getpid, compare=False)

    def __call__(self, rows):
        if self.log:
            with open(self.log, "a") as log:
                log.write(f"{rows[0, 0]!r} {len(rows)} {os.getpid()}\n")
        is_here = os.getpid() == self.parent
        if (rows[:, 0] == self.at).any() and len(self.runs(self.at)) <= self.times:
            if self.way == "raise":
                raise Awkward(3, row=self.at)
            if self.way == "raise elsewhere" and not is_here:
                raise Awkward(3, row=self.at)
            if self.way == "interrupt":
                raise KeyboardInterrupt
            if self.way == "die" and not is_here:
                os.kill(os.getpid(), signal.SIGKILL)
            if self.way == "exit" and not is_here:
                raise SystemExit(1)
        return super().__call__(rows)

    def runs(self, row=None):
        """Return (first row, rows, process) of every chunk begun so far, or of those that hold one row."""
        lines = [line.split() for line in Path(self.log).read_text().splitlines()] if self.log else []
        runs = [(int(float(a.removeprefix("np.float64(").rstrip(")"))), int(b), int(c)) for a, b, c in lines]
        return [run for run in runs if row is None or run[0] <= row < run[0] + run[1]]


class Awkward(Exception):  # noqa: N818
    """An error that can be pickled but not unpickled."""

    def __init__(self, code, *, row):
        super().__init__(f"code {code} at row {row:g}")


@dataclass
class ShelfGaps:
    """Real work: gaps of a hand that is put at rows."""

    hand: cl.Shape
    shelf: cl.Shape

    def __call__(self, rows):
        poses = np.tile(np.eye(4), (len(rows), 1, 1))
        poses[:, :3, 3] = rows
        gaps = cl.distance(self.hand.at(poses), self.shelf)
        return {"distance": gaps.distance, "normal": gaps.normal}


@dataclass
class Heavy(Waves):
    """A task whose pickle is too long to be sent with every job."""

    ballast: np.ndarray = field(default_factory=lambda: np.zeros(100_000))


class Watched(ThreadPoolExecutor):
    """Notes how many jobs it had at once, and what came with them."""

    def __init__(self, workers):
        super().__init__(workers)
        self.now = self.most = self.with_task = self.jobs = 0
        self.cancelled = 0

    def submit(self, fn, digest, pickled, *rest):
        self.jobs += 1
        self.now += 1
        self.with_task += pickled is not None
        self.most = max(self.most, self.now)
        future = super().submit(fn, digest, pickled, *rest)
        future.add_done_callback(self.note)
        return future

    def note(self, future):
        self.now -= 1
        self.cancelled += future.cancelled()


class LastFirst(Executor):
    """Does the job first that came last."""

    _max_workers = 4

    def __init__(self):
        self.jobs, self.is_open = [], True
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def submit(self, fn, *args):
        future = Future()
        self.jobs.append((future, fn, args))
        return future

    def work(self):
        while self.is_open:
            time.sleep(0.002)
            while self.jobs:
                future, fn, args = self.jobs.pop()
                if future.set_running_or_notify_cancel():
                    future.set_result(fn(*args))

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.is_open = False
        self.thread.join()


class Unreliable(Executor):
    """Does every job at once, but some it spoils: cancels, fails, or refuses."""

    _max_workers = 2

    def __init__(self, spoils):
        self.spoils, self.jobs = spoils, 0

    def submit(self, fn, *args):
        self.jobs += 1
        way = self.spoils(self.jobs)
        if way == "refuse":
            raise RuntimeError("cannot schedule new futures")
        future = Future()
        if way == "cancel":
            future.cancel()
            future.set_running_or_notify_cancel()
        elif way == "fail":
            future.set_exception(ConnectionError("lost the worker"))
        else:
            future.set_result(fn(*args))
        return future
