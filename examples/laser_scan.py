"""A vehicle in a room with boxes looks around with its laser scanner.

The scanner does not see the vehicle it sits on. It measures with a little noise; the same scan is taken without noise,
through the boxes, and from a depth buffer, to see what each of them changes.

Run it: python examples/laser_scan.py [folder]
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

import clearance as cl

SCANNER = cl.LaserScanner(
    beams=541,
    fov=1.5 * np.pi,
    range_min=0.05,
    range_max=8.0,
    mount=[0.25, 0.0, 0.22],
    noise=cl.Noise(std=0.015, dropout=0.01),
)
AT = cl.poses.from_rpy([0.0, 0.0, 0.35], translation=[-1.2, -0.6, 0.0])
BOXES = {  # size, position and turn
    "desk": ([1.6, 0.8, 0.75], [1.4, 1.9], 0.1),
    "crate": ([0.5, 0.5, 0.5], [0.9, -0.2], 0.6),
    "case": ([0.3, 0.6, 0.4], [0.1, 1.1], -0.4),
    "pallet": ([1.2, 0.8, 0.3], [2.2, -1.6], 1.1),
}


def room() -> cl.Scene:
    """Five by six metres with a door in the front wall, boxes, two posts, and a vehicle of five links."""
    scene = cl.Scene()
    for name, size, at in [
        ("wall left", [6.0, 0.1, 2.0], [0.5, 3.05, 1.0]),
        ("wall right", [6.0, 0.1, 2.0], [0.5, -3.05, 1.0]),
        ("wall back", [0.1, 6.2, 2.0], [-2.55, 0.0, 1.0]),
        ("wall front", [0.1, 3.9, 2.0], [3.55, 1.15, 1.0]),
        ("wall by the door", [0.1, 1.0, 2.0], [3.55, -2.6, 1.0]),
    ]:
        scene.add(name, cl.Box(size), pose=at)
    for name, (size, at, turn) in BOXES.items():
        scene.add(name, cl.Box(size), cl.poses.from_rpy([0.0, 0.0, turn], translation=[*at, 0.5 * size[2]]))
    scene.add("post", cl.Cylinder(0.12, 2.0), pose=[2.4, 0.8, 1.0])
    scene.add("bin", cl.Cone(0.25, 0.7), pose=[-0.6, -2.2, 0.35])
    scene.add("vehicle/body", cl.Box([0.7, 0.4, 0.2]), AT @ cl.poses.from_translation([0.0, 0.0, 0.2]))
    for k, (x, y) in enumerate([(0.22, 0.24), (0.22, -0.24), (-0.22, 0.24), (-0.22, -0.24)]):
        turned = cl.poses.from_rpy([0.5 * np.pi, 0.0, 0.0], translation=[x, y, 0.1])
        scene.add(f"vehicle/wheel {k}", cl.Cylinder(0.1, 0.06), AT @ turned)
    return scene


def outline(scene: cl.Scene, name: str) -> np.ndarray:
    """The shadow of a body on the ground, seen from above."""
    shape, pose = scene.shape(name), scene.pose(name)
    if isinstance(shape, cl.Box):
        corners = 0.5 * np.array(shape.size) * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    elif name.startswith("vehicle/"):  # a wheel on its side
        half = 0.5 * shape.length
        corners = np.array([[x, 0.0, z] for x, z in ((0.1, half), (-0.1, half), (-0.1, -half), (0.1, -half))])
    else:
        angle = np.linspace(0.0, 2.0 * np.pi, 60)
        corners = shape.radius * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    return (corners @ pose[:3, :3].T + pose[:3, 3])[:, :2]


def draw_map(axes: Axes, scene: cl.Scene, scan: cl.Scan) -> None:
    for name in scene.names:
        is_own = name.startswith("vehicle/")
        colour = ("#d5e0fa", "#1f4fd8") if is_own else ("#d8dce0", "#3c434a")
        axes.add_patch(Polygon(outline(scene, name), facecolor=colour[0], edgecolor=colour[1], linewidth=1.0, zorder=2))
    points, at = scan.points, scan.pose[:2, 3]
    seen = points[np.isfinite(scan.ranges)]
    for point in seen[::6]:
        axes.plot(*np.stack([at, point[:2]], axis=1), color="#00796b", linewidth=0.35, alpha=0.45, zorder=1)
    axes.plot(*seen[:, :2].T, ".", color="#d6001c", markersize=2.6, zorder=4)
    axes.plot(*at, "o", color="#1f4fd8", markersize=5.0, zorder=5)
    axes.set(xlim=(-2.8, 4.6), ylim=(-3.3, 3.3), aspect="equal", xlabel="x in m", ylabel="y in m")
    axes.set_title(f"{scan.ranges.size} beams, {len(seen)} returns: red", loc="left", fontsize=9)


def draw_ranges(axes: Axes, scan: cl.Scan, exact: cl.Scan, through: cl.Scan) -> None:
    angle = np.degrees(scan.angles)
    axes.plot(
        angle, np.where(np.isfinite(through.ranges), through.ranges, np.nan), color="#9aa3ab", label="boxes hidden"
    )
    axes.plot(angle, np.where(np.isfinite(exact.ranges), exact.ranges, np.nan), color="#00796b", label="without noise")
    axes.plot(angle, scan.ranges, ".", color="#d6001c", markersize=2.6, label="measured")
    axes.set(xlabel="angle in degrees", ylabel="range in m", ylim=(0.0, 6.4))
    axes.legend(fontsize=8, frameon=False, ncols=3, loc="upper right")


def main(folder: str | Path = ".") -> dict[str, cl.Scan]:
    """Print what the scanner sees, leave `laser_scan.png`, and return the scans by what they are."""
    scene, options = room(), {"pose": AT, "ignore": "vehicle"}
    scans = {
        "measured": SCANNER.scan(scene, time=1.0, **options),
        "exact": replace(SCANNER, noise=None).scan(scene, **options),
        "boxes hidden": replace(SCANNER, noise=None, hidden=list(BOXES)).scan(scene, **options),
        "depth buffer": replace(SCANNER, noise=None, method="depth").scan(scene, **options),
    }
    measured, exact, depth = (scans[name] for name in ("measured", "exact", "depth buffer"))
    nearest = int(np.nanargmin(exact.ranges))
    counts = {name: int(np.count_nonzero(exact.index == k)) for k, name in enumerate(scene.names)}
    print(f"nearest: {scene.names[exact.index[nearest]]}, {exact.ranges[nearest]:.3f} m away", end=" ")
    print(f"at {np.degrees(exact.angles[nearest]):.1f} degrees")
    print("beams on each:", ", ".join(f"{name} {count}" for name, count in counts.items() if count))
    both = np.isfinite(exact.ranges) & np.isfinite(measured.ranges)
    print(f"{np.count_nonzero(np.isposinf(exact.ranges))} beams leave by the door,", end=" ")
    print(f"{np.count_nonzero(np.isnan(measured.ranges))} are lost,", end=" ")
    print(f"noise {1e3 * np.std(measured.ranges[both] - exact.ranges[both]):.1f} mm")
    same = np.isfinite(depth.ranges) & np.isfinite(exact.ranges)
    print(
        f"depth buffer and rays differ by at most {1e6 * np.abs(depth.ranges[same] - exact.ranges[same]).max():.1f} um"
    )

    figure = Figure(figsize=(9.6, 5.2), dpi=130, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1.0])
    draw_map(left, scene, measured)
    draw_ranges(right, measured, exact, scans["boxes hidden"])
    picture = Path(folder) / "laser_scan.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture)
    print(f"Picture: {picture}")
    return scans


if __name__ == "__main__":
    main(*sys.argv[1:2])
