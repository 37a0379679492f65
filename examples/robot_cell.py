"""A welding robot that reaches into a car body: which link comes closest to which sheet, where, and how close?

All bodies are meshes of triangles without an inside. The links are one group, the sheets another; one search over both
finds the least distance of all pairs, for every step of a path in a single call.

Run it: python examples/robot_cell.py [folder]
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import clearance as cl
from clearance import pictures

Floats = NDArray[np.float64]

STEPS, FINENESS = 200, 96  # instants of the path; points along a sheet and around a link
# Where the next link begins, in the frame of a link, and the axis that it turns about.
ARM = {
    "column": ((0.0, 0.0, 0.0), "z"),
    "upper arm": ((0.0, 0.0, 0.45), "y"),
    "forearm": ((0.0, 0.0, 0.8), "y"),
    "wrist": ((0.0, 0.0, 0.7), "y"),
    "gun": ((0.0, 0.0, 0.18), "z"),
}
START, END = np.array([2.3, 0.67, 1.25, 0.0, 0.0]), np.array([4.0, 0.35, 1.3, 0.1, 1.5])  # radians


def grid(points: Floats) -> cl.Mesh:
    """Span a sheet over rows of points (n, m, 3), two triangles between four of them."""
    n, m, _ = points.shape
    corner = np.arange(n * m).reshape(n, m)
    a, b, c, d = (part.ravel() for part in (corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]))
    return cl.Mesh(points.reshape(-1, 3), np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]))


def turned(profile: list[tuple[float, float]]) -> cl.Mesh:
    """Turn a profile of radii and heights about z: casings, flanges, tips."""
    radius, height = np.array(profile).T
    angle = np.linspace(0.0, 2.0 * np.pi, FINENESS + 1)[:, None]
    return grid(np.stack([radius * np.cos(angle), radius * np.sin(angle), height + 0.0 * angle], axis=-1))


def links() -> dict[str, cl.Mesh]:
    """Give the links of the arm, each along z in its own frame."""
    wave = [(0.055 + 0.006 * np.cos(40.0 * z), z) for z in np.linspace(0.1, 0.62, 60)]  # a hose around the forearm
    return {
        "column": turned([(0.0, 0.0), (0.2, 0.0), (0.2, 0.06), (0.13, 0.1), (0.13, 0.4), (0.0, 0.42)]),
        "upper arm": turned([(0.0, -0.1), (0.1, -0.08), (0.1, 0.1), (0.07, 0.2), (0.07, 0.7), (0.0, 0.75)]),
        "forearm": turned([(0.0, -0.09), (0.09, -0.07), (0.08, 0.08), *wave, (0.0, 0.65)]),
        "wrist": turned([(0.0, -0.06), (0.06, -0.05), (0.06, 0.1), (0.05, 0.14), (0.0, 0.15)]),
        "gun": turned(
            [(0.0, 0.0), (0.045, 0.01), (0.045, 0.05), (0.02, 0.1), (0.012, 0.28), (0.004, 0.32), (0.0, 0.32)]
        ),
    }


def sheets() -> dict[str, cl.Mesh]:
    """Give a door frame, a roof and a sill: thin sheets with beads pressed into them."""
    u, v = np.meshgrid(np.linspace(-1.0, 1.0, 2 * FINENESS), np.linspace(0.0, 1.0, FINENESS), indexing="ij")
    bead = 0.006 * np.cos(25.0 * u) * np.cos(20.0 * v)
    side = np.stack([-1.05 + 0.12 * v**2 - 0.05 * u**2 + bead, 1.1 * u, 0.1 + 0.55 * v], axis=-1)
    roof = np.stack([-0.95 - 0.6 * v, 1.0 * u, 1.25 - 0.06 * u**2 - 0.08 * v**2 + bead], axis=-1)
    sill = np.stack([-0.9 - 0.3 * v, 1.2 * u, 0.05 + 0.06 * np.sin(np.pi * v) + bead], axis=-1)
    return {"side": grid(side), "roof": grid(roof), "sill": grid(sill)}


def poses_along(path: Floats) -> dict[str, Floats]:
    """Place the links for every row of joint angles: name to (n, 4, 4)."""
    poses, frame = {}, np.eye(4)
    for (name, (joint, axis)), angle in zip(ARM.items(), path.T, strict=True):
        turn = cl.poses.from_axis_angle([0, 0, 1] if axis == "z" else [0, 1, 0], angle)
        frame = poses[name] = frame @ cl.poses.from_translation(joint) @ turn
    return poses


def build_scene() -> cl.Scene:
    """Put arm and car body in one scene, and watch every link against every sheet."""
    scene, parts = cl.Scene(), sheets()
    for name, mesh in (links() | parts).items():
        scene.add(name, mesh)
    for link in ARM:
        for sheet in parts:
            scene.watch(link, sheet)
    return scene


def main(folder: str | Path = ".") -> cl.Gap:
    """Print the closest pair along the path, leave `robot_cell.png`, and return the least gap."""
    scene, arm, body = build_scene(), list(ARM), ["side", "roof", "sill"]
    t = np.linspace(0.0, 1.0, STEPS)[:, None]
    poses = poses_along(START + (END - START) * t)
    found = scene.nearest(arm, body, poses=poses)
    for k in range(0, STEPS, STEPS // 8):
        print(f"t = {t[k, 0]:.2f}: {found.body_a[k]:>9} to {found.body_b[k]}, {1e3 * found.distance[k]:6.1f} mm")

    worst = int(np.argmin(found.distance))
    scene.move({name: path[worst] for name, path in poses.items()})
    gap = scene.nearest(arm, body)
    print(
        f"closest at t = {t[worst, 0]:.2f}: triangle {gap.feature_a} of the {gap.body_a} and triangle {gap.feature_b} "
        f"of the {gap.body_b} are {1e3 * gap.distance:.3f} mm apart"
    )
    path = Path(folder) / "robot_cell.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures.draw(scene, path, closest=3)
    print(f"Picture: {path}")
    return gap


if __name__ == "__main__":
    main(*sys.argv[1:2])
