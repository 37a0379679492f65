"""`clearance check`: what it says of configurations and paths is what the library says."""

import csv

import numpy as np
import pytest

import clearance as cl
import cli_runs
from clearance import samples
from cli_runs import assert_refused, needs_terminals, on_terminal, run, told

AT_WALL = ("--cell", "wall.obj@0.5,0,0")


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "path.csv").write_text("x,y\n-1,0\n0.3,0\n")
    (tmp_path / "q.csv").write_text("# two postures\ny,x\n0.2,-1\n\n0.1,0.35\n")
    return cli_runs.settle(tmp_path, monkeypatch)


def gantry():
    return cl.Robot.from_urdf("gantry.urdf")


def wall():
    return {"wall": cl.load_mesh("wall.obj").at([0.5, 0.0, 0.0])}


# Paths ----------------------------------------------------------------------------------------------------------------


def test_without_anything_the_path_of_an_arm_is_proved():
    found, report = told("check"), cl.check_path(samples.arm(), samples.arm_cell(), samples.arm_path())
    assert found["clear"]
    assert (found["lower"], found["upper"], found["pair"]) == (report.lower, report.upper, list(report.pair))
    assert found["q_worst"] == report.q_worst.tolist()
    assert found["first_violation"] is None
    printed = run("check").stdout
    assert f"CLEAR: the whole path is proved to stay clear of everything, by {report.configurations} conf" in printed
    assert f"Least clearance: {1e3 * report.lower:.3f} to {1e3 * report.upper:.3f} mm, left_finger and ma" in printed


def test_margin_that_is_not_kept_ends_with_1():
    found = told("check", "--margin", "0.02", code=1)
    report = cl.check_path(samples.arm(), samples.arm_cell(), samples.arm_path(), 0.02)
    assert not found["clear"]
    assert found["first_violation"] == list(report.first_violation)
    printed = run("check", "--margin", "0.02", code=1).stdout
    assert "NOT CLEAR: the path does not keep a margin of 20 mm at waypoint 0.797; what comes before" in printed


def test_path_of_a_robot_among_meshes(here):
    found = told("check", "gantry.urdf", *AT_WALL, "--path", "path.csv", "--tolerance", "1e-6")
    assert found["lower"] <= 0.1 <= found["upper"] <= found["lower"] + 1e-6
    assert (found["pair"], found["bodies"], found["waypoints"]) == (["tool", "wall"], ["wall"], 2)
    assert found["t_worst"] == pytest.approx(1.0, abs=1e-3)
    through = told("check", "gantry.urdf", "--cell", "wall.obj@0.2,0,0", "--path", "path.csv", code=1)
    begin, end = through["first_violation"]
    assert begin == pytest.approx(1.1 / 1.3, abs=1e-3)
    assert begin <= end


def test_path_that_cannot_be_proved_says_so(here):
    (here / "graze.csv").write_text("x,y\n0.4,-1\n0.4,1\n")
    printed = run("check", "gantry.urdf", "--cell", "wall.obj@0.5,0,0", "--path", "graze.csv", code=1).stdout
    assert "NOT CLEAR: the path" in printed
    assert "at waypoint 0.000" in printed


# Configurations -------------------------------------------------------------------------------------------------------


def test_configurations_are_answered_as_the_library_answers(here):
    found = told("check", "gantry.urdf", "-q", "q.csv", *AT_WALL, "--out", "found.csv")
    expected = cl.clearances(gantry(), wall(), [[-1.0, 0.2], [0.35, 0.1]])
    assert found["clear_count"] == found["configurations"] == 2
    assert found["nearest"]["row"] == 1
    assert found["nearest"]["distance"] == expected.distance[1] == pytest.approx(0.05)
    assert found["nearest"]["pair"] == ["tool", "wall"]
    rows = list(csv.DictReader((here / "found.csv").open()))
    for name in ("distance", "lower", "upper"):
        assert [float(row[name]) for row in rows] == getattr(expected, name).tolist()
    for name in ("point_a", "point_b", "normal"):
        columns = np.array([[float(row[f"{name}_{axis}"]) for axis in "xyz"] for row in rows])
        np.testing.assert_array_equal(columns, getattr(expected, name))
    assert [(row["body_a"], row["body_b"], row["clear"]) for row in rows] == [(*pair, "1") for pair in expected.pair]


def test_margin_counts_for_configurations(here):
    found = told("check", "gantry.urdf", "-q", "q.csv", *AT_WALL, "--margin", "0.06", code=1)
    assert (found["clear_count"], found["first_not_clear"]) == (1, 1)
    printed = run("check", "gantry.urdf", "-q", "q.csv", *AT_WALL, "--margin", "0.06", code=1).stdout
    assert "NOT CLEAR: something is nearer than 60 mm in 1 of 2.\n" in printed
    assert "  1  tool   wall" in printed


@pytest.mark.parametrize("kind", ["named", "bare", "npy", "one"])
def test_files_say_the_same_in_every_way(here, kind):
    q = [[0.0, 0.5], [0.35, 0.1]]
    if kind == "named":
        (here / "it.csv").write_text("y,x\n0.5,0.0\n0.1,0.35\n")
    elif kind == "bare":
        (here / "it.csv").write_text("0.0,0.5\n0.35,0.1\n")
    else:
        np.save(here / "it.npy", np.array(q if kind == "npy" else q[1]))
    found = told("check", "gantry.urdf", "-q", "it.npy" if kind in ("npy", "one") else "it.csv", *AT_WALL)
    assert found["configurations"] == (1 if kind == "one" else 2)
    assert found["nearest"]["distance"] == pytest.approx(0.05)


def test_robot_alone_is_looked_at_where_its_joints_are_at_zero(here):
    found = told("check", "gantry.urdf")
    assert (found["configurations"], found["nearest"]["pair"]) == (1, ["frame", "tool"])
    assert found["nearest"]["distance"] == pytest.approx(0.85)


def test_pairs_that_are_allowed_or_disabled_are_not_checked(here):
    run("check", "gantry.urdf", "--cell", "wall.obj", code=1)
    assert told("check", "gantry.urdf", "--cell", "wall.obj", "--allow", "tool,wall", "--allow", "wall,frame")["clear"]
    (here / "it.srdf").write_text(
        '<robot name="gantry"><disable_collisions link1="frame" link2="tool" reason="Never"/></robot>'
    )
    done = run("check", "gantry.urdf", "--srdf", "it.srdf")
    assert "warning: there is nothing to check" in done.stderr
    assert told("check", "gantry.urdf", "--srdf", "it.srdf")["nearest"]["distance"] is None


def test_joints_of_several_values_have_columns_for_each(here):
    (here / "free.urdf").write_text(cli_runs.GANTRY.replace('name="y" type="prismatic"', 'name="y" type="floating"'))
    heads = "x,y.qw,y.qx,y.qy,y.qz,y.x,y.y,y.z"
    (here / "free.csv").write_text(f"{heads}\n0.1,1,0,0,0,0.25,0,0\n")
    found = told("check", "free.urdf", "-q", "free.csv", *AT_WALL)
    assert found["nearest"]["distance"] == pytest.approx(0.5 - 0.1 - 0.25 - 0.1)


def test_scenarios_are_cells_too(here):
    found = told("check", "gantry.urdf", "--cell", "bowling", code=1)
    assert "ground" in found["bodies"]
    assert found["nearest"]["pair"] == ["tool", "ground"]


def test_meshes_of_one_name_are_told_apart(here):
    found = told("check", "gantry.urdf", "--cell", "wall.obj@3,0,0", "--cell", "wall.obj@-1,0,0,0,0,3.1")
    assert found["bodies"] == ["wall", "wall_2"]


# What is written, and what is refused ---------------------------------------------------------------------------------


def test_plot_and_page_are_written(here):
    pytest.importorskip("matplotlib", reason="pictures need the extra 'view'")
    pytest.importorskip("trimesh", reason="pictures need the extra 'view'")
    words = ("check", "gantry.urdf", *AT_WALL, "--path", "path.csv", "--plot", "it.png", "--page", "it.html")
    assert "Written: it.png, it.html\n" in run(*words).stdout
    assert (here / "it.png").read_bytes()[:4] == b"\x89PNG"
    assert (here / "it.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert not [name for name in cli_runs.everything() if "part" in name]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.urdf"], "nothing.urdf: No such file or directory."),
        (["gantry.urdf", "--cell", "nothing.stl"], "nothing.stl: No such file or directory."),
        (["gantry.urdf", "--cell", "wall.obj@1,2"], "'wall.obj@1,2': a place must be x,y,z or x,y,z,roll,pitch,yaw"),
        (["gantry.urdf", "--cell", "bowling@1,2,3"], "a scenario stands where it says itself"),
        (["gantry.urdf", "-q", "nothing.csv"], "nothing.csv: No such file or directory."),
        (["gantry.urdf", "-q", "nan.csv"], "nan.csv, line 3: 'y' is nan, but it must be a finite number."),
        (["gantry.urdf", "-q", "empty_cell.csv"], "empty_cell.csv, line 2: 'x' is nan"),
        (["gantry.urdf", "-q", "wide.csv"], "wide.csv has 3 columns, but 2 were expected: x, y."),
        (["gantry.urdf", "-q", "names.csv"], "names.csv has columns that are not known: 'z'; known are 'x', 'y'."),
        (["gantry.urdf", "-q", "half.csv"], "half.csv has no column 'y'; it has 'x'."),
        (["gantry.urdf", "-q", "twice.csv"], "twice.csv, line 1 names a column twice"),
        (["gantry.urdf", "-q", "ragged.csv"], "ragged.csv, line 3 has 1 column, but 2 were expected."),
        (["gantry.urdf", "-q", "word.csv"], "word.csv, line 2: 'far' is no number; commas part the columns."),
        (["gantry.urdf", "-q", "none.csv"], "none.csv holds no numbers."),
        (["gantry.urdf", "-q", "latin.csv"], "latin.csv is no CSV file in UTF-8"),
        (["gantry.urdf", "-q", "cube.npy"], "cube.npy must hold rows of numbers, (n, values), but its shape is (2, 2,"),
        (["gantry.urdf", "-q", "text.npy"], "text.npy is no .npy file of numbers, or not all of it is there.\n"),
        (["gantry.urdf", "--scale", "0"], "--scale must be finite and not zero, but it is 0.0."),
        (["--scale", "inf"], "--scale must be finite and not zero, but it is inf."),
        (["--tolerance", "-1"], "--tolerance must be finite and not negative, but it is -1.0."),
        (["gantry.urdf", "-q", "q.csv", "--tolerance", "0.01"], "--tolerance belongs to --path"),
        (["/dev/null"], "/dev/null: "),
        (["gantry.urdf", "-q", "nan.npy"], "nan.npy, row 1: 'x' is inf, but it must be a finite number."),
        (["gantry.urdf", "--path", "one.csv"], "a path needs two waypoints or more"),
        (["gantry.urdf", "--allow", "tool,wal"], "there is no link or body 'wal'; there are frame, carriage, tool."),
        (["gantry.urdf", "--allow", "tool"], "two names were expected"),
        (["gantry.urdf", "-q", "one.csv", "--path", "one.csv"], "exclude each other"),
        (["gantry.urdf", "--plot", "it.png"], "--path: a CSV file with a row for each waypoint, of x, y."),
        (["--out", "it.csv"], "--out belongs to --configurations"),
        (["--srdf", "it.srdf"], "--srdf and --package belong to a robot file"),
        (["--margin", "-0.1"], "margin must be a number, zero or positive and finite, but it is -0.1."),
        (["gantry.urdf", "--margin", "nan"], "margin must be a number"),
        (["--tolerance", "0"], "tolerance must be positive"),
        (["ball.urdf", "--path", "ball.npy", "--plot", "it.png"], "--plot needs straight lines"),
        (["--collision", "round"], "--collision"),
        (["--threads", "0"], "--threads"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_bad_input_ends_with_2(here, words, message):
    for name, text in (
        ("nan.csv", "x,y\n0,0\n0,nan\n"),
        ("empty_cell.csv", "x,y\n,1\n"),
        ("wide.csv", "0,0,0\n"),
        ("names.csv", "x,z\n0,0\n"),
        ("half.csv", "x\n0\n"),
        ("twice.csv", "x,x\n0,0\n"),
        ("ragged.csv", "x,y\n0,0\n1\n"),
        ("word.csv", "x,y\n0,far\n"),
        ("none.csv", "x,y\n"),
        ("one.csv", "x,y\n0,0\n"),
        ("text.npy", "no array"),
    ):
        (here / name).write_text(text)
    (here / "latin.csv").write_bytes("x,y\n0,0\n# Größe\n".encode("latin-1"))
    (here / "ball.urdf").write_text(cli_runs.GANTRY.replace('name="y" type="prismatic"', 'name="y" type="floating"'))
    np.save(here / "ball.npy", np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (2, 1)))
    np.save(here / "cube.npy", np.zeros((2, 2, 2)))
    np.save(here / "nan.npy", np.array([[0.0, 0.0], [np.inf, 0.0]]))
    assert_refused("check", *words, message=message)


@pytest.mark.parametrize("place", ["no/folder/it.csv", "."])
def test_place_that_cannot_be_written_ends_with_3(here, place):
    assert_refused(
        "check", "gantry.urdf", "-q", "q.csv", "--out", place, message=f"{place} cannot be written: ", code=3
    )


@needs_terminals
def test_ctrl_c_leaves_nothing(here):
    np.save(here / "many.npy", samples.arm().random(300_000, seed=0))
    words = ("check", "-q", "many.npy", "--out", "found.csv")
    code, printed, shown = on_terminal(*words, interrupt=True)
    assert (code, printed) == (130, "")
    assert "checking" in shown
    assert "interrupted." in shown
    assert "Traceback" not in shown
    assert not list(here.glob("found*"))
