"""`clearance nearest`: distances of mesh files and groups of them, with brackets and witness points."""

import numpy as np
import pytest

import clearance as cl
import cli_runs
from clearance import samples
from cli_runs import assert_refused, run, told


@pytest.fixture
def here(tmp_path, monkeypatch):
    return cli_runs.settle(tmp_path, monkeypatch)


def test_without_anything_it_is_a_robot_in_a_car():
    found = told("nearest")
    cell, links = samples.robot_cell(), list(samples.robot_cell_poses())
    expected = cell.nearest(links, ["shell", "floor"])
    for name in ("distance", "lower", "upper"):
        assert found[name] == getattr(expected, name)
    assert found["pair"] == [expected.body_a, expected.body_b]
    assert found["triangles"] == [expected.feature_a, expected.feature_b]
    printed = run("nearest").stdout
    assert f"APART: gun and floor by {1e3 * expected.distance:.3f} mm.\n" in printed
    assert f"Proved: between {1e3 * expected.lower:.12f} and {1e3 * expected.upper:.12f} mm.\n" in printed


def test_only_meshes_have_triangles(here):
    printed = run("nearest", "wall.obj", "--to", "city", code=1).stdout
    assert "CONTACT: wall and ground meet.\n" in printed
    assert [line.partition(" (")[2] for line in printed.splitlines() if line.startswith("On ")] == ["triangle 0)", ""]
    assert "pairs of triangles" not in printed


def test_two_files_placed_and_scaled(here):
    found = told("nearest", "wall.obj@100,0,0,0,0,0", "brick.obj@0.5,0,0", "--scale", "0.001")
    expected = cl.distance(
        cl.load_mesh("wall.obj", 1e-3).at([100.0, 0.0, 0.0]), cl.load_mesh("brick.obj", 1e-3).at([0.5, 0.0, 0.0])
    )
    assert found["distance"] == pytest.approx(expected.distance, rel=1e-12)
    assert found["lower"] <= 100.0 - 0.7 <= found["upper"]
    gap = np.subtract(found["point_b"], found["point_a"])
    np.testing.assert_allclose(gap, found["distance"] * np.array(found["normal"]), atol=1e-12)


def test_roll_pitch_yaw_turn_a_mesh(here):
    quarter = f"{np.pi / 2:.16f}"
    found = told("nearest", "wall.obj", f"brick.obj@1,0,0,0,0,{quarter}", "--scale", "0.001")
    assert found["distance"] == pytest.approx(1.0 - 0.1)  # its shorter side lies along x now


def test_groups_are_parted_by_to(here):
    words = ("nearest", "wall.obj@-9,0,0", "wall.obj@-2,0,0", "--to", "brick.obj@1,0,0", "--to", "brick.obj@500,0,0")
    found = told(*words)
    assert (found["group_a"], found["group_b"]) == (["wall", "wall_2"], ["brick", "brick_2"])
    assert (found["pair"], found["distance"]) == (["wall_2", "brick"], pytest.approx(3.0))
    assert found["triangle_pairs"] == 4 * 24


def test_contact_and_margin_end_with_1(here):
    assert "CONTACT: wall and brick meet.\n" in run("nearest", "wall.obj", "brick.obj@-0.01,0,0", code=1).stdout
    assert told("nearest", "wall.obj", "brick.obj@0,0,0", code=1)["clear"] is False
    near = ("nearest", "wall.obj", "brick.obj@0.1,0,0")
    run(*near)
    assert (
        "TOO NEAR: wall and brick by 100.000 mm, less than 200.000 mm." in run(*near, "--margin", "0.2", code=1).stdout
    )


def test_page_is_written(here):
    pytest.importorskip("trimesh", reason="pages need the extra 'view'")
    run("nearest", "wall.obj@1,0,0", "brick.obj", "--scale", "0.001", "--page", "it.html")
    page = (here / "it.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<td>800.000</td>" in page
    assert not [name for name in cli_runs.everything() if "part" in name]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["wall.obj"], "two meshes were expected, or groups parted by --to"),
        (["wall.obj", "brick.obj", "wall.obj"], "two meshes were expected"),
        (["--to", "wall.obj"], "two meshes were expected"),
        (["wall.obj", "nothing.stl"], "nothing.stl: No such file or directory."),
        (["wall.obj", "gantry.urdf"], "the name ends in '.urdf', but meshes are read from"),
        (["wall.obj", "bad.obj"], "bad.obj: line 1"),
        (["wall.obj", "brick.obj@here"], "a place must be x,y,z or x,y,z,roll,pitch,yaw"),
        (["wall.obj", "brick.obj@0,0,nan"], "a place must be x,y,z or x,y,z,roll,pitch,yaw"),
        (["wall.obj", "brick.obj", "--scale", "0"], "scale must be finite and not zero"),
        (["wall.obj", "brick.obj", "--margin", "-1"], "margin must be a number"),
    ],
)
def test_bad_input_ends_with_2(here, words, message):
    (here / "bad.obj").write_text("f 1 2\n")
    assert_refused("nearest", *words, message=message)


def test_place_that_cannot_be_written_ends_with_3(here):
    assert_refused(
        "nearest", "wall.obj", "brick.obj", "--page", "no/it.html", message="no/it.html cannot be written", code=3
    )
