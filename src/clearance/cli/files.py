"""Files of a command: tables of numbers in, results out as a whole or not at all, and a bar in between."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__: list[str] = []

Floats = NDArray[np.float64]

PICTURES, PAGES = (".png",), (".html", ".htm")  # endings of what is written


class WriteError(OSError):
    """A result has no place to go to."""


# Out ------------------------------------------------------------------------------------------------------------------


def check_writable(*paths: Path | None) -> None:
    """Refuse places that nothing can be written to, before the work begins."""
    for path in paths:
        if path is None or _is_stream(path):
            continue
        folder = path.parent
        if not folder.is_dir():
            raise WriteError(f"{path} cannot be written: there is no folder {folder}.")
        if path.is_dir():
            raise WriteError(f"{path} cannot be written: it is a folder.")
        if not os.access(folder, os.W_OK):
            raise WriteError(f"{path} cannot be written: folder {folder} is read-only.")


def check_ending(option: str, path: Path | None, *endings: str) -> None:
    """Refuse a name that promises another kind of file than the one that is written."""
    if path is not None and not _is_stream(path) and path.suffix.lower() not in endings:
        raise ValueError(f"{option} must end in {' or '.join(endings)}, but it is {path}.")


def check_folder(path: Path) -> None:
    """Refuse a folder that cannot be made, or that nothing can be written to."""
    first = next(part for part in (path, *path.absolute().parents) if part.exists())
    if not first.is_dir():
        raise WriteError(f"{path} cannot be written: {first} is no folder.")
    if not os.access(first, os.W_OK):
        raise WriteError(f"{path} cannot be written: folder {first} is read-only.")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Lend another name to write to: what is there gets the right one only when it is complete.

    Devices and pipes are written to as they are: a file in their place would take them away from everybody. A link
    stays, and what it leads to is replaced.
    """
    check_writable(path)
    final = path.resolve()
    unfinished = path if _is_stream(path) else final.with_name(f"{final.stem}.{os.getpid()}.part{final.suffix}")
    try:
        yield unfinished
        if unfinished is not path:
            unfinished.replace(final)
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        if unfinished is not path:
            unfinished.unlink(missing_ok=True)


def _is_stream(path: Path) -> bool:
    """Tell devices, pipes and sockets from files and folders."""
    return path.exists() and not (path.is_file() or path.is_dir())


def write_text(path: Path, text: str) -> None:
    """Write a text as a whole."""
    with whole_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def write_csv(path: Path, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as a whole; numbers have all their digits, and NaN is nothing."""
    with whole_file(path) as unfinished, unfinished.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return int(value)
    if isinstance(value, float):
        return "" if value != value else repr(float(value))
    return value


# In -------------------------------------------------------------------------------------------------------------------


class Numbers(NamedTuple):
    """A table of numbers, as a file holds it."""

    path: Path
    heads: list[str]  # none if the file does not name its columns
    values: Floats  # (rows, columns)
    lines: list[int]  # of the file that the rows stand on; none of a .npy file

    def columns(self, names: Sequence[str]) -> Floats:
        """Columns by name, or all of them in this order if they have no names."""
        if not self.heads:
            if self.values.shape[1] != len(names):
                raise ValueError(
                    f"{self.path} has {self.values.shape[1]} columns, but {len(names)} were expected: "
                    f"{', '.join(names)}."
                )
            return self.values
        missing = [name for name in names if name not in self.heads]
        if missing:
            raise ValueError(f"{self.path} has no column {_quoted(missing)}; it has {_quoted(self.heads)}.")
        return self.values[:, [self.heads.index(name) for name in names]]

    def check_known(self, names: Sequence[str]) -> None:
        """Refuse columns that nobody asks for, which may be misspelt."""
        unknown = [head for head in self.heads if head not in names]
        if unknown:
            raise ValueError(
                f"{self.path} has columns that are not known: {_quoted(unknown)}; known are {_quoted(names)}."
            )

    def check_finite(self, names: Sequence[str]) -> None:
        """Refuse NaN and infinite numbers, and say where they stand."""
        odd = np.argwhere(~np.isfinite(self.values))
        if len(odd):
            row, column = odd[0]
            name = (self.heads or list(names))[column]
            raise ValueError(
                f"{self.place(row)}: '{name}' is {self.values[row, column]}, but it must be a finite number."
            )

    def place(self, row: int) -> str:
        """Tell where a row stands."""
        return f"{self.path}, line {self.lines[row]}" if self.lines else f"{self.path}, row {row}"


def read_numbers(path: Path) -> Numbers:
    """Read a table of numbers from a .npy file, or from CSV with or without names of columns.

    Lines that are empty or begin with # are passed over; a cell that is empty is NaN.
    """
    table = _from_npy(path) if path.suffix.lower() == ".npy" else _from_csv(path)
    if not table.values.size:
        raise ValueError(f"{path} holds no numbers.")
    return table


def _from_npy(path: Path) -> Numbers:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        # NumPy's own words advise to allow pickles, which could run anything.
        raise ValueError(f"{path} is no .npy file of numbers, or not all of it is there.") from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
        raise ValueError(f"{path} must hold one array of numbers, but it holds {getattr(array, 'dtype', 'several')}.")
    if array.ndim not in (1, 2):
        raise ValueError(f"{path} must hold rows of numbers, (n, values), but its shape is {array.shape}.")
    return Numbers(path, [], np.atleast_2d(np.asarray(array, dtype=np.float64)), [])


def _from_csv(path: Path) -> Numbers:
    rows, lines = _cells(path)
    heads = [] if not rows or all(map(_is_number, rows[0])) else rows.pop(0)
    first = lines.pop(0) if heads else 0
    if len(set(heads)) < len(heads):
        raise ValueError(f"{path}, line {first} names a column twice: {_quoted(heads)}.")
    width = len(heads) if heads else len(rows[0]) if rows else 0
    for row, line in zip(rows, lines, strict=True):
        if len(row) != width:
            raise ValueError(f"{path}, line {line} has {counted_columns(len(row))}, but {width} were expected.")
    values = np.empty((len(rows), width))
    for k, (row, line) in enumerate(zip(rows, lines, strict=True)):
        values[k] = [_number(cell, path, line) for cell in row]
    return Numbers(path, heads, values, lines)


def _cells(path: Path) -> tuple[list[list[str]], list[int]]:
    rows, lines = [], []
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        try:
            for row in reader:
                cells = [cell.strip() for cell in row]
                if any(cells) and not cells[0].startswith("#"):
                    rows.append(cells)
                    lines.append(reader.line_num)
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path} is no CSV file in UTF-8: {error}.") from error
    return rows, lines


def _is_number(cell: str) -> bool:
    try:
        float(cell or "nan")
    except ValueError:
        return False
    return True


def _number(cell: str, path: Path, line: int) -> float:
    try:
        return float(cell or "nan")
    except ValueError:
        raise ValueError(f"{path}, line {line}: {cell!r:.60} is no number; commas part the columns.") from None


def counted_columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


# In between -----------------------------------------------------------------------------------------------------------


@contextmanager
def bar(title: str) -> Iterator[Callable[[float], None]]:
    """Give a function of the fraction that is done: a bar on a terminal, and nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda fraction: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title.replace("[", r"\["), total=1.0)
        yield lambda fraction: bars.update(task, completed=fraction)
