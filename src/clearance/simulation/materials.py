"""What surfaces are like, and how bodies of a world meet."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from operator import index
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..poses import as_floats

__all__ = ["Elastic", "Hard", "Material", "Soft", "as_vector", "checked_contact", "checked_number", "surface_numbers"]

Floats = NDArray[np.float64]

MOST_ITERATIONS = 10_000
SMALLEST, LARGEST = 1e-30, 1e30  # beyond these, products would vanish or overflow


def checked_number(
    value: Any, name: str, lowest: float = 0.0, highest: float = LARGEST, *, above: bool = False
) -> float:
    """Give a finite number of a range, or an error that names it.

    Parameters
    ----------
    value : float
    name : str
        What to call it.
    lowest, highest : float
    above : bool
        Zero is too low, and so is what is next to it.

    Returns
    -------
    float

    Examples
    --------
    >>> checked_number(2, "step", above=True)
    2.0
    """
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number, but it is {value!r}.") from error
    if isinstance(value, str | bytes) or not isfinite(number) or not lowest <= number <= highest:
        raise ValueError(f"{name} must be a number from {lowest:g} to {highest:g}, but it is {value!r}.")
    if above and number < SMALLEST:
        raise ValueError(f"{name} must be above {SMALLEST:g}, but it is {value!r}.")
    return number


def as_vector(value: ArrayLike, name: str) -> Floats:
    """Give three finite numbers as an array.

    Parameters
    ----------
    value : array_like, (3,)
    name : str
        What to call it in errors.

    Returns
    -------
    ndarray, (3,)

    Examples
    --------
    >>> as_vector([1, 2, 3], "force")
    array([1., 2., 3.])
    """
    vector = as_floats(value, name)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ValueError(f"{name} must be three finite numbers, but it is {value!r}.")
    return np.ascontiguousarray(vector)


@dataclass(frozen=True)
class Material:
    """What the surface of a body is like.

    Where two bodies touch, friction is the root of the product of both, restitution and rolling the larger of both, and
    springs act one after the other.

    Parameters
    ----------
    friction : float
        Coefficient of sliding friction, the same in all directions.
    restitution : float
        0 to 1: the share of the speed of approach that hard bodies part with. Near 1, bodies that tumble with friction
        may gain energy where several points hit at once.
    rolling : float
        In metres: the torque against rolling and spinning is this times the normal force.
    stiffness : float, optional
        Of the surface of the body in soft contacts, in N/m; twice that of the world unless given, so that two of them
        together are as stiff as the world says.
    damping : float, optional
        The same in N s/m.

    Examples
    --------
    >>> Material(friction=0.9, rolling=0.001).restitution
    0.0
    """

    friction: float = 0.5
    restitution: float = 0.0
    rolling: float = 0.0
    stiffness: float | None = None
    damping: float | None = None

    def __post_init__(self) -> None:
        _keep(self, friction=checked_number(self.friction, "friction"))
        _keep(self, restitution=checked_number(self.restitution, "restitution", 0.0, 1.0))
        _keep(self, rolling=checked_number(self.rolling, "rolling"))
        if self.stiffness is not None:
            _keep(self, stiffness=checked_number(self.stiffness, "stiffness", above=True))
        if self.damping is not None:
            _keep(self, damping=checked_number(self.damping, "damping"))


@dataclass(frozen=True)
class Hard:
    """Contacts that do not give way, solved by sequential impulses with the contact manifolds of the last step in mind.

    Parameters
    ----------
    iterations : int
        How often every contact and joint is visited in a step. Tall stacks and long chains need more.

    Examples
    --------
    >>> Hard(iterations=50)
    Hard(iterations=50)
    """

    iterations: int = 20

    def __post_init__(self) -> None:
        _keep(self, iterations=_iterations(self.iterations))


@dataclass(frozen=True)
class Soft:
    """Contacts that give way like a spring and damper, with friction.

    Springs are solved with the implicit rule of Euler, so no stiffness is too large for the step, and contacts take
    energy out but never put any in.

    Parameters
    ----------
    stiffness : float
        Of each point of a contact between two bodies whose materials have none of their own, in N/m.
    damping : float
        The same in N s/m.
    iterations : int
        As of `Hard`.

    Examples
    --------
    >>> Soft(stiffness=2e4).damping
    1000.0
    """

    stiffness: float = 1e5
    damping: float = 1e3
    iterations: int = 20

    def __post_init__(self) -> None:
        _keep(self, stiffness=checked_number(self.stiffness, "stiffness", above=True))
        _keep(self, damping=checked_number(self.damping, "damping"), iterations=_iterations(self.iterations))


@dataclass(frozen=True)
class Elastic:
    """Contacts without friction that keep all energy: each pair that approaches is reflected once in a step.

    Materials do not matter. Reflections know nothing of joints: bodies that are joined lose energy when they hit.

    Examples
    --------
    >>> Elastic()
    Elastic(iterations=20)
    """

    iterations: int = 20

    def __post_init__(self) -> None:
        _keep(self, iterations=_iterations(self.iterations))


def checked_contact(contact: Any) -> Hard | Soft | Elastic:
    """Give a law of contacts, or an error.

    Parameters
    ----------
    contact : Hard, Soft or Elastic

    Returns
    -------
    Hard, Soft or Elastic

    Examples
    --------
    >>> checked_contact(Elastic())
    Elastic(iterations=20)
    """
    if not isinstance(contact, Hard | Soft | Elastic):
        raise TypeError(f"contact must be Hard(), Soft() or Elastic(), but it is {contact!r}.")
    return contact


def surface_numbers(material: Any, contact: Hard | Soft | Elastic) -> Floats:
    """Put what the core needs of a surface into five numbers.

    Parameters
    ----------
    material : Material or None
    contact : Hard, Soft or Elastic
        Springs of materials without any are those of the world.

    Returns
    -------
    ndarray, (5,)
        Friction, restitution, rolling, stiffness, damping.

    Examples
    --------
    >>> surface_numbers(Material(friction=0.3), Soft(stiffness=1e4, damping=10.0))
    array([3.e-01, 0.e+00, 0.e+00, 2.e+04, 2.e+01])
    """
    own = Material() if material is None else material
    if not isinstance(own, Material):
        raise TypeError(f"material must be a Material, but it is {material!r}.")
    soft = contact if isinstance(contact, Soft) else Soft()
    # Two equal springs one after the other give way twice as far as one.
    stiffness = 2.0 * soft.stiffness if own.stiffness is None else own.stiffness
    damping = 2.0 * soft.damping if own.damping is None else own.damping
    return np.array([own.friction, own.restitution, own.rolling, stiffness, damping])


def _iterations(value: Any) -> int:
    try:
        count = index(value)
    except TypeError:
        count = 0
    if isinstance(value, bool) or not 1 <= count <= MOST_ITERATIONS:
        raise ValueError(f"iterations must be a whole number of 1 to {MOST_ITERATIONS}, but it is {value!r}.")
    return count


def _keep(frozen: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(frozen, name, value)
