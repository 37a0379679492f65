"""An arm that keeps away from itself while its hand follows a path.

The loop is that of a humanoid's controller (R. Poscher, B.Sc. thesis, TU München, 2020, algorithm 5.1): in every time
step plan the motion, move the bodies of the scene, measure their distances, and let inverse kinematics use them. The
hand needs two of the seven joints; motion that leaves it alone, in the null space, opens whatever gaps are small.

Run it: python examples/self_avoidance.py [folder]
"""

import itertools
import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

import clearance as cl

Floats = NDArray[np.float64]
Run = tuple[Floats, Floats, Floats]  # joint angles, least gap and error of the hand at every time step

JOINTS, LENGTH, RADIUS = 7, 0.16, 0.035  # metres
LINKS = [f"link {k + 1}" for k in range(JOINTS)]
STEPS, STEP = 600, 0.01  # seconds
WARY = 0.08  # gaps below this many metres are opened
REST = np.array([0.9, -0.5, -0.4, -0.3, -0.2, -0.2, -0.2])


def build_scene() -> cl.Scene:
    """Load the geometry and list the pairs: all but neighbours."""
    scene = cl.Scene()
    a, b, c, d = np.array([[-0.3, -0.16, 0.0], [-0.3, 0.16, 0.0], [-0.12, 0.16, 0.0], [-0.12, -0.16, 0.0]])
    scene.add("torso", [cl.SweptTriangle(a, b, c, 0.05), cl.SweptTriangle(a, c, d, 0.05)])
    for name in LINKS:
        scene.add(name, cl.SweptSegment(np.zeros(3), np.array([LENGTH, 0.0, 0.0]), RADIUS))
    for link, next_link in itertools.pairwise(["torso", *LINKS]):
        scene.ignore(link, next_link)
    scene.watch_all()
    return scene


def forward(q: Floats) -> tuple[Floats, dict[str, Floats], Floats, Floats]:
    """Give the poses of the links, their Jacobians, the hand, and the Jacobian of the hand."""
    poses = cl.poses.from_axis_angle([0, 0, 1], np.cumsum(q))
    ends = np.cumsum(LENGTH * poses[:, :3, 0], axis=0)
    poses[1:, :3, 3] = ends[:-1]
    joints = poses[:, :3, 3]
    jacobians = {}
    for k, name in enumerate(LINKS):
        jacobians[name] = np.zeros((6, JOINTS))
        jacobians[name][:3, : k + 1] = np.cross([0, 0, 1], joints[k] - joints[: k + 1]).T
        jacobians[name][5, : k + 1] = 1.0
    return poses, jacobians, ends[-1], np.cross([0, 0, 1], ends[-1] - joints).T


def target(time: float) -> Floats:
    """Where the hand is to be: once around a loop that comes close to the shoulder."""
    angle = 2.0 * np.pi * time / (STEPS * STEP)
    return np.array([0.42 + 0.3 * np.cos(angle), 0.1 + 0.3 * np.sin(angle), 0.0])


def run(avoiding: bool) -> Run:
    """Follow the path, with or without opening small gaps."""
    scene, q = build_scene(), REST.copy()
    for _ in range(100):  # take the standard pose: put the hand on the path
        _, _, hand, jacobian = forward(q)
        q += np.linalg.pinv(jacobian) @ (target(0.0) - hand)
    angles, gaps, errors = [], [], []
    for k in range(STEPS + 1):
        wanted = (target((k + 1) * STEP) - target(k * STEP)) / STEP  # plan
        poses, jacobians, hand, jacobian = forward(q)
        scene.move(dict(zip(LINKS, poses, strict=True)))
        table = scene.distances()
        angles.append(q.copy())
        gaps.append(table.lower.min())
        errors.append(np.linalg.norm(target(k * STEP) - hand))

        inverse = np.linalg.pinv(jacobian, rcond=1e-3)
        q_dot = inverse @ (wanted + 10.0 * (target(k * STEP) - hand))
        if avoiding:
            urgency = np.maximum(0.0, 1.0 - table.distance / WARY) ** 2
            opening = urgency @ table.gradient(jacobians)
            q_dot += (np.eye(JOINTS) - inverse @ jacobian) @ (40.0 * opening)
        q += STEP * q_dot
    return np.array(angles), np.array(gaps), np.array(errors)


def draw_scene(axes: Axes, q: Floats) -> None:
    """Fill the outlines of all bodies, those that overlap in red, and mark the closest points."""
    scene = build_scene()
    scene.move(dict(zip(LINKS, forward(q)[0], strict=True)))
    table = scene.distances()
    overlapping = {name for k in np.flatnonzero(table.upper < 0.0) for name in (table.name_a[k], table.name_b[k])}
    circle = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 64))
    for name in scene.names:
        colour = "#d6001c" if name in overlapping else "#8c99a6" if name == "torso" else "#6f8cab"
        for core, radius in scene.shape(name).elements:
            placed = core @ scene.pose(name)[:3, :3].T + scene.pose(name)[:3, 3]
            points = (placed[:, None, :2] + radius * np.stack([circle.real, circle.imag], axis=-1)).reshape(-1, 2)
            outline = points[ConvexHull(points).vertices].T
            axes.fill(*outline, facecolor=colour, edgecolor="white", linewidth=0.5 * (name in LINKS))
    nearest = np.argmin(table.distance)
    axes.plot(*np.stack([table.point_a[nearest], table.point_b[nearest]]).T[:2], "k.-", markersize=4, linewidth=1.2)


def plot(runs: dict[str, Run], path: Path) -> None:
    """Show the arm at some instants, and the least gap over time, of both runs."""
    figure = Figure(figsize=(10.0, 7.6), dpi=110, layout="constrained")
    grid = figure.add_gridspec(3, 5, height_ratios=[1.0, 1.0, 1.25])
    loop = np.array([target(k * STEP) for k in range(STEPS + 1)])
    over_time = figure.add_subplot(grid[2, :])
    for row, (name, (angles, gaps, _)) in enumerate(runs.items()):
        for column, k in enumerate([0, 150, 270, 390, 500]):
            axes = figure.add_subplot(grid[row, column])
            draw_scene(axes, angles[k])
            axes.plot(loop[:, 0], loop[:, 1], color="#00796b", linewidth=0.8, zorder=0)
            axes.plot(*loop[k, :2], "o", color="#00796b", markersize=4)
            axes.set(aspect="equal", xlim=(-0.4, 0.8), ylim=(-0.28, 0.72), xticks=[], yticks=[])
            axes.set_title(f"{name}, {k * STEP:.1f} s", fontsize=9)
        over_time.plot(np.arange(STEPS + 1) * STEP, 1e3 * gaps, color=["#d6001c", "#1f4fd8"][row], label=name)
    # Links with one link between them are never farther apart than 90 mm, so the least gap ends there.
    over_time.set(xlabel="time in s", ylabel="least gap in mm", xlim=(0.0, STEPS * STEP), ylim=(-80.0, 100.0))
    over_time.axhspan(-80.0, 0.0, color="#d6001c", alpha=0.08, linewidth=0.0)
    over_time.axhline(0.0, color="black", linewidth=0.8)
    over_time.legend(frameon=False, loc="lower right")
    figure.savefig(path)


def main(folder: str | Path = ".") -> tuple[float, float]:
    """Run both ways, leave `self_avoidance.png`, and return the least gaps without and with avoidance, in metres."""
    runs = {"without avoidance": run(avoiding=False), "with avoidance": run(avoiding=True)}
    for name, (_, gaps, errors) in runs.items():
        print(f"{name:<18} least gap {1e3 * gaps.min():6.1f} mm, largest error of the hand {1e3 * errors.max():.2f} mm")
    path = Path(folder) / "self_avoidance.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    plot(runs, path)
    print(f"Plot: {path}")
    without, avoiding = (float(gaps.min()) for _, gaps, _ in runs.values())
    return without, avoiding


if __name__ == "__main__":
    main(*sys.argv[1:2])
