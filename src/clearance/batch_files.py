"""A .npy file that is written piece by piece, and a small file beside it that tells which rows are there."""

from __future__ import annotations

import errno
import itertools
import json
import os
import sys
import time
from bisect import insort
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from .chunks import Chunk, Range, Tally, add, checked_ranges, fill
from .fingerprints import About, differences
from .meshio import write_whole

if sys.platform != "win32":
    import fcntl

__all__: list[str] = []

FORMAT = "clearance batch 1"
SAVE_EVERY = 1.0  # seconds: what a power failure may cost


@dataclass(frozen=True)
class Layout:
    """What a file is to hold: records of all rows, done in whole blocks, and what they depend on."""

    dtype: np.dtype[Any]
    count: int
    block: int
    about: About

    @cached_property
    def header(self) -> bytes:
        header = BytesIO()
        descr = np.lib.format.dtype_to_descr(self.dtype)
        np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": (self.count,)})
        return header.getvalue()

    @property
    def size(self) -> int:
        return self.offset(self.count)

    def offset(self, row: int) -> int:
        return len(self.header) + row * self.dtype.itemsize


class BatchFile:
    """The two files of a batch, made or gone on with, to write chunks to.

    The data of a piece are on the disk before the small file says so, and the small file is there before the first
    data: a .npy file without one is complete. Data are written, not mapped: a disk that is full gives an error, where
    a mapped file would kill the process.
    """

    def __init__(self, path: Path, layout: Layout, overwrite: bool) -> None:
        if path.suffix != ".npy":
            raise ValueError(f"out must be a name that ends in .npy, but it is {str(path)!r}.")
        self.path, self.part = path, path.with_name(path.name + ".part")
        self.layout = layout
        self.done: list[Range] = []
        self.tally: Tally = {}
        self.is_complete = False
        self.saved = time.monotonic()
        self.fd = _opened(path)
        try:
            self.begin(overwrite)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> BatchFile:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.is_complete:
            with suppress(OSError):  # what was saved before still holds
                self.save()
        self.close()

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
                raise FileExistsError(
                    errno.EEXIST, "out is there already, and complete; overwrite=True replaces it", str(self.path)
                )
        except (ValueError, FileExistsError):
            if not overwrite:
                raise
            self.done, self.tally = [], {}
        if not self.done:
            self.start(size)

    def start(self, size: int) -> None:
        self.save()
        if size:  # whoever still reads the old file may keep it
            self.close()
            self.path.unlink()
            self.fd = _opened(self.path)
        try:
            self.put(0, self.layout.header)
            _allocate(self.fd, self.layout.size, self.path)
        except OSError:
            self.path.unlink()
            self.part.unlink()
            raise

    def resume(self, size: int) -> None:
        """Take over what is done; an error if it is not the same that is to be done now, or cannot be."""
        try:
            about, done, self.tally = _read_part(self.part, self.layout.about)
            if found := differences(about, self.layout.about):
                raise ValueError(f"{self.path} was begun with {'; with '.join(found)}.")
            self.done = self.ranges(done)
            if self.done:
                self.check_data(size)
        except ValueError as error:
            raise ValueError(f"{error} Delete {self.path} and {self.part} to start anew.") from error

    def ranges(self, done: Any) -> list[Range]:
        try:
            return checked_ranges(done, self.layout.count, self.layout.block)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self.part} is damaged: {error}") from error

    def check_data(self, size: int) -> None:
        layout = self.layout
        if size != layout.size:
            raise ValueError(f"{self.path} has {size} bytes, but {layout.size} were expected.")
        if os.read(self.fd, len(layout.header)) != layout.header:
            raise ValueError(f"{self.path} is damaged: its header is not that of {layout.count} such records.")

    def write(self, chunk: Chunk) -> None:
        where, dtype = chunk.where, self.layout.dtype
        records = np.zeros(where.stop - where.start, dtype)  # zeros also between columns that are aligned
        fill({name: records[name] for name in dtype.names or ()}, chunk)
        self.put(self.layout.offset(where.start), records.view(np.uint8).data)
        insort(self.done, (where.start, where.stop))
        self.done = _joined(self.done)
        add(self.tally, chunk.tally)
        if time.monotonic() > self.saved + SAVE_EVERY:
            self.save()

    def put(self, offset: int, data: bytes | memoryview) -> None:
        os.lseek(self.fd, offset, os.SEEK_SET)
        left = memoryview(data)
        while left:
            left = left[os.write(self.fd, left) :]

    def save(self) -> None:
        os.fsync(self.fd)
        state = {"format": FORMAT, "about": self.layout.about, "done": self.done, "tally": self.tally}
        write_whole(self.part, json.dumps(state, indent=1).encode())
        self.saved = time.monotonic()

    def complete(self) -> None:
        os.fsync(self.fd)
        self.part.unlink(missing_ok=True)
        self.is_complete = True


def _opened(path: Path) -> int:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    if sys.platform != "win32":
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until it is closed, or the process ends
        except OSError as error:  # others: this file system has no locks
            if error.errno in (errno.EACCES, errno.EAGAIN):
                os.close(fd)
                raise BlockingIOError(error.errno, "somebody else is writing to it", str(path)) from error
    return fd


def _allocate(fd: int, size: int, path: Path) -> None:
    os.ftruncate(fd, size)
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(fd, 0, size)
        except OSError as error:  # other errors: this file system cannot, and the file grows as it is written
            if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
                text = f"{os.strerror(error.errno)}: {size} bytes are needed"
                raise OSError(error.errno, text, str(path)) from error


def _read_part(part: Path, groups: About) -> tuple[About, Any, Tally]:
    """What a small file tells: what the batch is about, which rows are done (unchecked), and the tally so far."""
    try:
        state = json.loads(part.read_bytes())
        if not isinstance(state, dict) or state.get("format") != FORMAT:
            raise ValueError(f"it is not a '{FORMAT}'")
        about, done, tally = state["about"], state["done"], state["tally"]
        if not all(isinstance(about[group], dict) for group in groups):
            raise ValueError("'about' should be made of groups")
        if not all(type(number) is int for number in (*itertools.chain(*done), *tally.values())):
            raise ValueError("'done' and 'tally' should be made of integers")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{part} is damaged: {type(error).__name__}: {error}.") from error
    return about, done, tally


def _joined(ranges: Sequence[Range]) -> list[Range]:
    joined: list[Range] = []
    for start, stop in ranges:
        if joined and joined[-1][1] == start:
            start = joined.pop()[0]
        joined.append((start, stop))
    return joined
