"""A crowd of elastic bodies in a box, in which every contact is computed by closed forms and by GJK and EPA."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import poses
from ..progress import reporter
from ..shapes import Box, Capsule, Ellipsoid, HalfSpace, Shape, Sphere
from .incidents import Incident, incident_of
from .materials import Elastic
from .particle_kinds import Floats, Integers, ParticleContacts
from .particles import Particles
from .twins import empty_twin, freeze_into

__all__ = ["BruteForceReport", "Limits", "brute_force", "crowd"]

LENGTH = 6.0  # of all bodies: one percent of it is 0.06 in section 4.1.4 of the thesis
STEP = 2e-4
SPEED = 0.01 * LENGTH / STEP
SPIN = SPEED / LENGTH
ROOM = 1.02  # between bodies at the beginning, as a multiple of what each may turn in
STATES_AT_ONCE = 500
MOST_INCIDENTS = 200  # for each reason
WALLS = 64  # no more than these
BALL, CUBE, CAPSULE = Sphere(LENGTH / 2), Box(3 * [LENGTH]), Capsule(LENGTH / 4, LENGTH / 2)
CROWDS: dict[str, tuple[Shape, ...]] = {
    "spheres": (BALL,),
    "spheres and cubes": (BALL, CUBE),
    "cubes": (CUBE,),
    "spheres and capsules": (BALL, CAPSULE),
    "capsules": (CAPSULE,),
    "cubes and capsules": (CUBE, CAPSULE),
    "ellipsoids": (BALL,),
}
COUNTED = ("computations", "collisions", "several", "missed", "false")
MEASURED = ("angles", "depths", "positions", "patch_depths")
# What GJK and EPA see in place of these.
INSTEAD: dict[str, tuple[Shape, ...]] = {"ellipsoids": (Ellipsoid(3 * [LENGTH / 2]),)}


class Limits(NamedTuple):
    """Beyond which deviations are incidents.

    Attributes
    ----------
    angle : float
        Of normals, in degrees.
    depth, position : float
        In metres; a body is 6 long.
    """

    angle: float = 1e-6
    depth: float = 1e-9
    position: float = 1e-6


@dataclass(frozen=True, eq=False)
class BruteForceReport:
    """How both detections compare.

    Attributes
    ----------
    kinds : str
        Which bodies.
    computations : int
        Pairs near enough to be looked at, of bodies and of bodies and walls.
    collisions : int
        Pairs that touch, as closed forms see it.
    several : int
        Of these, those that touch at several points.
    missed, false : int
        Pairs that only closed forms see touch, and that only GJK and EPA do.
    angles : ndarray, (k,)
        Between both normals in degrees, of pairs that touch at a single point.
    depths : ndarray, (k,)
        Differences of depths in metres, of the same pairs.
    positions : ndarray, (k,)
        Between both points in metres, of the same pairs.
    patch_depths : ndarray, (l,)
        Differences of largest depths in metres, of pairs that touch at several points.
    incidents : tuple of Incident
        Deviations beyond the limits, the first 200 for each reason, the largest of each first.
    """

    kinds: str
    computations: int
    collisions: int
    several: int
    missed: int
    false: int
    angles: Floats
    depths: Floats
    positions: Floats
    patch_depths: Floats
    incidents: tuple[Incident, ...]


def brute_force(
    kinds: str,
    n: int = 150,
    steps: int = 1000,
    seed: int = 0,
    *,
    limits: Limits | None = None,
    progress: Any = False,
) -> BruteForceReport:
    """Let bodies fly and collide in a box of six planes, and find all contacts of every step twice.

    Closed forms decide how the bodies go on. GJK and EPA look at the same bodies, bit by bit.

    Parameters
    ----------
    kinds : str
        "spheres", "spheres and cubes", "cubes", "spheres and capsules", "capsules", "cubes and capsules" or
        "ellipsoids": these are as round as spheres, which closed forms see in their place.
    n : int
        How many bodies.
    steps : int
        A body moves by about a percent of its length in a step.
    seed : int
        Of turns and velocities.
    limits : Limits, optional
        Beyond which deviations are incidents.
    progress : bool or callable
        Whether a bar shows how far this is, or a function of that fraction.

    Returns
    -------
    BruteForceReport

    References
    ----------
    T. Leemann, Effiziente Kollisionserkennung für konvexe Körper in parallelen Simulationen, 2017, section 4.1.2.

    Examples
    --------
    >>> report = brute_force("spheres", n=30, steps=100)
    >>> report.missed, report.false, len(report.incidents)
    (0, 0, 0)
    """
    live = crowd(kinds, n, seed)
    ledger = _Ledger(live, empty_twin(live, "iterative", INSTEAD.get(kinds)), limits or Limits())
    tell = reporter(progress)
    for done in range(1, steps + 1):
        ledger.look()
        if done % STATES_AT_ONCE == 0 or done == steps:
            ledger.compare()
            if tell is not None:
                tell(done / steps)
    return ledger.report(kinds)


def crowd(kinds: str, n: int = 150, seed: int = 0) -> Particles:
    """Put bodies into a box of six planes, one kind next to the other, and start them.

    Parameters
    ----------
    kinds : str
    n : int
    seed : int

    Returns
    -------
    Particles

    Examples
    --------
    >>> crowd("cubes and capsules", 20)
    Particles(20 of 2 kinds, 6 walls, time=0 s)
    """
    if kinds not in CROWDS:
        raise ValueError(f"kinds must be one of {', '.join(CROWDS)}, but it is {kinds!r}.")
    if n < 1:
        raise ValueError(f"n must be 1 or more, but it is {n!r}.")
    rng, drawn = np.random.default_rng(seed), CROWDS[kinds]
    cell = ROOM * max(2.0 * shape.ball[1] for shape in drawn)
    across = int(np.ceil(n ** (1.0 / 3.0) - 1e-9))
    particles = Particles(STEP, (0.0, 0.0, 0.0), Elastic(), threads=1)
    for axis, name in enumerate("xyz"):
        particles.add_wall(f"low {name}", HalfSpace(np.eye(3)[axis], 0.0))
        particles.add_wall(f"high {name}", HalfSpace(-np.eye(3)[axis], -across * cell))
    turns = rng.normal(size=(n, 4))
    corners = np.stack(np.unravel_index(np.arange(n), 3 * (across,)), axis=1)
    places = poses.from_wxyz(turns / np.linalg.norm(turns, axis=1, keepdims=True), cell * (corners + 0.5))
    moving = rng.normal(size=(n, 6)) * np.repeat([SPEED, SPIN], 3)
    for k, shape in enumerate(drawn):
        particles.add(shape, places[k :: len(drawn)], moving[k :: len(drawn)])
    return particles


class _Pairs(NamedTuple):
    """Pairs that touch in several states, in order: at how many points, how deep at most, and where first."""

    keys: Integers
    counts: Integers
    deepest: Floats
    normals: Floats
    points: Floats

    @classmethod
    def of(cls, states: list[ParticleContacts]) -> _Pairs:
        every = np.concatenate([_keys(k, found.ids) for k, found in enumerate(states)])
        depths, normals, points = (
            np.concatenate([getattr(found, name) for found in states]) for name in ("depths", "normals", "points")
        )
        keys, first, counts = np.unique(every, return_index=True, return_counts=True)
        deepest = np.maximum.reduceat(depths, first) if len(keys) else depths
        return cls(keys, counts, deepest, normals[first], points[first])

    def at(self, which: NDArray[Any]) -> _Pairs:
        return _Pairs(*(column[which] for column in self))


def _keys(state: int, ids: Integers) -> Integers:
    keys: Integers = (state << 42) + ((ids[:, 0] + WALLS) << 21) + ids[:, 1]
    return keys


def _pair_of(key: int) -> tuple[int, int, int]:
    low = (1 << 21) - 1
    return key >> 42, (key >> 21 & low) - WALLS, key & low


@dataclass
class _Ledger:
    """Bodies, their twins, and all that was found of them."""

    live: Particles
    twin: Particles
    limits: Limits
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    deviations: dict[str, list[Floats]] = field(default_factory=lambda: {name: [] for name in MEASURED})
    incidents: list[Incident] = field(default_factory=list)
    states: list[tuple[float, Floats]] = field(default_factory=list)
    hybrid: list[ParticleContacts] = field(default_factory=list)
    iterative: list[ParticleContacts] = field(default_factory=list)

    def look(self) -> None:
        """Find the contacts of the present state by both detections, and go on by a step."""
        records = self.live._records()
        self.states.append((self.live.time, records))
        freeze_into(self.twin, records)
        self.counts["computations"] += self.twin.work.pairs
        self.live.step()
        self.hybrid.append(self.live.contacts)
        self.iterative.append(self.twin.contacts)

    def compare(self) -> None:
        """Compare what was found since the last time."""
        one, other = _Pairs.of(self.hybrid), _Pairs.of(self.iterative)
        missed, false = one.at(~np.isin(one.keys, other.keys)), other.at(~np.isin(other.keys, one.keys))
        for name, many in (
            ("collisions", one),
            ("several", one.at(one.counts > 1)),
            ("missed", missed),
            ("false", false),
        ):
            self.counts[name] += len(many.keys)
        both, here, there = np.intersect1d(one.keys, other.keys, assume_unique=True, return_indices=True)
        a, b = one.at(here), other.at(there)
        is_single = (a.counts == 1) & (b.counts == 1)
        angles = _degrees(a.normals, b.normals)[is_single]
        depths = np.abs(a.deepest - b.deepest)
        positions = np.linalg.norm(a.points - b.points, axis=1)[is_single]
        for name, values in zip(MEASURED, (angles, depths[is_single], positions, depths[~is_single]), strict=True):
            self.deviations[name].append(values)
        self.keep("missed", missed.keys, missed.deepest, -1.0)
        self.keep("false", false.keys, false.deepest, -1.0)
        self.keep("points", both, np.abs(a.counts - b.counts).astype(np.float64), 0.0)
        self.keep("angle", both[is_single], angles, self.limits.angle)
        self.keep("depth", both, depths, self.limits.depth)
        self.keep("position", both[is_single], positions, self.limits.position)
        self.states, self.hybrid, self.iterative = [], [], []

    def keep(self, reason: str, keys: Integers, deviations: Floats, limit: float) -> None:
        room = MOST_INCIDENTS - sum(incident.reason == reason for incident in self.incidents)
        for k in np.flatnonzero(deviations > limit)[:room]:
            state, a, b = _pair_of(int(keys[k]))
            rooms = (self.live, self.twin)
            self.incidents.append(incident_of(reason, float(deviations[k]), rooms, (a, b), self.states[state]))

    def report(self, kinds: str) -> BruteForceReport:
        ranked = sorted(self.incidents, key=lambda one: (one.reason, -one.deviation))
        counts = {name: self.counts[name] for name in COUNTED}
        measured = {name: np.concatenate(self.deviations[name]) for name in MEASURED}
        return BruteForceReport(kinds=kinds, incidents=tuple(ranked), **counts, **measured)  # type: ignore[arg-type]


def _degrees(u: Floats, v: Floats) -> Floats:
    found: Floats = np.degrees(np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.sum(u * v, axis=1)))
    return found
