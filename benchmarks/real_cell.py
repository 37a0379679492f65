"""A cell of real meshes: two KUKA arms, a Kinova Jaco and an xArm 7 about a table; most links are not watertight.

The meshes come with the packages `rtb-data` (KUKA, MIT) and `example-robot-data` (Kinova and xArm, BSD-3); reading them
takes `trimesh` and `pycollada`. Where one of the four is missing, `real_cell` raises `MissingDataError`.
Metres and radians; the arms stand beside the table, so no base touches it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from cell import Floats, Scenario, Soup, block, merged, moved, placed, tessellated, turn

NEEDED = ("rtb-data", "example-robot-data", "trimesh", "pycollada")


class MissingDataError(LookupError):
    """A package that brings or reads the meshes is not installed."""


# URDF: just enough of it for these arms ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Joint:
    """What carries a link: it turns about `axis` within `limits`, or is fixed when they are None."""

    parent: str
    child: str
    parent_from_joint: Floats
    axis: Floats
    limits: tuple[float, float] | None


@dataclass(frozen=True, eq=False)
class Arm:
    """A kinematic tree, parents before children, and the meshes of its links in their frames."""

    base: Floats
    root: str
    joints: list[Joint]
    meshes: dict[str, Soup]

    @property
    def limits(self) -> Floats:
        """Of the joints that turn, shape `(joints, 2)`."""
        return np.array([joint.limits for joint in self.joints if joint.limits])

    def poses(self, q: Floats) -> dict[str, Floats]:
        """Place every link that has a mesh, for joint angles `(..., joints)`."""
        angles = iter(np.moveaxis(q, -1, 0))
        world_from = {self.root: np.broadcast_to(self.base, (*q.shape[:-1], 4, 4))}
        for joint in self.joints:
            pose = world_from[joint.parent] @ joint.parent_from_joint
            world_from[joint.child] = pose @ about(joint.axis, next(angles)) if joint.limits else pose
        return {link: world_from[link] for link in self.meshes}


def about(axis: Floats, angle: Floats) -> Floats:
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([(0, -z, y), (z, 0, -x), (-y, x, 0)])
    pose = np.zeros((*angle.shape, 4, 4)) + np.eye(4)
    pose[..., :3, :3] += np.sin(angle)[..., None, None] * cross + (1 - np.cos(angle))[..., None, None] * (cross @ cross)
    return pose


def numbers(element: ElementTree.Element | None, name: str, default: str) -> Floats:
    return np.array((default if element is None else element.get(name, default)).split(), dtype=float)


def origin(element: ElementTree.Element) -> Floats:
    found = element.find("origin")
    roll, pitch, yaw = numbers(found, "rpy", "0 0 0")
    return moved(*numbers(found, "xyz", "0 0 0")) @ turn("z", yaw) @ turn("y", pitch) @ turn("x", roll)


def joint_of(element: ElementTree.Element) -> Joint:
    parent, child = (next(element.iter(tag)).get("link", "") for tag in ("parent", "child"))
    limit = element.find("limit")
    bounds = {
        "fixed": None,
        "continuous": (-np.pi, np.pi),
        "revolute": (float(numbers(limit, "lower", "0")[0]), float(numbers(limit, "upper", "0")[0])),
    }
    return Joint(
        parent, child, origin(element), numbers(element.find("axis"), "xyz", "1 0 0"), bounds[element.attrib["type"]]
    )


def parents_first(joints: list[Joint]) -> list[Joint]:
    children = {joint.child for joint in joints}
    known = {joint.parent for joint in joints} - children
    ordered: list[Joint] = []
    while len(ordered) < len(joints):
        ready = [joint for joint in joints if joint.parent in known and joint.child not in known]
        ordered += ready
        known |= {joint.child for joint in ready}
    return ordered


def mesh_file(uri: str, urdf: Path) -> Path:
    """The file behind `package://name/path`: the packages do not lie where ROS would have them, but above the URDF."""
    tail = uri.removeprefix("package://").partition("/")[2]
    return next(folder / tail for folder in urdf.parents if (folder / tail).exists())


def visual_mesh(link: ElementTree.Element, urdf: Path) -> Soup | None:
    import trimesh

    soups = []
    for visual in link.iter("visual"):
        for element in visual.iter("mesh"):
            loaded = trimesh.load_scene(mesh_file(element.attrib["filename"], urdf)).to_mesh()
            place = origin(visual) @ np.diag([*numbers(element, "scale", "1 1 1"), 1.0])
            points = np.asarray(loaded.vertices, dtype=float) @ place[:3, :3].T + place[:3, 3]
            soups.append((points, np.asarray(loaded.faces, dtype=np.int32)))
    return merged(soups) if soups else None


def read_arm(urdf: Path, base: Floats) -> Arm:
    robot = ElementTree.parse(urdf).getroot()
    joints = parents_first([joint_of(element) for element in robot.findall("joint")])
    soups = {link.attrib["name"]: visual_mesh(link, urdf) for link in robot.findall("link")}
    return Arm(base, joints[0].parent, joints, {link: soup for link, soup in soups.items() if soup is not None})


# The cell ------------------------------------------------------------------------------------------------------------

TABLE_HEIGHT = 0.72
ARMS = {
    "iiwa": ("rtb-data", "lbr_iiwa_14_r820.urdf", moved(-0.9, 0.0, TABLE_HEIGHT + 0.2)),
    "kr16": ("rtb-data", "kr16_2.urdf", moved(0.0, -1.35, 0.0) @ turn("z", np.pi / 2)),
    "jaco": ("example-robot-data", "kinova.urdf", moved(0.0, 0.58, TABLE_HEIGHT) @ turn("z", -np.pi / 2)),
    "xarm": ("example-robot-data", "xarm7.urdf", moved(0.78, 0.0, TABLE_HEIGHT) @ turn("z", np.pi)),
}
KUKA = ("iiwa", "kr16")
HARDLY_MOVING = ("base_link", "link_1", "link1")


@dataclass(frozen=True, eq=False)
class RealCell:
    """Arms by name and the table they share."""

    arms: dict[str, Arm]
    statics: Soup

    @cached_property
    def links(self) -> dict[str, Soup]:
        """The mesh of every link by its name, as in "xarm_link3"."""
        return {f"{name}_{link}": soup for name, arm in self.arms.items() for link, soup in arm.meshes.items()}


def table() -> Soup:
    top = placed(block(1.2, 0.8, 0.04), moved(z=TABLE_HEIGHT - 0.02))
    legs = [leg.at(moved(x, y, 0.34)) for x in (-0.55, 0.55) for y in (-0.35, 0.35) for leg in block(0.06, 0.06, 0.68)]
    return tessellated([*top, *legs], 4_000)


def installed_file(package: str, name: str) -> Path:
    return next(Path(str(file.locate())) for file in metadata.files(package) or [] if file.name == name)


def missing_packages() -> list[str]:
    present = {(distribution.metadata["Name"] or "").lower() for distribution in metadata.distributions()}
    return [package for package in NEEDED if package not in present]


def real_cell() -> RealCell:
    """Read the arms and set them about the table.

    Returns
    -------
    RealCell

    Raises
    ------
    MissingDataError
        If a package is not installed; names it.
    """
    if missing := missing_packages():
        raise MissingDataError(
            f"The real cell needs the packages {', '.join(missing)}: pip install {' '.join(missing)}."
        )
    arms = {name: read_arm(installed_file(package, urdf), base) for name, (package, urdf, base) in ARMS.items()}
    return RealCell(arms, table())


# Scenarios -----------------------------------------------------------------------------------------------------------


def scenario(name: str, cell: RealCell, joints: Mapping[str, Floats]) -> Scenario:
    """The KUKA arms against the others and the table, but for what hardly moves: their bases and what turns on them."""
    poses = {f"{arm}_{link}": pose for arm, q in joints.items() for link, pose in cell.arms[arm].poses(q).items()}
    group_a = [link for link in poses if link.startswith(KUKA) and not link.endswith(HARDLY_MOVING)]
    group_b = [link for link in poses if not link.startswith(KUKA)]
    moving = {link: poses[link] for link in (*group_a, *group_b)}
    return Scenario(name, group_a, [*group_b, "statics"], moving)


def swaying(cell: RealCell, steps: int = 1000, seed: int = 1) -> Scenario:
    """Let every joint swing to and fro: coherent, some steps collide.

    Parameters
    ----------
    cell : RealCell
    steps : int
        How finely the same motion is cut.
    seed : int
        Of amplitudes, frequencies and phases.

    Returns
    -------
    Scenario
        The moving links of both KUKA arms against all of the others and "statics".
    """
    rng = np.random.default_rng([seed, 6])
    time = np.linspace(0.0, 2 * np.pi, steps)[:, None]
    joints = {}
    for name, arm in cell.arms.items():
        low, high = arm.limits.T
        swings = rng.uniform(0.05, 0.25, len(low)) * (high - low)
        waves = rng.integers(1, 4, len(low)) * time + rng.uniform(0, 2 * np.pi, len(low))
        joints[name] = (low + high) / 2 + swings * np.sin(waves)
    return scenario("swaying", cell, joints)


def scattered(cell: RealCell, steps: int = 1000, seed: int = 1) -> Scenario:
    """Draw every configuration anew within the limits of the joints: no coherence, few collide."""
    rng = np.random.default_rng([seed, 7])
    joints = {}
    for name, arm in cell.arms.items():
        low, high = arm.limits.T
        joints[name] = rng.uniform(low, high, (steps, len(low)))
    return scenario("scattered", cell, joints)
