"""How bodies of a world resist: mass, centre of mass and inertia from what the user gives."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, poses
from ..shapes import Shape
from .materials import LARGEST, SMALLEST, as_vector, checked_number

__all__ = ["Mass", "checked_inertia", "mass_from", "mass_of"]

Floats = NDArray[np.float64]


class Mass(NamedTuple):
    """Mass in kg, centre of mass (3,) and inertia about it (3, 3), in the frame of the shape."""

    mass: float
    centre: Floats
    inertia: Floats


def mass_of(
    shape: Shape, density: float | None = 1000.0, mass: float | None = None, inertia: ArrayLike | None = None
) -> Mass:
    """Find the mass of a shape.

    Parameters
    ----------
    shape : Shape
        Parts of a compound that overlap count twice where they do.
    density : float
        In kg/m^3.
    mass : float, optional
        In kg, instead of a density.
    inertia : array_like, (3, 3) or (3,), optional
        About the centre of mass, in the frame of the shape; three numbers are the diagonal. With it, shapes that have
        no inside of their own can be used as well: their centre of mass is then the origin of their frame.

    Returns
    -------
    Mass

    Raises
    ------
    ValueError
        If a mass cannot be told: of meshes, height fields, point clouds, half-spaces and flat hulls.

    Examples
    --------
    >>> found = mass_of(Sphere(0.5), mass=2.0)
    >>> found.inertia.diagonal().round(12)
    array([0.2, 0.2, 0.2])
    """
    unit = _core.mass_of(shape, 1.0)
    if mass is None and unit is not None:
        mass = checked_number(density, "density", above=True) * unit[0]
    if mass is None or (unit is None and inertia is None):
        raise ValueError(
            f"{type(shape).__name__} has no inside that a mass could be told from: give mass and inertia, "
            "or motion='fixed' or 'kinematic'."
        )
    kilograms = checked_number(mass, "mass", above=True)
    centre = np.zeros(3) if unit is None else unit[1]
    if inertia is None:
        assert unit is not None
        inertia = kilograms / unit[0] * unit[2]
    return Mass(kilograms, centre, checked_inertia(inertia))


def mass_from(numbers: Any) -> Mass:
    """Check a mass that was read.

    Parameters
    ----------
    numbers : sequence
        Mass, centre and inertia.

    Returns
    -------
    Mass

    Examples
    --------
    >>> mass_from([1.0, [0.0, 0.0, 0.0], np.eye(3)]).mass
    1.0
    """
    mass, centre, inertia = numbers
    return Mass(checked_number(mass, "mass", above=True), as_vector(centre, "centre"), checked_inertia(inertia))


def checked_inertia(value: Any) -> Floats:
    """Give an inertia that a body can have as a (3, 3) array.

    Parameters
    ----------
    value : array_like, (3, 3) or (3,)

    Returns
    -------
    ndarray, (3, 3)

    Examples
    --------
    >>> checked_inertia([1.0, 2.0, 2.0])[0, 0]
    np.float64(1.0)
    """
    tensor = poses.as_floats(value, "inertia")
    if tensor.shape == (3,):
        tensor = np.diag(tensor)
    if tensor.shape != (3, 3):
        raise ValueError(f"inertia must have shape (3, 3) or (3,), but it has {tensor.shape}.")
    if not np.isfinite(tensor).all() or not np.allclose(tensor, tensor.T, rtol=1e-9, atol=1e-9 * np.abs(tensor).max()):
        raise ValueError(f"inertia must be finite and symmetric, but it is {tensor.tolist()}.")
    values = np.linalg.eigvalsh(tensor)
    if values[0] < SMALLEST or values[2] > LARGEST or values[0] + values[1] < values[2] * (1.0 - 1e-6):
        raise ValueError(
            "no body has this inertia: its principal moments must be positive, and two together not less than the "
            f"third, but they are {values.tolist()}."
        )
    return np.ascontiguousarray(0.5 * (tensor + tensor.T))
