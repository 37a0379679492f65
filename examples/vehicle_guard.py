"""A vehicle in a corridor that brakes in time.

Every 20 ms its laser scanner looks around, and the guard asks whether the vehicle could still stop before it meets any
of the points, whatever its drive does until the brakes act. It winds its way round a box, past a pillar, and comes to a
pallet that leaves no room to pass.

Run it: python examples/vehicle_guard.py [folder]
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import NDArray

import clearance as cl

Floats = NDArray[np.float64]

STEP, BEAMS, RANGE = 0.02, 720, 8.0  # seconds, and metres
FOOTPRINT = np.array([[-0.35, -0.3], [0.45, -0.3], [0.55, -0.15], [0.55, 0.15], [0.45, 0.3], [-0.35, 0.3]])
BRAKING = cl.VehicleBraking(latency=0.06, acceleration=[1.0, 0.0, 2.0], deceleration=[1.5, 1.5, 3.0])
MARGIN, SCAN_RADIUS = 0.05, 0.01
WALLS = [np.array([[-1.0, y], [12.0, y]]) for y in (-1.5, 1.5)]
BOXES = [
    np.array([[3.0, -0.1], [3.9, -0.1], [3.9, 1.5], [3.0, 1.5]]),
    np.array([[6.2, -1.5], [6.8, -1.5], [6.8, -0.6], [6.2, -0.6]]),
    np.array([[9.4, -1.0], [10.4, -1.0], [10.4, 0.9], [9.4, 0.9]]),
]
WAY = np.array([[0.0, 0.0], [1.6, -0.6], [3.5, -0.8], [5.0, -0.1], [6.5, 0.4], [8.0, 0.0], [12.0, 0.0]])
SPEED, LOOK_AHEAD = 1.6, 0.7


@dataclass
class Moment:
    """What was known and said at one time."""

    time: float
    pose: Floats
    velocity: Floats
    scan: Floats
    verdict: cl.VehicleVerdict
    area: list[Floats]


def scan_from(pose: Floats) -> Floats:
    """Cast rays at all sides; what they meet, in the frame of the vehicle."""
    sides = [(a, b) for box in BOXES for a, b in zip(box, np.roll(box, -1, axis=0), strict=True)]
    starts, ends = (np.array(corners) for corners in zip(*[*WALLS, *sides], strict=True))
    angles = pose[2] + np.linspace(-np.pi, np.pi, BEAMS, endpoint=False)
    rays, along = np.stack([np.cos(angles), np.sin(angles)], axis=1), ends - starts
    turn = rays[:, None, 0] * along[:, 1] - rays[:, None, 1] * along[:, 0]
    to = starts - pose[:2]
    with np.errstate(divide="ignore", invalid="ignore"):
        ranges = (to[:, 0] * along[:, 1] - to[:, 1] * along[:, 0]) / turn
        share = (to[:, 0] * rays[:, None, 1] - to[:, 1] * rays[:, None, 0]) / turn
    is_met = (ranges > 0.0) & (ranges < RANGE) & (share >= 0.0) & (share <= 1.0)
    nearest = np.where(is_met, ranges, np.inf).min(axis=1)
    inside = angles - pose[2]
    with np.errstate(invalid="ignore"):
        return nearest[:, None] * np.stack([np.cos(inside), np.sin(inside)], axis=1)


def wanted(pose: Floats) -> Floats:
    """Speed and yaw rate towards a place a little farther along the way."""
    fine = np.stack([np.interp(np.linspace(0, len(WAY) - 1, 600), range(len(WAY)), w) for w in WAY.T], axis=1)
    here = int(np.argmin(np.linalg.norm(fine - pose[:2], axis=1)))
    ahead = fine[here:][np.linalg.norm(fine[here:] - pose[:2], axis=1) >= LOOK_AHEAD]
    goal = (ahead[0] if len(ahead) else fine[-1]) - pose[:2]
    sideways = np.cos(pose[2]) * goal[1] - np.sin(pose[2]) * goal[0]
    return np.array([SPEED, 0.0, SPEED * 2.0 * sideways / (goal @ goal)])


def moved(pose: Floats, velocity: Floats) -> Floats:
    yaw = pose[2] + 0.5 * STEP * velocity[2]
    turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    return np.append(pose[:2] + STEP * turn @ velocity[:2], pose[2] + STEP * velocity[2])


def drive() -> list[Moment]:
    """Follow the way until the guard says stop, then brake to rest on an arc."""
    guard = cl.VehicleGuard(FOOTPRINT, braking=BRAKING, margin=MARGIN, scan_radius=SCAN_RADIUS, pieces=12)
    pose, velocity, is_braking = np.array([0.0, 0.0, -0.3]), np.zeros(3), False
    least = np.zeros(3)  # what the velocity loses in a step while the vehicle brakes
    moments: list[Moment] = []
    while len(moments) < 2000:
        scan, time = scan_from(pose), len(moments) * STEP
        verdict = guard.update(pose, velocity, scan=scan, time=time)
        moments.append(Moment(time, pose, velocity, scan, verdict, guard.area()))
        if verdict.stop and not is_braking:
            is_braking = True
            least = velocity * STEP / np.max(np.abs(velocity) / np.asarray(BRAKING.deceleration))
        if is_braking and not velocity.any():
            break
        if is_braking:
            velocity = np.where(np.abs(velocity) > np.abs(least), velocity - least, 0.0)
        else:
            change = STEP * np.asarray(BRAKING.acceleration)
            velocity = velocity + np.clip(wanted(pose) - velocity, -change, change)
        pose = moved(pose, velocity)
    return moments


def placed(points: Floats, pose: Floats) -> Floats:
    c, s = np.cos(pose[2]), np.sin(pose[2])
    result: Floats = pose[:2] + points @ np.array([[c, s], [-s, c]])
    return result


def draw_map(axes: Axes, moments: list[Moment], stopped: Moment) -> None:
    for wall in WALLS:
        axes.plot(*wall.T, color="#3c434a", linewidth=2.5)
    for box in BOXES:
        axes.add_patch(Polygon(box, facecolor="#c9ced3", edgecolor="#3c434a", linewidth=1.2))
    shown = [m for k, m in enumerate(moments) if k % 50 == 10 and m.time < stopped.time - 0.3]
    for moment, colour, pale in [*((m, "#1f4fd8", "#d5e0fa") for m in shown), (stopped, "#d6001c", "#f9d3d8")]:
        for piece in moment.area:
            axes.add_patch(Polygon(piece, facecolor=pale, edgecolor="none", zorder=1.0))
        axes.add_patch(Polygon(placed(FOOTPRINT, moment.pose), fill=False, edgecolor=colour, linewidth=1.4, zorder=2.0))
    axes.add_patch(Polygon(placed(FOOTPRINT, moments[-1].pose), fill=False, edgecolor="black", linewidth=1.6, zorder=3))
    axes.plot(*np.array([m.pose[:2] for m in moments]).T, color="#6a737b", linewidth=0.8)
    seen = placed(stopped.scan[np.isfinite(stopped.scan).all(axis=1)], stopped.pose)
    axes.plot(*seen.T, ".", color="#00796b", markersize=2.0)
    axes.plot(*stopped.verdict.point, "o", color="#d6001c", markersize=5.0)
    axes.set(xlim=(-0.8, 11.2), ylim=(-1.75, 1.75), aspect="equal", xlabel="x in m", ylabel="y in m")
    axes.set_title(
        "swept areas once a second (blue) and when the guard says stop (red); where the vehicle comes to rest (black)",
        loc="left",
        fontsize=9,
    )


def draw_times(axes: Axes, moments: list[Moment], stopped: Moment) -> None:
    time = [m.time for m in moments]
    axes.plot(time, [m.velocity[0] for m in moments], color="#1f4fd8", label="speed in m/s")
    axes.plot(time, [m.verdict.distance for m in moments], color="#00796b", label="its present distance in m")
    axes.plot(
        time,
        [m.verdict.lower for m in moments],
        color="black",
        label="least distance of the nearest until rest, proved, in m",
    )
    axes.axhline(MARGIN, color="#d6001c", linewidth=0.9, linestyle="--", label="margin")
    axes.axvline(stopped.time, color="#d6001c", linewidth=0.9)
    axes.set(xlabel="time in s", xlim=(0.0, time[-1]), ylim=(-0.1, 2.1))
    axes.legend(fontsize=8, frameon=False, ncols=4, loc="upper left")


def main(folder: str | Path = ".") -> list[Moment]:
    """Print when the vehicle stops and where it rests, leave `vehicle_guard.png`, and return all moments."""
    moments = drive()
    stopped = next(m for m in moments if m.verdict.stop)
    print(f"stop at {stopped.time:.2f} s, {stopped.velocity[0]:.2f} m/s: {stopped.verdict.reason},", end=" ")
    print(f"{stopped.verdict.distance:.3f} m away, at rest perhaps {stopped.verdict.lower:.3f} m")
    print(f"at rest at {moments[-1].time:.2f} s, {moments[-1].verdict.distance:.3f} m from what is nearest")
    figure = Figure(figsize=(9.6, 5.2), dpi=130, layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=[1.75, 1.0])
    draw_map(above, moments, stopped)
    draw_times(below, moments, stopped)
    picture = Path(folder) / "vehicle_guard.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture)
    print(f"Picture: {picture}")
    return moments


if __name__ == "__main__":
    main(*sys.argv[1:2])
