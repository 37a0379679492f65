"""Whole movements: is a path free everywhere, not only at samples?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import poses
from ._core import Work
from .robots import Robot, check_margin, check_robot
from .worlds import World

__all__ = ["PathReport", "check_path"]

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PathReport:
    """What a path comes near to.

    Clearance is the distance of a pair, less the margin that `Robot.set_margin` asks it to keep.

    Attributes
    ----------
    clear : bool
        Whether every moment of the path is proved to keep the margin.
    lower, upper : float
        Bracket of the least clearance along the path, in metres.
    pair : tuple of str
        The bodies that come as near as `upper`.
    q_worst : ndarray, (dof,)
        Where they do,
    t_worst : float
        and when.
    first_violation : tuple of float, or None
        The first stretch of time that touches the margin, or is not proved to keep it: what lies before is clear. If
        `upper` exceeds the margin, nothing was found to touch it.
    configurations : int
        How many were looked at.
    work : Work
    """

    clear: bool
    lower: float
    upper: float
    pair: tuple[str, str]
    q_worst: Floats
    t_worst: float
    first_violation: tuple[float, float] | None
    configurations: int
    work: Work

    def __bool__(self) -> bool:
        return self.clear


def check_path(
    robot: Robot,
    world: World,
    waypoints: ArrayLike | Callable[[float], ArrayLike],
    margin: float = 0.0,
    *,
    rates: ArrayLike | None = None,
    tolerance: float = 1e-3,
) -> PathReport:
    """Prove that a movement keeps its distance from everything, between samples too, or find where it does not.

    Parameters
    ----------
    robot : Robot
    world : Scene, shapes or None
    waypoints : array_like, (n, dof), list of mappings, or callable
        Straight lines in joint space from one configuration to the next; floating joints turn on the shortest way. The
        time t runs from 0 to n - 1: 2.5 is half way from waypoint 2 to waypoint 3. Or a function that gives the
        configuration at a time from 0 to 1.
    margin : float
        Distance to keep, in metres.
    rates : array_like, (nv,)
        With a function, and only then: bounds of the speeds of all joints per unit of t. They are taken on trust.
    tolerance : float
        How closely the least clearance is wanted, in metres. With `inf` only the verdict counts, which is faster: then
        the bracket is as wide as it happens to be.

    Returns
    -------
    PathReport

    Examples
    --------
    >>> along_x = Joint("x", "prismatic", "rail", "tool", axis=[1, 0, 0])
    >>> gantry = Robot([Link("rail"), Link("tool", Sphere(0.1))], [along_x])
    >>> wall = Box([0.01, 1.0, 1.0]).at([0.5, 0.0, 0.0])
    >>> report = check_path(gantry, wall, [[0.0], [1.0]])
    >>> report.clear, [round(t, 3) for t in report.first_violation]
    (False, [0.395, 0.395])
    """
    check_robot(robot)
    check_margin(margin)
    if not isinstance(tolerance, int | float | np.number) or not tolerance > 0.0:
        raise ValueError(f"tolerance must be positive, but it is {tolerance!r}.")
    cell, pairs = robot._cell(world)
    if callable(waypoints):
        found = cell.check_function(_row_of(robot, waypoints), _rates_of(robot, rates), margin, tolerance)
    else:
        if rates is not None:
            raise ValueError("rates belong to a path that is a function; waypoints have their own.")
        found = cell.check_waypoints(robot._waypoints(waypoints), margin, tolerance)
    clear, lower, upper, pair, *rest = found
    return PathReport(clear, lower, upper, pairs[pair] if pair >= 0 else ("", ""), *rest)


def _row_of(robot: Robot, path: Callable[[float], Any]) -> Callable[[float], Floats]:
    def row(t: float) -> Floats:
        rows, dims = robot._rows(path(t))
        if dims != ():
            raise ValueError(f"the path must give one configuration, but at t = {t} it gave {dims}.")
        return np.ascontiguousarray(rows[0])

    return row


def _rates_of(robot: Robot, rates: ArrayLike | None) -> Floats:
    if rates is None:
        raise ValueError("a path that is a function needs rates: bounds of |dq/dt|, one for each velocity.")
    array = np.ascontiguousarray(poses.as_floats(rates, "rates"))
    if array.shape != (robot.nv,) or not np.isfinite(array).all() or (array < 0.0).any():
        raise ValueError(f"rates must be {robot.nv} numbers, finite and not negative, but they are {rates!r}.")
    return array
