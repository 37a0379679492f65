"""Meshes from files. STL, OBJ, OFF and our own format are read here; PLY and scenes need trimesh.

Triangles come as they stand in the file, in its order: no vertices are merged, no thin triangles dropped.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, safe_xml
from .safe_files import read_whole
from .safe_xml import Node
from .shapes import Mesh
from .triangulation import triangles_of

__all__ = ["from_bytes", "load_mesh", "write_whole"]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]
Soup = tuple[Floats, Indices]  # vertices (n, 3), faces (m, 3)
Part = tuple[Floats, ArrayLike, ArrayLike]  # where it belongs (4, 4), vertices, faces

MAGIC = b"clearance mesh\n"
MOST_REPEATED = 1 << 24  # triangles: a small scene may show its parts many times, but not without end


def load_mesh(path: str | PathLike[str], scale: ArrayLike = 1.0, volume: Literal["obb", "rss"] | None = None) -> Mesh:
    """Load a mesh from a file, all of its triangles in their order; that of the parts of a scene is not fixed.

    Parameters
    ----------
    path : path_like
        What `Mesh.save` wrote, or STL, OBJ, OFF; PLY, GLB, GLTF and DAE with trimesh installed. The parts of a scene
        are put where they belong and joined. Polygons are cut into triangles. The axes are those
        of the file, also where it says which one points up.
    scale : float or array_like, (3,)
        Metres per unit of the file, along each axis: 1e-3 for millimetres. (What COLLADA says of its unit is applied
        before.) A negative number mirrors; a mirrored mesh
        keeps its outside, so its triangles turn the other way round.
    volume : {"obb", "rss"}, optional
        What the triangles are bounded by: as it was saved, or "obb", unless given.

    Returns
    -------
    Mesh

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    OSError
        If it is a pipe or a device, or has more than 4 GiB.
    ValueError
        If it cannot be read as a whole, or holds no triangles.
    ImportError
        If the format needs a library that is not there.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("wedge.obj").write_text("v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nv 0 0 1\\nf 1 2 3\\nf 1 3 4\\n")
    >>> wedge = load_mesh("wedge.obj", scale=1e-3)
    >>> len(wedge), wedge.vertices.max()
    (2, np.float64(0.001))
    """
    path, factors = Path(path), _factors(scale)
    data = read_whole(path)
    try:
        if not data.startswith(MAGIC):
            vertices, faces = _read(data, path)
            return _scaled(vertices, faces, factors, volume or "obb")
        mesh = from_bytes(data)
        if (factors == 1.0).all() and volume in (None, mesh.volume):
            return mesh
        return _scaled(mesh.vertices, mesh.faces, factors, volume or mesh.volume)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def from_bytes(data: bytes) -> Mesh:
    """Make the mesh again that `Mesh.to_bytes` wrote; a name that pickle can find.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    Mesh

    Examples
    --------
    >>> triangle = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> from_bytes(triangle.to_bytes()) == triangle
    True
    """
    return _core.mesh_from_bytes(data)


def write_whole(path: str | PathLike[str], data: bytes) -> None:
    """Write a file as a whole or not at all: whoever reads it meanwhile sees the old one.

    Parameters
    ----------
    path : path_like
    data : bytes

    Examples
    --------
    >>> write_whole("three.bin", b"abc")
    """
    path = Path(path)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _factors(scale: ArrayLike) -> Floats:
    factors = np.asarray(scale, dtype=np.float64)
    if factors.shape not in ((), (3,)):
        raise ValueError(f"scale must be one number or three, but its shape is {factors.shape}.")
    if not np.isfinite(factors).all() or (factors == 0.0).any():
        raise ValueError(f"scale must be finite and not zero, but it is {scale!r}.")
    return np.broadcast_to(factors, 3)


def _scaled(vertices: Floats, faces: Indices, factors: Floats, volume: str) -> Mesh:
    return Mesh(vertices * factors, _turned(faces) if factors.prod() < 0.0 else faces, volume)


def _turned(faces: Indices) -> Indices:
    """Turn triangles the other way round."""
    return faces[:, [0, 2, 1]]


def _read(data: bytes, path: Path) -> Soup:
    kind = path.suffix.lower().removeprefix(".")
    if kind not in READERS:
        found = f"the name ends in '.{kind}'" if kind else "the name has no ending"
        raise ValueError(f"{found}, but meshes are read from {', '.join(READERS)} and what Mesh.save wrote.")
    if not data:
        raise ValueError("the file is empty.")
    vertices, faces = READERS[kind](data, path)
    if not len(faces):
        raise ValueError("there are no triangles in it.")
    return vertices, faces


# STL -----------------------------------------------------------------------------------------------------------------

FACET = (b"facet", b"outer", b"vertex", b"vertex", b"vertex", b"endloop", b"endfacet")
STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def _stl(data: bytes, _: Path) -> Soup:
    """Corners in threes. Only its length tells a binary file for sure: many of them begin with 'solid', too."""
    count = int.from_bytes(data[80:84], "little")
    if len(data) >= 84 and len(data) == 84 + count * STL_TRIANGLE.itemsize:
        corners = np.frombuffer(data, STL_TRIANGLE, offset=84)["corners"].astype(np.float64).reshape(-1, 3)
    elif data.lstrip()[:5].lower() == b"solid" and b"\0" not in data:
        corners = np.array(list(_stl_corners(data)), dtype=np.float64).reshape(-1, 3)
    elif len(data) < 84:
        raise ValueError(f"it has {len(data)} bytes, but the header of a binary STL file alone takes 84.")
    else:
        size = 84 + count * STL_TRIANGLE.itemsize
        raise ValueError(f"its header tells of {count} triangles, {size} bytes, but the file has {len(data)}.")
    return corners, np.arange(len(corners)).reshape(-1, 3)


def _stl_corners(data: bytes) -> Iterator[list[float]]:
    at, is_open = 0, False  # which line of a facet comes next; whether a solid waits for its end
    for number, words in _lines(data):
        word = words[0].lower()
        if at == 0 and word in (b"solid", b"endsolid"):
            if is_open == (word == b"solid"):
                raise ValueError(f"line {number} reads {_quoted(words)}, but it is not the place for it.")
            is_open = not is_open
            continue
        if not is_open or word != FACET[at]:
            expected = FACET[at].decode() if is_open else "solid"
            raise ValueError(f"line {number} reads {_quoted(words)}, but '{expected}' was expected.")
        if word == b"vertex":
            yield _numbers(number, words, words[1:4], 3)
        at = (at + 1) % len(FACET)
    if is_open:
        raise ValueError("it ends within a solid: 'endsolid' is missing.")


# OBJ -----------------------------------------------------------------------------------------------------------------


def _obj(data: bytes, _: Path) -> Soup:
    vertices: list[list[float]] = []
    polygons: list[Sequence[int]] = []
    for number, words in _lines(re.sub(rb"\\\r?\n", b" ", data)):
        if words[0] == b"v":
            vertices.append(_numbers(number, words, words[1:4], 3))
        elif words[0] == b"f":
            corners = _integers(number, words, [word.split(b"/", 1)[0] for word in words[1:]])
            # Numbers below zero count back from the last vertex so far.
            polygon = [k - 1 if k > 0 else len(vertices) + k for k in corners]
            if 0 in corners or min(polygon, default=0) < 0:
                raise ValueError(f"line {number} reads {_quoted(words)}, but {len(vertices)} vertices stand before it.")
            polygons.append(_polygon(number, words, polygon))
    return _soup(vertices, polygons)


# OFF -----------------------------------------------------------------------------------------------------------------


def _off(data: bytes, _: Path) -> Soup:
    lines = list(_lines(data))
    if not lines or not re.fullmatch(rb"(ST)?C?N?OFF", lines[0][1][0]) or b"BINARY" in lines[0][1]:
        found = _quoted(lines[0][1]) if lines else "nothing"
        raise ValueError(f"it begins with {found}, but 'OFF' as text was expected.")
    head = lines[0][1][1:]  # the counts may stand beside the name
    (number, words), *rows = [(lines[0][0], head), *lines[1:]] if head else lines[1:] or [(1, [])]
    n_vertices, n_faces = counts = _integers(number, words, words[:2], 2)
    if min(counts) < 0 or len(rows) != sum(counts):
        raise ValueError(f"it tells of {n_vertices} vertices and {n_faces} faces, but {len(rows)} lines follow.")
    vertices = [_numbers(number, words, words[:3], 3) for number, words in rows[:n_vertices]]
    polygons: list[Sequence[int]] = []
    for number, words in rows[n_vertices:]:
        (count,) = _integers(number, words, words[:1], 1)
        polygons.append(_polygon(number, words, _integers(number, words, words[1 : 1 + max(count, 0)], count)))
    return _soup(vertices, polygons)


# Text ----------------------------------------------------------------------------------------------------------------


def _lines(data: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Walk through the words of every line that is not empty, comments left out, with its number."""
    for number, line in enumerate(data.splitlines(), start=1):
        if words := line.split(b"#", 1)[0].split():
            yield number, words


def _quoted(words: Sequence[bytes]) -> str:
    text = b" ".join(words).decode("ascii", errors="replace")
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _numbers(number: int, line: Sequence[bytes], words: Sequence[bytes], count: int) -> list[float]:
    try:
        numbers = [float(word) for word in words if b"_" not in word]  # Python's own way to write 1000 as 1_000
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise ValueError(f"line {number} reads {_quoted(line)}, but {count} numbers were expected.")
    return numbers


def _integers(number: int, line: Sequence[bytes], words: Sequence[bytes], count: int | None = None) -> list[int]:
    try:
        integers = [int(word) for word in words if b"_" not in word]
    except ValueError:
        integers = []
    count = len(words) if count is None else count
    if len(integers) != count:
        raise ValueError(f"line {number} reads {_quoted(line)}, but {count} integers were expected.")
    return integers


def _polygon(number: int, line: Sequence[bytes], polygon: Sequence[int]) -> Sequence[int]:
    if len(polygon) < 3:
        raise ValueError(f"line {number} reads {_quoted(line)}, but a face has three corners or more.")
    return polygon


def _soup(vertices: Sequence[Sequence[float]], polygons: Sequence[Sequence[int]]) -> Soup:
    corners = np.array(vertices, dtype=np.float64).reshape(-1, 3)
    try:
        return corners, triangles_of(corners, polygons)
    except OverflowError:
        largest = max(map(max, polygons))
        raise ValueError(f"a face refers to vertex {largest}, but there are {len(vertices)}.") from None


# What trimesh reads --------------------------------------------------------------------------------------------------


def _ply(data: bytes, path: Path) -> Soup:
    vertices, faces = _through_trimesh(data, path, _open_scene)
    # Of text trimesh takes as many lines as there are.
    try:
        announced = _triangles_in_ascii_ply(data)
    except IndexError as error:
        raise ValueError("an element in its header has no name or no count.") from error
    if announced is not None and announced != len(faces):
        raise ValueError(f"its lists of corners tell of {announced} triangles, but {len(faces)} are there.")
    return vertices, faces


def _triangles_in_ascii_ply(data: bytes) -> int | None:
    head, _, body = data.partition(b"end_header")
    lines = [words for _, words in _lines(head)]
    if [b"format", b"ascii"] not in [words[:2] for words in lines]:
        return None
    rows = [words for _, words in _lines(body)]
    first = 0
    for words in lines:
        if words[0] != b"element":
            continue
        count = int(words[2])
        if len(rows) < first + count:
            raise ValueError(f"it tells of {count} times '{words[1].decode()}', but ends after {len(rows) - first}.")
        if words[1] == b"face":
            # Whatever else a face has stands behind its corners, as everybody writes it.
            sides = [int(row[0]) for row in rows[first : first + count]]
            if any(len(row) <= side for row, side in zip(rows[first : first + count], sides, strict=True)):
                raise ValueError("a face has fewer corners than it tells of.")
            return sum(max(side - 2, 0) for side in sides)
        first += count
    return 0


def _gltf(data: bytes, path: Path) -> Soup:
    # Of what it cannot decode trimesh makes zeros, or nothing.
    text = data
    if data[:4] == b"glTF":
        text = data[20 : 20 + int.from_bytes(data[12:16], "little")]
    try:
        header = json.loads(text)
        accessors = header.get("accessors", [])
        primitives = [primitive for mesh in header.get("meshes", []) for primitive in mesh["primitives"]]
        children = [child for node in header.get("nodes", []) for child in node.get("children", [])]
        has_tree = len(set(children)) == len(children)
        odd = [a for a in accessors if "bufferView" not in a or "sparse" in a]
        odd += [
            p for p in primitives if p.get("mode", 4) > 5 or "KHR_draco_mesh_compression" in p.get("extensions", ())
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no glTF: {error!r}.") from error
    if not has_tree:  # shared nodes of shared nodes would grow without end
        raise ValueError("its nodes are no tree: one of them is the child of two.")
    if odd:
        raise ValueError("parts of it are compressed, sparse or fans of triangles; save them as plain triangles.")
    return _through_trimesh(data, path, _open_scene)


def _dae(data: bytes, path: Path) -> Soup:
    return _through_trimesh(data, path, _open_collada)


def _check_collada(stream: BytesIO, path: Path) -> None:
    """Read it with care first: the XML reader of collada follows entities to other files, and archives without end."""
    if zipfile.is_zipfile(stream):
        raise ValueError("it is an archive; unpack it")
    root = safe_xml.parse(stream.getvalue(), path.name)
    if _shown_nodes(root, _nodes_by_id(root), {}) > safe_xml.MOST_TAGS:
        raise ValueError("its nodes show each other again and again")
    stream.seek(0)


def _nodes_by_id(root: Node) -> dict[str, Node]:
    own = {root.attributes["id"]: root} if "id" in root.attributes else {}
    for child in root.children:
        own |= _nodes_by_id(child)
    return own


def _shown_nodes(node: Node, by_id: dict[str, Node], known: dict[int, int], depth: int = 0) -> int:
    """Count the tags that there are once every instance of a node stands where it is shown."""
    if depth > 4 * safe_xml.DEEPEST:
        raise ValueError("its nodes show each other without end")
    if id(node) not in known:
        inside = list(node.children)
        if node.tag.endswith("instance_node") and (shown := by_id.get(node.attributes.get("url", "").strip("# "))):
            inside.append(shown)
        known[id(node)] = 1 + sum(_shown_nodes(other, by_id, known, depth + 1) for other in inside)
    return known[id(node)]


def _through_trimesh(data: bytes, path: Path, opened: Callable[[BytesIO, Path], Iterator[Part]]) -> Soup:
    try:
        # A stream in memory never reads more than there is, whatever a header says.
        return _joined(opened(BytesIO(data), path), max(MOST_REPEATED, len(data)))
    except ImportError as error:
        command = {"trimesh": "clearance[view]", "collada": "pycollada"}.get(error.name or "", error.name)
        raise ImportError(f"{path}: this format needs {error.name}; get it with: pip install {command}") from error
    except Exception as error:
        # Whatever a broken file does to a reader, it is the file that is broken. What the reader stumbled over inside
        # of itself tells nobody anything.
        told = f"{error}" if isinstance(error, ValueError | OSError) else f"its reader failed ({type(error).__name__})"
        raise ValueError(f"it cannot be read as {path.suffix}: {told.rstrip('.')}.") from error


def _open_scene(stream: BytesIO, path: Path) -> Iterator[Part]:
    import trimesh

    class Beside(trimesh.resolvers.FilePathResolver):
        """What lies in the folder of the scene, links followed, and is a file."""

        def get(self, name: str) -> bytes:
            return read_whole(self.absolute(name))

    kind, resolver = path.suffix.lower().removeprefix("."), Beside(str(path))
    scene = trimesh.load_scene(stream, file_type=kind, resolver=resolver, process=False, skip_materials=True)
    for node in scene.graph.nodes_geometry:
        pose, name = scene.graph[node]
        part = scene.geometry[name]
        if isinstance(part, trimesh.Trimesh):  # points and lines have no triangles
            yield pose, part.vertices, part.faces


def _open_collada(stream: BytesIO, path: Path) -> Iterator[Part]:
    """Take parts before trimesh merges their vertices, in metres, whatever the unit of the file is."""
    collada: Any = importlib.import_module("trimesh.exchange.dae")
    importlib.import_module("collada")
    _check_collada(stream, path)
    loaded = collada.load_collada(stream, ignore_broken=False)
    for node in loaded["graph"]:
        part = loaded["geometry"][node["geometry"]]
        unit = re.match(r"(\S+) \* meters", part["metadata"]["units"])
        yield np.diag([*3 * [float(unit[1]) if unit else 1.0], 1.0]) @ node["matrix"], part["vertices"], part["faces"]


def _joined(parts: Iterator[Part], most_triangles: int) -> Soup:
    vertices: list[Floats] = [np.empty((0, 3))]
    faces: list[Indices] = [np.empty((0, 3), dtype=np.int64)]
    count, left = 0, most_triangles
    for pose, part_vertices, part_faces in parts:
        corners, triangles = np.asarray(part_vertices, dtype=np.float64), np.asarray(part_faces, dtype=np.int64)
        # Checked before they are joined: a number too large would lead to a vertex of the next part.
        if len(odd := triangles[(triangles < 0) | (triangles >= len(corners))]):
            raise ValueError(f"a face refers to vertex {odd[0]}, but its part has {len(corners)} vertices")
        left -= len(triangles)
        if left < 0:
            raise ValueError(f"its parts make more than {most_triangles} triangles")
        vertices.append(corners @ pose[:3, :3].T + pose[:3, 3])
        faces.append(count + (_turned(triangles) if np.linalg.det(pose[:3, :3]) < 0.0 else triangles))
        count += len(corners)
    return np.concatenate(vertices), np.concatenate(faces)


READERS: dict[str, Callable[[bytes, Path], Soup]] = {
    "stl": _stl,
    "obj": _obj,
    "off": _off,
    "ply": _ply,
    "glb": _gltf,
    "gltf": _gltf,
    "dae": _dae,
}
