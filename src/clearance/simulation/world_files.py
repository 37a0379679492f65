"""Worlds in files: what bodies and joints are, as text and shapes, and where they are, bit by bit."""

from __future__ import annotations

import io
import json
import os
import pickle
import tempfile
import zlib
from dataclasses import asdict
from math import inf
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ..shapes import Shape
from .masses import Mass, checked_inertia
from .materials import Elastic, Hard, Material, Soft, checked_number
from .world_bodies import BodyRecord, as_vector
from .world_joints import JointRecord

if TYPE_CHECKING:
    from .world import World

__all__ = [
    "LAWS",
    "UNREADABLE",
    "ShapeReader",
    "array_of",
    "from_bytes",
    "load_world",
    "save_world",
    "shape_bytes",
    "to_bytes",
]

FORMAT = "clearance world 1"
LAWS = {"Hard": Hard, "Soft": Soft, "Elastic": Elastic}

UNREADABLE = (
    BadZipFile,
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
    pickle.UnpicklingError,
)

# All that shapes are made of in a pickle. Anything else in a file is not ours, and is not run.
ALLOWED = {
    ("clearance.meshio", "from_bytes"),
    ("clearance.shapes", "place"),
    ("clearance.simulation.world_files", "array_of"),
}
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


class ShapeReader(pickle.Unpickler):
    """Reads shapes, and runs nothing else: of NumPy not even its own way to make arrays, which trusts what it reads."""

    def find_class(self, module: str, name: str) -> Any:
        """Give what a pickle names, if it is part of shapes.

        Parameters
        ----------
        module, name : str
        """
        found = super().find_class(module, name) if module == "clearance._core" else None
        if isinstance(found, type) and issubclass(found, Shape):
            return found
        if (module, name) in ALLOWED:
            return super().find_class(module, name)
        raise ValueError(f"a file holds shapes, but not {module}.{name}.")


def shape_bytes(shapes: Any) -> bytes:
    """Put shapes into bytes that `ShapeReader` reads.

    Parameters
    ----------
    shapes : list of Shape, or of anything plain with shapes in it

    Returns
    -------
    bytes

    Examples
    --------
    >>> ShapeReader(io.BytesIO(shape_bytes([Sphere(0.5)]))).load()
    [Sphere(0.5)]
    """
    file = io.BytesIO()
    _ShapeWriter(file, protocol=4).dump(shapes)
    return file.getvalue()


def save_world(world: World, path: str | Path) -> None:
    """Write a world; a file that is there is replaced when the new one is complete.

    Parameters
    ----------
    world : World
    path : path_like

    Examples
    --------
    >>> from clearance.simulation import World
    >>> save_world(World(), "empty.npz")
    >>> load_world("empty.npz")
    World(0 bodies, 0 joints, time=0 s)
    """
    folder = Path(path).parent
    with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{Path(path).name}.", delete=False) as file:
        try:
            file.write(to_bytes(world))
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def load_world(path: str | Path, threads: int | None = None) -> World:
    """Read a world.

    Parameters
    ----------
    path : path_like
    threads : int, optional

    Returns
    -------
    World

    Raises
    ------
    ValueError
        If the file is none that `save_world` wrote.

    Examples
    --------
    >>> load_world("empty.npz")  # doctest: +SKIP
    """
    try:
        return from_bytes(Path(path).read_bytes(), threads)
    except ValueError as error:
        raise ValueError(f"{path} is no file of a world: {error}") from error


def to_bytes(world: World) -> bytes:
    """Put a world into bytes.

    Parameters
    ----------
    world : World

    Returns
    -------
    bytes

    Examples
    --------
    >>> from clearance.simulation import World
    >>> from_bytes(to_bytes(World(step=0.01))).step_length
    0.01
    """
    about = {
        "format": FORMAT,
        "gravity": world.gravity.tolist(),
        "step": world.step_length,
        "contact": [type(world.contact).__name__, asdict(world.contact)],
        "broad_phase": world._broad_phase,
        "bodies": {name: _described(record) for name, record in world._bodies.items()},
        "joints": {name: asdict(joint) for name, joint in world._joints.items()},
        "ignored": world._ignored,
    }
    shapes = shape_bytes([record.shape for record in world._bodies.values()])
    file = io.BytesIO()
    np.savez(
        file,
        about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        shapes=np.frombuffer(shapes, dtype=np.uint8),
        anchors=world._world.anchors(),
        state=world._world.state(),
    )
    return file.getvalue()


def from_bytes(data: bytes, threads: int | None = None) -> World:
    """Get a world out of bytes again.

    Parameters
    ----------
    data : bytes
    threads : int, optional

    Returns
    -------
    World

    Examples
    --------
    >>> from clearance.simulation import World
    >>> from_bytes(to_bytes(World()), threads=1)
    World(0 bodies, 0 joints, time=0 s)
    """
    if not data.startswith(b"PK"):
        raise ValueError("it is no archive of arrays")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            about = json.loads(file["about"].tobytes().decode())
            if not isinstance(about, dict) or about.get("format") != FORMAT:
                raise ValueError(f"it does not say that it is a {FORMAT!r}")
            shapes = ShapeReader(io.BytesIO(file["shapes"].tobytes())).load()
            return _restored(about, shapes, file["anchors"], file["state"], threads)
    except UNREADABLE as error:
        raise ValueError(f"not the bytes of a world: {error}") from error


def _described(record: Any) -> dict[str, Any]:
    mass = None if record.mass is None else [record.mass.mass, *(part.tolist() for part in record.mass[1:])]
    return {
        "motion": record.motion,
        "mass": mass,
        "material": asdict(record.material),
        "group": record.group,
        "visible": record.visible,
        "collides": record.collides,
    }


def _restored(about: dict[str, Any], shapes: Any, anchors: Any, state: Any, threads: int | None) -> World:
    from .world import World

    law, settings = about["contact"]
    world = World(
        about["gravity"], about["step"], LAWS[law](**settings), broad_phase=about["broad_phase"], threads=threads
    )
    if not isinstance(shapes, list) or len(shapes) != len(about["bodies"]):
        raise ValueError(f"it has {len(about['bodies'])} bodies, but not as many shapes")
    for shape, (name, body) in zip(shapes, about["bodies"].items(), strict=True):
        mass = _mass_from(body["mass"]) if body["motion"] == "dynamic" else None
        material = Material(**body["material"])
        record = BodyRecord(shape, body["motion"], mass, material, body["group"], body["visible"], body["collides"])
        world._insert(name, record, np.eye(4), np.zeros(6))
    for name, joint in about["joints"].items():
        low, high = joint["limits"]
        axis = None if joint["kind"] in ("ball", "fixed") else (0.0, 0.0, 1.0)
        world.join(
            name, joint["kind"], joint["a"], joint["b"], (0.0, 0.0, 0.0), axis,
            limits=None if (low, high) == (-inf, inf) else (low, high),
        )  # fmt: skip
        record_of = JointRecord(**{**joint, "limits": (low, high), "turn": tuple(joint["turn"])})
        turn = np.array(record_of.turn).reshape(3, 3)
        world._motor(name, record_of.task, record_of.target, record_of.most, record_of.fastest, turn, (record_of.kind,))
    if not np.isfinite(anchors).all() or not np.isfinite(state).all():
        raise ValueError("it holds numbers that are not finite")
    for a, b in about["ignored"]:
        world.ignore(a, b)
    world._world.set_anchors(np.ascontiguousarray(anchors, dtype=np.float64))
    world._world.set_state(np.ascontiguousarray(state, dtype=np.float64))
    return world


def _mass_from(numbers: Any) -> Mass:
    mass, centre, inertia = numbers
    return Mass(checked_number(mass, "mass", above=True), as_vector(centre, "centre"), checked_inertia(inertia))
