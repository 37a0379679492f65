"""Clouds of a depth camera against links of a robot: cost of a query and of a build, beside an octree and a k-d tree.

coal's octree is the strongest peer that takes any shape. Its cells are cubes, so that its distances may be short by the
diagonal of one; they are checked to that. SciPy's k-d tree answers for spheres only, and exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import nan, sqrt
from time import perf_counter
from typing import Any

import coal
import numpy as np
from measure import Agreement, Table, arguments, in_turns, machine
from numpy.typing import NDArray
from scipy.spatial import KDTree

import clearance as cl

Floats = NDArray[np.float64]
RADIUS, CELL = 0.005, 0.01  # metres: balls, and cubes about as large
PEERS = ["clearance", "coal octree", "SciPy k-d tree"]


def camera(count: int, seed: int = 1) -> Floats:
    """What a depth camera at the origin sees of a wavy wall two metres away, with noise of five millimetres."""
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(-1.0, 1.0, size=(2, count))
    depth = 2.0 + 0.3 * np.sin(3.0 * u) * np.cos(4.0 * v) + 0.005 * rng.normal(size=count)
    return np.stack([u * depth, v * depth, depth], axis=1)


def walk(count: int, depth: float, seed: int = 2) -> Floats:
    """Poses in small steps about a place `depth` metres in front of the camera."""
    rng = np.random.default_rng(seed)
    at = np.array([0.0, 0.0, depth]) + np.cumsum(0.01 * rng.normal(size=(count, 3)), axis=0)
    turns = cl.poses.from_rpy(np.cumsum(0.02 * rng.normal(size=(count, 3)), axis=0))
    return cl.poses.from_translation(at) @ turns


def links() -> dict[str, tuple[cl.Shape, Any]]:
    """Shapes of a robot as we and as coal have them."""
    rng = np.random.default_rng(3)
    corners = 0.1 * rng.normal(size=(40, 3))
    hull = coal.Convex.convexHull(np_points(corners), False, "Qt")
    ring = cl.samples.robot_cell().shape("gun")
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(ring.faces), len(ring.vertices))
    model.addVertices(np.array(ring.vertices))
    model.addTriangles(np.array(ring.faces, dtype=np.int64))
    model.endModel()
    return {
        "sphere": (cl.Sphere(0.1), coal.Sphere(0.1)),
        "capsule": (cl.Capsule(0.06, 0.4), coal.Capsule(0.06, 0.4)),
        "box": (cl.Box([0.1, 0.2, 0.3]), coal.Box(0.1, 0.2, 0.3)),
        "cylinder": (cl.Cylinder(0.1, 0.3), coal.Cylinder(0.1, 0.3)),
        "hull of 40 points": (cl.ConvexHull(corners), hull),
        f"mesh of {len(ring.faces)} triangles": (ring, model),
    }


def np_points(points: Floats) -> Any:
    listed = coal.StdVec_Vec3s()
    for point in points:
        listed.append(point)
    return listed


def ours(cloud: cl.PointCloud, placed: Sequence[cl.Placed]) -> Floats:
    return np.array([cl.distance(cloud, other).distance for other in placed])


def of_coal(octree: Any, shape: Any, frames: Sequence[Any]) -> Floats:
    here, request = coal.Transform3s.Identity(), coal.DistanceRequest()
    return np.array([coal.distance(octree, here, shape, frame, request, coal.DistanceResult()) for frame in frames])


def of_tree(tree: KDTree, centres: Floats, radius: float) -> Floats:
    return np.array([tree.query(centre)[0] for centre in centres]) - radius


def timed(build: Callable[[], Any]) -> tuple[Any, float]:
    start = perf_counter()
    built = build()
    return built, perf_counter() - start


def measure(count: int, quick: bool, agreement: Agreement, query: Table, build: Table) -> None:
    points = camera(count)
    cloud, ours_s = timed(partial(cl.PointCloud, points, RADIUS))
    octree, coal_s = timed(partial(coal.makeOctree, points, CELL))
    tree, tree_s = timed(partial(KDTree, points))
    build.add(str(count), ours_s, coal_s, tree_s, cloud.nbytes / count)
    for place, depth in (("a metre away", 0.8), ("at the wall", 1.85)):
        poses = walk(10 if quick else 30, depth)
        frames = [coal.Transform3s(pose[:3, :3], pose[:3, 3]) for pose in poses]
        for name, (shape, model) in links().items():
            placed = [shape.at(pose) for pose in poses]
            rivals: dict[str, Callable[[], Floats]] = {
                "clearance": partial(ours, cloud, placed),
                "coal octree": partial(of_coal, octree, model, frames),
            }
            if isinstance(shape, cl.Sphere):
                rivals["SciPy k-d tree"] = partial(of_tree, tree, poses[:, :3, 3], shape.radius + RADIUS)
            found = {rival: run() for rival, run in rivals.items()}
            if "SciPy k-d tree" in found:
                agreement.check(f"k-d tree, {count}, {place}", found["clearance"], found["SciPy k-d tree"], 1e-12)
            apart = (found["clearance"] > 0.0) & (found["coal octree"] > 0.0)
            # A cell holds its points: it is as near as they are, or nearer by no more than its diagonal.
            middle = found["clearance"][apart] + RADIUS - 0.5 * sqrt(3.0) * CELL
            allowed = 0.5 * sqrt(3.0) * CELL + 1e-6
            agreement.check(f"octree, {name}, {count}, {place}", found["coal octree"][apart], middle, allowed)
            times = in_turns(rivals, len(poses), 2 if quick else 3)
            shown = [1e6 * times[rival].least if rival in times else nan for rival in PEERS]
            work = cl.distance(cloud, shape.at(poses)).work
            query.add(str(count), place, name, *shown, shown[1] / shown[0], work.triangle_tests / len(poses))


def main() -> None:
    options = arguments(__doc__)
    agreement = Agreement()
    query = Table(
        "A cloud and a link, us per query", ["points", "where", "link", *PEERS, "coal / clearance", "balls measured"]
    )
    build = Table("Build, s", ["points", *PEERS, "clearance, bytes per point"])
    for count in [10_000] if options.quick else [10_000, 100_000, 1_000_000]:
        measure(count, options.quick, agreement, query, build)
    query.notes.append(
        "Single calls from Python, without hints. Inside the wall clearance gives the depth of the deepest ball, coal "
        "that of some cell. - is not offered."
    )
    print(machine())
    for table in (query, build):
        table.show(options.markdown)
    agreement.exit()


if __name__ == "__main__":
    main()
