"""The strongest peers, each called in its fastest way: closed forms in NumPy, coal, MuJoCo."""

from __future__ import annotations

from collections.abc import Callable

import coal
import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Gaps = tuple[Floats, Floats, Floats, Floats]  # distance, point_a, point_b, normal

# Temporaries of this many rows stay in the cache; whether that beats whole columns depends on the machine.
BLOCK = 4096


def _dot(u: Floats, v: Floats) -> Floats:
    return np.einsum("nc,nc->n", u, v)


def _swept(closest_a: Floats, apart: Floats, radius_a: Floats, radius_b: Floats) -> Gaps:
    length = np.sqrt(_dot(apart, apart))
    normal = apart / length[:, None]
    distance = length - (radius_a + radius_b)
    point_a = closest_a + radius_a[:, None] * normal
    return distance, point_a, point_a + distance[:, None] * normal, normal


def numpy_spheres(a: Floats, b: Floats, radius_a: Floats, radius_b: Floats) -> Gaps:
    return _swept(a[:, 0], b[:, 0] - a[:, 0], radius_a, radius_b)


def numpy_capsules(a: Floats, b: Floats, radius_a: Floats, radius_b: Floats) -> Gaps:
    """Closest points of segments after Ericson, Real-Time Collision Detection, 5.1.9, without its degenerate cases."""
    u, v, w = a[:, 1] - a[:, 0], b[:, 1] - b[:, 0], b[:, 0] - a[:, 0]
    uu, vv, uv, uw, vw = _dot(u, u), _dot(v, v), _dot(u, v), _dot(u, w), _dot(v, w)
    s = np.clip((uw * vv - uv * vw) / (uu * vv - uv * uv), 0.0, 1.0)
    t = np.clip((s * uv - vw) / vv, 0.0, 1.0)
    s = np.clip((t * uv + uw) / uu, 0.0, 1.0)
    on_a = s[:, None] * u
    return _swept(a[:, 0] + on_a, w + t[:, None] * v - on_a, radius_a, radius_b)


def in_blocks(form: Callable[..., Gaps], a: Floats, b: Floats, radius_a: Floats, radius_b: Floats, out: Gaps) -> Gaps:
    for begin in range(0, len(a), BLOCK):
        rows = slice(begin, begin + BLOCK)
        for column, part in zip(out, form(a[rows], b[rows], radius_a[rows], radius_b[rows]), strict=True):
            column[rows] = part
    return out


class CoalPair:
    """Two coal shapes with the functor that coal offers for repeated calls, which saves half of `coal.distance`."""

    def __init__(self, a: coal.CollisionGeometry, b: coal.CollisionGeometry) -> None:
        self.a, self.b = a, b
        self.compute = coal.ComputeDistance(a, b)
        self.request, self.result = coal.DistanceRequest(), coal.DistanceResult()

    def placed(self, poses_a: Floats, poses_b: Floats) -> list[tuple[coal.Transform3s, coal.Transform3s]]:
        return [
            (coal.Transform3s(p[:3, :3], p[:3, 3]), coal.Transform3s(q[:3, :3], q[:3, 3]))
            for p, q in zip(poses_a, poses_b, strict=True)
        ]

    def distances_of_placed(self, placed: list[tuple[coal.Transform3s, coal.Transform3s]]) -> list[float]:
        compute, request, result, clear = self.compute, self.request, self.result, self.result.clear
        found = []
        for at_a, at_b in placed:
            clear()  # a result keeps the least distance it has seen
            found.append(compute(at_a, at_b, request, result))
        return found

    def plain_distances_of_placed(self, placed: list[tuple[coal.Transform3s, coal.Transform3s]]) -> list[float]:
        a, b, request, result, clear = self.a, self.b, self.request, self.result, self.result.clear
        distance, found = coal.distance, []
        for at_a, at_b in placed:
            clear()
            found.append(distance(a, at_a, b, at_b, request, result))
        return found

    def distances(self, poses: list[tuple[Floats, Floats]]) -> list[float]:
        """Poses come as arrays; two transforms are filled again and again."""
        compute, request, result, clear = self.compute, self.request, self.result, self.result.clear
        at_a, at_b = coal.Transform3s(), coal.Transform3s()
        set_a, set_b = at_a.setTransform, at_b.setTransform
        found = []
        for p, q in poses:
            set_a(p[:3, :3], p[:3, 3])
            set_b(q[:3, :3], q[:3, 3])
            clear()
            found.append(compute(at_a, at_b, request, result))
        return found


def coal_triangle(points: Floats, radius: float) -> coal.Convex:
    """coal has no distance of two triangles, but one of flat convex polyhedra."""
    vertices, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in points:
        vertices.append(point)
    for face in ((0, 1, 2), (0, 2, 1)):
        faces.append(coal.Triangle(*face))
    triangle = coal.Convex(vertices, faces)
    triangle.setSweptSphereRadius(radius)
    return triangle


class MujocoPairs:
    """A model with two geoms per pair, whose frames are written straight into the data."""

    def __init__(self, geom_a: str, geom_b: str, pairs: int, assets: str = "") -> None:
        body = "".join(f"<body><freejoint/><geom {geom}/></body>" for geom in (geom_a, geom_b)) * pairs
        self.model = mujoco.MjModel.from_xml_string(
            f"<mujoco><asset>{assets}</asset><worldbody>{body}</worldbody></mujoco>"
        )
        self.data = mujoco.MjData(self.model)
        self.segment = np.zeros(6)

    def place(self, poses_a: Floats, poses_b: Floats) -> None:
        for k, poses in enumerate((poses_a, poses_b)):
            self.data.geom_xpos[k::2] = poses[:, :3, 3]
            self.data.geom_xmat[k::2] = poses[:, :3, :3].reshape(-1, 9)

    def distances_of_placed(self) -> list[float]:
        model, data, segment, distance = self.model, self.data, self.segment, mujoco.mj_geomDistance
        return [distance(model, data, k, k + 1, 10.0, segment) for k in range(0, model.ngeom, 2)]

    def distances(self, poses: list[tuple[Floats, Floats]]) -> list[float]:
        """Poses come as arrays; the first two geoms are moved again and again."""
        model, data, segment, distance = self.model, self.data, self.segment, mujoco.mj_geomDistance
        (place_a, place_b), (turn_a, turn_b) = data.geom_xpos[:2], data.geom_xmat[:2].reshape(2, 3, 3)
        found = []
        for p, q in poses:
            place_a[:], turn_a[:] = p[:3, 3], p[:3, :3]
            place_b[:], turn_b[:] = q[:3, 3], q[:3, :3]
            found.append(distance(model, data, 0, 1, 10.0, segment))
        return found
