"""A scene of named rigid bodies, and the distances of the pairs that are watched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, poses
from ._core import Nearest, Search
from .queries import Gaps, Work, _fields, _thread_count
from .shapes import Compound, Placed, Shape

__all__ = ["Nearest", "NearestBatch", "PairTable", "Scene", "Search"]

Floats = NDArray[np.float64]


class PairTable:
    """Distances of watched pairs, one row each in the order of watching; columns are read-only arrays.

    Attributes
    ----------
    name_a, name_b : list of str
    distance, lower, upper : ndarray, (rows,)
        Signed distance and its bracket, in metres.
    point_a, point_b, normal : ndarray, (rows, 3)
        Witness points and the unit vector from a to b, in the world.
    feature_a, feature_b : ndarray of int32, (rows,)
        Which parts of the two bodies are closest, or which triangles where these are meshes.
    work : Work
        What this evaluation took: `work.pairs` counts the rows that were computed again.
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: _core.PairTable) -> None:
        self._columns = columns

    @property
    def name_a(self) -> list[str]:
        """Names of the first bodies."""
        return self._columns.name_a

    @property
    def name_b(self) -> list[str]:
        """Names of the second bodies."""
        return self._columns.name_b

    @property
    def distance(self) -> Floats:
        """Signed distances in metres."""
        return self._columns.distance

    @property
    def lower(self) -> Floats:
        """Proved: the true distance is not less."""
        return self._columns.lower

    @property
    def upper(self) -> Floats:
        """Proved: the true distance is not more."""
        return self._columns.upper

    @property
    def point_a(self) -> Floats:
        """Witness points on the first bodies."""
        return self._columns.point_a

    @property
    def point_b(self) -> Floats:
        """Witness points on the second bodies."""
        return self._columns.point_b

    @property
    def normal(self) -> Floats:
        """Unit vectors from the first to the second bodies."""
        return self._columns.normal

    @property
    def feature_a(self) -> NDArray[np.int32]:
        """Closest parts or triangles of the first bodies."""
        return self._columns.feature_a

    @property
    def feature_b(self) -> NDArray[np.int32]:
        """Closest parts or triangles of the second bodies."""
        return self._columns.feature_b

    @property
    def work(self) -> Work:
        """What this evaluation took."""
        return self._columns.work

    def __len__(self) -> int:
        return len(self._columns)

    def to_dict(self) -> dict[str, Any]:
        """Give the columns as a dictionary that `pandas.DataFrame` takes as it is.

        Returns
        -------
        dict
            Vectors are split into `point_a_x`, `point_a_y`, and so on.
        """
        table: dict[str, Any] = {
            name: getattr(self, name) for name in ("name_a", "name_b", "distance", "lower", "upper")
        }
        for name in ("point_a", "point_b", "normal"):
            for k, axis in enumerate("xyz"):
                table[f"{name}_{axis}"] = getattr(self, name)[:, k]
        return table

    def gradient(self, jacobians: Mapping[str, ArrayLike]) -> Floats:
        """Differentiate the distances with respect to joint coordinates.

        Parameters
        ----------
        jacobians : mapping of str to array_like, (6, dof)
            For every moving body the Jacobian of its frame in world axes: three rows for the velocity of the frame's
            origin, three for the angular velocity (what pinocchio calls LOCAL_WORLD_ALIGNED). Bodies that are left
            out do not move.

        Returns
        -------
        ndarray, (rows, dof)
            d(distance)/dq; NaN for pairs that were cut off.

        Examples
        --------
        >>> scene = Scene()
        >>> scene.add("wall", Sphere(1.0))
        >>> scene.add("hand", Sphere(0.1), pose=[3.0, 0.0, 0.0])
        >>> scene.watch("wall", "hand")
        >>> along_x = [[1], [0], [0], [0], [0], [0]]
        >>> scene.distances().gradient({"hand": along_x})
        array([[1.]])
        """
        arrays = {name: np.asarray(jacobian, dtype=np.float64) for name, jacobian in jacobians.items()}
        shapes = {array.shape for array in arrays.values()}
        if len(shapes) != 1 or len(shape := next(iter(shapes))) != 2 or shape[0] != 6:
            raise ValueError(f"jacobians must all have one shape (6, dof), but they have {sorted(shapes)}.")
        still = np.zeros(shape)

        def speed_along_normal(names: Sequence[str], points: Floats, origins: Floats) -> Floats:
            stacked = np.stack([arrays.get(name, still) for name in names]) if names else np.empty((0, *shape))
            levers = np.cross(points - origins, self.normal)
            return np.asarray(
                np.einsum("ri,rij->rj", self.normal, stacked[:, :3]) + np.einsum("ri,rij->rj", levers, stacked[:, 3:])
            )

        columns = self._columns
        return speed_along_normal(self.name_b, self.point_b, columns.origin_b) - speed_along_normal(
            self.name_a, self.point_a, columns.origin_a
        )

    def __str__(self) -> str:
        width_a = max([len("a"), *map(len, self.name_a)])
        width_b = max([len("b"), *map(len, self.name_b)])
        lines = [f"{'a':<{width_a}}  {'b':<{width_b}}  {'distance':>10}  {'lower':>10}  {'upper':>10}"]
        for row in zip(self.name_a, self.name_b, self.distance, self.lower, self.upper, strict=True):
            lines.append(
                f"{row[0]:<{width_a}}  {row[1]:<{width_b}}  " + "  ".join(f"{value:10.6f}" for value in row[2:])
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"PairTable({len(self)} rows)"


@dataclass(frozen=True, eq=False, repr=False)
class NearestBatch(Gaps):
    """The nearest bodies of two groups at many poses: the columns of `Gaps`, and names.

    Attributes
    ----------
    body_a, body_b : list of str
        One name for each row; empty where none is as near as asked.
    """

    body_a: list[str]
    body_b: list[str]

    def __getitem__(self, index: Any) -> NearestBatch:
        columns = {name: getattr(self, name)[index] for name in Gaps.__dataclass_fields__ if name != "work"}
        names = {name: np.asarray(getattr(self, name), dtype=object)[index] for name in ("body_a", "body_b")}
        return NearestBatch(
            **columns, work=self.work, **{name: np.atleast_1d(column).tolist() for name, column in names.items()}
        )


class Scene:
    """Named rigid bodies, watched pairs, and their distances.

    Examples
    --------
    >>> scene = Scene()
    >>> scene.add("table", Capsule(0.2, 1.0))
    >>> scene.add("hand", [Sphere(0.1), Sphere(0.05).at([0.0, 0.0, 0.2])], pose=[1.0, 0.0, 0.0])
    >>> scene.watch("hand", "table")
    >>> scene.distances().distance.round(9).tolist()
    [0.7]
    >>> scene.move("hand", [0.5, 0.0, 0.0])
    >>> scene.distances().distance.round(9).tolist()
    [0.2]
    """

    def __init__(self) -> None:
        self._scene = _core.Scene()
        self._shapes: dict[str, Shape] = {}
        self._revision = 0  # of the bodies and where they are

    def add(self, name: str, shapes: Shape | Placed | Iterable[Shape | Placed], pose: ArrayLike | None = None) -> None:
        """Add a rigid body.

        Parameters
        ----------
        name : str
            Not yet in the scene.
        shapes : Shape, Placed, or several of them
            Placed shapes stand in the frame of the body.
        pose : array_like, optional
            `world_from_body`; the identity unless given.
        """
        shape = (
            shapes if isinstance(shapes, Shape) else Compound([shapes] if isinstance(shapes, Placed) else list(shapes))
        )
        self._scene.add(name, shape, _single_pose(np.eye(4) if pose is None else pose))
        self._shapes[name] = shape
        self._revision += 1

    def remove(self, name: str) -> None:
        """Remove a body and its pairs."""
        self._scene.remove(name)
        del self._shapes[name]
        self._revision += 1

    def rename(self, old: str, new: str) -> None:
        """Give a body another name; its pairs stay."""
        self._scene.rename(old, new)
        self._shapes = {new if name == old else name: shape for name, shape in self._shapes.items()}
        self._revision += 1

    @property
    def names(self) -> list[str]:
        """Names of the bodies in the order of adding."""
        return self._scene.names

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Watched pairs in the order of watching."""
        return self._scene.pairs

    def shape(self, name: str) -> Shape:
        """Give the shape of a body, in its own frame."""
        self._scene.pose(name)
        return self._shapes[name]

    def pose(self, name: str) -> Floats:
        """Give the pose of a body, `world_from_body`."""
        return self._scene.pose(name)

    def watch(self, a: str, b: str) -> None:
        """Watch a pair of bodies."""
        self._scene.watch(a, b)

    def watch_all(self) -> None:
        """Watch every pair of the bodies that are there now, but for ignored ones."""
        self._scene.watch_all()

    def ignore(self, a: str, b: str) -> None:
        """Stop watching a pair, and leave it out of later calls of `watch_all`."""
        self._scene.ignore(a, b)

    def move(self, name: str | Mapping[str, ArrayLike], pose: ArrayLike | None = None) -> None:
        """Move one body, or several at once.

        Parameters
        ----------
        name : str or mapping of str to pose
            Either all bodies of a mapping move, or none does and an error is raised.
        pose : array_like
            `world_from_body`, with a single name.
        """
        if isinstance(name, str):
            if pose is None:
                raise ValueError(f"body '{name}' needs a pose to move to.")
            self._scene.move(name, _single_pose(pose))
        elif pose is not None:
            raise ValueError("a mapping already holds the poses; leave the second argument out.")
        else:
            self._scene.move_many(dict(name))
        self._revision += 1

    def distances(self, threads: int | None = None, at_most: float = inf) -> PairTable:
        """Measure all watched pairs; only those with a body that moved are computed again.

        Parameters
        ----------
        threads : int, optional
            All cores unless given. The number of threads changes no result, bit by bit.
        at_most : float
            Pairs proved farther apart than this are not opened: their `lower` exceeds it, `distance` and `upper` are
            infinite, points and normals NaN.

        Returns
        -------
        PairTable
        """
        return PairTable(self._scene.distances(_thread_count(threads), at_most))

    @overload
    def nearest(
        self,
        group_a: str | Iterable[str],
        group_b: str | Iterable[str],
        *,
        search: Search | None = ...,
        hint: Nearest | None = ...,
        at_most: float = ...,
        poses: None = ...,
        threads: int | None = ...,
    ) -> Nearest: ...
    @overload
    def nearest(
        self,
        group_a: str | Iterable[str],
        group_b: str | Iterable[str],
        *,
        search: None = ...,
        hint: None = ...,
        at_most: float = ...,
        poses: Mapping[str, ArrayLike],
        threads: int | None = ...,
    ) -> NearestBatch: ...
    def nearest(
        self,
        group_a: str | Iterable[str],
        group_b: str | Iterable[str],
        *,
        search: Search | None = None,
        hint: Nearest | None = None,
        at_most: float = inf,
        poses: Mapping[str, ArrayLike] | None = None,
        threads: int | None = None,
    ) -> Nearest | NearestBatch:
        """Find the least distance between two groups of bodies, as one forest with one bound.

        Parameters
        ----------
        group_a, group_b : str or several of them
            Names of bodies. A body in both groups makes no pair with itself.
        search : Search, optional
            Another order, or a front to begin with. Unless given it is best first, starts from the last answer for
            these groups, and passes over pairs that cannot have come near enough since.
        hint : Nearest, optional
            An earlier answer to start from.
        at_most : float
            If all are proved farther apart than this, `lower` exceeds it, `distance` and `upper` are infinite and the
            names are empty.
        poses : mapping of str to array_like, (n, 4, 4), optional
            Many poses for some of the bodies: row k of all of them makes one question. The scene itself stays as it
            is.
        threads : int, optional
            For many poses; all cores unless given. The number of threads does not change any result.

        Returns
        -------
        Nearest or NearestBatch
            A gap that also has `body_a` and `body_b`.

        Examples
        --------
        >>> scene = Scene()
        >>> for name, x in [("shelf", 0.0), ("hand", 3.0), ("elbow", 5.0)]:
        ...     scene.add(name, Box([1.0, 1.0, 1.0]), pose=[x, 0.0, 0.0])
        >>> found = scene.nearest(["hand", "elbow"], "shelf")
        >>> found.distance, found.body_a, found.body_b
        (2.0, 'hand', 'shelf')
        """
        if poses is None and threads is None and type(group_a) is type(group_b) is list:
            try:
                return self._scene.nearest(group_a, group_b, search, at_most, hint)
            except TypeError:
                pass  # below it is said what is wrong
        names_a, names_b = _group(group_a, "group_a"), _group(group_b, "group_b")
        _check_search(search, hint)
        count = _thread_count(threads)
        if poses is None:
            return self._scene.nearest(names_a, names_b, search, at_most, hint)
        if search is not None or hint is not None:
            raise ValueError("many poses start from each other; leave search and hint out.")
        columns = _pose_columns(poses)
        rows = len(next(iter(columns.values())))
        gaps, work, number_a, number_b = self._scene.nearest_of_rows(names_a, names_b, columns, rows, at_most, count)
        return NearestBatch(
            **_fields(gaps, (rows,)),
            work=work,
            body_a=[names_a[k] if k >= 0 else "" for k in number_a],
            body_b=[names_b[k] if k >= 0 else "" for k in number_b],
        )

    def __getstate__(self) -> dict[str, Any]:
        bodies = [(name, self._shapes[name], self.pose(name)) for name in self.names]
        return {"bodies": bodies, "pairs": self.pairs, "ignored": self._scene.ignored}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Scene.__init__(self)
        for name, shape, pose in state["bodies"]:
            self.add(name, shape, pose)
        for a, b in state["pairs"]:
            self.watch(a, b)
        for a, b in state["ignored"]:
            self.ignore(a, b)

    def __repr__(self) -> str:
        return f"Scene({len(self.names)} bodies, {len(self.pairs)} watched pairs)"


def _group(names: str | Iterable[str], which: str) -> list[str]:
    group = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else [names]
    if not all(isinstance(name, str) for name in group):
        raise TypeError(f"{which} must be the name of a body or several of them, but it is {names!r}.")
    return group


def _check_search(search: object, hint: object) -> None:
    if search is not None and not isinstance(search, Search):
        raise TypeError(f"search must be a Search or None, but it is {search!r}.")
    if hint is not None and not isinstance(hint, Nearest):
        raise TypeError(f"hint must be an earlier answer of nearest or None, but it is {hint!r}.")


def _pose_columns(columns: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """Poses of several bodies, all of one length."""
    read = {name: np.ascontiguousarray(poses.as_poses(column)) for name, column in columns.items()}
    shapes = {name: column.shape for name, column in read.items()}
    if not shapes or len(set(shapes.values())) != 1 or len(next(iter(shapes.values()))) != 3:
        raise ValueError(f"poses must all have one shape (n, 4, 4), but they have {shapes}.")
    return read


def _single_pose(value: Any) -> Floats:
    if type(value) is np.ndarray and value.shape == (4, 4) and value.dtype == np.float64 and value.flags.c_contiguous:
        return value
    pose = poses.as_poses(value)
    if pose.shape != (4, 4):
        raise ValueError(f"a body has one pose, but {pose.shape[:-2]} poses were given.")
    return pose
