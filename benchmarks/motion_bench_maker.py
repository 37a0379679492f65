"""The problems of MotionBenchMaker for the Panda: MoveIt planning scenes of boxes and cylinders, a start and a goal.

C. Chamzas et al., MotionBenchMaker: A Tool to Generate and Benchmark Motion Planning Datasets, 2022. Seven sets of a
hundred problems come with the sources of VAMP; `robot_models.vamp_sources` says how to get them.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_models import Floats, vamp_sources

import clearance as cl

SETS = ("bookshelf_small", "bookshelf_tall", "bookshelf_thin", "box", "cage", "table_pick", "table_under_pick")


@dataclass(frozen=True, eq=False)
class Body:
    """A box with `sizes` x, y, z, or a cylinder with `sizes` length and radius, both about the origin of `pose`."""

    name: str
    kind: str
    sizes: tuple[float, ...]
    pose: Floats


@dataclass(frozen=True, eq=False)
class Problem:
    """What stands around the arm, and two configurations of its seven joints."""

    set: str
    index: int
    bodies: list[Body]
    start: Floats
    goal: Floats

    def world(self, as_vamp: bool = False) -> cl.Scene:
        """Place all bodies; `as_vamp` with the larger shapes that VAMP takes instead of cylinders."""
        scene = cl.Scene()
        for body in self.bodies:
            scene.add(body.name, self.shape(body, as_vamp), body.pose)
        return scene

    def shape(self, body: Body, as_vamp: bool) -> cl.Shape:
        if body.kind == "box":
            return cl.Box(body.sizes)
        length, radius = body.sizes
        if not as_vamp:
            return cl.Cylinder(radius, length)
        return cl.Box((2 * radius, 2 * radius, length)) if self.set == "box" else cl.Capsule(radius, length)

    def vamp_environment(self) -> Any:
        """Do what `vamp.problem_dict_to_vamp` does: cylinders become capsules, but boxes in the set "box"."""
        import vamp

        environment = vamp.Environment()
        for body in self.bodies:
            at, angles = body.pose[:3, 3].tolist(), static_xyz(body.pose[:3, :3])
            if body.kind == "box":
                environment.add_cuboid(vamp.Cuboid(at, angles, [size / 2 for size in body.sizes]))
                continue
            length, radius = body.sizes
            if self.set == "box":
                environment.add_cuboid(vamp.Cuboid(at, angles, [radius, radius, length / 2]))
            else:
                environment.add_capsule(vamp.Cylinder(at, angles, radius, length))
        return environment


def problems(sets: Sequence[str] = SETS, count: int = 100) -> Iterator[Problem]:
    """Read the first problems of some sets, straight from the archive."""
    from yaml import load

    try:
        from yaml import CSafeLoader as Loader
    except ImportError:
        from yaml import SafeLoader as Loader

    texts = {}
    with tarfile.open(vamp_sources() / "resources" / "panda" / "problems.tar.bz2", "r|bz2") as archive:
        for member in archive:  # in their order: going back would mean to unpack once more
            if member.name.endswith(".yaml"):
                texts[member.name] = archive.extractfile(member).read()
    for name in sets:
        scenes = sorted(file for file in texts if f"/{name}_panda/scene" in file)
        for scene in scenes[:count]:
            files = scene, scene.replace("/scene", "/request")
            yield problem(name, int(scene[-9:-5]), *(load(texts[file], Loader) for file in files))


def problem(name: str, index: int, scene: dict[str, Any], request: dict[str, Any]) -> Problem:
    bodies = []
    for found in scene["world"]["collision_objects"]:
        base = pose(found["pose"]) if "pose" in found else np.eye(4)
        for k, (primitive, place) in enumerate(zip(found["primitives"], found["primitive_poses"], strict=True)):
            label = found["id"] if len(found["primitives"]) == 1 else f"{found['id']}_{k}"
            sizes = tuple(map(float, primitive["dimensions"]))
            bodies.append(Body(label, primitive["type"], sizes, base @ pose(place)))
    state = request["start_state"]["joint_state"]
    start = dict(zip(state["name"], state["position"], strict=True))
    goal = {one["joint_name"]: one["position"] for one in request["goal_constraints"][0]["joint_constraints"]}
    joints = [f"panda_joint{k}" for k in range(1, 8)]
    ends = (np.array([values[joint] for joint in joints], dtype=float) for values in (start, goal))
    return Problem(name, index, bodies, *ends)


def pose(found: dict[str, list[float]]) -> Floats:
    x, y, z, w = found["orientation"]
    return cl.poses.from_wxyz((w, x, y, z), found["position"])


def static_xyz(rotation: Floats) -> list[float]:
    """Angles about the fixed axes x, then y, then z, as VAMP wants them."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(rotation).as_euler("xyz").tolist()
