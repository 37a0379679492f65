"""Bodies at rest on the ground and on each other, and the points that carry them.

A simulation asks for these points in every step: a face that lies on another needs enough of them to stand without
rocking, an edge two, a corner one. Here every body has sunk in by half a millimetre, as bodies at rest do.

Run it: python examples/resting_contacts.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import clearance as cl
from clearance import pictures

SUNK = 5e-4  # metres
GOLDEN = (1.0 + np.sqrt(5.0)) / 2.0
# A dodecahedron: the corners of a cube, and those of three rectangles.
CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
    CORNERS += [(0, s / GOLDEN, t * GOLDEN), (s / GOLDEN, t * GOLDEN, 0), (s * GOLDEN, 0, t / GOLDEN)]


def build_scene() -> tuple[cl.Scene, list[tuple[str, str]]]:
    """Put bodies on the ground and on each other, and list who carries whom."""
    # One of its faces looks along (0, GOLDEN, 1): turn that one down.
    tilt = cl.poses.from_rpy([np.pi / 2 + np.arctan2(1.0, GOLDEN), 0.0, 0.0])
    stone = np.array(CORNERS) @ tilt[:3, :3].T
    stone *= 0.16 / np.ptp(stone[:, 2])
    lying = cl.poses.from_rpy([np.pi / 2, 0.0, 0.0])

    scene = cl.Scene()
    scene.add("ground", cl.HalfSpace([0.0, 0.0, 1.0], 0.0))
    scene.add("box", cl.Box([0.3, 0.3, 0.2]), pose=[0.0, 0.0, 0.1 - SUNK])
    scene.add("standing", cl.Cylinder(0.08, 0.24), pose=[0.0, 0.4, 0.12 - SUNK])
    scene.add("lying", cl.Cylinder(0.06, 0.3), pose=cl.poses.from_translation([0.35, 0.2, 0.06 - SUNK]) @ lying)
    scene.add("stone", cl.ConvexHull(stone), pose=[0.36, -0.2, 0.08 - SUNK])
    # The second storey: a rod and a plank that reach beyond the edge of the box, a round stone on the cylinder.
    scene.add("rod", cl.Cylinder(0.03, 0.3), pose=cl.poses.from_translation([-0.06, -0.05, 0.23 - 2 * SUNK]) @ lying)
    scene.add("plank", cl.Box([0.3, 0.12, 0.03]), pose=[0.14, 0.08, 0.215 - 2 * SUNK])
    scene.add("pebble", cl.ConvexHull(0.6 * stone, radius=0.01), pose=[0.0, 0.4, 0.298 - 2 * SUNK])
    carried = [("ground", name) for name in ("box", "standing", "lying", "stone")]
    carried += [("box", "rod"), ("box", "plank"), ("standing", "pebble")]
    scene.watch_all()
    return scene, carried


def measure(scene: cl.Scene, carried: list[tuple[str, str]]) -> dict[str, cl.Contacts]:
    """Find the points that carry each body; normals lead from the carrier up into it."""

    def placed(name: str) -> cl.Placed:
        return scene.shape(name).at(scene.pose(name))

    return {f"{upper} on {lower}": cl.contacts(placed(lower), placed(upper)) for lower, upper in carried}


def main(folder: str | Path = ".") -> dict[str, cl.Contacts]:
    """Print all manifolds, leave `resting_contacts.png` and a page to turn around, and return the manifolds."""
    scene, carried = build_scene()
    found = measure(scene, carried)
    for name, manifold in found.items():
        print(f"{name}: {len(manifold)} points, normal {manifold.normal.round(6) + 0.0}")
        for (x, y, z), depth in zip(manifold.points, manifold.depths, strict=True):
            print(f"    x {x:7.4f}  y {y:7.4f}  z {z:8.5f} m, {1e3 * depth:.3f} mm deep")
    path = Path(folder) / "resting_contacts.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures.draw(scene, path, closest=0, contacts=found)
    pictures.page(scene, path.with_suffix(".html"), closest=0, contacts=found)
    print(f"Picture: {path}\nPage to turn around: {path.with_suffix('.html')}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])
