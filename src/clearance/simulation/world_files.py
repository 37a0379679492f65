"""Worlds in files: what bodies and joints are, as text and shapes, and where they are, bit by bit."""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..safe_files import read_whole
from .archives import LARGEST, UNREADABLE, packed, unpacked
from .masses import mass_from
from .materials import Elastic, Hard, Material, Soft
from .world_bodies import BodyRecord
from .world_joints import JointRecord

if TYPE_CHECKING:
    from .world import World

__all__ = ["LAWS", "from_bytes", "load_world", "save_world", "to_bytes"]

FORMAT = "clearance world 1"
LAWS = {"Hard": Hard, "Soft": Soft, "Elastic": Elastic}


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
    data = read_whole(path, LARGEST)
    try:
        return from_bytes(data, threads)
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
    shapes = [record.shape for record in world._bodies.values()]
    return packed(about, shapes, {"anchors": world._world.anchors(), "state": world._world.state()})


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
    try:
        about, shapes, arrays = unpacked(data, FORMAT, ("anchors", "state"))
        return _restored(about, shapes, arrays["anchors"], arrays["state"], threads)
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
        mass = mass_from(body["mass"]) if body["motion"] == "dynamic" else None
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
