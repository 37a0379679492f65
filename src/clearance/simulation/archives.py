"""Descriptions, shapes and arrays in the bytes of one file, which nobody has to trust."""

from __future__ import annotations

import io
import json
import math
import pickle
import pickletools
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, meshio
from ..shapes import Shape, place

__all__ = ["LARGEST", "MOST_BYTES", "UNREADABLE", "array_of", "packed", "read_arrays", "unpacked"]

LARGEST = 1 << 34  # bytes of a file
MOST_BYTES = 1 << 31  # that a small file may unfold to
MOST_PARTS = 1_000_000  # of all compounds in a file

# What reading bytes that are not ours may raise.
UNREADABLE = (
    zipfile.BadZipFile,
    EOFError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    OSError,
    MemoryError,
    RuntimeError,
    SystemError,
    TokenError,
    zlib.error,
)

ARRAYS = ("<f8", "<f4", "<i8", "<i4", "|b1", "|u1")


def array_of(data: bytes, form: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Make an array of plain numbers.

    Parameters
    ----------
    data : bytes
    form : str
        Of one number, as NumPy writes it.
    shape : tuple of int

    Returns
    -------
    ndarray

    Examples
    --------
    >>> array_of(np.array([1.0, 2.0]).tobytes(), "<f8", (2,))
    array([1., 2.])
    """
    if form not in ARRAYS or not isinstance(data, bytes):
        raise ValueError(f"an array in the file is of the form {form!r}.")
    return np.frombuffer(data, form).reshape(shape).copy()


class _ShapeWriter(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return array_of, (value.tobytes(), value.dtype.str, value.shape)
        return NotImplemented


def packed(
    about: dict[str, Any], shapes: Any, arrays: Mapping[str, NDArray[Any]], *, compressed: bool = False
) -> bytes:
    """Put a description, shapes and arrays into bytes.

    Parameters
    ----------
    about : dict
        Plain values; "format" tells what is described.
    shapes : list of Shape, or of lists of them
    arrays : mapping of str to ndarray
        Not named "about" or "shapes".
    compressed : bool

    Returns
    -------
    bytes

    Examples
    --------
    >>> data = packed({"format": "balls 1"}, [Sphere(0.5)], {"heights": np.ones(2)})
    >>> unpacked(data, "balls 1", ["heights"])
    ({'format': 'balls 1'}, [Sphere(0.5)], {'heights': array([1., 1.])})
    """
    pickled, file = io.BytesIO(), io.BytesIO()
    _ShapeWriter(pickled, protocol=4).dump(shapes)
    texts = {"about": json.dumps(about).encode(), "shapes": pickled.getvalue()}
    save: Any = np.savez_compressed if compressed else np.savez
    save(file, **{name: np.frombuffer(text, dtype=np.uint8) for name, text in texts.items()}, **arrays)
    return file.getvalue()


def unpacked(
    data: bytes, form: str, names: Iterable[str], most_bytes: int = MOST_BYTES
) -> tuple[dict[str, Any], Any, dict[str, NDArray[Any]]]:
    """Get a description, shapes and arrays out of bytes again; one of `UNREADABLE` is raised if they are not there.

    Parameters
    ----------
    data : bytes
        Nothing that they may hold is run.
    form : str
        What the description has to give as its "format".
    names : iterable of str
        Of the arrays.
    most_bytes : int
        That it may unfold to, if it is smaller itself.

    Returns
    -------
    about : dict
    shapes : list of Shape, or of lists of them
    arrays : dict of str to ndarray

    Examples
    --------
    >>> unpacked(b"something else", "balls 1", [])
    Traceback (most recent call last):
    ValueError: it is no archive of arrays
    """
    arrays = read_arrays(data, most_bytes)
    about = json.loads(arrays["about"].tobytes().decode())
    if not isinstance(about, dict) or about.get("format") != form:
        raise ValueError(f"it does not say that it is {form!r}")
    return about, _ShapeReader(arrays["shapes"].tobytes()).load(), {name: arrays[name] for name in names}


# Arrays --------------------------------------------------------------------------------------------------------------


def read_arrays(data: bytes, most_bytes: int = MOST_BYTES) -> dict[str, NDArray[Any]]:
    """Read all arrays of a .npz file; one of `UNREADABLE` is raised if it holds anything else.

    Parameters
    ----------
    data : bytes
        No header is believed: what is not there takes no memory.
    most_bytes : int
        That it may unfold to, if it is smaller itself.

    Returns
    -------
    dict of str to ndarray
        Of plain numbers.

    Examples
    --------
    >>> file = io.BytesIO()
    >>> np.savez_compressed(file, zeros=np.zeros(1_000_000))
    >>> read_arrays(file.getvalue())["zeros"].shape
    (1000000,)
    >>> read_arrays(file.getvalue(), most_bytes=1_000_000)
    Traceback (most recent call last):
    ValueError: it unfolds to 8000128 bytes, but 1000000 are the most
    """
    if not data.startswith(b"PK"):
        raise ValueError("it is no archive of arrays")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if (size := sum(member.file_size for member in members)) > max(len(data), most_bytes):
            raise ValueError(f"it unfolds to {size} bytes, but {most_bytes} are the most")
        for member in members:
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{member.filename!r:.60} is compressed in a way that is not read")
        return {member.filename.removesuffix(".npy"): _array_in(archive.read(member)) for member in members}


def _array_in(data: bytes) -> NDArray[Any]:
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    read: Any = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
    shape, is_fortran, dtype = read(file)
    if dtype.kind not in "biuf":
        raise ValueError(f"it holds an array of {dtype!s:.60}, but only numbers are read")
    size, found = math.prod(shape) * dtype.itemsize, len(data) - file.tell()
    if size != found:
        raise ValueError(f"an array of the shape {shape!r:.60} takes {size:.6g} bytes, but it has {found}")
    order: Any = "F" if is_fortran else "C"
    return np.ndarray(shape, dtype, data, file.tell(), order=order).astype(dtype.newbyteorder("="))


# Shapes --------------------------------------------------------------------------------------------------------------

# All that shapes are made by. Anything else in a file is not ours, and is not run.
MAKERS: dict[tuple[str, str], Callable[..., Any]] = {
    ("clearance.meshio", "from_bytes"): meshio.from_bytes,
    ("clearance.shapes", "place"): place,
    ("clearance.simulation.archives", "array_of"): array_of,
    **{
        ("clearance._core", name): kind
        for name, kind in vars(_core).items()
        if isinstance(kind, type) and issubclass(kind, Shape)
    },
}
VALUES = ("BINFLOAT", "BININT", "BININT1", "BININT2", "LONG1", "SHORT_BINUNICODE", "BINUNICODE")
BYTES = ("SHORT_BINBYTES", "BINBYTES", "BINBYTES8")
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
SHORT_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class _ShapeReader:
    """Reads what `_ShapeWriter` wrote. It follows the few steps that shapes are written with, and knows no others.

    An unpickler would do more than that, whatever it may call: change what is there already, or reserve any memory.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memory: list[Any] = []
        self.sizes: dict[int, tuple[Any, int]] = {}  # shapes, and how many parts they have
        self.left, self.parts_left = 4 * len(data), MOST_PARTS

    def load(self) -> Any:
        for operation, argument, _ in pickletools.genops(self.data):
            if operation.name == "STOP":
                return self.stack.pop()
            if operation.name not in ("PROTO", "FRAME"):
                self.follow(operation.name, argument)
        raise ValueError("the shapes have no end")

    def follow(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in VALUES or name in BYTES:
            stack.append(argument)
        elif name in CONSTANTS:
            stack.append(CONSTANTS[name])
        elif name in SHORT_TUPLES:
            self.fold(SHORT_TUPLES[name])
        elif name == "EMPTY_LIST":
            stack.append([])
        elif name == "MARK":
            self.marks.append(len(stack))
        elif name == "TUPLE":
            self.fold(len(stack) - self.marks.pop())
        elif name in ("APPEND", "APPENDS"):
            self.fold(1 if name == "APPEND" else len(stack) - self.marks.pop())
            items = stack.pop()
            stack[-1].extend(items)
        elif name == "MEMOIZE":
            self.memory.append(stack[-1])
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(self.memory[argument])
        elif name == "STACK_GLOBAL":
            self.fold(2)
            if (maker := stack.pop()) not in MAKERS:
                raise ValueError(f"a file holds shapes, but not {maker!r:.200}")
            stack.append(MAKERS[maker])
        elif name == "REDUCE":
            self.fold(2)
            stack.append(self.made(*stack.pop()))
        else:
            raise ValueError(f"the shapes hold a step that shapes are not made by: {name}")

    def fold(self, count: int) -> None:
        """Put the last values into a tuple."""
        if not 0 <= count <= len(self.stack):
            raise ValueError("the shapes have too few values")
        values = tuple(self.stack[len(self.stack) - count :])
        del self.stack[len(self.stack) - count :]
        self.stack.append(values)

    def made(self, maker: Any, arguments: Any) -> Any:
        if maker not in MAKERS.values():
            raise ValueError("a shape is made by something else")
        parts = 1 + sum(self.cost(argument) for argument in arguments)
        self.parts_left -= parts
        if self.left < 0 or self.parts_left < 0:
            raise ValueError("the same numbers make more and more shapes")
        found = maker(*arguments)
        self.sizes[id(found)] = found, parts
        return found

    def cost(self, argument: Any) -> int:
        """Count the parts of an argument, and the bytes that are copied from it."""
        if isinstance(argument, bytes | np.ndarray):
            self.left -= len(argument) if isinstance(argument, bytes) else argument.nbytes
        elif isinstance(argument, list) or (isinstance(argument, tuple) and any(map(_is_list, argument))):
            raise ValueError("a shape is made of lists within lists")  # of the same lists, without end
        elif isinstance(argument, tuple):
            return sum(self.cost(item) for item in argument)
        return self.sizes.get(id(argument), (argument, 1))[1]


def _is_list(value: Any) -> bool:
    return isinstance(value, tuple | list)
