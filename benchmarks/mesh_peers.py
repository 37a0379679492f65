"""Groups of meshes as coal and python-fcl measure them, each in the fastest way it offers to Python.

`model` builds a mesh once, `placed` makes the transforms before the clock starts, `nearest` answers for one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import coal
import fcl
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Soup = tuple[Floats, Ints]
Poses = Mapping[str, Floats]  # bodies that are not named stand at the origin
Found = tuple[float, Floats, Floats]  # the distance, and a witness point on either group, in the world


class Peer(Protocol):
    """Two groups of meshes, whose least distance is wanted for pose after pose."""

    accuracy: float  # of its answers, relative to the coordinates

    def __init__(self, group_a: Mapping[str, Any], group_b: Mapping[str, Any]) -> None: ...

    @staticmethod
    def model(soup: Soup) -> Any: ...

    def placed(self, poses: Poses) -> list[Any]: ...

    def nearest(self, frames: Any) -> Found: ...

    def forget(self) -> None:
        """Let the next answer be as slow as the first."""


def by_body(names: Sequence[str], poses: Poses) -> list[Floats]:
    """Poses of these bodies, one row per query."""
    count = max((len(rows) for rows in poses.values()), default=1)
    still = np.broadcast_to(np.eye(4), (count, 4, 4))
    return [poses.get(name, still) for name in names]


@dataclass(eq=False)
class CoalPair:
    """A mesh of either group, and the triangles that made this pair the nearest one when it last was."""

    a: int
    b: int
    model_a: coal.BVHModelBase
    model_b: coal.BVHModelBase

    def __post_init__(self) -> None:
        self.compute = coal.ComputeDistance(self.model_a, self.model_b)
        self.forget()

    def forget(self) -> None:
        self.triangles: tuple[coal.BVHModelBase, ...] = ()  # the functor does not keep them alive
        self.compute_remembered: coal.ComputeDistance | None = None

    def remember(self, face_a: int, face_b: int) -> None:
        self.triangles = one_triangle(self.model_a, face_a), one_triangle(self.model_b, face_b)
        self.compute_remembered = coal.ComputeDistance(*self.triangles)


def one_triangle(model: coal.BVHModelBase, face: int) -> coal.BVHModelOBBRSS:
    """A face as a mesh of its own: coal has no distance of two triangles, but one of meshes, which is exact."""
    corners = model.tri_indices(face)
    return coal_model((np.array([model.vertex(corners[k]) for k in range(3)]), np.array([[0, 1, 2]])))


def coal_model(soup: Soup) -> coal.BVHModelOBBRSS:
    vertices, faces = soup
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(faces), len(vertices))
    model.addVertices(vertices)
    model.addTriangles(faces)
    model.endModel()
    return model


class Coal:
    """coal with all that IPS does around PQP (J. Thorén's thesis, section 4.2), and a little more.

    One result goes from pair to pair, and coal prunes with the distance in it. Before that, the triangles that each
    pair remembers are measured: their least distance is the first bound, and their pair goes first.
    """

    accuracy = 1e-12
    model = staticmethod(coal_model)

    def __init__(self, group_a: Mapping[str, coal.BVHModelBase], group_b: Mapping[str, coal.BVHModelBase]) -> None:
        self.names_a, self.names_b = list(group_a), list(group_b)
        self.pairs = [
            CoalPair(i, j, a, b) for i, a in enumerate(group_a.values()) for j, b in enumerate(group_b.values())
        ]
        self.request, self.result = coal.DistanceRequest(), coal.DistanceResult()
        self.request.enable_signed_distance = False

    def placed(self, poses: Poses) -> list[tuple[list[coal.Transform3s], list[coal.Transform3s]]]:
        at_a, at_b = (
            [[coal.Transform3s(pose[:3, :3], pose[:3, 3]) for pose in rows] for rows in by_body(names, poses)]
            for names in (self.names_a, self.names_b)
        )
        return list(zip(map(list, zip(*at_a, strict=True)), map(list, zip(*at_b, strict=True)), strict=True))

    def nearest(self, frames: tuple[list[coal.Transform3s], list[coal.Transform3s]]) -> Found:
        at_a, at_b = frames
        request, result, pairs = self.request, self.result, self.pairs
        result.clear()
        least = self._bound_by_remembered(frames)
        for pair in pairs:
            distance = pair.compute(at_a[pair.a], at_b[pair.b], request, result)
            if distance < least:
                least = distance
                pair.remember(result.b1, result.b2)
        return least, result.getNearestPoint1(), result.getNearestPoint2()

    def _bound_by_remembered(self, frames: tuple[list[coal.Transform3s], list[coal.Transform3s]]) -> float:
        at_a, at_b = frames
        request, result, pairs = self.request, self.result, self.pairs
        least, first = inf, 0
        for k, pair in enumerate(pairs):
            if pair.compute_remembered is not None:
                distance = pair.compute_remembered(at_a[pair.a], at_b[pair.b], request, result)
                if distance < least:
                    least, first = distance, k
        pairs[0], pairs[first] = pairs[first], pairs[0]
        return least

    def forget(self) -> None:
        for pair in self.pairs:
            pair.forget()


class CoalRss(Coal):
    """coal with its pure rectangle swept spheres, which Python reaches only through a file, rounded to float32."""

    accuracy = 2e-7

    @staticmethod
    def model(soup: Soup) -> coal.BVHModelBase:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "mesh.ply"
            write_ply(path, soup)
            return coal.MeshLoader(coal.BV_RSS).load(str(path))


def write_ply(path: Path, soup: Soup) -> None:
    vertices, faces = soup
    rows = np.empty(len(faces), dtype=[("corners", "u1"), ("vertices", "<i4", 3)])
    rows["corners"], rows["vertices"] = 3, faces
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(vertices)}"]
    header += [f"property double {axis}" for axis in "xyz"]
    header += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header", ""]
    path.write_bytes("\n".join(header).encode() + vertices.astype("<f8").tobytes() + rows.tobytes())


class NaiveCoal(Coal):
    """coal as its first example shows it: every pair from scratch, the least of all distances."""

    def nearest(self, frames: tuple[list[coal.Transform3s], list[coal.Transform3s]]) -> Found:
        at_a, at_b = frames
        least: Found = inf, np.full(3, np.nan), np.full(3, np.nan)
        for pair in self.pairs:
            self.result.clear()
            distance = pair.compute(at_a[pair.a], at_b[pair.b], self.request, self.result)
            if distance < least[0]:
                least = distance, self.result.getNearestPoint1(), self.result.getNearestPoint2()
        return least


class Fcl:
    """python-fcl takes no bound and no hint, and its broad phase saves nothing where one mesh surrounds all others."""

    accuracy = 1e-12

    def __init__(self, group_a: Mapping[str, fcl.BVHModel], group_b: Mapping[str, fcl.BVHModel]) -> None:
        self.names_a, self.names_b = list(group_a), list(group_b)
        self.bodies_a, self.bodies_b = (
            [fcl.CollisionObject(model, fcl.Transform()) for model in group.values()] for group in (group_a, group_b)
        )
        self.pairs = [(a, b) for a in self.bodies_a for b in self.bodies_b]
        self.request = fcl.DistanceRequest(enable_nearest_points=True)

    @staticmethod
    def model(soup: Soup) -> fcl.BVHModel:
        vertices, faces = soup
        model = fcl.BVHModel()
        model.beginModel(len(faces), len(vertices))
        model.addSubModel(vertices, faces)
        model.endModel()
        return model

    def placed(self, poses: Poses) -> list[tuple[fcl.Transform, ...]]:
        rows = by_body(self.names_a + self.names_b, poses)
        return list(zip(*([fcl.Transform(pose[:3, :3], pose[:3, 3]) for pose in row] for row in rows), strict=True))

    def nearest(self, frames: tuple[fcl.Transform, ...]) -> Found:
        for body, frame in zip(self.bodies_a + self.bodies_b, frames, strict=True):
            body.setTransform(frame)
        request, result, distance = self.request, fcl.DistanceResult(), fcl.distance
        for a, b in self.pairs:
            distance(a, b, request, result)
            if result.min_distance <= 0.0:
                break
        return result.min_distance, *result.nearest_points

    def forget(self) -> None:
        """It remembers nothing."""
