"""Trucks to park: one that rolls along arcs, and one that motors drive in a world of rigid bodies."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .poses import Poses, from_axis_angle, from_translation
from .queries import collides, within
from .shapes import Box, Compound, HalfSpace
from .simulation.ackermann import Ackermann
from .simulation.materials import Hard, Material
from .simulation.models import monster_truck
from .simulation.world import World

__all__ = ["DrivenTruck", "RollingTruck", "Truck", "TruckHull"]

Floats = NDArray[np.float64]

PERIOD = 0.1  # seconds of a step of the environment
SUBSTEPS = 5  # of it: contacts are looked for after each
ACCELERATION = 2.0  # m/s²
STEP = 2e-3  # seconds of a step of the world
ROAD = Material(friction=0.8)


class Truck(Protocol):
    """What the environment needs of a truck."""

    speed: float
    steering: float

    @property
    def state(self) -> Floats:
        """Where it is, seen from above: x, y and yaw."""
        ...

    @property
    def scanner(self) -> Poses:
        """Where its scanner is: `world_from_scanner`."""
        ...

    def drive(self, speed: float, steering: float) -> bool:
        """Follow a command for a step as far as rates allow, and tell whether anything was touched."""
        ...


class TruckHull:
    """The smallest upright box around a truck, and what of the truck does not change.

    Attributes
    ----------
    wheels : Ackermann
    corners : ndarray, (4, 2)
        Seen from above, counterclockwise from the rear on the right.
    scanner : ndarray, (4, 4)
        Where the scanner sits, in the frame of the truck.

    Examples
    --------
    >>> hull = TruckHull()
    >>> hull.touches(np.array([[0.0, 0.0, 0.0]]), Box([0.1, 0.1, 0.1]).at([0.35, 0.0, 0.1]))
    True
    """

    def __init__(self) -> None:
        model = monster_truck()
        assert isinstance(model.drive, Ackermann)
        self.wheels = model.drive
        mount, (low, high) = model.mount("scanner"), model.bounds
        self.scanner = model.body(mount.body).pose @ mount.pose
        self.corners = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
        self._box, self._middle = Box(high - low), from_translation(0.5 * (low + high))

    def touches(self, states: Floats, obstacles: Any, margin: float = 0.0) -> bool:
        """Tell whether the box comes as near to obstacles as a margin at any of the states (n, 3)."""
        placed = self._box.at(on_the_ground(states) @ self._middle)
        return bool(np.any(within(placed, obstacles, margin) if margin > 0.0 else collides(placed, obstacles)))


class RollingTruck:
    """A truck that moves as its wheels roll, and has the contacts of its hull.

    Parameters
    ----------
    hull : TruckHull
    obstacles : Compound
    state : ndarray, (3,)

    Examples
    --------
    >>> truck = RollingTruck(TruckHull(), Compound([Box([1, 1, 1]).at([5, 0, 0])]), np.zeros(3))
    >>> truck.drive(0.1, 0.0), truck.speed
    (False, 0.1)
    """

    def __init__(self, hull: TruckHull, obstacles: Compound, state: Floats) -> None:
        self._hull, self._obstacles = hull, obstacles
        self.state, self.speed, self.steering = state, 0.0, 0.0

    @property
    def scanner(self) -> Poses:
        """Where its scanner is."""
        return on_the_ground(self.state) @ self._hull.scanner

    def drive(self, speed: float, steering: float) -> bool:
        """Follow a command for a step."""
        speeds, angles = np.empty(SUBSTEPS), np.empty(SUBSTEPS)
        for k in range(SUBSTEPS):
            self.speed, self.steering = approached(self._hull.wheels, self.speed, self.steering, speed, steering)
            speeds[k], angles[k] = self.speed, self.steering
        # Each arc by itself, then one after the other.
        arcs = self._hull.wheels.advance(np.zeros(3), speeds, angles, PERIOD / SUBSTEPS)
        yaw = self.state[2] + np.cumsum(arcs[:, 2])
        moves = np.exp(1j * (yaw - arcs[:, 2])) * (arcs[:, 0] + 1j * arcs[:, 1])
        place = self.state[0] + 1j * self.state[1] + np.cumsum(moves)
        states = np.column_stack([place.real, place.imag, yaw])
        self.state = states[-1]
        return self._hull.touches(states, self._obstacles)


class DrivenTruck:
    """A truck of rigid bodies on wheels that motors turn, which slips, tilts and pushes.

    Parameters
    ----------
    hull : TruckHull
    obstacles : Compound
    state : ndarray, (3,)

    Examples
    --------
    >>> truck = DrivenTruck(TruckHull(), Compound([Box([1, 1, 1]).at([5, 0, 0])]), np.zeros(3))
    >>> truck.drive(1.0, 0.0), round(truck.speed, 1)
    (False, 0.2)
    """

    def __init__(self, hull: TruckHull, obstacles: Compound, state: Floats) -> None:
        self._hull, self._world = hull, World(step=STEP, contact=Hard(), threads=1)
        self._world.add("road", HalfSpace([0.0, 0.0, 1.0], 0.0), motion="fixed", material=ROAD)
        self._world.add("obstacles", obstacles, motion="fixed")
        self._handle = monster_truck().add_to(self._world, "truck", on_the_ground(state))
        self._wanted = self.speed = self.steering = 0.0

    @property
    def state(self) -> Floats:
        """Where it is, seen from above."""
        return self._handle.state

    @property
    def scanner(self) -> Poses:
        """Where its scanner is."""
        return self._handle.mount("scanner")

    def drive(self, speed: float, steering: float) -> bool:
        """Follow a command for a step."""
        has_touched = False
        for _ in range(SUBSTEPS):
            self._wanted, self.steering = approached(self._hull.wheels, self._wanted, self.steering, speed, steering)
            self._handle.command(self._wanted, self.steering)
            self._world.step(round(PERIOD / SUBSTEPS / STEP))
            has_touched = has_touched or bool(self._world.touching("obstacles"))
        self.speed = float(self._handle.twist[0])
        return has_touched


def approached(
    wheels: Ackermann, speed: float, steering: float, wanted_speed: float, wanted_steering: float
) -> tuple[float, float]:
    """Change speed and steering towards what is wanted for a substep, no faster than they can.

    Parameters
    ----------
    wheels : Ackermann
    speed, steering : float
        At present.
    wanted_speed, wanted_steering : float

    Returns
    -------
    speed, steering : float

    Examples
    --------
    >>> approached(TruckHull().wheels, 0.0, 0.0, 1.0, 0.01)
    (0.04, 0.01)
    """
    span = PERIOD / SUBSTEPS
    change = ACCELERATION * span
    faster = speed + min(max(wanted_speed - speed, -change), change)
    fast, angle = wheels.limited(faster, wanted_steering, before=steering, duration=span)
    return float(fast), float(angle)


def on_the_ground(states: Floats) -> Poses:
    """Give poses of what stands at x, y and yaw.

    Parameters
    ----------
    states : ndarray, (..., 3)

    Returns
    -------
    ndarray, (..., 4, 4)

    Examples
    --------
    >>> on_the_ground(np.array([1.0, 2.0, 0.5]))[:3, 3]
    array([1., 2., 0.])
    """
    return from_axis_angle([0.0, 0.0, 1.0], states[..., 2], states * [1.0, 1.0, 0.0])
