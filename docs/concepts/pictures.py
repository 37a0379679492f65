"""The pictures of the pages about concepts, drawn from answers of the library.

Run it: python docs/concepts/pictures.py [folder]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

import clearance as cl

Floats = NDArray[np.float64]

IMAGES = Path(__file__).parent.parent / "images"
BLUE, PALE, ORANGE, RED, GREEN = "#4a7ab0", "#e3ecf5", "#d98c3f", "#c62828", "#2e7d32"
ROUND = np.linspace(0.0, 2.0 * np.pi, 65)
STEPS = 100  # of the robot on its way into the car
START, END = [-1.2, -0.3, 1.9, 0.0, 0.3, -0.4], [-0.73, 0.82, 1.38, 0.0, 0.11, -0.59]  # joint angles in radians
FINE = np.linspace(0.0, 2.0 * np.pi, 721)
UPPER, FOREARM, RADIUS = 0.5, 0.4, 0.04  # lengths of links, and their radius, in metres
LOW, HIGH = np.array([0.2, 0.4]), np.array([0.6, 0.9])  # joint angles in radians


def main(folder: str | Path = IMAGES) -> None:
    """Leave all pictures in a folder."""
    for name, figure in (("bracket", bracket()), ("forest", forest()), ("sweep", sweep())):
        figure.savefig(Path(folder, f"concept_{name}.png"))


def sheet(columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Return an empty figure and its axes, side by side."""
    figure = Figure(figsize=(width, height), dpi=140, layout="constrained")
    figure.get_layout_engine().set(h_pad=0.1)
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


# A bracket -----------------------------------------------------------------------------------------------------------


def bracket() -> Figure:
    """Two points and a plane that are not the best ones, those that the library finds, and how the bracket closes."""
    a, b = flat_hull(0.45, 0.22, turn=0.5, centre=(-0.5, 0.0)), flat_hull(0.4, 0.25, turn=2.2, centre=(0.45, 0.15))
    gap = cl.distance(cl.ConvexHull(a), cl.ConvexHull(b))
    figure, (guess, best, closing) = sheet(3, 9.6, 3.4)
    show_bounds(guess, a, b, a[58], b[14], "any two points, and a plane")
    show_bounds(best, a, b, gap.point_a, gap.point_b, "those that are found")
    show_steps(closing)
    return figure


def flat_hull(x: float, y: float, turn: float, centre: tuple[float, float]) -> Floats:
    """Return corners of an ellipse that lies in the plane of the picture."""
    corners = np.stack([x * np.cos(ROUND[:-1]), y * np.sin(ROUND[:-1]), 0.0 * ROUND[:-1]], axis=-1)
    pose = cl.poses.from_rpy([0.0, 0.0, turn], translation=[*centre, 0.0])
    return corners @ pose[:3, :3].T + pose[:3, 3]


def show_bounds(axes: Axes, a: Floats, b: Floats, point_a: Floats, point_b: Floats, title: str) -> None:
    """Draw two bodies, the distance of two points as a bound from above, and what a plane proves from below."""
    normal = (point_b - point_a) / np.linalg.norm(point_b - point_a)
    highest, lowest = (a @ normal).max(), (b @ normal).min()
    across = 0.62 * np.array([-normal[1], normal[0]])
    middle = 0.5 * (point_a + point_b)[:2]
    for body, colour in ((a, BLUE), (b, ORANGE)):
        axes.fill(*body[:, :2].T, color=colour, alpha=0.8, linewidth=0)
    ends = [middle + (level - middle @ normal[:2]) * normal[:2] for level in (highest, lowest)]
    slab = np.array([ends[0] - across, ends[0] + across, ends[1] + across, ends[1] - across])
    axes.fill(*slab.T, color=GREEN, alpha=0.15, linewidth=0)
    for end in ends:
        axes.plot(*np.array([end - across, end + across]).T, color=GREEN, linewidth=1.2)
    axes.plot(*np.array([point_a, point_b])[:, :2].T, "o-", color=RED, markersize=5, linewidth=1.5)
    upper, lower = float(np.linalg.norm(point_b - point_a)), lowest - highest
    axes.set_title(f"{title}\nlower = {lower:.3f}, upper = {upper:.3f}", fontsize=11)
    axes.set(aspect="equal", xlim=(-1.05, 1.0), ylim=(-0.55, 0.86))
    axes.axis("off")


def show_steps(axes: Axes) -> None:
    """Plot how far both bounds of a box and an egg are from the truth, by the number of steps."""
    box = cl.Box([0.5, 0.34, 0.3]).at(cl.poses.from_rpy([0.4, 0.2, 0.35], translation=[-0.45, 0.02, 0.0]))
    egg = cl.Ellipsoid([0.36, 0.19, 0.25]).at(cl.poses.from_rpy([0.2, 0.5, 0.7], translation=[0.33, 0.1, 0.1]))
    true = cl.distance(box, egg, tolerance=1e-14).distance
    found = {}
    for tolerance in np.logspace(-0.1, -12, 400):
        gap = cl.distance(box, egg, tolerance=tolerance)
        found[gap.work.iterations] = gap
    steps = sorted(found)
    axes.semilogy(steps, [found[k].upper - true for k in steps], "o-", color=RED, markersize=4, label="upper - true")
    axes.semilogy(steps, [true - found[k].lower for k in steps], "o-", color=GREEN, markersize=4, label="true - lower")
    axes.set_title("a box and an egg, step by step", fontsize=11)
    axes.set(xlabel="steps", ylabel="metres")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)


# A forest ------------------------------------------------------------------------------------------------------------


def forest() -> Figure:
    """Count the volumes that are held against each other, by three ways to search for the same distance."""
    scene, sheets = cl.samples.robot_cell(), ["shell", "floor"]
    path = cl.samples.robot_cell_poses(np.linspace(START, END, STEPS))
    links = list(path)
    apart, together, remembered = [], [], []
    for k in range(STEPS):
        scene.move({link: poses[k] for link, poses in path.items()})
        pairs = [scene.nearest(link, sheet, search=cl.Search()) for link in links for sheet in sheets]
        apart.append(sum(pair.work.volume_tests for pair in pairs))
        together.append(scene.nearest(links, sheets, search=cl.Search()).work.volume_tests)
        remembered.append(scene.nearest(links, sheets).work.volume_tests)
    figure, (counts,) = sheet(1, 8.0, 3.8)
    for tests, colour, name in (
        (apart, ORANGE, "a search for each pair of bodies"),
        (together, BLUE, "one search for all of them"),
        (remembered, GREEN, "one search that starts from the last answer"),
    ):
        counts.semilogy(tests, color=colour, label=name)
    counts.set(xlabel="step of the robot into the car", ylabel="pairs of boxes tested", xlim=(0, STEPS - 1))
    counts.grid(alpha=0.3)
    counts.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, 0.62))
    return figure


# A sweep -------------------------------------------------------------------------------------------------------------


def sweep() -> Figure:
    """A forearm whose joints turn by intervals of their angles, and what contains it, ever more closely."""
    arm, ball = planar_arm(), cl.Sphere(0.08).at([0.75, 0.02, 0.0])
    postures = arm.pose(np.stack(np.meshgrid(*np.linspace(LOW, HIGH, 7).T), axis=-1).reshape(-1, 2), "forearm")
    figure, panels = sheet(3, 9.6, 3.9)
    for axes, operator in zip(panels, ("circ1", "circ2", "circ4"), strict=True):
        swept = cl.sweep(arm, LOW, HIGH, operators={"shoulder": operator, "elbow": operator})
        (volume,) = swept.volumes("forearm")
        axes.fill(*outline(volume.points, volume.radius), color=GREEN, alpha=0.15, linewidth=0)
        axes.plot(*outline(volume.points, volume.radius), color=GREEN, linewidth=1.2)
        for pose in postures:
            ends = pose[:3, 3] + np.outer([0.0, FOREARM], pose[:3, 0])
            axes.fill(*outline(ends, RADIUS), facecolor=PALE, edgecolor=BLUE, linewidth=0.7)
        axes.plot(*volume.points[:, :2].T, ".", color=GREEN, markersize=6)
        axes.fill(*outline(ball.pose[None, :3, 3], ball.shape.radius), color=ORANGE, linewidth=0)
        axes.set_title(f"{operator}: lower = {swept.lower('forearm', ball):.3f}", fontsize=11)
        axes.set(aspect="equal", xlim=(0.08, 1.04), ylim=(-0.13, 0.9))
        axes.axis("off")
    return figure


def planar_arm() -> cl.Robot:
    """Return an arm of two links that turn about z."""
    links = [cl.Link("base"), cl.Link("upper", segment(UPPER)), cl.Link("forearm", segment(FOREARM))]
    shoulder = cl.Joint("shoulder", "revolute", "base", "upper")
    elbow = cl.Joint("elbow", "revolute", "upper", "forearm", origin=[UPPER, 0.0, 0.0])
    return cl.Robot(links, [shoulder, elbow])


def segment(length: float) -> cl.SweptSegment:
    """Return a link along x."""
    return cl.SweptSegment([0.0, 0.0, 0.0], [length, 0.0, 0.0], RADIUS)


def outline(points: Floats, radius: float) -> Floats:
    """Return the outline, (2, n), of the hull of points in the plane of the picture, swept by a ball."""
    rim = points[:, None, :2] + radius * np.stack([np.cos(ROUND), np.sin(ROUND)], axis=-1)
    rim = rim.reshape(-1, 2)
    directions = np.stack([np.cos(FINE), np.sin(FINE)], axis=-1)
    return rim[np.argmax(directions @ rim.T, axis=1)].T


if __name__ == "__main__":
    main(*sys.argv[1:])
