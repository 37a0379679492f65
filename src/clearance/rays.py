"""Rays against shapes and scenes: where they hit first, and what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from operator import index as as_index
from typing import Any, Protocol, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._core import Work
from .poses import as_floats, as_poses
from .queries import Floats, _thread_count
from .scene import Scene
from .shapes import Placed, PlacedBatch, Shape

__all__ = ["Hits", "RayTarget", "raycast"]

Integers: TypeAlias = NDArray[np.int32]


class HasRayTarget(Protocol):
    """Anything that rays may be cast at because it knows its bodies, as a simulated world does."""

    def ray_target(self) -> RayTarget: ...


Target: TypeAlias = "Shape | Placed | Scene | RayTarget | HasRayTarget | Iterable[Shape | Placed]"


@dataclass(frozen=True, eq=False, repr=False)
class Hits:
    """What rays hit, field by field; `hits[k]` narrows all of them. Those of a single ray are numbers and points.

    Attributes
    ----------
    distance : float or ndarray, (...)
        In metres, infinite for a miss, zero for a ray that starts inside of a solid.
    point : ndarray, (..., 3)
        In the world; NaN for a miss.
    normal : ndarray, (..., 3)
        Outward unit normal there, of surfaces the one that is turned against the ray, minus the direction for a ray
        that starts inside of a solid; NaN for a miss.
    index : int or ndarray of int32, (...)
        The part of a compound, the body of a scene, the item of a list; -1 for a miss.
    feature : int or ndarray of int32, (...)
        The triangle of a mesh or height field, the ball of a cloud; -1 otherwise.
    work : Work
        What all of them took: nodes of trees, triangles and other parts looked at.
    """

    distance: Any
    point: Floats
    normal: Floats
    index: Any
    feature: Any
    work: Work

    @property
    def is_hit(self) -> Any:
        """Whether each ray has hit something: bool or ndarray of bool, (...)."""
        return self.index >= 0

    def __len__(self) -> int:
        return len(self.distance)

    def __getitem__(self, index: Any) -> Hits:
        narrowed = {name: getattr(self, name)[index] for name in self.__dataclass_fields__ if name != "work"}
        return Hits(**narrowed, work=self.work)

    def __repr__(self) -> str:
        if np.ndim(self.distance) == 0:
            return f"Hits(distance={self.distance!r}, index={self.index!r})"
        return f"Hits(shape={self.distance.shape}, hits={int(np.count_nonzero(self.is_hit))})"


class RayTarget:
    """Many bodies where they stand, made ready for rays.

    Parameters
    ----------
    shapes : sequence of Shape
    poses : array_like, (n, 4, 4), optional
        `world_from_body` for each of them; the identity unless given.
    names : sequence of str, optional
        For `ignore`, one for each shape.

    Examples
    --------
    >>> target = RayTarget([Sphere(1.0), Box([1.0, 1.0, 1.0])], [np.eye(4), poses.from_translation([5.0, 0.0, 0.0])])
    >>> hits = target.cast([[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]], [1.0, 0.0, 0.0])
    >>> hits.distance.tolist(), hits.index.tolist()
    ([2.0, 1.5], [0, 1])
    """

    def __init__(
        self, shapes: Sequence[Shape], poses: ArrayLike | None = None, names: Sequence[str] | None = None
    ) -> None:
        shapes = list(shapes)
        for k, shape in enumerate(shapes):
            if not isinstance(shape, Shape):
                raise TypeError(f"shapes[{k}] must be a shape, but it is {shape!r}.")
        self._names = list(names) if names is not None else None
        if self._names is not None and len(self._names) != len(shapes):
            raise ValueError(f"names must be one for each of {len(shapes)} shapes, but there are {len(self._names)}.")
        self._by_part = False
        self._shapes, self._poses = shapes, _matrices(poses, len(shapes))
        self._target = _core.RayTarget(shapes, self._poses)

    @property
    def names(self) -> list[str] | None:
        """Names of the bodies, where they have any."""
        return None if self._names is None else list(self._names)

    @property
    def shapes(self) -> list[Shape]:
        """Shapes of the bodies, each in its own frame."""
        return list(self._shapes)

    @property
    def poses(self) -> Floats:
        """Where the bodies are: `world_from_body`, (n, 4, 4)."""
        return self._poses.copy()

    def __len__(self) -> int:
        return len(self._shapes)

    def move(self, poses: ArrayLike) -> None:
        """Move all bodies; the trees over them are adjusted, or built anew where that would make them poor.

        Parameters
        ----------
        poses : array_like, (n, 4, 4)
            `world_from_body` for each of them.
        """
        matrices = _matrices(poses, len(self))
        self._target.move(matrices)
        self._poses = matrices

    def cast(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_range: ArrayLike = inf,
        *,
        any_hit: bool = False,
        ignore: Iterable[str | int] = (),
        hint: Hits | None = None,
        threads: int | None = None,
    ) -> Hits:
        """Cast rays; see `raycast`."""
        rays = _Rays(origins, directions, max_range)
        hints = (None, None) if hint is None else _hint_columns(hint, rays.dims)
        count = rays.count
        distance, point, normal = np.empty(count), np.empty((count, 3)), np.empty((count, 3))
        index, feature = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
        first_bad, work = self._target.cast(
            rays.origins,
            rays.directions,
            rays.ranges,
            self._by_part,
            bool(any_hit),
            self._numbers(ignore),
            *hints,
            _thread_count(threads),
            distance,
            point,
            normal,
            index,
            feature,
        )
        if first_bad < count:
            rays.refuse(first_bad)
        if rays.dims == ():
            return Hits(float(distance[0]), point[0], normal[0], int(index[0]), int(feature[0]), work)
        dims = rays.dims
        return Hits(
            distance.reshape(dims),
            point.reshape((*dims, 3)),
            normal.reshape((*dims, 3)),
            index.reshape(dims),
            feature.reshape(dims),
            work,
        )

    def _numbers(self, ignore: Iterable[str | int]) -> list[int]:
        """Numbers of bodies that are named, or given by number."""
        numbers = []
        for item in [ignore] if isinstance(ignore, str) else ignore:
            if isinstance(item, str):
                if self._names is None or item not in self._names:
                    raise KeyError(f"ignore names '{item}', but there is no such body.")
                numbers.append(self._names.index(item))
                continue
            number = as_index(item)
            if not 0 <= number < len(self):
                raise ValueError(f"ignore refers to body {number}, but there are {len(self)} (from 0).")
            numbers.append(number)
        return numbers

    def __repr__(self) -> str:
        return f"RayTarget({len(self)} bodies)"


def raycast(
    target: Target,
    origins: ArrayLike,
    directions: ArrayLike,
    max_range: ArrayLike = inf,
    *,
    any_hit: bool = False,
    ignore: Iterable[str | int] = (),
    hint: Hits | None = None,
    threads: int | None = None,
) -> Hits:
    """Find what rays hit first.

    Parameters
    ----------
    target : Shape, Placed, Scene, RayTarget, or several shapes
        Or anything with a method `ray_target()` that gives a `RayTarget`. Solids are hit from outside, and a ray that
        starts inside of one hits it at once; meshes and height fields are surfaces that are hit from both sides.
    origins, directions : array_like, (..., 3)
        In the world; they broadcast against each other. Directions may have any length but zero.
    max_range : array_like, (...)
        In metres; what is farther away is not hit.
    any_hit : bool
        Whether something is hit within range is all that matters: the search ends at the first hit that it finds, which
        need not be the nearest.
    ignore : several names or numbers
        Bodies of a scene, or items of a list, that rays pass through.
    hint : Hits, optional
        An earlier answer for rays of the same shape, to start from. It changes no answer.
    threads : int, optional
        All cores unless given. The number of threads changes no answer, bit by bit.

    Returns
    -------
    Hits
        Of things that are equally far away the one with the lowest index, and lowest feature.

    Examples
    --------
    >>> hits = raycast(Sphere(1.0), [-3.0, 0.0, 0.0], [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> hits.distance.tolist(), hits.normal[0].tolist(), hits.is_hit.tolist()
    ([2.0, inf], [-1.0, 0.0, 0.0], [True, False])
    """
    return _target_of(target).cast(
        origins, directions, max_range, any_hit=any_hit, ignore=ignore, hint=hint, threads=threads
    )


class _Rays:
    """Rays that have been broadcast: one row each, or one row that serves all of them."""

    def __init__(self, origins: ArrayLike, directions: ArrayLike, max_range: ArrayLike) -> None:
        starts, ways = _points(origins, "origins"), _points(directions, "directions")
        ranges = as_floats(max_range, "max_range")
        lead = {"origins": starts.shape[:-1], "directions": ways.shape[:-1], "max_range": ranges.shape}
        try:
            self.dims = np.broadcast_shapes(*lead.values())
        except ValueError as error:
            listed = ", ".join(f"{name} {shape}" for name, shape in lead.items())
            raise ValueError(f"rays must broadcast against each other, but they are: {listed}.") from error
        self.count = int(np.prod(self.dims))
        self.origins = self._rows(starts, (3,))
        self.directions = self._rows(ways, (3,))
        self.ranges = self._rows(ranges, ())

    def _rows(self, array: Floats, tail: tuple[int, ...]) -> Floats:
        lead = array.shape[: array.ndim - len(tail)]
        if lead != self.dims and int(np.prod(lead)) != 1:
            array = np.ascontiguousarray(np.broadcast_to(array, self.dims + tail))
        return array.reshape((-1, *tail))

    def refuse(self, row: int) -> None:
        """Say what is wrong with a ray."""
        origin, direction, reach = (
            column[row if len(column) == self.count else 0] for column in (self.origins, self.directions, self.ranges)
        )
        where = "" if self.dims == () else f" of ray {tuple(int(k) for k in np.unravel_index(row, self.dims))}"
        if not (np.abs(origin) <= 1e30).all():
            raise ValueError(f"origins must be finite and below 1e30, but that{where} is {origin.tolist()}.")
        if not np.isfinite(direction).all() or not direction.any():
            raise ValueError(f"directions must be finite and not zero, but that{where} is {direction.tolist()}.")
        raise ValueError(f"max_range must be zero or positive, but that{where} is {float(reach)}.")


def _points(value: ArrayLike, name: str) -> Floats:
    array = as_floats(value, name)
    if array.ndim == 0 or array.shape[-1] != 3:
        raise ValueError(f"{name} must have shape (..., 3), but it has {array.shape}.")
    return array


def _hint_columns(hint: Hits, dims: tuple[int, ...]) -> tuple[Integers, Integers]:
    if not isinstance(hint, Hits):
        raise TypeError(f"hint must be earlier Hits or None, but it is {hint!r}.")
    columns = [np.asarray(column, dtype=np.int32) for column in (hint.index, hint.feature)]
    if columns[0].shape != dims:
        raise ValueError(f"hint must be of rays of the same shape, {dims}, but it has {columns[0].shape}.")
    index, feature = (np.ascontiguousarray(column).reshape(-1) for column in columns)
    return index, feature


def _matrices(poses: ArrayLike | None, count: int) -> Floats:
    if poses is None:
        return np.tile(np.eye(4), (count, 1, 1))
    if count == 0 and np.size(poses) == 0:
        return np.empty((0, 4, 4))
    matrices = as_poses(poses).copy()
    if matrices.shape != (count, 4, 4):
        raise ValueError(f"poses must have shape ({count}, 4, 4), one for each shape, but it has {matrices.shape}.")
    return matrices


# ---- What rays are cast at. ------------------------------------------------------------------------------------------

_of_scenes: WeakKeyDictionary[Scene, tuple[int, RayTarget, list[Shape]]] = WeakKeyDictionary()


def _target_of(target: Target) -> RayTarget:
    if isinstance(target, RayTarget):
        return target
    if isinstance(target, Scene):
        return _target_of_scene(target)
    if isinstance(target, Shape | Placed):
        made = _target_of_items([target])
        made._by_part = True
        return made
    if hasattr(target, "ray_target"):
        return target.ray_target()
    if isinstance(target, Iterable) and not isinstance(target, str | bytes | np.ndarray):
        return _target_of_items(list(target))
    raise TypeError(f"target must be a shape, a placed shape, a scene or several shapes, but it is {target!r}.")


def _target_of_items(items: list[Shape | Placed]) -> RayTarget:
    for k, item in enumerate(items):
        if not isinstance(item, Shape | Placed):
            what = "a placed batch; place one at a time" if isinstance(item, PlacedBatch) else repr(item)
            raise TypeError(f"target[{k}] must be a shape or a shape at one pose, but it is {what}.")
    shapes = [item.shape if isinstance(item, Placed) else item for item in items]
    poses = [item.pose if isinstance(item, Placed) else np.eye(4) for item in items]
    return RayTarget(shapes, np.array(poses).reshape(-1, 4, 4))


def _target_of_scene(scene: Scene) -> RayTarget:
    """Made once, and adjusted or made again when the scene has changed."""
    revision, kept = scene._revision, _of_scenes.get(scene)
    if kept is not None and kept[0] == revision:
        return kept[1]
    names = scene.names
    shapes = [scene.shape(name) for name in names]
    poses = np.array([scene.pose(name) for name in names]).reshape(-1, 4, 4)
    if kept is not None and len(kept[2]) == len(shapes) and all(a is b for a, b in zip(kept[2], shapes, strict=True)):
        target = kept[1]
        target.move(poses)
        target._names = names
    else:
        target = RayTarget(shapes, poses, names)
    _of_scenes[scene] = (revision, target, shapes)
    return target
