"""Grains for ParaView and whatever else reads VTK. It needs meshio: `pip install clearance[vtk]`."""

from __future__ import annotations

import importlib
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ..meshio import write_whole
from .grain_recordings import GrainRecording, Snapshot

__all__ = ["write_vtk", "write_vtk_series"]

Floats = NDArray[np.float64]


def write_vtk(grains: Snapshot, path: str | PathLike[str]) -> None:
    """Write bodies at one moment to a file .vtu: one point each.

    Data of the points are `id`, `kind`, `radius` (of a ball around the frame of a body that holds all of it; of a
    sphere its own), `turn` (a quaternion x, y, z, w), `orientation` (the same one as w, x, y, z, which "3D Glyphs" of
    ParaView take), and `velocity` and `spin` where they are known.

    Parameters
    ----------
    grains : Particles or GrainFrame
        Or anything else with `ids`, `kinds`, `shapes`, `positions`, `turns`, and perhaps `velocities`.
    path : path_like
        Where the file goes.

    Examples
    --------
    >>> from clearance.simulation.grain_recordings import GrainFrame
    >>> grains = GrainFrame(
    ...     time=0.0,
    ...     ids=np.array([0, 1]),
    ...     kinds=np.array([0, 0]),
    ...     shapes=(Sphere(0.1),),
    ...     positions=np.array([[0.0, 0.0, 0.1], [0.0, 0.0, 0.3]]),
    ...     turns=np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]]),
    ... )
    >>> write_vtk(grains, "grains.vtu")
    """
    meshio = _meshio()
    if Path(path).suffix != ".vtu":
        raise ValueError(f"path must end in '.vtu', which programs know such files by, but it is {str(path)!r}.")
    points = np.asarray(grains.positions, dtype=np.float64)
    cells = [("vertex", np.arange(len(points))[:, None])]
    mesh = meshio.Mesh(points, cells, point_data=_point_data(grains))
    with TemporaryDirectory() as folder:
        whole = Path(folder) / "grains.vtu"
        meshio.write(whole, mesh)
        write_whole(path, whole.read_bytes())


def write_vtk_series(recording: GrainRecording, folder: str | PathLike[str]) -> Path:
    """Write a recording as one file .vtu per frame, and `grains.pvd`, which ParaView opens as all of them over time.

    Parameters
    ----------
    recording : GrainRecording
        Of every frame the bodies that were there are written, see `write_vtk`.
    folder : path_like
        Made if it is not there.

    Returns
    -------
    Path
        Of the file .pvd; it is written last.

    Examples
    --------
    >>> from clearance.simulation.grain_recordings import GrainRecording
    >>> still = GrainRecording(
    ...     times=np.array([0.0, 0.5]),
    ...     positions=np.zeros((2, 1, 3), dtype=np.float32),
    ...     turns=np.tile(np.array([0, 0, 0, 1], dtype=np.float32), (2, 1, 1)),
    ...     ids=np.array([0]),
    ...     kinds=np.array([0]),
    ...     shapes=(Sphere(0.1),),
    ... )
    >>> write_vtk_series(still, "still").name
    'grains.pvd'
    """
    _meshio()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    root = ElementTree.Element("VTKFile", type="Collection", version="0.1", byte_order="LittleEndian")
    collection = ElementTree.SubElement(root, "Collection")
    for k, time in enumerate(recording.times.tolist()):
        name = f"frame{k:06}.vtu"
        write_vtk(recording.frame(k), folder / name)
        ElementTree.SubElement(collection, "DataSet", timestep=repr(time), group="", part="0", file=name)
    ElementTree.indent(root)
    index = folder / "grains.pvd"
    write_whole(index, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))
    return index


def _point_data(grains: Snapshot) -> dict[str, NDArray[Any]]:
    kinds, turns = np.asarray(grains.kinds, dtype=np.int64), np.asarray(grains.turns, dtype=np.float64)
    radii = np.array([np.linalg.norm(shape.ball[0]) + shape.ball[1] for shape in grains.shapes])
    data = {
        "id": np.asarray(grains.ids, dtype=np.int64),
        "kind": kinds,
        "radius": radii[kinds] if len(kinds) else np.empty(0),
        "turn": turns,
        "orientation": np.ascontiguousarray(turns[:, [3, 0, 1, 2]]),
    }
    velocities: Floats | None = getattr(grains, "velocities", None)
    if velocities is not None:
        data["velocity"] = np.ascontiguousarray(velocities[:, :3], dtype=np.float64)
        data["spin"] = np.ascontiguousarray(velocities[:, 3:], dtype=np.float64)
    return data


def _meshio() -> Any:
    try:
        return importlib.import_module("meshio")
    except ImportError as error:
        raise ImportError("files .vtu need meshio; get it with: pip install clearance[vtk]") from error
