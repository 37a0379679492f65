"""Robot descriptions for tests: little ones written on the spot, and the real ones of example-robot-data."""

import importlib.metadata
import struct

import numpy as np
import pytest

TETRAHEDRON = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.25, 0.5, 1.5]])
OUTWARDS = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


def real(name=""):
    """Return a folder or file of the real robots by the end of its path, or skip the test; "": all of them."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = str(file)
        if "example-robot-data/robots/" in path and path.endswith(name or ".urdf"):
            found = file.locate()
            return found if name else next(p for p in found.parents if p.name == "robots" and p.parent.name[0] == "e")
    pytest.skip("needs example-robot-data")


def real_names(ending):
    """Return the path of every real robot description within the folder of robots."""
    try:
        files = [str(file) for file in importlib.metadata.files("example-robot-data") or []]
    except importlib.metadata.PackageNotFoundError:
        return []
    return sorted(f.split("/robots/", 1)[1] for f in files if f.endswith(ending) and "example-robot-data/robots/" in f)


def stl(vertices=TETRAHEDRON, faces=OUTWARDS):
    """Return a binary STL file."""
    rows = [struct.pack("<12fH", 0, 0, 0, *np.asarray(vertices)[face].ravel(), 0) for face in np.asarray(faces)]
    return bytes(80) + struct.pack("<I", len(rows)) + b"".join(rows)


def obj(vertices=TETRAHEDRON, faces=OUTWARDS):
    """Return an OBJ file, which keeps vertices that no triangle uses."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices).tolist()]
    return "\n".join(lines + [f"f {a} {b} {c}" for a, b, c in (np.asarray(faces) + 1).tolist()]).encode()


def complaint(function, *given):
    """Return what an error says, or "" if there is none."""
    try:
        function(*given)
    except (ValueError, FileNotFoundError) as error:
        return str(error)
    return ""


def collision(shape, origin=""):
    return f"<collision>{origin}<geometry>{shape}</geometry></collision>"


def link(name, *collisions):
    return f'<link name="{name}">{"".join(collisions)}</link>'


def joint(name="joint", kind="fixed", inside="", parent="base", child="hand"):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def urdf(*parts, name="little"):
    return f'<robot name="{name}">{"".join(parts)}</robot>'


def written(folder, content, name="little.urdf"):
    """Write a file, and the folders that it stands in; return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
