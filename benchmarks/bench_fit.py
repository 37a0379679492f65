"""Volumes of bodies around the links of robots: sphere-swept hulls of few points, and what else one would take.

All volumes are shares of that of the convex hull, the least there is for a convex body. The robots come with
`example-robot-data`. Capsules are swept hulls of two points, the smallest that are found; boxes are trimesh's smallest.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # times of one thread

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import nan
from time import process_time

import numpy as np
import scipy.optimize
import scipy.spatial
import trimesh
from measure import Agreement, Table, arguments, digits, machine
from robot_models import description

import clearance as cl
from clearance.fit import fit_swept_hull, swept_volume

ROBOTS = ["panda", "ur5", "talos"]
COUNTS = [1, 2, 4, 8, "auto"]
BODIES = ["box", "ball", "capsule", "4 points", "8 points", "auto"]
Floats = np.ndarray


@dataclass
class Link:
    """The vertices of a mesh, volumes of bodies around it by their names, and how long it took to find them."""

    name: str
    robot: str
    vertices: Floats
    shares: dict[str, float]
    seconds: dict[str, float]
    n_auto: int = 0
    n_corners: int = 0


def links(robot: str) -> list[Link]:
    """Read the vertices of every mesh of a robot; of equal ones once."""
    meshes: dict[cl.Mesh, str] = {}
    for link in description(robot).ours("mesh").links:
        for part in link.shapes:
            if isinstance(part.shape, cl.Mesh):
                meshes.setdefault(part.shape, f"{robot} {link.name}")
    return [Link(name, robot, mesh.vertices[np.unique(mesh.faces)], {}, {}) for mesh, name in meshes.items()]


def ellipsoid(count: int = 20_000) -> Link:
    """The largest cloud that a link may be: every point is a corner of its hull."""
    towards = np.random.default_rng(0).standard_normal((count, 3))
    on_ball = towards / np.linalg.norm(towards, axis=1, keepdims=True)
    return Link("ellipsoid", "", on_ball * [0.3, 0.2, 0.1], {}, {})


def timed(run: Callable[[], object]) -> tuple[object, float]:
    start = process_time()  # others may be busy here, too
    value = run()
    return value, process_time() - start


def fill(link: Link, agreement: Agreement) -> None:
    """Find all bodies around a link, and make sure that they contain it."""
    hull = scipy.spatial.ConvexHull(link.vertices)
    link.n_corners = len(hull.vertices)
    mesh = trimesh.Trimesh(link.vertices, hull.simplices)
    # With twenty thousand corners of a hull trimesh runs out of memory, or takes minutes.
    run = (lambda: mesh.bounding_box_oriented.volume) if len(hull.vertices) < 20_000 else lambda: nan
    box, link.seconds["box"] = timed(run)
    link.shares["box"] = box / hull.volume
    for name, count in zip(BODIES[1:], COUNTS, strict=True):
        fitted, link.seconds[name] = timed(partial(fit_swept_hull, link.vertices, count))
        agreement.check(f"{link.name}, {name}", farthest_outside(fitted, link.vertices), np.zeros(()))
        link.shares[name] = swept_volume(fitted) / hull.volume
        link.n_auto = len(fitted.points)


def farthest_outside(hull: cl.ConvexHull, vertices: Floats) -> Floats:
    poses = np.tile(np.eye(4), (len(vertices), 1, 1))
    poses[:, :3, 3] = vertices
    return np.maximum(cl.distance(cl.SweptPoint(np.zeros(3), 0.0).at(poses), hull).lower.max(), 0.0)


def mean(links: list[Link], body: str) -> float:
    return float(np.mean([link.shares[body] for link in links]))


def table_of_robots(found: list[Link]) -> Table:
    table = Table(
        "Volumes of bodies around links, as shares of the convex hulls'; means",
        [
            "robot",
            "meshes",
            *BODIES,
            "points of auto",
            "8 points: below box",
            "below capsule",
            "8 points [ms]",
            "auto [ms]",
        ],
    )
    for robot in dict.fromkeys(link.robot for link in found):
        own = [link for link in found if link.robot == robot]
        below = [sum(link.shares["8 points"] < link.shares[other] for link in own) for other in ("box", "capsule")]
        times = [f"{1e3 * np.mean([link.seconds[name] for link in own]):.0f}" for name in ("8 points", "auto")]
        points = float(np.mean([link.n_auto for link in own]))
        table.add(robot, len(own), *(mean(own, body) for body in BODIES), points, *below, *times)
    return table


def table_of_links(found: list[Link]) -> Table:
    table = Table(
        "Volume of a body around each link, as a share of the convex hull's",
        ["link", "corners of the hull", *BODIES, "points of auto", "8 points [ms]", "auto [ms]"],
    )
    for link in found:
        times = [f"{1e3 * link.seconds[name]:.0f}" for name in ("8 points", "auto")]
        table.add(link.name, link.n_corners, *(link.shares[body] for body in BODIES), link.n_auto, *times)
    return table


def summary(found: list[Link]) -> str:
    saved = {other: [1 - link.shares["8 points"] / link.shares[other] for link in found] for other in BODIES}
    box, capsule = (digits(float(100 * np.mean(saved[other]))) for other in ("box", "capsule"))
    return f"Eight points take {box} % less than the smallest boxes and {capsule} % less than capsules, on average."


def main() -> None:
    options = arguments(__doc__)
    agreement = Agreement()
    print(machine())
    robots = ROBOTS[:1] if options.quick else ROBOTS
    found = [link for robot in robots for link in links(robot)[: 2 if options.quick else None]]
    cloud = ellipsoid()
    for link in [*found, cloud]:
        fill(link, agreement)
    by_robot = table_of_robots(found)
    by_robot.notes.append(summary(found))
    by_robot.show(options.markdown)
    table_of_links([*found, cloud]).show(options.markdown)
    print(f"\nafterwards: {machine()}")
    agreement.exit()


if __name__ == "__main__":
    main()
