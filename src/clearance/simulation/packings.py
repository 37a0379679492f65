"""Bodies dropped into a box: how densely they lie once they are at rest, and how deep they reach into each other."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import poses
from ..progress import reporter
from ..shapes import Box, Ellipsoid, HalfSpace, Shape, Sphere
from .materials import Hard, Material
from .particle_kinds import Floats
from .particles import Particles
from .twins import by_pairs, contacts_of

__all__ = ["PackingReport", "dropped", "filled_share", "packing", "report_of"]

LENGTH = 1.2  # of edges and diameters, which section 4.2.1 of the thesis gives away
DENSITY = 1000.0
STEP = 1e-2
ROOM = 1.05  # between bodies at the beginning, as a multiple of what each may turn in
QUIET = 1e-6  # kinetic energy of a body that counts as rest, as a share of its weight times its length
CHECKED_EVERY = 50  # steps
LONGEST = 30.0  # seconds
KINDS: dict[str, tuple[Shape, ...]] = {
    "spheres": (Sphere(LENGTH / 2),),
    "ellipsoids": (Ellipsoid(3 * [LENGTH / 2]),),
    "spheres and cubes": (Sphere(LENGTH / 2), Box(3 * [LENGTH])),
    "cubes": (Box(3 * [LENGTH]),),
}


@dataclass(frozen=True, eq=False)
class PackingReport:
    """What bodies in a box are like at rest.

    Attributes
    ----------
    kind : str
        What was dropped.
    particles : Particles
        As they lie.
    is_at_rest : bool
        False if they still moved after 30 s, when their time was over.
    time, wall_seconds : float
        Seconds that passed for them, and for us.
    solid_fraction : float
        Share of the volume that bodies fill where neither walls nor the surface matter: two lengths of a body away from
        the walls and the floor (in small boxes, a quarter of the width and of the height), and below the height that
        80 % of the centres lie under.
    bulk_fraction : float
        The volume of all bodies, by the floor area times twice the mean height of the centres. Loose layers along the
        walls count too.
    pairs : int
        Of bodies that touch.
    several_share : float
        Share of these pairs that touch at several points.
    neighbours : float
        Bodies that touch one, on average.
    depths : ndarray, (pairs,)
        Of each pair where it is deepest, in metres; a body is 1.2 long.
    """

    kind: str
    particles: Particles
    is_at_rest: bool
    time: float
    wall_seconds: float
    solid_fraction: float
    bulk_fraction: float
    pairs: int
    several_share: float
    neighbours: float
    depths: Floats

    @property
    def mean_depth(self) -> float:
        """Of all pairs, in metres."""
        return float(self.depths.mean()) if self.pairs else 0.0


def packing(
    kind: str,
    n: int = 3000,
    seed: int = 0,
    *,
    friction: float = 0.1,
    detection: str = "hybrid",
    progress: Any = False,
) -> PackingReport:
    """Drop bodies from random heights into a box with a square floor, and look at them when they are at rest.

    Bodies are 1.2 m long, turned at random, and do not bounce. They are at rest when their mean kinetic energy, without
    spin, would lift them by no more than a millionth of their length.

    Parameters
    ----------
    kind : {"spheres", "ellipsoids", "spheres and cubes", "cubes"}
        Ellipsoids are as round as spheres, but found by GJK and EPA.
    n : int
    seed : int
        Of places and turns.
    friction : float
        Of bodies and walls.
    detection : {"hybrid", "iterative"}
        As of `Particles`.
    progress : bool or callable
        Whether a bar shows how much of the longest time of 30 s is over, or a function of that fraction.

    Returns
    -------
    PackingReport

    References
    ----------
    T. Leemann, Effiziente Kollisionserkennung für konvexe Körper in parallelen Simulationen, 2017, section 4.2.1.

    Examples
    --------
    >>> report = packing("spheres", 30)
    >>> report.is_at_rest, report.several_share
    (True, 0.0)
    """
    begin = perf_counter()
    particles = dropped(kind, n, seed, friction=friction, detection=detection)
    is_at_rest = _rest(particles, progress)
    return report_of(particles, kind, is_at_rest=is_at_rest, wall_seconds=perf_counter() - begin)


def report_of(particles: Particles, kind: str, *, is_at_rest: bool, wall_seconds: float) -> PackingReport:
    """Measure bodies in the box.

    Parameters
    ----------
    particles : Particles
        As `dropped` gave them, and as they lie now.
    kind : str
    is_at_rest : bool
    wall_seconds : float

    Returns
    -------
    PackingReport

    Examples
    --------
    >>> report_of(dropped("cubes", 20), "cubes", is_at_rest=False, wall_seconds=0.0).pairs
    0
    """
    n = len(particles)
    pairs, points, depths = by_pairs(contacts_of(particles, particles.detection))
    return PackingReport(
        kind=kind,
        particles=particles,
        is_at_rest=is_at_rest,
        time=particles.time,
        wall_seconds=wall_seconds,
        solid_fraction=filled_share(particles, *_inner_region(particles, n)),
        bulk_fraction=_bulk_fraction(particles, n),
        pairs=len(pairs),
        several_share=float(np.mean(points > 1)) if len(pairs) else 0.0,
        neighbours=2.0 * len(pairs) / n,
        depths=depths,
    )


def dropped(kind: str, n: int, seed: int = 0, *, friction: float = 0.1, detection: str = "hybrid") -> Particles:
    """Make the box and the bodies above its floor, at the moment when they begin to fall.

    Parameters
    ----------
    kind : {"spheres", "ellipsoids", "spheres and cubes", "cubes"}
    n : int
    seed : int
    friction : float
    detection : {"hybrid", "iterative"}

    Returns
    -------
    Particles

    Examples
    --------
    >>> dropped("cubes", 20)
    Particles(20 of 1 kinds, 5 walls, time=0 s)
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, but it is {kind!r}.")
    if n < 1:
        raise ValueError(f"n must be 1 or more, but it is {n!r}.")
    rng = np.random.default_rng(seed)
    surface = Material(friction=friction)
    particles = Particles(STEP, contact=Hard(iterations=10), detection=detection)
    side = _side(n)
    for name, axis, sign, offset in (
        ("floor", 2, 1.0, 0.0),
        ("left", 0, 1.0, 0.0),
        ("right", 0, -1.0, -side),
        ("front", 1, 1.0, 0.0),
        ("back", 1, -1.0, -side),
    ):
        particles.add_wall(name, HalfSpace(sign * np.eye(3)[axis], offset), material=surface)
    places = _random_turns(rng, n)
    places[:, :3, 3] = _places(rng, n, side, max(2.0 * shape.ball[1] for shape in KINDS[kind]))
    for k, shape in enumerate(KINDS[kind]):
        particles.add(shape, places[k :: len(KINDS[kind])], density=DENSITY, material=surface)
    return particles


def filled_share(particles: Particles, lower: ArrayLike, upper: ArrayLike, spacing: float = LENGTH / 12) -> float:
    """Measure how much of an upright box particles fill, by a lattice of points.

    Parameters
    ----------
    particles : Particles
        Spheres, ellipsoids and boxes.
    lower, upper : array_like, (3,)
        Corners of the box.
    spacing : float
        Of the points, in metres.

    Returns
    -------
    float

    Examples
    --------
    >>> particles = Particles()
    >>> _ = particles.add(Box([1.0, 1.0, 1.0]), [[0.0, 0.0, 0.0]])
    >>> filled_share(particles, [-1.0, -1.0, -1.0], [1.0, 1.0, 1.0])
    0.125
    """
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    counts = np.maximum(np.round((high - low) / spacing), 1).astype(int)
    axes = [a + (b - a) / count * (np.arange(count) + 0.5) for a, b, count in zip(low, high, counts, strict=True)]
    is_filled = np.zeros(counts, dtype=bool)
    for pose, kind in zip(particles.poses, particles.kinds, strict=True):
        shape = particles.shapes[kind]
        reach = shape.ball[1]
        near = tuple(
            slice(*np.searchsorted(axis, (middle - reach, middle + reach)))
            for axis, middle in zip(axes, pose[:3, 3], strict=True)
        )
        points = np.stack(np.meshgrid(*(a[part] for a, part in zip(axes, near, strict=True)), indexing="ij"), axis=-1)
        is_filled[near] |= _holds(shape, (points - pose[:3, 3]) @ pose[:3, :3])
    return float(is_filled.mean())


def _holds(shape: Shape, points: Floats) -> NDArray[np.bool_]:
    if isinstance(shape, Sphere):
        held = np.sum(points**2, axis=-1) <= shape.radius**2
    elif isinstance(shape, Ellipsoid):
        held = np.sum((points / shape.radii) ** 2, axis=-1) <= 1.0
    elif isinstance(shape, Box):
        held = np.all(np.abs(points) <= 0.5 * np.asarray(shape.size), axis=-1)
    else:
        raise TypeError(f"filled volume is measured of spheres, ellipsoids and boxes, but there is {shape!r}.")
    return np.asarray(held)


def _side(n: int) -> float:
    return LENGTH * max(round(float(n ** (1.0 / 3.0))), 2)


def _places(rng: np.random.Generator, n: int, side: float, room: float) -> Floats:
    """Draw cells of a tall lattice, and a place in each."""
    across = max(int(side // (ROOM * room)), 1)
    cell = side / across
    lattice = (-(-n // across**2), across, across)
    taken = rng.permutation(int(np.prod(lattice)))[:n]
    corners = np.stack(np.unravel_index(taken, lattice), axis=1)[:, ::-1]
    found: Floats = cell * (corners + 0.5) + (cell - room) * (rng.random((n, 3)) - 0.5)
    return found


def _random_turns(rng: np.random.Generator, n: int) -> Floats:
    drawn = rng.normal(size=(n, 4))
    return poses.from_xyzw(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def _rest(particles: Particles, progress: Any) -> bool:
    tell = reporter(progress)
    quiet = QUIET * np.linalg.norm(particles.gravity) * LENGTH
    while particles.time < LONGEST:
        particles.step(CHECKED_EVERY)
        if tell is not None:
            tell(min(particles.time / LONGEST, 1.0))
        if 0.5 * np.mean(np.sum(particles.velocities[:, :3] ** 2, axis=1)) <= quiet:
            return True
    return False


def _inner_region(particles: Particles, n: int) -> tuple[Floats, Floats]:
    side, top = _side(n), float(np.quantile(particles.positions[:, 2], 0.8))
    margin, above_floor = min(2.0 * LENGTH, side / 4), min(2.0 * LENGTH, top / 4)
    return np.array([margin, margin, above_floor]), np.array([side - margin, side - margin, top])


def _bulk_fraction(particles: Particles, n: int) -> float:
    volume = float(particles.masses.sum()) / DENSITY
    return volume / (_side(n) ** 2 * 2.0 * float(particles.positions[:, 2].mean()))
