"""Two bodies that two ways to find contacts see differently, kept so that they can be seen again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from .. import poses, shapes
from ..meshio import write_whole
from ..safe_files import read_whole
from ..shapes import Shape
from .materials import Elastic
from .particle_files import RECORD
from .particle_kinds import Floats, ParticleContacts, checked_kind
from .particles import Particles
from .twins import freeze_into

__all__ = ["Incident", "incident_of", "load_incidents", "replay", "save_incidents"]

FORMAT = "clearance incidents 1"
LARGEST = 1 << 28  # bytes of a file
DETECTIONS = ("hybrid", "iterative")
ARGUMENTS = {
    "Sphere": ("radius",),
    "Box": ("size",),
    "Capsule": ("radius", "length"),
    "Ellipsoid": ("radii",),
    "HalfSpace": ("normal", "offset"),
}


@dataclass(frozen=True)
class Incident:
    """Two bodies that both detections see differently.

    Attributes
    ----------
    reason : str
        "missed" or "false" if only one detection saw a contact, or what differed too much: "points" (their number),
        "angle" (in degrees), "depth" or "position" (in metres).
    deviation : float
        By how much.
    time : float
        When it was, in seconds.
    bodies : tuple of dict
        Of both bodies, `shapes` (by closed forms and by GJK and EPA, mostly the same one), `pose`, and `record`, which
        is all that `Particles` know of it; a wall has none.
    hybrid, iterative : dict
        `normals`, `points` and `depths` that each detection found.
    """

    reason: str
    deviation: float
    time: float
    bodies: tuple[dict[str, Any], dict[str, Any]]
    hybrid: dict[str, Any]
    iterative: dict[str, Any]


def incident_of(
    reason: str,
    deviation: float,
    rooms: tuple[Particles, Particles],
    pair: tuple[int, int],
    moment: tuple[float, Floats],
) -> Incident:
    """Take down two bodies, and what both detections see of them.

    Parameters
    ----------
    reason : str
    deviation : float
    rooms : tuple of Particles
        Where the bodies are from, and its twin.
    pair : tuple of int
        Numbers of the bodies; those of walls are negative.
    moment : tuple
        The time, and all bodies as the core knows them, (n, k), in the order of their numbers.

    Returns
    -------
    Incident

    Examples
    --------
    >>> from clearance.simulation.twins import empty_twin
    >>> particles = Particles()
    >>> _ = particles.add(Sphere(1.0), [[0.0, 0.0, 0.0], [0.0, 0.0, 1.9]])
    >>> rooms = (particles, empty_twin(particles, "iterative"))
    >>> incident_of("depth", 0.0, rooms, (0, 1), (0.0, particles._records())).hybrid["depths"]
    [0.10000000000000009]
    """
    (live, twin), (time, records) = rooms, moment
    bodies: list[dict[str, Any]] = []
    for number in pair:
        if number < 0:
            wall = list(live.walls.values())[-1 - number]
            bodies.append({"shapes": 2 * [_described(wall.shape)], "pose": wall.pose.tolist(), "record": None})
            continue
        record = records[np.searchsorted(records[:, 0], number)]
        kind = int(record[1])
        both = [_described(room.shapes[kind]) for room in (live, twin)]
        bodies.append({"shapes": both, "pose": _pose(record).tolist(), "record": record.tolist()})
    bare = Incident(reason, deviation, time, (bodies[0], bodies[1]), {}, {})
    hybrid, iterative = replay(bare)
    return replace(bare, hybrid=_listed(hybrid), iterative=_listed(iterative))


def replay(incident: Incident) -> tuple[ParticleContacts, ParticleContacts]:
    """Look at the bodies of an incident again, by both detections; the same library finds the same bits.

    Parameters
    ----------
    incident : Incident

    Returns
    -------
    tuple of ParticleContacts
        By closed forms where there are any, and by GJK and EPA.

    Examples
    --------
    >>> from clearance.simulation.twins import empty_twin
    >>> particles = Particles()
    >>> _ = particles.add(Sphere(1.0), [[0.0, 0.0, 0.0], [0.0, 0.0, 1.9]])
    >>> rooms = (particles, empty_twin(particles, "iterative"))
    >>> hybrid, iterative = replay(incident_of("depth", 0.0, rooms, (0, 1), (0.0, particles._records())))
    >>> hybrid.depths.round(12), iterative.depths.round(12)
    (array([0.1]), array([0.1]))
    """
    hybrid, iterative = (_seen_again(incident.bodies, which) for which in (0, 1))
    return hybrid, iterative


def save_incidents(incidents: Iterable[Incident], path: str | PathLike[str]) -> None:
    """Write incidents to a file of JSON, with all digits.

    Parameters
    ----------
    incidents : iterable of Incident
    path : path_like

    Examples
    --------
    >>> save_incidents([], "incidents.json")
    >>> load_incidents("incidents.json")
    []
    """
    content = {"format": FORMAT, "incidents": [asdict(one) for one in incidents]}
    write_whole(path, json.dumps(content, indent=1).encode())


def load_incidents(path: str | PathLike[str]) -> list[Incident]:
    """Read what `save_incidents` wrote.

    Parameters
    ----------
    path : path_like

    Returns
    -------
    list of Incident

    Raises
    ------
    ValueError
        If the file is no such file.

    Examples
    --------
    >>> save_incidents([], "none.json")
    >>> len(load_incidents("none.json"))
    0
    """
    data = read_whole(path, LARGEST)
    try:
        content = json.loads(data)
        if content["format"] != FORMAT:
            raise ValueError(f"it does not say that it is {FORMAT!r}")
        return [_incident(one) for one in content["incidents"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"{str(path)!r} does not hold incidents: {error}.") from error


def _incident(told: dict[str, Any]) -> Incident:
    first, second = told["bodies"]
    for body in (first, second):
        hybrid, iterative = map(_shape_from, body["shapes"])
        hybrid.at(body["pose"]), iterative.at(body["pose"])
        numbers = np.asarray(RECORD * [0.0] if body["record"] is None else body["record"], dtype=np.float64)
        if numbers.shape != (RECORD,) or not np.isfinite(numbers).all():
            raise ValueError(f"a body must have {RECORD} finite numbers, but it has {body['record']!r:.60}")
    return Incident(**told | {"bodies": (first, second)})


def _seen_again(bodies: Sequence[dict[str, Any]], which: int) -> ParticleContacts:
    room = Particles(1e-3, (0.0, 0.0, 0.0), Elastic(), detection=DETECTIONS[which], threads=1)
    records: list[list[float]] = []
    for body in bodies:
        shape = _shape_from(body["shapes"][which])
        if body["record"] is None:
            room.add_wall("wall", shape, body["pose"])
            continue
        records.append([body["record"][0], float(len(records)), *body["record"][2:]])
        room._add_kind(checked_kind(shape, 1000.0, None), is_new=True)
    freeze_into(room, np.array(records))
    return room.contacts


def _described(shape: Shape) -> dict[str, Any]:
    name = type(shape).__name__
    if name not in ARGUMENTS:
        raise TypeError(f"incidents are kept of {', '.join(ARGUMENTS)}, but there is {shape!r}.")
    return {"type": name} | {key: np.asarray(getattr(shape, key)).tolist() for key in ARGUMENTS[name]}


def _shape_from(about: dict[str, Any]) -> Shape:
    if about["type"] not in ARGUMENTS:
        raise ValueError(f"a shape must be one of {', '.join(ARGUMENTS)}, but it is {about['type']!r}.")
    made: Shape = getattr(shapes, about["type"])(*(about[key] for key in ARGUMENTS[about["type"]]))
    return made


def _pose(record: Floats) -> Floats:
    return poses.from_wxyz(record[5:9], record[2:5])


def _listed(found: ParticleContacts) -> dict[str, Any]:
    return {name: getattr(found, name).tolist() for name in ("normals", "points", "depths")}
