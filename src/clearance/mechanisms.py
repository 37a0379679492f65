"""Links and joints in motion: where they are at a configuration, and how they move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, poses
from .kinematics import Kinematics
from .links import Joint, Link
from .queries import _thread_count

__all__ = ["Configuration", "Mechanism"]

Floats: TypeAlias = NDArray[np.float64]
Configuration: TypeAlias = ArrayLike | Mapping[str, Any]


class Mechanism:
    """Links and the joints between them, somewhere in the world.

    Parameters
    ----------
    links : iterable of Link
    joints : iterable of Joint
        In the order of configurations.
    base : pose, optional
        `world_from_root`.

    Examples
    --------
    >>> slide = Mechanism([Link("rail"), Link("cart")], [Joint("x", "prismatic", "rail", "cart", axis=[1, 0, 0])])
    >>> slide.pose([0.5], "cart")[:3, 3].tolist()
    [0.5, 0.0, 0.0]
    """

    def __init__(self, links: Iterable[Link], joints: Iterable[Joint], base: ArrayLike | None = None) -> None:
        self._kinematics = Kinematics(tuple(links), tuple(joints))
        self._base = np.eye(4) if base is None else one_pose(base, "base")

    @property
    def links(self) -> tuple[Link, ...]:
        """Links in the order given, attached objects last."""
        return self._kinematics.links

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joints, in the order given."""
        return self._kinematics.joints

    @property
    def link_names(self) -> list[str]:
        """Names of the links."""
        return [link.name for link in self.links]

    @property
    def joint_names(self) -> list[str]:
        """Names of the joints that have values in a configuration, in their order."""
        return list(self._kinematics.joint_names)

    @property
    def root(self) -> str:
        """Name of the link without a parent."""
        return self._kinematics.root

    @property
    def dof(self) -> int:
        """Length of a configuration."""
        return self._kinematics.dof

    @property
    def nv(self) -> int:
        """Number of velocities: less than `dof` by one for every floating or ball joint."""
        return self._kinematics.nv

    @property
    def lower(self) -> Floats:
        """Lower limits, (dof,)."""
        return self._kinematics.limits()[0]

    @property
    def upper(self) -> Floats:
        """Upper limits, (dof,)."""
        return self._kinematics.limits()[1]

    @property
    def velocity(self) -> Floats:
        """Largest speeds, (nv,)."""
        return self._kinematics.limits()[2]

    @property
    def base(self) -> Floats:
        """Where the root stands, `world_from_root`."""
        return self._base.copy()

    @base.setter
    def base(self, pose: ArrayLike) -> None:
        self._base = one_pose(pose, "base")

    @property
    def neutral(self) -> Floats:
        """The configuration of zeros, (dof,); quaternions do not turn."""
        return self._kinematics.neutral()

    def configuration(self, values: Mapping[str, Any], default: ArrayLike | None = None) -> Floats:
        """Make a configuration from values by name of joint.

        Parameters
        ----------
        values : mapping of str to float or array_like
        default : array_like, (dof,), optional
            Where the other joints are; `neutral` unless given.

        Returns
        -------
        ndarray, (dof,)
        """
        start = self.neutral if default is None else self._rows(default)[0]
        if start.size != self.dof:
            raise ValueError(f"default must be one configuration, but there are {len(start)}.")
        return self._kinematics.configuration(values, start.reshape(self.dof).copy())

    def random(self, n: int | None = None, seed: int | np.random.Generator | None = None) -> Floats:
        """Draw configurations inside the limits.

        Parameters
        ----------
        n : int, optional
            One configuration unless given.
        seed : int or numpy.random.Generator, optional

        Returns
        -------
        ndarray, (dof,) or (n, dof)
            Joints without limits turn by up to half a turn either way, or move by up to a metre.
        """
        drawn = self._kinematics.random(1 if n is None else n, np.random.default_rng(seed))
        return drawn[0] if n is None else drawn

    def within_limits(self, q: Configuration) -> bool | NDArray[np.bool_]:
        """Tell whether configurations are inside the limits of the joints; nothing else in this library asks.

        Parameters
        ----------
        q : array_like, (..., dof), or mapping of str to float

        Returns
        -------
        bool or ndarray of bool, (...)
        """
        rows, dims = self._rows(q)
        lower, upper, _ = self._kinematics.limits()
        inside: NDArray[np.bool_] = np.all((rows >= lower) & (rows <= upper), axis=1)
        return inside.reshape(dims) if dims else bool(inside[0])

    def interpolate(self, waypoints: ArrayLike, t: ArrayLike) -> Floats:
        """Follow straight lines in joint space, as `check_path` does; floating joints turn on the shortest way.

        Parameters
        ----------
        waypoints : array_like, (n, dof)
        t : array_like, (...)
            From 0 to n - 1: 2.5 is half way from waypoint 2 to waypoint 3.

        Returns
        -------
        ndarray, (..., dof)
        """
        rows = self._waypoints(waypoints)
        times = poses.as_floats(t, "t")
        found = _core.interpolate(self._kinematics.tree, rows, np.ascontiguousarray(times).reshape(-1))
        return found.reshape(*times.shape, self.dof)

    def poses(self, q: Configuration, *, threads: int | None = None) -> Floats:
        """Place all links.

        Parameters
        ----------
        q : array_like, (..., dof), or mapping of str to float
        threads : int, optional
            All cores unless given.

        Returns
        -------
        ndarray, (..., links, 4, 4)
            `world_from_link`, in the order of `link_names`.
        """
        rows, dims = self._rows(q)
        placed = self._kinematics.tree.poses(rows, self._base, _thread_count(threads))
        return placed.reshape(*dims, len(self.links), 4, 4)

    def pose(self, q: Configuration, link: str) -> Floats:
        """Place one link.

        Parameters
        ----------
        q : array_like, (..., dof), or mapping of str to float
        link : str

        Returns
        -------
        ndarray, (..., 4, 4)
            `world_from_link`.
        """
        return np.asarray(self.poses(q)[..., self._number(link), :, :])

    def jacobian(self, q: Configuration, link: str, point: ArrayLike | None = None) -> Floats:
        """Differentiate the position of a point that is fixed to a link.

        Parameters
        ----------
        q : array_like, (..., dof), or mapping of str to float
        link : str
        point : array_like, (..., 3), optional
            Where the point is in the world at `q`; the origin of the link unless given.

        Returns
        -------
        ndarray, (..., 3, nv)
            Velocity of the point in the world by velocities of the joints. Those of a floating joint are the linear
            and the angular velocity of its child in the frame of the child.
        """
        rows, dims = self._rows(q)
        points = None
        if point is not None:
            given = _points(point, dims)
            spread = np.broadcast_shapes(dims, given.shape[:-1])
            points, rows = flat(given, spread), flat(rows.reshape(*dims, self.dof), spread)
            dims = spread
        found = self._kinematics.tree.jacobians(rows, self._base, self._number(link), points, 0)
        return found.reshape(*dims, 3, self.nv)

    def _number(self, link: str) -> int:
        if link not in self._kinematics.number:
            raise KeyError(f"there is no link '{link}'; there are {', '.join(self._kinematics.number)}.")
        return self._kinematics.number[link]

    def _rows(self, q: Configuration, name: str = "q") -> tuple[Floats, tuple[int, ...]]:
        """Configurations row by row, and the dimensions they came in."""
        if isinstance(q, Mapping):
            q = self.configuration(q)
        array = poses.as_floats(q, name)
        if array.ndim == 0 or array.shape[-1] != self.dof:
            raise ValueError(f"{name} must have {self.dof} values per configuration, but its shape is {array.shape}.")
        dims = array.shape[:-1]
        return array.reshape(int(np.prod(dims)), self.dof), dims

    def _waypoints(self, waypoints: ArrayLike) -> Floats:
        if isinstance(waypoints, list | tuple) and any(isinstance(row, Mapping) for row in waypoints):
            waypoints = [self.configuration(row) if isinstance(row, Mapping) else row for row in waypoints]
        rows, dims = self._rows(waypoints, "waypoints")
        if len(dims) != 1 or dims[0] == 0:
            shape = (*dims, self.dof)
            raise ValueError(f"waypoints must have the shape (n, {self.dof}) with n > 0, but they have {shape}.")
        if not np.isfinite(rows).all():
            raise ValueError("waypoints must be finite, but some are not.")
        return rows


def one_pose(value: ArrayLike, name: str) -> Floats:
    """Read a single rigid pose."""
    pose = poses.as_poses(value)
    if pose.shape != (4, 4):
        raise ValueError(f"{name} must be one pose, but its shape is {pose.shape}.")
    return _core.rigid_pose(pose)


def _points(value: ArrayLike, dims: tuple[int, ...]) -> Floats:
    points = poses.as_floats(value, "point")
    if points.shape[-1:] != (3,) or not np.isfinite(points).all():
        raise ValueError(f"point must be 3 finite coordinates, but it is {value!r:.200}.")
    try:
        np.broadcast_shapes(dims, points.shape[:-1])
    except ValueError as error:
        raise ValueError(f"point has the shape {points.shape}, but there are {dims} configurations.") from error
    return points


def flat(array: Floats, dims: tuple[int, ...]) -> Floats:
    """Rows of an array that is repeated to fill dimensions."""
    spread = np.ascontiguousarray(np.broadcast_to(array, (*dims, array.shape[-1])))
    return spread.reshape(int(np.prod(dims)), array.shape[-1])
