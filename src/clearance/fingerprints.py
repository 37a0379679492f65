"""Values and questions known again in another process: equal parts have equal fingerprints."""

from __future__ import annotations

import copyreg
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .chunks import MOST_ROWS, Task, pieces, read

__all__ = ["fingerprint"]

About: TypeAlias = dict[str, dict[str, str]]

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
        return f"global {_global_name(value)}", ()
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
    return name


# Questions ------------------------------------------------------------------------------------------------------------


def version() -> str:
    """Of this library: another one may give other bits."""
    from . import __version__

    return __version__


def about(task: Task, rows: Any, dtype: np.dtype[Any], block: int) -> About:
    """What a result depends on, by name, to tell what is different the next time."""
    parts = {"task": _shown(task)}
    if is_dataclass(task) and not isinstance(task, type):
        parts = {field.name: _shown(getattr(task, field.name)) for field in fields(task) if field.compare}
        parts["task"] = _global_name(type(task))
    own = {"version": version(), "dtype": repr(np.lib.format.dtype_to_descr(dtype)), "block": str(block)}
    return {"task": parts, "run": own | {"rows": _rows_shown(rows)}}


def differences(before: About, now: About) -> list[str]:
    """Say in which parts two questions differ."""
    found = []
    for group, parts in now.items():
        for name in sorted(parts.keys() | before[group].keys()):
            old, new = (side.get(name, "absent") for side in (before[group], parts))
            if old != new:
                shown = "digest" not in f"{old} {new}"
                found.append(f"{name} = {old}, now it is {new}" if shown else f"other values of {name}")
    return found


def _shown(value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    plain = repr(value) if type(value) in PLAIN else ""
    return plain if 0 < len(plain) <= 60 else f"digest {fingerprint(value)}"


def _rows_shown(rows: Any) -> str:
    """Shape and digest of all rows, of which a piece is in memory at a time."""
    state = blake2b(digest_size=16)
    for where in pieces((), len(rows), MOST_ROWS):
        piece = read(rows, where)
        state.update(f"{piece.dtype.str} {piece.shape} ".encode())
        state.update(_bytes_of(piece))
    return f"shape {tuple(rows.shape)}, digest {state.hexdigest()}"
