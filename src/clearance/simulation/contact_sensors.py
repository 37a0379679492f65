"""Sensors that feel contacts, of a whole body or of a region of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..poses import from_translation
from ..queries import distance
from ..shapes import Placed, Shape, SweptPoint

if TYPE_CHECKING:
    from .world import World

__all__ = ["ContactSensor", "Touch"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Touch:
    """What a contact sensor felt in the last step.

    Attributes
    ----------
    is_touched : bool
    force : ndarray, (3,)
        On the body, of all contacts in the region, in newtons along the axes of the world.
    points : ndarray, (k, 3)
        Of these contacts, in the world.
    bodies : list of str
        What touched it, in the order of the world.
    """

    is_touched: bool
    force: Floats
    points: Floats
    bodies: list[str]


@dataclass(frozen=True)
class ContactSensor:
    """A sensor that feels the contacts of a body.

    Parameters
    ----------
    body : str
        Name of the body that it sits on.
    region : Shape or Placed, optional
        In the frame of the body: only contacts in it are felt. All of the body unless given.

    Examples
    --------
    >>> from clearance.simulation import World
    >>> world = World()
    >>> world.add("floor", HalfSpace([0.0, 0.0, 1.0], 0.0), motion="fixed")
    >>> world.add("foot", Box([0.2, 0.1, 0.05]), [0.0, 0.0, 0.025], mass=2.0)
    >>> world.step(100)
    >>> round(float(ContactSensor("foot").read(world).force[2]), 2)
    19.62
    >>> heel = ContactSensor("foot", Box([0.02, 0.2, 0.2]).at([-0.1, 0.0, 0.0])).read(world)
    >>> len(heel.points)
    2
    """

    body: str
    region: Shape | Placed | None = None

    def __post_init__(self) -> None:
        if self.region is not None and not isinstance(self.region, Shape | Placed):
            raise TypeError(f"region must be a shape in the frame of the body, but it is {self.region!r}.")

    def read(self, world: World) -> Touch:
        """Tell what the sensor felt in the last step.

        Parameters
        ----------
        world : World

        Returns
        -------
        Touch
        """
        names = world.names
        pose = world.pose(self.body)
        number, found = names.index(self.body), world.contacts
        is_own = (found.bodies == number).any(axis=1) & found.is_touching
        own = np.flatnonzero(is_own)
        own = own[self._is_inside(pose, found.points[own])]
        sign = np.where(found.bodies[own, 1] == number, 1.0, -1.0)
        others = np.unique(found.bodies[own][found.bodies[own] != number])
        force = (sign[:, None] * found.forces[own]).sum(axis=0)
        return Touch(len(own) > 0, force, found.points[own], [names[other] for other in others])

    def _is_inside(self, pose: Floats, points: Floats) -> NDArray[np.bool_]:
        if self.region is None or not len(points):
            return np.ones(len(points), dtype=bool)
        region = self.region if isinstance(self.region, Placed) else self.region.at(np.eye(4))
        probes = SweptPoint([0.0, 0.0, 0.0], 0.0).at(from_translation(points))
        return np.asarray(distance(probes, region.shape.at(pose @ region.pose)).distance <= 0.0)
