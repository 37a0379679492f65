"""Files of grains for ParaView read back the same."""

import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import clearance as cl
from clearance.simulation.grain_export import write_vtk, write_vtk_series
from grains import Flying, poses_of, recorded, recorded_leaving


@pytest.fixture(scope="module")
def recording():
    return recorded()


@pytest.fixture(scope="module")
def leaving():
    return recorded_leaving()


def test_file_for_paraview_reads_back_the_same(tmp_path):
    meshio = pytest.importorskip("meshio", reason="files .vtu need the extra 'vtk'")
    grains = Flying()
    grains.step(300)
    write_vtk(grains, tmp_path / "grains.vtu")
    mesh = meshio.read(tmp_path / "grains.vtu")
    data = mesh.point_data
    np.testing.assert_array_equal(mesh.points, grains.positions)
    np.testing.assert_array_equal(data["id"], grains.ids)
    np.testing.assert_array_equal(data["kind"], grains.kinds)
    np.testing.assert_array_equal(data["turn"], grains.turns)
    np.testing.assert_array_equal(np.hstack([data["velocity"], data["spin"]]), grains.velocities)
    radii = [0.15, 0.5 * np.sqrt(0.29), 0.4, 0.25, 0.1]
    np.testing.assert_allclose(data["radius"], np.array(radii)[grains.kinds])
    turned = cl.poses.from_wxyz(data["orientation"], mesh.points)
    np.testing.assert_allclose(turned, poses_of(grains), atol=1e-12)
    (cells,) = mesh.cells
    assert (cells.type, cells.data.tolist()) == ("vertex", [[k] for k in range(12)])
    assert [path.name for path in tmp_path.iterdir()] == ["grains.vtu"]


def test_series_has_a_file_per_frame_and_an_index(leaving, tmp_path):
    meshio = pytest.importorskip("meshio", reason="files .vtu need the extra 'vtk'")
    index = write_vtk_series(leaving, tmp_path / "new" / "series")
    sets = ElementTree.parse(index).getroot().findall("Collection/DataSet")
    assert [float(one.get("timestep")) for one in sets] == leaving.times.tolist()
    assert sorted(path.name for path in index.parent.glob("*.vtu")) == [one.get("file") for one in sets]
    for k, one in enumerate(sets):
        mesh, frame = meshio.read(index.parent / one.get("file")), leaving.frame(k)
        np.testing.assert_array_equal(mesh.points, frame.positions.astype(np.float64))
        np.testing.assert_array_equal(mesh.point_data["id"], frame.ids)
        assert set(mesh.point_data) == {"id", "kind", "radius", "turn", "orientation"}


def test_no_bodies_at_all_are_written_too(tmp_path):
    pytest.importorskip("meshio", reason="files .vtu need the extra 'vtk'")
    write_vtk(Flying(0), tmp_path / "empty.vtu")
    piece = ElementTree.parse(tmp_path / "empty.vtu").getroot().find("UnstructuredGrid/Piece")
    assert piece.get("NumberOfPoints") == "0"


def test_other_endings_are_refused(tmp_path):
    pytest.importorskip("meshio", reason="files .vtu need the extra 'vtk'")
    with pytest.raises(ValueError, match=r"\.vtu"):
        write_vtk(Flying(), tmp_path / "grains.vtk")


def test_missing_library_is_named(recording, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "meshio", None)
    with pytest.raises(ImportError, match=r"clearance\[vtk\]"):
        write_vtk(Flying(), tmp_path / "grains.vtu")
    with pytest.raises(ImportError, match=r"clearance\[vtk\]"):
        write_vtk_series(recording, tmp_path / "series")
    assert list(tmp_path.iterdir()) == []
