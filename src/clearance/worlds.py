"""What surrounds a robot: a scene, or shapes."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .links import as_shape
from .scene import Scene
from .shapes import Placed, Shape

__all__ = ["World", "is_older", "key_of", "obstacles_of", "settled"]

World: TypeAlias = (
    Scene | Shape | Placed | Iterable[Shape | Placed] | Mapping[str, Shape | Placed | Iterable[Shape | Placed]] | None
)
Obstacle: TypeAlias = tuple[str, Shape, NDArray[np.float64]]


def obstacles_of(world: World) -> list[Obstacle]:
    """List what stands around: names, shapes and poses.

    Parameters
    ----------
    world : Scene, Shape, Placed, iterable or mapping of them, or None
        Bodies of a list are called world_0, world_1 and so on.

    Returns
    -------
    list of (str, Shape, ndarray)

    Examples
    --------
    >>> [name for name, shape, pose in obstacles_of([Sphere(1.0), Box([1.0, 1.0, 1.0]).at([2.0, 0.0, 0.0])])]
    ['world_0', 'world_1']
    """
    if world is None:
        return []
    if isinstance(world, Scene):
        return [(name, world.shape(name), world.pose(name)) for name in world.names]
    if isinstance(world, Mapping):
        return [obstacle for name, shapes in world.items() for obstacle in _named(name, shapes)]
    if isinstance(world, Shape | Placed):
        return _named("world_0", world)
    if not isinstance(world, Iterable) or isinstance(world, str | bytes):
        raise TypeError(f"world must be a Scene, shapes or None, but it is {world!r}.")
    return [obstacle for k, shape in enumerate(world) for obstacle in _named(f"world_{k}", shape)]


def settled(world: World) -> World:
    """Keep what an iterator gives, so that it can be gone through more than once.

    Parameters
    ----------
    world : Scene, Shape, Placed, iterable or mapping of them, or None

    Returns
    -------
    the same, or a list

    Examples
    --------
    >>> settled(iter([Sphere(1.0)]))
    [Sphere(1.0)]
    """
    return list(world) if isinstance(world, Iterator) else world


def key_of(world: World) -> tuple[Any, ...] | None:
    """Tell worlds apart without looking at their shapes.

    Parameters
    ----------
    world : Scene, Shape, Placed, iterable or mapping of them, or None

    Returns
    -------
    tuple or None
        Equal for the same world in the same state; it keeps shapes alive, but no scene. None if it cannot tell.

    Examples
    --------
    >>> scene = Scene()
    >>> before = key_of(scene)
    >>> scene.add("ball", Sphere(1.0))
    >>> key_of(scene) == before
    False
    """
    if world is None:
        return ()
    if isinstance(world, Scene):
        return (weakref.ref(world), world._revision)
    if isinstance(world, Shape | Placed):
        return (_Same(world),)
    if isinstance(world, list | tuple) and all(isinstance(item, Shape | Placed) for item in world):
        return tuple(_Same(item) for item in world)
    if isinstance(world, Mapping) and all(isinstance(item, Shape | Placed) for item in world.values()):
        return tuple((name, _Same(item)) for name, item in world.items())
    return None


def is_older(one: tuple[Any, ...], key: tuple[Any, ...]) -> bool:
    """Tell whether a key is of the same scene as another, but of an earlier state of it, or of a scene that is gone.

    Parameters
    ----------
    one, key : tuple
        From `key_of`.

    Returns
    -------
    bool

    Examples
    --------
    >>> scene = Scene()
    >>> before = key_of(scene)
    >>> scene.add("ball", Sphere(1.0))
    >>> is_older(before, key_of(scene))
    True
    """
    if not one or not isinstance(one[0], weakref.ref):
        return False
    return one[0]() is None or (one[0] in key[:1] and one != key)


class _Same:
    """Equal only to the same object, which lives as long as this does."""

    def __init__(self, item: Any) -> None:
        self.item = item

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.item is other.item

    def __hash__(self) -> int:
        return id(self.item)


def _named(name: Any, shapes: Any) -> list[Obstacle]:
    if not isinstance(name, str):
        raise TypeError(f"a body of the world has a string for a name, not {name!r}.")
    if isinstance(shapes, Placed):
        return [(name, shapes.shape, shapes.pose)]
    shape = as_shape(shapes)
    return [] if shape is None else [(name, shape, np.eye(4))]
