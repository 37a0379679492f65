"""Volumes of bodies around the links of robots: sphere-swept hulls of few points, and what else one would take.

All volumes are shares of that of the convex hull, the least there is. The meshes come with `example-robot-data`; the
smallest ball, cylinder and box are trimesh's.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # times of one thread

from collections.abc import Callable
from functools import partial
from importlib import metadata
from math import isnan, nan
from time import process_time

import numpy as np
import scipy.optimize
import scipy.spatial
import trimesh
from measure import Agreement, Table, arguments, digits, machine

import clearance as cl
from clearance.fit import fit_swept_hull, swept_volume

FOLDERS = {"panda": "panda_description/meshes/collision/", "ur5": "ur_description/meshes/ur5/collision/"}
COUNTS = [1, 2, 3, 4, 6, 8]
TRIMESH: dict[str, Callable[[trimesh.Trimesh], float]] = {
    "ball": lambda mesh: mesh.bounding_sphere.volume,
    "cylinder": lambda mesh: mesh.bounding_cylinder.volume,
    "box": lambda mesh: mesh.bounding_box_oriented.volume,
}
Floats = np.ndarray


def links() -> dict[str, Floats]:
    """Read the vertices of every link."""
    found = {}
    for file in metadata.files("example-robot-data") or []:
        for robot, folder in FOLDERS.items():
            if folder in str(file) and file.suffix == ".stl":
                found[f"{robot} {file.stem}"] = cl.load_mesh(str(file.locate())).vertices
    return dict(sorted(found.items()))


def ellipsoid(count: int = 20_000) -> Floats:
    """The largest cloud that a link may be: every point is a corner of its hull."""
    towards = np.random.default_rng(0).standard_normal((count, 3))
    return towards / np.linalg.norm(towards, axis=1, keepdims=True) * [0.3, 0.2, 0.1]


def timed(run: Callable[[], float]) -> tuple[float, float]:
    start = process_time()  # others may be busy here, too
    value = run()
    return value, process_time() - start


def milliseconds(seconds: float) -> str:
    return "-" if isnan(seconds) else f"{1e3 * seconds:.0f}"


def fitted(vertices: Floats, count: int, agreement: Agreement, name: str) -> float:
    hull = fit_swept_hull(vertices, count)
    poses = np.tile(np.eye(4), (len(vertices), 1, 1))
    poses[:, :3, 3] = vertices
    outside = cl.distance(cl.SweptPoint(np.zeros(3), 0.0).at(poses), hull).lower.max()
    agreement.check(f"{name}, {count} points", np.maximum(outside, 0.0), np.zeros(()))
    return swept_volume(hull)


def main() -> None:
    options = arguments(__doc__)
    agreement = Agreement()
    print(machine())
    clouds = links()
    if options.quick:
        clouds = dict(list(clouds.items())[:2])
    clouds["ellipsoid"] = ellipsoid()
    ours = [f"{count} point{'s' * (count > 1)}" for count in COUNTS]
    columns = ["link", "corners of the hull", *(f"trimesh {kind}" for kind in TRIMESH), *ours]
    volumes = Table("Volume, as a share of the convex hull", columns)
    times = Table("Processor time [ms]", columns)
    shares, seconds = [], []
    for name, vertices in clouds.items():
        hull = scipy.spatial.ConvexHull(vertices)
        mesh = trimesh.Trimesh(vertices, hull.simplices)
        # With twenty thousand corners of a hull trimesh runs out of memory, or takes minutes.
        theirs = [timed(partial(run, mesh)) if len(vertices) < 20_000 else (nan, nan) for run in TRIMESH.values()]
        found = [*theirs, *(timed(partial(fitted, vertices, count, agreement, name)) for count in COUNTS)]
        shares.append([volume / hull.volume for volume, _ in found])
        seconds.append([taken for _, taken in found])
        volumes.add(name, len(hull.vertices), *shares[-1])
        times.add(name, len(hull.vertices), *map(milliseconds, seconds[-1]))
    volumes.add("mean of links", "", *np.mean(shares[:-1], axis=0).tolist())
    times.add("largest", "", *map(milliseconds, np.nanmax(seconds, axis=0).tolist()))
    boxes, best = np.array(shares)[:-1, 2], np.array(shares)[:-1, -1]
    volumes.notes.append(
        f"Eight points take {digits(float(100 * np.mean(1 - best / boxes)))} % less than the smallest box, on average "
        f"over links; they are smaller for {int((best < boxes).sum())} of {len(best)}."
    )
    volumes.show(options.markdown)
    times.show(options.markdown)
    print(f"\nafterwards: {machine()}")
    agreement.exit()


if __name__ == "__main__":
    main()
