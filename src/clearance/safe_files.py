"""Files from strangers: opened only if they are files, read only if they are not too large."""

from __future__ import annotations

import errno
import os
import stat
from os import PathLike

__all__ = ["NoFileError", "read_whole"]

LARGEST = 1 << 32  # bytes, of a mesh; what others may be is for their readers to say


class NoFileError(OSError):
    """A pipe or a device, where a file was expected.

    Examples
    --------
    >>> issubclass(NoFileError, OSError)
    True
    """


def read_whole(path: str | PathLike[str], most_bytes: int = LARGEST) -> bytes:
    """Read a file that may be a pipe, a device or without end.

    Parameters
    ----------
    path : path_like
    most_bytes : int
        A larger file is not read at all.

    Returns
    -------
    bytes

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    OSError
        If it is no file, or too large.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("three.bin").write_bytes(b"abc")
    >>> read_whole("three.bin")
    b'abc'
    >>> read_whole("three.bin", most_bytes=2)
    Traceback (most recent call last):
    OSError: [Errno 27] it has 3 bytes, but at most 2 are read: 'three.bin'
    """
    with open(path, "rb", opener=_open_at_once) as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise NoFileError(errno.EINVAL, "it is a pipe or a device, but only files are read", os.fspath(path))
        if about.st_size > most_bytes:
            text = f"it has {about.st_size} bytes, but at most {most_bytes} are read"
            raise OSError(errno.EFBIG, text, os.fspath(path))
        return file.read()


def _open_at_once(path: str, flags: int) -> int:
    """Open a pipe without waiting for somebody who writes into it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
