"""Robots as pinocchio with coal, MuJoCo and VAMP check them, each in the fastest way it offers to Python.

Rows are configurations in a peer's own order and type, made before the clock starts. A peer that cannot be imported is
left out, and `absent` says how to get it. VAMP has no wheel; vamp/README.md shows how it is built.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from math import inf
from typing import Any

import numpy as np
from motion_bench_maker import Body, Problem
from robot_models import Floats, PinocchioModel, mujoco_model

Rows = list[Any]
NEEDED = {
    "pinocchio + coal": ("pinocchio", "`pip install pin`"),
    "MuJoCo": ("mujoco", "`pip install mujoco`"),
    "VAMP": ("vamp", "build `vamp-planner` from its sources (see vamp/README.md)"),
}


def absent() -> dict[str, str]:
    """Peers that are not installed, and how to get them."""
    return {name: advice for name, (module, advice) in NEEDED.items() if find_spec(module) is None}


class Pinocchio:
    """pinocchio's kinematics and coal's geometry, pairs in a loop or after the boxes around them."""

    def __init__(self, robot: PinocchioModel, problem: Problem | None = None) -> None:
        import pinocchio

        self.pinocchio, self.robot, self.model, self.geometry = pinocchio, robot, robot.model, robot.geometry
        if problem is not None:
            self.geometry = geometry_among(robot, problem)
        self.data, self.found = self.model.createData(), pinocchio.GeometryData(self.geometry)
        self.broad_phase = pinocchio.BroadPhaseManager_NaiveCollisionManager(self.model, self.geometry, self.found)

    def rows(self, q: Floats) -> Rows:
        return self.robot.rows(q)

    def collisions(self, rows: Rows) -> list[bool]:
        """The call of pinocchio's examples."""
        model, data, geometry, found = self.model, self.data, self.geometry, self.found
        collide = self.pinocchio.computeCollisions
        return [collide(model, data, geometry, found, q, True) for q in rows]

    def broad_collisions(self, rows: Rows) -> list[bool]:
        """The manager that tests all boxes is the fastest of its six for these robots."""
        model, data, manager, collide = self.model, self.data, self.broad_phase, self.pinocchio.computeCollisions
        return [collide(model, data, manager, q, True) for q in rows]

    def distances(self, rows: Rows) -> None:
        """Measure all pairs; pinocchio keeps the results of the last configuration only."""
        model, data, geometry, found = self.model, self.data, self.geometry, self.found
        distances = self.pinocchio.computeDistances
        for q in rows:
            distances(model, data, geometry, found, q)

    def least_distances(self, rows: Rows) -> Floats:
        """The index of the nearest pair is what `computeDistances` returns."""
        model, data, geometry, found = self.model, self.data, self.geometry, self.found
        distances, results = self.pinocchio.computeDistances, self.found.distanceResults
        return np.array([results[distances(model, data, geometry, found, q)].min_distance for q in rows])

    def measured(self, q: Floats) -> Floats:
        """The least distance of each of our configurations, for checks rather than for times."""
        return self.exact(self.rows(q)).min(axis=1)

    def by_link_pair(self, rows: Rows) -> dict[tuple[str, str], Floats]:
        """The distances of all pairs of links, for checks too."""
        columns: dict[tuple[str, str], Floats] = {}
        for pair, column in zip(self.robot.link_pairs, self.exact(rows).T, strict=True):
            columns[pair] = np.minimum(columns.get(pair, inf), column)
        return columns

    def exact(self, rows: Rows) -> Floats:
        """The distances of all pairs of geometries; left alone, coal stops at 1e-6 m and may be 3e-6 m off."""
        found = self.pinocchio.GeometryData(self.geometry)
        for request in found.distanceRequests:
            request.gjk_tolerance = request.epa_tolerance = 1e-9
            request.gjk_max_iterations = request.epa_max_iterations = 1000
        table = np.empty((len(rows), len(found.distanceResults)))
        for k, q in enumerate(rows):
            self.pinocchio.computeDistances(self.model, self.data, self.geometry, found, q)
            table[k] = [result.min_distance for result in found.distanceResults]
        return table

    def poses(self, rows: Rows, links: list[str]) -> Floats:
        frames = [self.model.getFrameId(link) for link in links]
        found = np.empty((len(rows), len(links), 4, 4))
        for k, q in enumerate(rows):
            self.pinocchio.framesForwardKinematics(self.model, self.data, q)
            found[k] = [self.data.oMf[frame].homogeneous for frame in frames]
        return found

    def kinematics(self, rows: Rows) -> None:
        """All frames of all links, left in pinocchio's data."""
        model, data, forward = self.model, self.data, self.pinocchio.framesForwardKinematics
        for q in rows:
            forward(model, data, q)

    def jacobians(self, rows: Rows, link: str) -> list[Floats]:
        """Six rows each, along the axes of the world; the first three are of the link's origin."""
        model, data, jacobian = self.model, self.data, self.pinocchio.computeFrameJacobian
        frame, axes = model.getFrameId(link), self.pinocchio.LOCAL_WORLD_ALIGNED
        return [jacobian(model, data, q, frame, axes) for q in rows]

    def columns_of(self, joints: list[str]) -> list[int]:
        """Of a Jacobian."""
        return [self.model.joints[self.model.getJointId(joint)].idx_v for joint in joints]


def geometry_among(robot: PinocchioModel, problem: Problem) -> Any:
    """All links of a robot against all bodies of a problem, and against each other as before."""
    import pinocchio

    geometry = pinocchio.GeometryModel(robot.geometry)
    for body in problem.bodies:
        place = pinocchio.SE3(body.pose[:3, :3], body.pose[:3, 3])
        index = geometry.addGeometryObject(pinocchio.GeometryObject(body.name, 0, 0, place, coal_shape(body)))
        for link in range(robot.geometry.ngeoms):
            geometry.addCollisionPair(pinocchio.CollisionPair(link, index))
    return geometry


def coal_shape(body: Body) -> Any:
    import coal

    if body.kind == "box":
        return coal.Box(*body.sizes)
    length, radius = body.sizes
    return coal.Cylinder(radius, length)


class Nearest:
    """The least of all distances, as a careful user finds it: pairs in the order of the spheres around them, and none
    whose spheres are farther apart than the nearest pair so far."""

    def __init__(self, pairs: list[tuple[int, int]], centres: Floats, radii: Floats) -> None:
        self.a, self.b = np.array(pairs).T
        self.centres, self.reach = centres, radii[self.a] + radii[self.b]

    def in_order(self, poses: Floats) -> tuple[list[int], list[float]]:
        """Pairs and what their distances are at least, from geometry poses `(geometries, 3, 4)`."""
        at = np.einsum("gij,gj->gi", poses[:, :, :3], self.centres) + poses[:, :, 3]
        apart = at[self.a] - at[self.b]
        least = np.sqrt(np.einsum("pi,pi->p", apart, apart)) - self.reach
        order = np.argsort(least)
        return order.tolist(), least[order].tolist()

    @staticmethod
    def search(order: list[int], least: list[float], distance: Callable[[int, float], float]) -> float:
        best = inf
        for pair, at_least in zip(order, least, strict=True):
            if at_least >= best:
                break
            best = min(best, distance(pair, best))
            if best <= 0.0:
                break
        return best


class CoalNearest:
    """coal passes its bound from pair to pair: one result goes through all of them."""

    def __init__(self, peer: Pinocchio) -> None:
        import coal

        self.peer = peer
        self.forms = [body.geometry for body in peer.geometry.geometryObjects]
        for form in self.forms:
            form.computeLocalAABB()
        self.pairs = [(pair.first, pair.second) for pair in peer.geometry.collisionPairs]
        self.computes = [coal.ComputeDistance(self.forms[a], self.forms[b]) for a, b in self.pairs]
        self.places = [coal.Transform3s() for _ in self.forms]
        self.request, self.result = coal.DistanceRequest(), coal.DistanceResult()
        self.request.enable_signed_distance = False
        centres, radii = zip(*((form.aabb_center, form.aabb_radius) for form in self.forms), strict=True)
        self.nearest = Nearest(self.pairs, np.array(centres), np.array(radii))

    def rows(self, q: Floats) -> Rows:
        return self.peer.rows(q)

    def least_distances(self, rows: Rows) -> Floats:
        return np.array([self.least_distance(q) for q in rows])

    def least_distance(self, q: Floats) -> float:
        peer, poses = self.peer, np.empty((len(self.places), 3, 4))
        peer.pinocchio.updateGeometryPlacements(peer.model, peer.data, peer.geometry, peer.found, q)
        for k, (place, at) in enumerate(zip(self.places, peer.found.oMg, strict=True)):
            rotation, translation = poses[k, :, :3], poses[k, :, 3]
            rotation[:], translation[:] = at.rotation, at.translation
            place.setTransform(rotation, translation)
        self.result.clear()
        return self.nearest.search(*self.nearest.in_order(poses), self.distance)

    def distance(self, pair: int, _: float) -> float:
        a, b = self.pairs[pair]
        return self.computes[pair](self.places[a], self.places[b], self.request, self.result)


class Mujoco:
    """MuJoCo knows hulls, not meshes, and rounds their vertices to float32."""

    FAR = 100.0  # metres

    def __init__(self, robot: PinocchioModel) -> None:
        import mujoco

        self.mujoco, self.robot, self.model = mujoco, robot, mujoco_model(robot)
        self.data, self.segment = mujoco.MjData(self.model), np.zeros(6)
        names = [body.name for body in robot.geometry.geometryObjects]
        geoms = [self.model.geom(name).id for name in names]
        self.pairs = [(geoms[pair.first], geoms[pair.second]) for pair in robot.geometry.collisionPairs]
        self.nearest = Nearest(self.pairs, np.zeros((self.model.ngeom, 3)), self.model.geom_rbound)

    def rows(self, q: Floats) -> Rows:
        columns = self.robot.description.by_joint(q)
        names = [self.model.joint(k).name for k in range(self.model.njnt)]
        return list(np.stack([columns[name] for name in names], axis=1))

    def collisions(self, rows: Rows) -> list[bool]:
        """MuJoCo finds all contacts; it cannot stop at the first."""
        model, data, forward, collide = self.model, self.data, self.mujoco.mj_kinematics, self.mujoco.mj_collision
        qpos, found = data.qpos, []
        for q in rows:
            qpos[:] = q
            forward(model, data)
            collide(model, data)
            found.append(data.ncon > 0)
        return found

    def distances(self, rows: Rows) -> list[list[float]]:
        model, data, segment, far = self.model, self.data, self.segment, self.FAR
        forward, distance, found = self.mujoco.mj_kinematics, self.mujoco.mj_geomDistance, []
        for q in rows:
            data.qpos[:] = q
            forward(model, data)
            found.append([distance(model, data, a, b, far, segment) for a, b in self.pairs])
        return found

    def least_distances(self, rows: Rows) -> Floats:
        poses, found = np.empty((self.model.ngeom, 3, 4)), []
        for q in rows:
            self.data.qpos[:] = q
            self.mujoco.mj_kinematics(self.model, self.data)
            poses[:, :, :3], poses[:, :, 3] = self.data.geom_xmat.reshape(-1, 3, 3), self.data.geom_xpos
            found.append(self.nearest.search(*self.nearest.in_order(poses), self.distance))
        return np.array(found)

    def distance(self, pair: int, best: float) -> float:
        return self.mujoco.mj_geomDistance(self.model, self.data, *self.pairs[pair], min(best, self.FAR), self.segment)


class Vamp:
    """The Panda of 59 spheres, in float32, with eight configurations at a time inside a motion."""

    def __init__(self, problem: Problem | None = None) -> None:
        import vamp

        self.robot = vamp.panda
        self.environment = vamp.Environment() if problem is None else problem.vamp_environment()
        self.per_radian = int(self.robot.resolution())

    def rows(self, q: Floats) -> Rows:
        return q.tolist()  # lists are faster than rows of float32

    def valid(self, rows: Rows) -> list[bool]:
        validate, environment = self.robot.validate, self.environment
        return [validate(q, environment) for q in rows]

    def paths(self, starts: Floats, ends: Floats) -> Rows:
        found = []
        for ends_of_path in zip(self.rows(starts), self.rows(ends), strict=True):
            path = self.robot.Path()
            for q in ends_of_path:
                path.append(q)
            found.append(path)
        return found

    def valid_paths(self, paths: Rows) -> list[bool]:
        """Samples as dense as its planners take them."""
        environment = self.environment
        return [path.validate(environment) for path in paths]

    def valid_motions(self, starts: Rows, ends: Rows) -> list[bool]:
        """Its function for motions, which takes eight samples for up to eight radians."""
        validate, environment = self.robot.validate_motion, self.environment
        return [validate(a, b, environment, False) for a, b in zip(starts, ends, strict=True)]  # without limits
