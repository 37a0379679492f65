"""Laser scanners by rays and by a depth buffer: time of a scan and error of its ranges, as 6.4.3 of the thesis asks.

K. Petersen, Kollisionserkennung für eine Echtzeitsimulation mobiler Roboter (2007), compares both at 26 x 20 to
160 x 120 beams. Here the grid goes up to 640 x 480, among 52 and 186 boxes and over ground of 500 000 triangles. Where
there is no graphics card, the depth buffer is drawn by the processor; all cores work either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import pi

import numpy as np
from measure import Agreement, Table, arguments, in_turns, machine
from numpy.typing import NDArray

import clearance as cl
from clearance.depth_buffer import depth_buffer

Floats = NDArray[np.float64]
SIZES = [(1, 1), (26, 20), (32, 24), (80, 60), (160, 120), (320, 240), (640, 480)]
SENSOR = cl.poses.from_rpy([0.0, 0.1, 0.3], translation=[0.0, 0.0, 0.8])
PRECISION = 2e-6  # of a range of a metre, square to the surface


@dataclass(frozen=True)
class Difference:
    """How two scans of the same beams differ: in what is hit, how many of these pass no silhouette, at most otherwise.

    The error across the surface is that of the range times the cosine of the angle at which the beam meets it.
    """

    beams: int
    unexplained: int
    error: float
    across: float


def boxes(count: int, seed: int = 1) -> cl.Scene:
    """Boxes as large as furniture to vans, standing on the ground within 15 m."""
    rng = np.random.default_rng(seed)
    scene = cl.Scene()
    scene.add("ground", cl.HalfSpace([0.0, 0.0, 1.0], 0.0))
    while len(scene.names) <= count:
        size, at = rng.uniform(0.3, 2.0, size=3), rng.uniform(-15.0, 15.0, size=2)
        if np.linalg.norm(at) > 2.5:
            pose = cl.poses.from_rpy([0.0, 0.0, rng.uniform(0.0, pi)], translation=[*at, 0.5 * size[2]])
            scene.add(f"box {len(scene.names)}", cl.Box(size), pose)
    return scene


def hills(triangles: int, seed: int = 1) -> cl.Scene:
    """Ground of about so many triangles, 30 m wide, with hills higher than the scanner away from it."""
    cells = round(np.sqrt(triangles / 2))
    x, y = np.meshgrid(*[np.linspace(-15.0, 15.0, cells + 1)] * 2, indexing="ij")
    far = np.clip(np.hypot(x, y) / 8.0, 0.0, 1.0) ** 2
    heights = far * (1.0 + np.sin(0.9 * x + seed) * np.cos(0.7 * y)) + 0.01 * np.sin(9.0 * x) * np.sin(8.0 * y)
    field = cl.HeightField(heights, 30.0 / cells)
    scene = cl.Scene()
    scene.add("hills", cl.Mesh(field.vertices, field.faces))
    return scene


def scanner(width: int, height: int, method: str) -> cl.LaserScanner:
    return cl.LaserScanner(width, pi / 2, rows=height, vertical_fov=3.0 * pi / 8, range_max=30.0, method=method)


def difference(scene: cl.Scene, width: int, height: int) -> Difference:
    rays, depth = (scanner(width, height, method).scan(scene, SENSOR) for method in ("rays", "depth"))
    directions = (scanner(width, height, "rays").directions @ SENSOR[:3, :3].T).reshape(*rays.ranges.shape, 3)
    normals = cl.raycast(scene, SENSOR[:3, 3], directions, 30.0).normal
    both = np.isfinite(rays.ranges) & np.isfinite(depth.ranges)
    error = np.zeros(both.shape)
    error[both] = np.abs(rays.ranges[both].astype(np.float64) - depth.ranges[both])
    across = np.where(both, error * np.abs(np.sum(normals * directions, axis=-1)), 0.0)
    differs = (across > PRECISION * (1.0 + np.where(both, rays.ranges, 0.0))) | (rays.index != depth.index)
    beside = [passes_silhouette(scene, directions[tuple(k)], depth.ranges[tuple(k)]) for k in np.argwhere(differs)]
    return Difference(len(beside), beside.count(False), float(error[~differs].max()), float(across[~differs].max()))


def passes_silhouette(scene: cl.Scene, direction: Floats, measured: float) -> bool:
    """Tell whether some ray within a hundred-thousandth of a radian of a beam gives what the depth buffer gave."""
    near = direction + 1e-5 * np.random.default_rng(0).normal(size=(500, 3))
    ranges = cl.raycast(scene, SENSOR[:3, 3], near, 30.0).distance
    return bool(np.isinf(ranges).any() if np.isinf(measured) else np.abs(ranges - measured).min() < 1e-3 * measured)


def compare(quick: bool, agreement: Agreement) -> Table:
    columns = ["scene", "beams", "rays, ms", "depth buffer, ms", "rays / depth", "beams that differ", "error, um"]
    table = Table("A scan of a grid of beams", [*columns, "across the surface, um"])
    scenes = {"52 boxes": boxes(52), "186 boxes": boxes(186)}
    scenes |= {"10 k triangles": hills(10_000)} if quick else {"500 k triangles": hills(500_000)}
    for name, scene in scenes.items():
        for width, height in SIZES[:4] if quick else SIZES:
            by = {method: scanner(width, height, method) for method in ("rays", "depth")}
            runs = {method: partial(one.scan, scene, SENSOR) for method, one in by.items()}
            times = in_turns(runs, 1, 3 if quick else 9)
            found = difference(scene, width, height)
            agreement.check(f"{name}, {width} x {height}: beams", np.array(found.unexplained), np.zeros(()))
            rays, depth = (1e3 * times[method].least for method in ("rays", "depth"))
            beams = f"{width} x {height}"
            table.add(name, beams, rays, depth, rays / depth, found.beams, 1e6 * found.error, 1e6 * found.across)
    table.notes.append(
        "Every beam that differs passes a silhouette: a ray right beside it hits what the depth buffer shows."
    )
    return table


def error_over_range(agreement: Agreement) -> Table:
    """A wall met at up to 45 degrees, at many distances; its ranges are known."""
    columns = ["distance, m", "rays, um", "depth buffer, um", "step of a plain 24-bit depth buffer, um"]
    table = Table("Error over range, wall met at up to 45 degrees", columns)
    for distance in (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0):
        errors = {}
        for method in ("rays", "depth"):
            one = cl.LaserScanner(1001, pi / 2, range_max=2000.0, method=method)
            scan = one.scan(cl.Box([1.0, 4.0 * distance, 1.0]).at([distance + 0.5, 0.0, 0.0]))
            errors[method] = float(np.abs(scan.ranges - distance / np.cos(scan.angles)).max())
            agreement.check(
                f"{method} at {distance} m", np.array(errors[method]), np.zeros(()), PRECISION * (1.0 + 2.0 * distance)
            )
        plain = distance**2 / (0.1 * 2.0**24)  # planes at 0.1 m and far away
        table.add(distance, 1e6 * errors["rays"], 1e6 * errors["depth"], 1e6 * plain)
    table.notes.append("Ranges are single precision as in the ROS message: that alone is up to 6e-8 of the range.")
    return table


def main() -> None:
    options = arguments(__doc__)
    agreement = Agreement()
    print(machine())
    print("OpenGL:", depth_buffer().renderer)
    compare(options.quick, agreement).show(options.markdown)
    error_over_range(agreement).show(options.markdown)
    agreement.exit()


if __name__ == "__main__":
    main()
