"""Convex bodies as coal, python-fcl and MuJoCo know them, and their support in NumPy, which decides who is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import coal
import fcl
import numpy as np
import peers
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

import clearance as cl

Floats = NDArray[np.float64]
Answers = tuple[Floats, Floats]  # signed distances, and the unit normals from a to b that go with them
PosePairs = list[tuple[Floats, Floats]]


@dataclass(frozen=True)
class Body:
    """One shape for everybody; `reach` is the extent of the shape along directions in its own frame."""

    ours: cl.Shape
    coal: coal.CollisionGeometry
    fcl: fcl.CollisionGeometry
    mujoco: str
    reach: Callable[[Floats], Floats]
    size: float
    mesh: Floats | None = None

    def support(self, poses: Floats, directions: Floats) -> Floats:
        """The largest value of `directions . x` over the placed shape."""
        local = np.einsum("nij,ni->nj", poses[:, :3, :3], directions)
        return np.einsum("ni,ni->n", poses[:, :3, 3], directions) + self.reach(local)


def separation(a: Body, b: Body, poses_a: Floats, poses_b: Floats, normals: Floats) -> Floats:
    """How far b lies beyond a along each normal. The signed distance is the largest of these over all normals."""
    return -b.support(poses_b, -normals) - a.support(poses_a, normals)


def sphere(radius: float) -> Body:
    return Body(
        cl.Sphere(radius),
        coal.Sphere(radius),
        fcl.Sphere(radius),
        f'type="sphere" size="{radius}"',
        lambda n: np.full(len(n), radius),
        radius,
    )


def box(*edges: float) -> Body:
    half = np.array(edges) / 2
    return Body(
        cl.Box(edges),
        coal.Box(*edges),
        fcl.Box(*edges),
        'type="box" size="{} {} {}"'.format(*half),
        lambda n: np.abs(n) @ half,
        float(np.linalg.norm(half)),
    )


def capsule(radius: float, length: float) -> Body:
    return Body(
        cl.Capsule(radius, length),
        coal.Capsule(radius, length),
        fcl.Capsule(radius, length),
        f'type="capsule" size="{radius} {length / 2}"',
        lambda n: radius + np.abs(n[:, 2]) * length / 2,
        radius + length / 2,
    )


def cylinder(radius: float, length: float) -> Body:
    return Body(
        cl.Cylinder(radius, length),
        coal.Cylinder(radius, length),
        fcl.Cylinder(radius, length),
        f'type="cylinder" size="{radius} {length / 2}"',
        lambda n: radius * np.hypot(n[:, 0], n[:, 1]) + np.abs(n[:, 2]) * length / 2,
        float(np.hypot(radius, length / 2)),
    )


def ellipsoid(*radii: float) -> Body:
    return Body(
        cl.Ellipsoid(radii),
        coal.Ellipsoid(*radii),
        fcl.Ellipsoid(*radii),
        'type="ellipsoid" size="{} {} {}"'.format(*radii),
        lambda n: np.linalg.norm(n * radii, axis=1),
        max(radii),
    )


def hull(vertices: int, seed: int) -> Body:
    """A hull whose every point is a vertex: they lie on an ellipsoid."""
    points = np.random.default_rng([seed, vertices]).normal(size=(vertices, 3))
    points *= np.array([0.15, 0.2, 0.12]) / np.linalg.norm(points, axis=1, keepdims=True)
    faces = outward_faces(points)
    corners, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    corners.extend(list(points))
    for face in faces:
        triangles.append(coal.Triangle(*map(int, face)))
    counted = np.insert(faces, 0, 3, axis=1)  # python-fcl wants each face to begin with its number of corners
    return Body(
        cl.ConvexHull(points),
        coal.Convex(corners, triangles),
        fcl.Convex(points, len(faces), counted.ravel()),
        'type="mesh"',
        lambda n: (n @ points.T).max(axis=1),
        float(np.linalg.norm(points, axis=1).max()),
        points,
    )


def outward_faces(points: Floats) -> NDArray[np.int32]:
    """Triangles of a hull around the origin, counter-clockwise as seen from outside."""
    faces = ConvexHull(points).simplices
    p, q, s = points[faces].transpose(1, 0, 2)
    inward = np.einsum("ni,ni->n", np.cross(q - p, s - p), p) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return faces


class Coal(peers.CoalPair):
    """coal's functor; it gives the signed distance unless told otherwise."""

    def __init__(self, a: Body, b: Body) -> None:
        super().__init__(a.coal, b.coal)

    def answers(self, poses: PosePairs) -> Answers:
        found = []
        for pair in poses:
            (distance,) = self.distances([pair])
            found.append((distance, np.array(self.result.normal)))
        return columns(found)


class Fcl:
    """python-fcl's `distance`, signed by libccd's EPA where bodies overlap: slow, and nearly exact."""

    def __init__(self, a: Body, b: Body) -> None:
        self.a, self.b = (fcl.CollisionObject(body.fcl, fcl.Transform()) for body in (a, b))
        self.request = fcl.DistanceRequest(enable_nearest_points=True, enable_signed_distance=True)

    def placed(self, poses: PosePairs) -> Iterator[None]:
        a, b = self.a, self.b
        for p, q in poses:
            a.setRotation(p[:3, :3])
            a.setTranslation(p[:3, 3])
            b.setRotation(q[:3, :3])
            b.setTranslation(q[:3, 3])
            yield

    def distances(self, poses: PosePairs) -> list[float]:
        a, b, request, distance, fresh = self.a, self.b, self.request, fcl.distance, fcl.DistanceResult
        return [distance(a, b, request, fresh()) for _ in self.placed(poses)]

    def answers(self, poses: PosePairs) -> Answers:
        found = []
        for _ in self.placed(poses):
            result = fcl.DistanceResult()
            distance = fcl.distance(self.a, self.b, self.request, result)
            on_a, on_b = result.nearest_points
            found.append((distance, along(on_b - on_a, distance)))
        return columns(found)


class FclCollide(Fcl):
    """python-fcl's `collide` with one contact: closed forms and libccd's MPR, which is fast and may go the long way."""

    def __init__(self, a: Body, b: Body) -> None:
        super().__init__(a, b)
        self.request = fcl.CollisionRequest(num_max_contacts=1, enable_contact=True)

    def distances(self, poses: PosePairs) -> list[float]:
        a, b, request, collide, fresh = self.a, self.b, self.request, fcl.collide, fcl.CollisionResult
        found = []
        for _ in self.placed(poses):
            result = fresh()
            found.append(-result.contacts[0].penetration_depth if collide(a, b, request, result) else np.nan)
        return found

    def answers(self, poses: PosePairs) -> Answers:
        found = []
        for _ in self.placed(poses):
            result = fcl.CollisionResult()
            if fcl.collide(self.a, self.b, self.request, result):
                contact = result.contacts[0]
                found.append((-contact.penetration_depth, np.array(contact.normal)))
            else:
                found.append((np.nan, np.full(3, np.nan)))
        return columns(found)


class Mujoco(peers.MujocoPairs):
    """`mj_geomDistance`. MuJoCo keeps vertices of meshes as float32, about a frame of its own."""

    def __init__(self, a: Body, b: Body) -> None:
        geoms, assets = [], ""
        for name, body in (("a", a), ("b", b)):
            mesh = ""
            if body.mesh is not None:
                assets += f'<mesh name="{name}" vertex="{" ".join(map(repr, body.mesh.ravel().tolist()))}"/>'
                mesh = f' mesh="{name}"'
            geoms.append(body.mujoco + mesh)
        super().__init__(*geoms, pairs=1, assets=assets)
        self.body_from_geom = [cl.poses.from_wxyz(quat) for quat in self.model.geom_quat]
        for frame, place in zip(self.body_from_geom, self.model.geom_pos, strict=True):
            frame[:3, 3] = place

    def in_its_frames(self, poses: PosePairs) -> PosePairs:
        """Poses of the geoms for poses of the bodies; to be done before the clock starts."""
        of_a, of_b = self.body_from_geom
        return [(p @ of_a, q @ of_b) for p, q in poses]

    def answers(self, poses: PosePairs) -> Answers:
        """Poses as `in_its_frames` gives them."""
        found = []
        for pair in poses:
            (distance,) = self.distances([pair])
            found.append((distance, along(self.segment[3:] - self.segment[:3], distance)))
        return columns(found)


def along(apart: Floats, distance: float) -> Floats:
    """The normal, from witness points that lie `distance` apart."""
    length = np.linalg.norm(apart)
    return apart / (np.copysign(length, distance) if length > 0.0 else np.nan)


def columns(found: list[tuple[float, Floats]]) -> Answers:
    distances, normals = zip(*found, strict=True)
    return np.array(distances), np.array(normals)
