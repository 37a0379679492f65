"""Grains dropped into a box: spheres, cubes and ellipsoids fall, come to rest, and play in the browser.

Run it: python examples/packing.py [bodies] [folder] [seconds]
"""

import sys
from pathlib import Path

import numpy as np

import clearance as cl
from clearance import simulation as sim
from clearance.simulation.grain_page import play_grains
from clearance.simulation.grain_recordings import record

SIZE = 0.02


def box_of_grains(count: int, seed: int = 0) -> sim.Particles:
    """Return grains on a lattice above the floor of a box with four sides."""
    rng = np.random.default_rng(seed)
    row = max(2, round((count / 1.5) ** (1 / 3)))
    side = 1.8 * SIZE * row
    grains = sim.Particles(step=1 / 240, contact=sim.Hard(iterations=6))
    sides = {"left": [1, 0, 0], "right": [-1, 0, 0], "front": [0, 1, 0], "back": [0, -1, 0]}
    grains.add_wall("floor", cl.HalfSpace([0, 0, 1], 0.0))
    for name, normal in sides.items():
        grains.add_wall(name, cl.HalfSpace(normal, -side / 2))
    places = np.stack(np.unravel_index(np.arange(count), (count // row**2 + 1, row, row))[::-1], axis=1)
    centres = (places + np.array([0.5 - row / 2, 0.5 - row / 2, 0.5])) * 1.8 * SIZE
    poses = cl.poses.from_xyzw(rng.normal(size=(count, 4)), centres + 0.1 * SIZE * rng.uniform(-1, 1, (count, 3)))
    for k, shape in enumerate(
        [cl.Sphere(SIZE / 2), cl.Box([SIZE] * 3), cl.Ellipsoid([0.6 * SIZE, 0.5 * SIZE, 0.35 * SIZE])]
    ):
        grains.add(shape, poses[k::3], density=2500.0)
    return grains


def main(count: str = "1500", folder: str = ".", seconds: str = "2") -> sim.Particles:
    """Let grains fall, leave `packing.html`, and return them."""
    grains = box_of_grains(int(count))
    page = Path(folder) / "packing.html"
    play_grains(record(grains, float(seconds), progress=True), page)
    speeds = np.linalg.norm(grains.velocities[:, :3], axis=1)
    depths = grains.contacts.depths
    print(f"{len(grains)} grains, {len(depths)} contacts after {grains.time:.2f} s. Page to play: {page}")
    print(f"Mean speed {1e3 * speeds.mean():.2g} mm/s, mean overlap {depths.clip(0).mean() / SIZE:.1e} of a grain.")
    return grains


if __name__ == "__main__":
    main(*sys.argv[1:4])
