"""How the clearance of a robot changes along a path, as a plot. It needs matplotlib: `pip install clearance[view]`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .paths import PathReport, check_path
from .robots import Robot
from .surfaces import extra
from .worlds import World

__all__ = ["along", "plot_path", "seconds"]

Floats = NDArray[np.float64]

COLOURS = ["#d6001c", "#1f4fd8", "#00796b", "#e36c00", "#a3008f", "#7a5200", "#4a7d00", "#0097c4", "#303030"]
OTHERS = "#9aa3ab"


def along(waypoints: ArrayLike, count: int) -> tuple[Floats, Floats]:
    """Sample straight lines between waypoints evenly.

    Parameters
    ----------
    waypoints : array_like, (n, dof)
    count : int

    Returns
    -------
    t : ndarray, (count,)
        From 0 to n - 1.
    q : ndarray, (count, dof)

    Examples
    --------
    >>> t, q = along([[0.0], [1.0], [3.0]], 5)
    >>> t.tolist(), q[:, 0].tolist()
    ([0.0, 0.5, 1.0, 1.5, 2.0], [0.0, 0.5, 1.0, 2.0, 3.0])
    """
    path = np.asarray(waypoints, dtype=np.float64)
    t = np.linspace(0.0, len(path) - 1.0, count)
    return t, np.stack([np.interp(t, np.arange(len(path)), joint) for joint in path.T], axis=-1)


def seconds(robot: Robot, waypoints: ArrayLike) -> Floats:
    """Tell when a robot is at its waypoints, if on every line one of its joints is as fast as it may be.

    Parameters
    ----------
    robot : Robot
        With a largest speed for every joint, and without a floating one.
    waypoints : array_like, (n, dof)

    Returns
    -------
    ndarray, (n,)

    Examples
    --------
    >>> slide = Joint("slide", "prismatic", "rail", "tool", velocity=2.0)
    >>> seconds(Robot([Link("rail"), Link("tool", Sphere(0.1))], [slide]), [[0.0], [1.0], [0.5]]).tolist()
    [0.0, 0.5, 0.75]
    """
    path = np.asarray(waypoints, dtype=np.float64)
    return np.concatenate([[0.0], np.cumsum(np.abs(np.diff(path, axis=0) / robot.velocity).max(axis=1))])


def plot_path(
    robot: Robot,
    world: World,
    waypoints: ArrayLike,
    path: str | Path,
    *,
    margin: float = 0.0,
    report: PathReport | None = None,
    samples: int = 2000,
) -> None:
    """Plot the clearance of a robot over time, with what was proved of it, as a PNG.

    Time is in seconds, at the largest speeds of the joints; where one has none, it is counted in waypoints.

    Parameters
    ----------
    robot : Robot
        Without floating joints.
    world : Scene, shapes or None
    waypoints : array_like, (n, dof)
        At least two.
    path : path_like
        Where the plot goes.
    margin : float
        In metres.
    report : PathReport, optional
        What `check_path` says; it is asked anew unless given.
    samples : int
        Points of the curves. Only `report` knows what lies between them.

    Examples
    --------
    >>> from clearance import samples
    >>> plot_path(samples.arm(), samples.arm_cell(), samples.arm_path(), "path.png", margin=0.01)  # doctest: +SKIP
    """
    extra("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if robot.nv != robot.dof:
        raise ValueError("a robot with a floating joint has no straight lines to plot; its waypoints turn.")
    report = check_path(robot, world, waypoints, margin) if report is None else report
    t, q = along(waypoints, samples)
    gaps = robot.distances(q, world)
    if not gaps.pairs:
        raise ValueError("there is nothing to plot: no two bodies of the robot and its world may touch each other.")
    clearance = 1e3 * (gaps.distance - [robot.margin(*pair) for pair in gaps.pairs])
    is_timed = bool(np.isfinite(robot.velocity).all())
    at_waypoints = seconds(robot, waypoints) if is_timed else np.arange(t[-1] + 1.0)
    time = np.interp(t, np.arange(len(at_waypoints)), at_waypoints)

    figure = Figure(figsize=(9.6, 4.8), dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    top = 1.15 * max(float(clearance.min(axis=1).max()), -0.1 * float(clearance.min()), 1e-3)
    _add_curves(axes, time, clearance, gaps.pairs)
    _add_proof(axes, float(np.interp(report.t_worst, np.arange(len(at_waypoints)), at_waypoints)), report, margin)
    unit = "time in s, joints at full speed" if is_timed else "time in waypoints"
    low = min(0.0, 1.1 * float(clearance.min()))
    axes.set(xlabel=unit, ylabel="clearance in mm", xlim=(time[0], time[-1]), ylim=(low, top))
    _number_waypoints(axes, at_waypoints)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9, title="nearest", alignment="left")
    figure.savefig(path, format="png")


def _add_curves(axes: Any, time: Floats, clearance: Floats, pairs: Any) -> None:
    """The least clearance in the colours of the pairs that have it, and thin lines where these pairs have more."""
    nearest = np.argmin(clearance, axis=1)
    kinds = np.unique(nearest)
    closest = kinds[np.argsort(clearance.min(axis=0)[kinds], kind="stable")]
    for place, k in enumerate(closest):
        is_named = place < len(COLOURS)
        colour = COLOURS[place] if is_named else OTHERS
        label = "\n".join(pairs[k]) if is_named else "others" if place == len(COLOURS) else None
        # One sample more on either side closes the seams.
        here = nearest == k
        here[1:] |= nearest[:-1] == k
        if is_named:
            axes.plot(time, clearance[:, k], color=colour, linewidth=0.8, alpha=0.45)
        axes.plot(time, np.where(here, clearance.min(axis=1), np.nan), color=colour, linewidth=2.6, label=label)


def _add_proof(axes: Any, worst: float, report: PathReport, margin: float) -> None:
    lower, upper = 1e3 * report.lower, 1e3 * report.upper
    axes.axhspan(-1e4, 1e3 * margin, color="#d6001c", alpha=0.07, linewidth=0.0)
    axes.axhline(1e3 * margin, color="#d6001c", linewidth=1.0, linestyle="--")
    axes.text(
        0.995,
        1e3 * margin,
        "margin",
        transform=axes.get_yaxis_transform(),
        fontsize=8,
        color="#d6001c",
        ha="right",
        va="top",
    )
    axes.axhspan(lower, upper, color="black", alpha=0.35, linewidth=0.8)
    axes.plot([worst], [upper], "o", color="black", markersize=6.0, zorder=5)
    axes.set_title(
        f"least clearance proved to be {lower:z.2f} to {upper:z.2f} mm, {report.pair[0]} to {report.pair[1]}: "
        f"the margin of {1e3 * margin:g} mm is {'kept' if report.clear else 'NOT kept'}",
        loc="left",
        fontsize=10,
    )


def _number_waypoints(axes: Any, at_waypoints: Floats) -> None:
    for when in at_waypoints[1:-1]:
        axes.axvline(when, color="#d0d4d8", linewidth=0.8, zorder=0)
    above = axes.secondary_xaxis("top")
    above.set_xticks(at_waypoints, [str(k) for k in range(len(at_waypoints))], fontsize=8, color="#6a737b")
    above.set_xlabel("waypoint", fontsize=8, color="#6a737b")
    above.tick_params(color="#d0d4d8")
