"""Robots from URDF files, as the XML specification of ROS has them: links with what they collide with, and joints.

Read strictly: what is missing, misspelt or no number is an error that names the file, the line and the link or joint.
Whether links and joints make a tree is for `Robot` to say.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from . import poses, safe_xml
from .fit_links import LinkFits
from .links import KINDS, Joint, Link, Mimic
from .meshio import load_mesh
from .resources import Resources
from .safe_files import read_whole
from .safe_xml import Node
from .shapes import Box, Capsule, ConvexHull, Cylinder, Mesh, Placed, Shape, Sphere

__all__ = ["UrdfModel", "read"]

PathOrString: TypeAlias = str | PathLike[str]
Collision: TypeAlias = Literal["mesh", "hull", "swept"]

COLLISIONS: tuple[Collision, ...] = get_args(Collision)


class UrdfModel(NamedTuple):
    """What a URDF file says, in its order: `name`, `links` and `joints`."""

    name: str
    links: list[Link]
    joints: list[Joint]


def read(
    path: PathOrString,
    package_dirs: PathOrString | Iterable[PathOrString] = (),
    collision: Collision = "mesh",
    on_missing: Literal["raise", "warn"] = "raise",
    fits: LinkFits | None = None,
) -> UrdfModel:
    """Read a URDF file, and the meshes that its links collide with.

    Parameters
    ----------
    path : path_like
        A name that ends in ".xacro" is expanded first, by xacrodoc. Xacro is a language: expand only what you trust.
    package_dirs : path_like or sequence of path_like
        Folders of packages, or folders that hold them, for meshes of `package://name/...`. Searched before the folders
        above the file, ROS_PACKAGE_PATH and AMENT_PREFIX_PATH.
    collision : {"mesh", "hull", "swept"}
        What becomes of a mesh: its triangles, the convex hull of its vertices, or a hull of few points swept by a ball
        around them (this needs SciPy). Boxes, cylinders, spheres and capsules stay what they are.
    on_missing : {"raise", "warn"}
        What to do about meshes that are not found or may not be read: nothing is loaded, or they are left out.
    fits : LinkFits, optional
        How swept hulls are fitted.

    Returns
    -------
    UrdfModel

    Raises
    ------
    FileNotFoundError
        If the file or one of its meshes is not there; every place that was searched is listed.
    ValueError
        If something in the file is wrong, or a mesh lies outside of the folders that the robot may read.
    ImportError
        If a format needs a library that is not there.

    Examples
    --------
    >>> ball = '<collision><geometry><sphere radius="0.5"/></geometry></collision>'
    >>> _ = Path("ball.urdf").write_text(f'<robot name="ball"><link name="base">{ball}</link></robot>')
    >>> read("ball.urdf").links[0].shapes[0].shape
    Sphere(0.5)
    """
    if collision not in COLLISIONS:
        raise ValueError(f"collision must be one of {', '.join(COLLISIONS)}, but it is {collision!r}.")
    if on_missing not in ("raise", "warn"):
        raise ValueError(f"on_missing must be 'raise' or 'warn', but it is {on_missing!r}.")
    path, resources = Path(path), Resources(path, package_dirs)
    data = _expanded(path, resources) if path.suffix.lower() == ".xacro" else read_whole(path, safe_xml.LARGEST)
    robot = safe_xml.parse(data, path.name, "robot")
    joints = [_joint(node) for node in robot.all("joint")]
    meshes = _Meshes(_find_meshes(robot, resources, on_missing), _hull if collision == "hull" else lambda mesh: mesh)
    shapes = [(node.text("name"), _shapes(node, meshes)) for node in robot.all("link")]
    if not shapes:
        raise robot.error("has no <link>; is it a part of a xacro file, or one whose name does not end in '.xacro'?")
    if collision == "swept":
        shapes = _with_hulls(shapes, fits or LinkFits())
    links = [Link(name, tuple(parts)) for name, parts in shapes]
    return UrdfModel(robot.attributes.get("name", "").strip() or path.stem, links, joints)


# Joints --------------------------------------------------------------------------------------------------------------


def _joint(node: Node) -> Joint:
    name, kind = node.text("name"), node.text("type")
    if kind not in KINDS:
        raise node.error(f"has type={kind!r:.60}, but one of {', '.join(KINDS)} was expected.")
    lower, upper, velocity = _limits(node, kind)
    parent, child = (node.child(end).text("link") for end in ("parent", "child"))
    try:
        return Joint(
            name, kind, parent, child, _origin(node), _axis(node, kind), lower, upper, velocity, _mimic(node, kind)
        )
    except ValueError as error:
        raise node.located(error) from error


def _limits(node: Node, kind: str) -> tuple[float, float, float]:
    limit = node.only("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            raise node.error(f"has no <limit>, but a {kind} joint needs one.")
        return -inf, inf, inf
    velocity = limit.number("velocity", inf, may_be_infinite=True)
    if velocity < 0.0:
        raise limit.error(f"has velocity={velocity!r}, but it must not be negative.")
    # Zero is what exporters write for one that they do not know; taken at its word, the joint could never move.
    velocity = velocity or inf
    if kind not in ("revolute", "prismatic"):
        return -inf, inf, velocity
    # A missing bound is zero, as the specification has it.
    lower, upper = (limit.number(bound, 0.0, may_be_infinite=True) for bound in ("lower", "upper"))
    if not lower <= upper:
        raise limit.error(f"has lower={lower!r} above upper={upper!r}.")
    return lower, upper, velocity


def _axis(node: Node, kind: str) -> NDArray[np.float64]:
    axis = node.only("axis")
    direction = np.array(axis.numbers("xyz", 3) if axis else (1.0, 0.0, 0.0))
    largest = np.abs(direction).max()
    if kind in ("fixed", "floating"):
        return np.array([1.0, 0.0, 0.0])  # whatever stands there
    if axis and largest == 0.0:
        raise axis.error("has xyz='0 0 0', but an axis must not be zero.")
    direction /= largest  # before it is squared
    return np.asarray(direction / np.linalg.norm(direction))


def _mimic(node: Node, kind: str) -> Mimic | None:
    mimic = node.only("mimic")
    if mimic is None or kind == "fixed":  # hands that somebody froze keep the tag
        return None
    return Mimic(mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))


def _origin(node: Node) -> poses.Poses:
    """Read where something stands; roll, pitch and yaw about fixed axes, or the quaternion of URDF 1.1."""
    origin = node.only("origin")
    if origin is None:
        return np.eye(4)
    xyz = origin.numbers("xyz", 3, default=(0.0, 0.0, 0.0))
    try:
        if "quat_xyzw" not in origin.attributes:
            return poses.from_rpy(origin.numbers("rpy", 3, default=(0.0, 0.0, 0.0)), xyz)
        if "rpy" in origin.attributes:
            raise origin.error("has both rpy and quat_xyzw.")
        return poses.from_xyzw(origin.numbers("quat_xyzw", 4), xyz)
    except ValueError as error:
        raise origin.located(error) from error


# Links ---------------------------------------------------------------------------------------------------------------


def _shapes(node: Node, meshes: _Meshes) -> list[Placed]:
    return [shape for part in node.all("collision") for shape in _collision(part, meshes)]


def _collision(node: Node, meshes: _Meshes) -> Iterator[Placed]:
    """Give the placed shape, or nothing where its file is missing."""
    origin, geometry = _origin(node), _geometry(node)
    try:
        shape = meshes.shape(geometry) if geometry.tag == "mesh" else PRIMITIVES[geometry.tag](geometry)
        if shape is not None:
            yield shape.at(origin)
    except ValueError as error:
        raise geometry.located(error) from error


def _geometry(node: Node) -> Node:
    geometry = node.child("geometry")
    if len(geometry.children) != 1:
        raise geometry.error(f"holds {len(geometry.children)} shapes, but one was expected.")
    (shape,) = geometry.children
    if shape.tag not in (*PRIMITIVES, "mesh"):
        raise geometry.error(f"holds <{shape.tag:.60}>, but one of {', '.join(PRIMITIVES)}, mesh was expected.")
    return shape


PRIMITIVES: dict[str, Callable[[Node], Shape]] = {
    "box": lambda node: Box(node.numbers("size", 3)),
    "cylinder": lambda node: Cylinder(node.number("radius"), node.number("length")),
    "sphere": lambda node: Sphere(node.number("radius")),
    "capsule": lambda node: Capsule(node.number("radius"), node.number("length")),
}


# Meshes --------------------------------------------------------------------------------------------------------------


class _Meshes:
    """Shapes made of mesh files; what several links share is loaded once."""

    def __init__(self, files: Mapping[str, Path], made_of: Callable[[Mesh], Shape]) -> None:
        self._files, self._made_of = files, made_of
        self._shapes: dict[tuple[Path, tuple[float, ...]], Shape] = {}

    def shape(self, node: Node) -> Shape | None:
        path = self._files.get(node.text("filename"))
        if path is None:
            return None
        key = path, tuple(node.numbers("scale", 3, default=(1.0, 1.0, 1.0)))
        if key not in self._shapes:
            self._shapes[key] = self._made_of(load_mesh(*key))
        return self._shapes[key]


def _hull(mesh: Mesh) -> Shape:
    """Make the hull of the vertices that triangles use; files may hold others."""
    return ConvexHull(np.unique(mesh.vertices[np.unique(mesh.faces)], axis=0))


def _with_hulls(shapes: list[tuple[str, list[Placed]]], fits: LinkFits) -> list[tuple[str, list[Placed]]]:
    """Put swept hulls in the place of meshes; last, for it takes long and finds no mistakes in files."""
    hulls = fits.around(part.shape for _, parts in shapes for part in parts if isinstance(part.shape, Mesh))

    def replaced(part: Placed) -> list[Placed]:
        return [hull.at(part.pose) for hull in hulls[part.shape]] if isinstance(part.shape, Mesh) else [part]

    return [(name, [shape for part in parts for shape in replaced(part)]) for name, parts in shapes]


def _find_meshes(robot: Node, resources: Resources, on_missing: str) -> dict[str, Path]:
    """Find all meshes before the first one is loaded, so that one error tells of everything that is missing."""
    nodes = [_geometry(part) for link in robot.all("link") for part in link.all("collision")]
    wanted = {node.text("filename"): node for node in reversed(nodes) if node.tag == "mesh"}
    found: dict[str, Path] = {}
    missing, refused = [], []
    for uri, node in reversed(wanted.items()):
        try:
            found[uri] = resources.find(uri)
        except FileNotFoundError as error:
            missing.append(str(node.error(f"is missing: {error}")))
        except ValueError as error:
            refused.append(str(node.error(f"may not be read: {error}")))
    if on_missing == "warn":
        for problem in (*missing, *refused):
            warnings.warn(f"{problem}\nIt is left out.", stacklevel=4)
    elif refused:
        raise ValueError("\n".join((*refused, *missing)))
    elif missing:
        raise FileNotFoundError("\n".join(missing))
    return found


# Xacro ---------------------------------------------------------------------------------------------------------------


def _expanded(path: Path, resources: Resources) -> bytes:
    try:
        packages: Any = importlib.import_module("xacrodoc").packages  # makes xacro find them without ROS
        xacro: Any = importlib.import_module("xacro")
    except ImportError as error:
        raise ImportError(f"{path}: xacro files need xacrodoc; get it with: pip install clearance[robots]") from error
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file.")
    packages.update_package_cache(resources.packages())
    packages.walk_up_from(path)
    try:
        text: str = xacro.process_file(str(path)).toxml()
    except Exception as error:
        # Whatever a broken file does to xacro, it is the file that is broken.
        raise ValueError(f"{path}: xacro cannot expand it: {error}") from error
    return text.encode()
