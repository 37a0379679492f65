"""How tables of a scenario file are read: every key has a reader, and what does not fit is named with its place.

A table becomes a dataclass. The reader of a key stands in the annotation of its field: `Annotated[float, number()]`.

Metres, seconds, kilograms, newtons; angles are in degrees, and their keys end in `_deg`.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

__all__ = ["Reader", "read_table", "toml_of"]

Reader = Callable[[Any, str], Any]  # takes a value and its place, gives the value that is kept
T = TypeVar("T")

UNITS = {
    **dict.fromkeys(("mm", "cm", "m", "km", "inch"), "lengths are in metres"),
    **dict.fromkeys(("ms", "us", "s", "min"), "times are in seconds"),
    **dict.fromkeys(("g", "kg", "t"), "masses are in kilograms"),
    **dict.fromkeys(("hz", "khz", "fps"), "rates are in hertz"),
    **dict.fromkeys(("mps", "kmh", "mmps"), "speeds are in metres per second"),
    **dict.fromkeys(("rad", "radians", "degrees"), "angles are in degrees"),
}


def read_table(kind: type[T], table: Any, place: str) -> T:
    """Turn a table into the dataclass that describes it.

    Parameters
    ----------
    kind : type
        A dataclass whose fields are annotated with readers; fields of other types than these, of flags and of
        further tables are no keys.
    table : mapping
        As `tomllib` gives it.
    place : str
        Where it stands, for messages; empty for the whole file.

    Returns
    -------
    object
        Of that kind.

    Raises
    ------
    ValueError
        For a key that is unknown or missing, and for a value that does not fit.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> @dataclass
    ... class Wheel:
    ...     radius: Annotated[float, number(above=0.0)]
    >>> read_table(Wheel, {"raduis": 0.1}, "wheel")
    Traceback (most recent call last):
        ...
    ValueError: wheel has an unknown key 'raduis'; did you mean 'radius'?
    """
    if not isinstance(table, Mapping):
        raise ValueError(f"{place} must be a table, but it is {shown(table)}.")
    description: Any = kind
    readers = readers_of(description)
    for name in table:
        if name not in readers:
            raise ValueError(_unknown(name, list(readers), place))
    for field in dataclasses.fields(description):
        if field.name in readers and field.name not in table and _is_needed(field):
            raise ValueError(f"{place or 'the file'} needs a key '{field.name}', which is missing.")
    values = {name: readers[name](value, f"{place}.{name}" if place else name) for name, value in table.items()}
    try:
        return kind(**values)
    except ValueError as error:
        raise ValueError(f"{place}: {error}" if place else str(error)) from error


def toml_of(settings: Any) -> str:
    """Write a dataclass of keys as TOML, without what is as it would be anyway.

    Parameters
    ----------
    settings : object
        An instance of a dataclass whose fields are annotated with readers.

    Returns
    -------
    str
        `read_table` gives the same settings back.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> @dataclass
    ... class Wheel:
    ...     radius: Annotated[float, number(above=0.0)]
    ...     colour: Annotated[str, colour] = "#303030"
    >>> print(toml_of(Wheel(0.1)), end="")
    radius = 0.1
    """
    return "\n".join(_lines(settings, "")).strip("\n") + "\n"


@functools.cache
def readers_of(kind: Any) -> dict[str, Reader]:
    """Give the readers of all keys of a table."""
    hints = get_type_hints(kind, include_extras=True)
    found = {field.name: _reader(hints[field.name]) for field in dataclasses.fields(kind)}
    return {key: reader for key, reader in found.items() if reader is not None}


def _reader(hint: Any) -> Reader | None:
    if get_origin(hint) is Annotated:
        reader: Reader = hint.__metadata__[0]
        return reader
    if get_origin(hint) in (Union, UnionType):
        return next((found for part in get_args(hint) if (found := _reader(part))), None)
    if get_origin(hint) is tuple:
        return tables(get_args(hint)[0])
    if hint is bool:
        return flag
    return _table(hint) if dataclasses.is_dataclass(hint) else None


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _unknown(name: str, known: Sequence[str], place: str) -> str:
    where, name = f"{place} has" if place else "the file has", shown(name)[1:-1]
    stem, _, unit = name.rpartition("_")
    if f"{name}_deg" in known:
        return f"{where} a key '{name}' without its unit: angles are in degrees and say so; write '{name}_deg'."
    if unit.lower() in UNITS and (found := [k for k in (stem, f"{stem}_deg") if k in known]):
        return f"{where} a key '{name}' in a unit that is not used: {UNITS[unit.lower()]}; write '{found[0]}'."
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    return f"{where} an unknown key '{name}'; did you mean '{near[0]}'?"


def shown(value: Any) -> str:
    """Show a value in a message, but not all of a long one."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, lists without end
        text = f"a very long {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


# --- readers: each takes a value and its place ------------------------------------------------------------------------


def number(*, above: float = -math.inf, least: float = -math.inf, most: float = math.inf) -> Reader:
    """Read a finite number within limits."""
    limits = [f"above {above:g}"] * (above > -math.inf)
    limits += [f"at least {least:g}"] * (least > -math.inf) + [f"at most {most:g}"] * (most < math.inf)
    expected = " ".join(["a finite number", " and ".join(limits)]).strip()

    def read(value: Any, place: str) -> float:
        if isinstance(value, str) and len(value) < 60 and re.fullmatch(r"\s*[-+.\deE]+\s*[a-zA-Z°/²]+\s*", value):
            raise ValueError(f"{place} must be {expected}, without a unit, but it is {shown(value)}.")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{place} must be {expected}, but it is {shown(value)}.")
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        if not (math.isfinite(found) and found > above and least <= found <= most):
            raise ValueError(f"{place} must be {expected}, but it is {shown(value)}.")
        return found

    return read


def count(least: int = 0, most: int = 10_000_000) -> Reader:
    """Read a whole number within limits."""

    def read(value: Any, place: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"{place} must be a whole number from {least} to {most}, but it is {shown(value)}.")
        return value

    return read


def angle(value: Any, place: str) -> float:
    """Read an angle in degrees, not more than a turn."""
    found: float = number(least=-360.0, most=360.0)(value, place)
    return found


def flag(value: Any, place: str) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{place} must be true or false, but it is {shown(value)}.")
    return value


def text(value: Any, place: str) -> str:
    """Read a text that says something."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{place} must be a text, but it is {shown(value)}.")
    return value


def name(value: Any, place: str) -> str:
    """Read the name of a body; a slash stands between a robot and its parts."""
    found = text(value, place)
    if "/" in found or not found.isprintable():
        raise ValueError(f"{place} must be printable and without a slash, but it is {shown(value)}.")
    return found


def colour(value: Any, place: str) -> str:
    """Read a colour: like "#d6001c", or red, green and blue from 0 to 1."""
    if isinstance(value, str) and re.fullmatch("#[0-9a-fA-F]{6}", value):
        return value.lower()
    if isinstance(value, list) and len(value) == 3:
        share = number(least=0.0, most=1.0)
        return "#" + "".join(f"{round(255 * share(v, f'{place}[{k}]')):02x}" for k, v in enumerate(value))
    raise ValueError(f'{place} must be like "#d6001c" or three numbers from 0 to 1, but it is {shown(value)}.')


def choice(*options: str) -> Reader:
    """Read one of some words."""

    def read(value: Any, place: str) -> str:
        if not isinstance(value, str) or value not in options:
            near = difflib.get_close_matches(value[:60] if isinstance(value, str) else "", options, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else "."
            raise ValueError(f"{place} must be one of {', '.join(options)}, but it is {shown(value)}{hint}")
        return value

    return read


def numbers(*lengths: int, each: Reader | None = None) -> Reader:
    """Read a list of numbers of one of some lengths."""
    item = each or number()
    allowed = " or ".join(map(str, lengths))

    def read(value: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) not in lengths:
            raise ValueError(f"{place} must be a list of {allowed} numbers, but it is {shown(value)}.")
        return tuple(item(v, f"{place}[{k}]") for k, v in enumerate(value))

    return read


def _table(kind: Any) -> Reader:
    return lambda value, place: read_table(kind, value, place)


def tables(kind: Any) -> Reader:
    """Read a list of tables."""

    def read(value: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{place} must be a list of tables, but it is {shown(value)}.")
        return tuple(read_table(kind, item, f"{place}[{k}]") for k, item in enumerate(value))

    return read


# --- writing ----------------------------------------------------------------------------------------------------------


def _lines(settings: Any, place: str) -> list[str]:
    """Plain values come first: what follows a table's head belongs to that table."""
    plain, nested = [], []
    kind: Any = type(settings)
    readers = readers_of(kind)
    for field in dataclasses.fields(settings):
        if field.name not in readers:
            continue
        value = getattr(settings, field.name)
        if value == _default(field):
            continue
        inner = f"{place}.{field.name}" if place else field.name
        if dataclasses.is_dataclass(value):
            nested += ["", f"[{inner}]", *_lines(value, inner)]
        elif isinstance(value, tuple) and value and all(dataclasses.is_dataclass(item) for item in value):
            for item in value:
                nested += ["", f"[[{inner}]]", *_lines(item, inner)]
        else:
            plain.append(f"{field.name} = {_value(value)}")
    return plain + nested


def _default(field: dataclasses.Field[Any]) -> Any:
    made = field.default_factory
    return made() if made is not dataclasses.MISSING else field.default


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, tuple):
        is_grid = bool(value) and all(isinstance(row, tuple | str) for row in value) and len(value) > 1
        rows = [_value(item) for item in value]
        return "[\n" + "".join(f"    {row},\n" for row in rows) + "]" if is_grid else f"[{', '.join(rows)}]"
    return repr(value)


def _quoted(value: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c, c if c.isprintable() else f"\\U{ord(c):08X}") for c in value) + '"'
