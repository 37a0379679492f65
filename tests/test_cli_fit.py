"""`clearance fit`: swept hulls around meshes and links, and the proof that nothing is left outside."""

import json

import numpy as np
import pytest

import clearance as cl
import cli_runs
from cli_runs import assert_refused, needs_terminals, on_terminal, run, told

pytest.importorskip("scipy", reason="hulls are fitted with the extra 'fit'")

HOOKED = """<robot name="hooked">
  <link name="base"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="hook">
    <collision>
      <origin xyz="0.5 0 0" rpy="0 0 1.5"/><geometry><mesh filename="brick.obj" scale="0.001 0.001 0.001"/></geometry>
    </collision>
  </link>
  <joint name="x" type="prismatic">
    <parent link="base"/><child link="hook"/><limit lower="0" upper="1" velocity="1" effort="1"/>
  </joint>
</robot>
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "hooked.urdf").write_text(HOOKED)
    return cli_runs.settle(tmp_path, monkeypatch)


def hulls_in(bodies):
    return [cl.ConvexHull(body["points"], body["radius"]) for body in bodies]


def test_without_anything_a_welding_gun_is_fitted():
    found = told("fit", "--points", "4")
    gun = cl.samples.robot_cell().shape("gun")
    assert found["contained"]
    assert found["outside"] <= 0.0
    (hull,) = hulls_in(found["bodies"])
    assert len(hull.points) <= 4
    away = cl.distance(cl.SweptPoint([0.0, 0.0, 0.0], 0.0).at(cl.poses.from_translation(gun.vertices)), hull)
    assert away.lower.max() <= 1e-12
    assert found["volume"] > found["hull_volume"] > 0.0


def test_mesh_is_fitted_as_the_library_does_it(here):
    found = told("fit", "brick.obj", "--scale", "0.001", "--out", "it.json")
    expected = cl.fit_swept_hull(cl.load_mesh("brick.obj", 1e-3).vertices, 8)
    (hull,) = hulls_in(found["bodies"])
    np.testing.assert_array_equal(hull.points, expected.points)
    assert hull.radius == expected.radius
    assert found["volume"] == pytest.approx(0.2 * 0.1 * 0.05, rel=1e-6)
    assert json.loads((here / "it.json").read_text())["bodies"] == found["bodies"]
    printed = run("fit", "brick.obj", "--scale", "0.001").stdout
    assert "brick.obj: 1 mesh, 1 hull.\nCONTAINED: all 8 vertices are proved to be inside.\n" in printed


def test_links_of_a_robot_are_fitted_in_their_own_frames(here):
    found = told("fit", "hooked.urdf", "--points", "2")
    assert [body["link"] for body in found["bodies"]] == ["hook"]  # the ball stays what it is
    (hull,) = hulls_in(found["bodies"])
    expected = cl.Robot.from_urdf("hooked.urdf", collision="swept", n_points=2)
    shape = next(link.shape for link in expected.links if link.name == "hook")
    somewhere = cl.Sphere(0.01).at([0.3, 0.2, 0.9])
    assert cl.distance(hull, somewhere).distance == pytest.approx(cl.distance(shape, somewhere).distance, abs=1e-12)


def test_concave_meshes_can_be_cut(here):
    pytest.importorskip("coacd", reason="cutting needs the extra 'decompose'")
    corner = [line for line in cli_runs.BRICK.splitlines() if line]
    shift = [f"v {float(x) + 900} {y} {z}" for _, x, y, z in (line.split() for line in corner[:8])]
    faces = [f"f {' '.join(str(int(k) + 8) for k in line.split()[1:])}" for line in corner[8:]]
    (here / "two.obj").write_text("\n".join([*corner[:8], *shift, *corner[8:], *faces, ""]))
    whole, cut = (told("fit", "two.obj", "--scale", "0.001", *more) for more in ([], ["--split", "0.05"]))
    assert (len(whole["bodies"]), len(cut["bodies"])) == (1, 2)
    assert cut["contained"]
    assert cut["volume"] < 0.5 * whole["volume"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.stl"], "nothing.stl: No such file or directory."),
        (["nothing.urdf"], "nothing.urdf: No such file or directory."),
        (["gantry.urdf"], "gantry.urdf has no meshes that hulls could be fitted to."),
        (["brick.obj", "--points", "0"], "n_points must be 1 or more, but it is 0."),
        (["brick.obj", "--points", "few"], "--points must be a whole number or auto, but it is 'few'."),
        (["brick.obj", "--split", "7"], "concavity must be a number from 0.01 to 1"),
        (["brick.obj", "--package", "."], "--package belongs to a URDF file."),
        (["brick.obj", "--scale", "nan"], "scale must be finite"),
        (["gantry.urdf", "--scale", "0.001"], "--scale belongs to a mesh"),
    ],
)
def test_bad_input_ends_with_2(here, words, message):
    assert_refused("fit", *words, message=message)


def test_place_that_cannot_be_written_ends_with_3(here):
    assert_refused("fit", "brick.obj", "--out", "no/it.json", message="no/it.json cannot be written", code=3)


@needs_terminals
def test_ctrl_c_leaves_nothing(here):
    code, printed, shown = on_terminal("fit", "--points", "auto", "--out", "it.json", interrupt=True)
    assert (code, printed) == (130, "")
    assert "fitting" in shown
    assert "Traceback" not in shown
    assert not list(here.glob("it*"))
