"""A depth camera looks at a table; an arm reaches over it: which link comes closest to what the camera sees, and where?

Every pixel becomes a ball, wide enough to close the holes between neighbours. Links and cloud are bodies of one scene.

Run it: python examples/depth_camera.py [folder]
"""

import sys
from pathlib import Path

import numpy as np

import clearance as cl
from clearance import pictures

STEPS = 50
WIDTH, HEIGHT, FOCAL = 160, 120, 150.0  # pixels
CAMERA = cl.poses.from_rpy([np.pi, 0.0, 0.0], translation=[0.4, 0.0, 1.6])  # over the table, looking down
RADIUS = 0.006


def depth_image() -> np.ndarray:
    """What the camera measures along its z axis: a table 1.6 m below, a box and a bowl on it, and noise."""
    v, u = np.mgrid[:HEIGHT, :WIDTH]
    x, y = (u - WIDTH / 2) / FOCAL, (v - HEIGHT / 2) / FOCAL
    depth = np.full(u.shape, 1.6)
    depth[(np.abs(x - 0.15) < 0.08) & (np.abs(y) < 0.1)] = 1.35
    bowl = 0.12**2 - (x + 0.2) ** 2 - y**2
    depth = depth - np.sqrt(np.maximum(bowl, 0.0))
    return depth + 0.002 * np.random.default_rng(0).normal(size=depth.shape)


def cloud_from(depth: np.ndarray) -> cl.PointCloud:
    v, u = np.mgrid[:HEIGHT, :WIDTH]
    rays = np.stack([(u - WIDTH / 2) / FOCAL, (v - HEIGHT / 2) / FOCAL, np.ones(u.shape)], axis=-1)
    return cl.PointCloud((rays * depth[..., None]).reshape(-1, 3), RADIUS)


def posture(swing: float) -> dict[str, np.ndarray]:
    """An upper arm and a forearm that swing over the table."""
    upper = cl.poses.from_rpy([0.0, 1.2, swing], translation=[-0.1, 0.0, 0.3])
    return {"upper arm": upper, "forearm": upper @ cl.poses.from_rpy([0.0, 0.7, 0.0], translation=[0.0, 0.0, 0.4])}


def main(folder: str | Path = ".") -> tuple[cl.NearestBatch, cl.Nearest]:
    """Print what is closest along the swing, leave `depth_camera.png`, and return all gaps and the least of them."""
    link = cl.SweptSegment([0.0, 0.0, 0.0], [0.0, 0.0, 0.4], radius=0.05)
    scene = cl.Scene()
    for name, pose in posture(0.0).items():
        scene.add(name, link, pose)
    scene.add("seen", cloud_from(depth_image()), CAMERA)
    links = ["upper arm", "forearm"]
    for name in links:
        scene.watch(name, "seen")

    swings = [posture(swing) for swing in np.linspace(-1.2, 1.2, STEPS)]
    path = {name: np.stack([step[name] for step in swings]) for name in links}
    along = scene.nearest(links, ["seen"], poses=path)
    for k in range(0, STEPS, STEPS // 10):
        print(f"step {k:2d}: {along.body_a[k]}, {1e3 * along.distance[k]:6.1f} mm")

    worst = int(np.argmin(along.distance))
    scene.move({name: poses[worst] for name, poses in path.items()})
    gap = scene.nearest(links, ["seen"])
    row, column = divmod(gap.feature_b, WIDTH)
    print(f"closest at step {worst}: {gap.body_a}, {1e3 * gap.distance:.2f} mm from pixel ({row}, {column})")
    picture = Path(folder) / "depth_camera.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    pictures.draw(scene, picture, closest=1)
    print(f"Picture: {picture}")
    return along, gap


if __name__ == "__main__":
    main(*sys.argv[1:2])
