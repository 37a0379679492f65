"""Robots as clearance, pinocchio with coal, and MuJoCo know them: the same links, joints and pairs for everybody.

Panda, UR5 and Talos come with the package `example-robot-data` (BSD-3). The Panda of 59 spheres comes with the sources
of `vamp-planner` (Apache-2.0); `VAMP_SOURCES` says where they are unpacked:

    pip download --no-binary vamp-planner --no-deps vamp-planner
    tar xf vamp_planner-0.6.4.tar.gz
    export VAMP_SOURCES=$PWD/vamp_planner-0.6.4

What is missing raises `MissingDataError`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from real_cell import MissingDataError

import clearance as cl

Floats = NDArray[np.float64]
LinkPairs = set[tuple[str, str]]  # the names of a pair in alphabetical order


def sorted_pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


# Descriptions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Description:
    """The files of a robot, and the order of its joint values: movable joints that mimic none, as the URDF lists them.

    A joint that another one moves follows it for every rival, whatever the rival itself makes of `<mimic>`.
    """

    name: str
    urdf: Path
    srdf: Path
    packages: Path

    @cached_property
    def _movable(self) -> dict[str, ElementTree.Element]:
        joints = ElementTree.parse(self.urdf).getroot().findall("joint")
        return {joint.attrib["name"]: joint for joint in joints if joint.attrib["type"] != "fixed"}

    @cached_property
    def mimics(self) -> dict[str, tuple[str, float, float]]:
        """Joint: the joint that moves it, multiplier, offset."""
        return {
            name: (found.attrib["joint"], float(found.get("multiplier", "1")), float(found.get("offset", "0")))
            for name, joint in self._movable.items()
            if (found := joint.find("mimic")) is not None
        }

    @cached_property
    def joint_names(self) -> list[str]:
        return [name for name in self._movable if name not in self.mimics]

    @cached_property
    def limits(self) -> Floats:
        """Shape `(joints, 2)`; joints that turn for ever go once around."""
        return np.array([limits_of(self._movable[name]) for name in self.joint_names])

    def random(self, count: int, seed: int = 1) -> Floats:
        lower, upper = self.limits.T
        return np.random.default_rng([seed, *self.name.encode()]).uniform(lower, upper, (count, len(lower)))

    def by_joint(self, q: Floats) -> dict[str, Floats]:
        """Columns of all movable joints."""
        columns = dict(zip(self.joint_names, q.T, strict=True))
        waiting = dict(self.mimics)
        while waiting:
            name = next(name for name, (master, _, _) in waiting.items() if master in columns)
            master, multiplier, offset = waiting.pop(name)
            columns[name] = multiplier * columns[master] + offset
        return columns

    def ours(self, collision: str) -> cl.Robot:
        return cl.Robot.from_urdf(self.urdf, self.srdf, package_dirs=[self.packages], collision=collision)


def limits_of(joint: ElementTree.Element) -> tuple[float, float]:
    limit = joint.find("limit")
    if limit is None or joint.attrib["type"] == "continuous":
        return -np.pi, np.pi
    return float(limit.attrib["lower"]), float(limit.attrib["upper"])


FILES = {
    "panda": ("panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "ur_description/srdf/ur5.srdf"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "talos_data/srdf/talos.srdf"),
}


def description(name: str) -> Description:
    """One of `FILES`."""
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError as error:
        raise MissingDataError("`pip install example-robot-data` brings Panda, UR5 and Talos.") from error
    urdf = next(path for path in files if path.as_posix().endswith(FILES[name][0]))
    robots = Path(urdf.locate()).resolve().parents[2]
    return Description(name, robots / FILES[name][0], robots / FILES[name][1], robots.parent.parent)


def vamp_sources() -> Path:
    """Find the unpacked sources of VAMP; its wheel brings neither its robots nor its problems."""
    folder = Path(os.environ.get("VAMP_SOURCES", ""))
    if not (folder / "resources" / "panda" / "panda_spherized.urdf").exists():
        raise MissingDataError("VAMP_SOURCES does not name the unpacked sources of vamp-planner (see robot_models.py).")
    return folder


def panda_of_spheres() -> Description:
    """The Panda that VAMP has compiled in: 59 spheres, 7 joints, the fingers fixed."""
    folder = vamp_sources() / "resources" / "panda"
    return Description("panda of spheres", folder / "panda_spherized.urdf", folder / "panda.srdf", folder)


def panda_of_vamp() -> Description:
    """The Panda that VAMP's spheres stand for, with the meshes and the limits of MotionBenchMaker."""
    folder = vamp_sources() / "resources" / "panda"
    return Description("panda of VAMP", folder / "panda.urdf", folder / "panda.srdf", folder)


# pinocchio and coal ---------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class PinocchioModel:
    """A kinematic model, and its geometry with the pairs to be checked."""

    description: Description
    model: Any
    geometry: Any

    @cached_property
    def links(self) -> list[str]:
        """Of every geometry."""
        return [self.model.frames[body.parentFrame].name for body in self.geometry.geometryObjects]

    @cached_property
    def link_pairs(self) -> list[tuple[str, str]]:
        """Of every pair of geometries."""
        return [sorted_pair(self.links[p.first], self.links[p.second]) for p in self.geometry.collisionPairs]

    def rows(self, q: Floats) -> list[Floats]:
        """Configurations in the order of pinocchio; to be made before the clock starts."""
        model, columns = self.model, self.description.by_joint(q)
        found = np.empty((len(q), model.nq))
        for name, joint in zip(list(model.names)[1:], list(model.joints)[1:], strict=True):
            if joint.nq == 2:  # a joint that turns for ever is the point of a circle
                found[:, joint.idx_q], found[:, joint.idx_q + 1] = np.cos(columns[name]), np.sin(columns[name])
            else:
                found[:, joint.idx_q] = columns[name]
        return list(found)


def pinocchio_model(robot: Description, kind: str, pairs: LinkPairs | None = None) -> PinocchioModel:
    """Read a robot with meshes (kind "mesh") or their hulls ("hull"); pairs come from the SRDF unless they are given.

    As with our robots, neighbours at a joint are left out whether the SRDF names them or not.
    """
    import pinocchio

    model = pinocchio.buildModelFromUrdf(str(robot.urdf))
    geometry = pinocchio.buildGeomFromUrdf(
        model, str(robot.urdf), pinocchio.COLLISION, package_dirs=[str(robot.packages)]
    )
    mend_meshes(geometry)
    found = PinocchioModel(robot, model, with_hulls(geometry) if kind == "hull" else geometry)
    found.geometry.addAllCollisionPairs()
    if pairs is None:
        pinocchio.removeCollisionPairs(model, found.geometry, str(robot.srdf))
        keep_pairs(found, {pair for pair in found.link_pairs if not neighbours(model, *pair)})
    else:
        keep_pairs(found, pairs)
    return found


def neighbours(model: Any, a: str, b: str) -> bool:
    joint_a, joint_b = (model.frames[model.getFrameId(link)].parentJoint for link in (a, b))
    return joint_a == joint_b or model.parents[joint_a] == joint_b or model.parents[joint_b] == joint_a


def keep_pairs(robot: PinocchioModel, pairs: Iterable[tuple[str, str]]) -> None:
    import pinocchio

    wanted = set(pairs)
    kept = [  # indices, as the pairs themselves move when one is removed
        (pair.first, pair.second)
        for pair, links in zip(robot.geometry.collisionPairs, robot.link_pairs, strict=True)
        if links in wanted
    ]
    robot.geometry.removeAllCollisionPairs()
    for pair in kept:
        robot.geometry.addCollisionPair(pinocchio.CollisionPair(*pair))
    del robot.link_pairs


def mend_meshes(geometry: Any) -> None:
    """Read OBJ files of several materials once more: coal 3.0.3 joins all but the first to the wrong vertices."""
    import coal

    for body in geometry.geometryObjects:
        path = Path(body.meshPath)
        if path.suffix.lower() == ".obj" and path.read_text().count("usemtl") > 1:
            import trimesh

            read = trimesh.load_mesh(path)
            mesh = coal.BVHModelOBBRSS()
            mesh.beginModel(len(read.faces), len(read.vertices))
            mesh.addVertices(np.ascontiguousarray(read.vertices * body.meshScale))
            mesh.addTriangles(np.ascontiguousarray(read.faces, dtype=np.int32))
            mesh.endModel()
            body.geometry = mesh


def with_hulls(geometry: Any) -> Any:
    import coal

    for body in geometry.geometryObjects:
        if isinstance(body.geometry, coal.BVHModelBase):
            mesh = body.geometry
            mesh.buildConvexHull(True, "Qt")
            body.geometry = mesh.convex
    return geometry


# MuJoCo ---------------------------------------------------------------------------------------------------------------


def mujoco_model(robot: PinocchioModel) -> Any:
    """Build the same tree of the same hulls, one body per joint, with all pairs named: faster than its own broad phase.

    MuJoCo would read the URDF, but not `package://`, and neither SRDF nor mimics.
    """
    import mujoco

    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    bodies = [spec.worldbody]
    for k, name in enumerate(list(robot.model.names)[1:], start=1):
        body = bodies[robot.model.parents[k]].add_body(name=name, **frame(robot.model.jointPlacements[k]))
        body.mass, body.inertia, body.explicitinertial = 1.0, [1.0, 1.0, 1.0], True
        turns, axis = axis_of(robot.model, k)
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE if turns else mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
        bodies.append(body)
    for part in robot.geometry.geometryObjects:
        form = mujoco_form(spec, part)
        bodies[part.parentJoint].add_geom(name=part.name, contype=0, conaffinity=0, **frame(part.placement), **form)
    names = [part.name for part in robot.geometry.geometryObjects]
    for pair in robot.geometry.collisionPairs:
        spec.add_pair(geomname1=names[pair.first], geomname2=names[pair.second])
    return spec.compile()


def frame(placement: Any) -> dict[str, Floats]:
    import pinocchio

    x, y, z, w = pinocchio.Quaternion(placement.rotation).coeffs()
    return {"pos": placement.translation, "quat": np.array([w, x, y, z])}


def axis_of(model: Any, joint: int) -> tuple[bool, Floats]:
    """Tell whether a joint turns, and about which axis; else it slides along it."""
    import pinocchio

    data = model.createData()
    pinocchio.computeJointJacobians(model, data, pinocchio.neutral(model))
    motion = np.asarray(data.joints[joint].S).reshape(6)
    turns = bool(np.linalg.norm(motion[3:]) > 0.5)
    return turns, motion[3:] if turns else motion[:3]


def mujoco_form(spec: Any, part: Any) -> dict[str, Any]:
    import coal
    import mujoco

    form = part.geometry
    if isinstance(form, coal.Convex):
        points = np.array([form.point(k) for k in range(form.num_points)])
        spec.add_mesh(name=part.name, uservert=points.ravel(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
        return {"type": mujoco.mjtGeom.mjGEOM_MESH, "meshname": part.name}
    if isinstance(form, coal.Box):
        return {"type": mujoco.mjtGeom.mjGEOM_BOX, "size": form.halfSide}
    if isinstance(form, coal.Cylinder):
        return {"type": mujoco.mjtGeom.mjGEOM_CYLINDER, "size": [form.radius, form.halfLength, 0.0]}
    if isinstance(form, coal.Sphere):
        return {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": [form.radius, 0.0, 0.0]}
    raise TypeError(f"{part.name} is a {type(form).__name__}, which is no hull, box, cylinder or sphere.")
