"""A welding robot that reaches into a car body: which link comes closest to which sheet, where, and how close?

All bodies are meshes of triangles without an inside. The links are one group, the sheets another; one search over both
finds the least distance of all pairs, for every step of a path in a single call.

Run it: python examples/robot_cell.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import clearance as cl
from clearance import pictures, samples

STEPS = 200
START, END = [-1.2, -0.3, 1.9, 0.0, 0.3, -0.4], [-0.73, 0.82, 1.38, 0.0, 0.11, -0.59]  # joint angles in radians


def main(folder: str | Path = ".") -> tuple[cl.NearestBatch, cl.Nearest]:
    """Print what is closest along the path, leave `robot_cell.png`, and return all gaps and the least of them."""
    scene, sheets = samples.robot_cell(), ["shell", "floor"]
    path = samples.robot_cell_poses(np.linspace(START, END, STEPS))  # name of a link to (200, 4, 4)
    links = list(path)

    along = scene.nearest(links, sheets, poses=path)
    for k in range(0, STEPS, STEPS // 10):
        print(f"step {k:3d}: {along.body_a[k]} to {along.body_b[k]}, {1e3 * along.distance[k]:5.1f} mm")

    worst = int(np.argmin(along.distance))
    scene.move({name: poses[worst] for name, poses in path.items()})
    gap = scene.nearest(links, sheets)
    print(
        f"closest at step {worst}: triangle {gap.feature_a} of the {gap.body_a} and triangle {gap.feature_b} "
        f"of the {gap.body_b} are {1e3 * gap.distance:.3f} mm apart"
    )
    picture = Path(folder) / "robot_cell.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    pictures.draw(scene, picture, closest=3)
    print(f"Picture: {picture}")
    return along, gap


if __name__ == "__main__":
    main(*sys.argv[1:2])
