"""What particles are made of and what they fall among: kinds, walls, the room and its laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, poses
from ..shapes import Shape
from .laws import Laws
from .masses import Mass, mass_of
from .materials import Elastic, Hard, Material, Soft, as_vector, surface_numbers
from .world_bodies import as_pose

__all__ = ["ParticleContacts", "ParticleKind", "ParticleRoom", "ParticleWall", "ParticleWork"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DETECTIONS = ("hybrid", "iterative")


class ParticleKind(NamedTuple):
    """What particles that were added together have in common."""

    shape: Shape
    mass: Mass
    material: Material


class ParticleWall(NamedTuple):
    """Something that stands, and where."""

    shape: Shape
    pose: Floats
    material: Material


class ParticleWork(NamedTuple):
    """What the last step took.

    Attributes
    ----------
    pairs : int
        That may meet before pairs are looked for again.
    contacts : int
        Points at which particles touched each other or walls, or were about to.
    iterations : int
        Of the solver.
    builds : int
        How often pairs were looked for, in all steps.
    """

    pairs: int
    contacts: int
    iterations: int
    builds: int


@dataclass(frozen=True, eq=False)
class ParticleContacts:
    """Where particles touched in the last step.

    Attributes
    ----------
    ids : ndarray of int, (k, 2)
        Numbers of the two particles, the smaller one first. Walls have the numbers -1, -2, ... in the order of their
        names.
    points, normals : ndarray, (k, 3)
        In the world; normals lead from the first to the second.
    depths : ndarray, (k,)
        How far surfaces reached into each other before the step, in metres; negative where they were about to meet.
    forces : ndarray, (k, 3)
        On the second one, in newtons.
    """

    ids: Integers
    points: Floats
    normals: Floats
    depths: Floats
    forces: Floats

    def __len__(self) -> int:
        return len(self.depths)


class ParticleRoom(Laws):
    """The room that particles are in, without them: its laws, kinds and walls."""

    def __init__(
        self,
        step: float,
        gravity: ArrayLike,
        contact: Hard | Soft | Elastic | None,
        lower: ArrayLike | None,
        upper: ArrayLike | None,
        periodic: ArrayLike,
        detection: str,
        threads: int | None,
    ) -> None:
        super().__init__(gravity, step, Hard(iterations=10) if contact is None else contact, threads)
        if detection not in DETECTIONS:
            raise ValueError(f"detection must be one of {', '.join(DETECTIONS)}, but it is {detection!r}.")
        self._detection = detection
        self._periodic = _axes(periodic)
        self._lower, self._upper = _corners(lower, upper, self._periodic)
        self._core = _core.Particles(
            self._gravity,
            self._step,
            self._law,
            self._contact.iterations,
            self._lower,
            self._upper,
            self._periodic,
            detection == "hybrid",
        )
        self._kinds: list[ParticleKind] = []
        self._walls: dict[str, ParticleWall] = {}
        self._next = 0

    @property
    def detection(self) -> str:
        """How contacts are found."""
        return self._detection

    @property
    def threads(self) -> int:
        """How many threads a step may use; 0 means all cores."""
        return self._threads

    @property
    def time(self) -> float:
        """Seconds since the beginning."""
        return self._core.steps * self._step

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Of each kind, in the order of adding."""
        return tuple(kind.shape for kind in self._kinds)

    @property
    def walls(self) -> dict[str, ParticleWall]:
        """What stands, by name, in the order of adding."""
        return dict(self._walls)

    @property
    def work(self) -> ParticleWork:
        """What the last step took."""
        return ParticleWork(*self._core.work())

    def add_wall(
        self, name: str, shape: Shape, pose: ArrayLike | None = None, *, material: Material | None = None
    ) -> None:
        """Add something that stands: a floor, a box, a mesh of a silo.

        Parameters
        ----------
        name : str
        shape : Shape
        pose : pose, optional
            `world_from_wall`; the identity unless given.
        material : Material, optional

        Examples
        --------
        >>> from clearance.simulation import Particles
        >>> particles = Particles()
        >>> particles.add_wall("floor", HalfSpace([0.0, 0.0, 1.0], 0.0))
        >>> list(particles.walls)
        ['floor']
        """
        if not isinstance(name, str) or name in self._walls:
            raise ValueError(f"a wall needs a name of its own, but it is {name!r}.")
        if not isinstance(shape, Shape):
            raise TypeError(f"the shape of wall '{name}' must be a Shape, but it is {shape!r}.")
        own = Material() if material is None else material
        wall = ParticleWall(shape, np.eye(4) if pose is None else as_pose(pose), own)
        self._core.add_wall(shape, wall.pose, surface_numbers(own, self._contact))
        self._walls[name] = wall

    def remove_wall(self, name: str) -> None:
        """Remove a wall: open the gate of a silo, say.

        Parameters
        ----------
        name : str
        """
        if name not in self._walls:
            raise KeyError(f"there is no wall '{name}'; there are {', '.join(self._walls) or 'none'}.")
        self._core.remove_wall(list(self._walls).index(name))
        del self._walls[name]

    def _records(self) -> Floats:
        records = self._core.records(False)
        return records[np.argsort(records[:, 0], kind="stable")]

    @property
    def ids(self) -> Integers:
        """Numbers of the particles that are here, (n,), in order; all arrays stand in this order."""
        return self._records()[:, 0].astype(np.int64)

    @property
    def kinds(self) -> Integers:
        """Places in `shapes`, (n,)."""
        return self._records()[:, 1].astype(np.int64)

    @property
    def poses(self) -> Floats:
        """`world_from_shape`, (n, 4, 4)."""
        order = np.argsort(self._core.records(False)[:, 0], kind="stable")
        result = np.zeros((len(order), 4, 4))
        result[:, :3] = self._core.poses()[order].reshape(-1, 3, 4)
        result[:, 3, 3] = 1.0
        return result

    @property
    def positions(self) -> Floats:
        """Origins of the frames of shapes, (n, 3)."""
        return np.ascontiguousarray(self.poses[:, :3, 3])

    @property
    def turns(self) -> Floats:
        """Orientations as quaternions x, y, z, w, (n, 4)."""
        return np.ascontiguousarray(self._records()[:, [6, 7, 8, 5]])

    @property
    def velocities(self) -> Floats:
        """Of centres of mass in m/s, and angular velocities in rad/s, in the world, (n, 6)."""
        return np.ascontiguousarray(self._records()[:, 9:15])

    @property
    def masses(self) -> Floats:
        """In kg, (n,)."""
        return np.array([kind.mass.mass for kind in self._kinds], dtype=np.float64)[self.kinds]

    def _add_kind(self, kind: ParticleKind, *, is_new: bool = False) -> int:
        for k, known in enumerate(self._kinds):
            if (
                not is_new
                and known.shape is kind.shape
                and known.mass.mass == kind.mass.mass
                and known.material == kind.material
            ):
                return k
        self._core.add_kind(kind.shape, *kind.mass, surface_numbers(kind.material, self._contact))
        self._kinds.append(kind)
        return len(self._kinds) - 1

    def _raise_if_lost(self, lost: int) -> None:
        if lost >= 0:
            raise FloatingPointError(
                f"particle {lost} is driven beyond all bounds in the step from {self.time:g} s. "
                f"Take a shorter step, or see what it was given too much of."
            )


def checked_kind(shape: Shape, density: float, material: Material | None) -> ParticleKind:
    """Tell what particles of a shape are like.

    Parameters
    ----------
    shape : Shape
        Solid and finite: convex, or a compound.
    density : float
        In kg/m^3.
    material : Material or None

    Returns
    -------
    ParticleKind

    Examples
    --------
    >>> round(checked_kind(Sphere(0.5), 1000.0, None).mass.mass, 3)
    523.599
    """
    if not isinstance(shape, Shape):
        raise TypeError(f"the shape of particles must be a Shape, but it is {shape!r}.")
    own = Material() if material is None else material
    if not isinstance(own, Material):
        raise TypeError(f"material must be a Material, but it is {material!r}.")
    return ParticleKind(shape, mass_of(shape, density), own)


def checked_places(where: ArrayLike) -> Floats:
    """Give many poses, from poses or points.

    Parameters
    ----------
    where : array_like, (n, 4, 4) or (n, 3)

    Returns
    -------
    ndarray, (n, 4, 4)

    Examples
    --------
    >>> checked_places([[1.0, 2.0, 3.0]]).shape
    (1, 4, 4)
    """
    given = poses.as_floats(where, "poses")
    if given.ndim == 2 and given.shape[1] == 3:
        given = poses.from_translation(given)
    if given.ndim != 3 or given.shape[1:] != (4, 4):
        raise ValueError(f"poses must have the shape (n, 4, 4) or (n, 3), but it is {given.shape}.")
    return np.ascontiguousarray(given)


def checked_velocities(velocities: ArrayLike | None, count: int) -> Floats:
    """Give velocities and spins.

    Parameters
    ----------
    velocities : array_like, (n, 3) or (n, 6), or None
    count : int

    Returns
    -------
    ndarray, (n, 6)

    Examples
    --------
    >>> checked_velocities(None, 2).shape
    (2, 6)
    """
    if velocities is None:
        return np.zeros((count, 6))
    given = poses.as_floats(velocities, "velocities")
    if given.ndim != 2 or len(given) != count or given.shape[1] not in (3, 6):
        raise ValueError(f"velocities must have the shape ({count}, 3) or ({count}, 6), but it is {given.shape}.")
    if not np.isfinite(given).all():
        raise ValueError("velocities must be finite.")
    return np.ascontiguousarray(np.hstack([given, np.zeros((count, 6 - given.shape[1]))]))


def checked_ids(ids: ArrayLike) -> Integers:
    """Give numbers of particles, in order and each once.

    Parameters
    ----------
    ids : array_like of int

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> checked_ids([3, 1, 3])
    array([1, 3])
    """
    given = np.asarray(ids)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise TypeError(f"ids must be whole numbers, but they are {ids!r}.")
    return np.unique(given.astype(np.int64))


def _axes(periodic: ArrayLike) -> NDArray[np.bool_]:
    given = np.asarray(periodic)
    if given.dtype != bool or given.shape not in ((), (3,)):
        raise ValueError(f"periodic must be True, False or three of them, but it is {periodic!r}.")
    return np.ascontiguousarray(np.broadcast_to(given, 3))


def _corners(lower: ArrayLike | None, upper: ArrayLike | None, periodic: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    if not periodic.any():
        if lower is not None or upper is not None:
            raise ValueError("lower and upper belong to periodic axes; elsewhere walls keep particles in.")
        return np.zeros(3), np.zeros(3)
    if lower is None or upper is None:
        raise ValueError("a periodic room needs its lower and upper corner.")
    low, high = as_vector(lower, "lower"), as_vector(upper, "upper")
    if not (low < high)[periodic].all():
        raise ValueError(f"upper must be above lower, but they are {high.tolist()} and {low.tolist()}.")
    return np.where(periodic, low, 0.0), np.where(periodic, high, 0.0)
