"""`clearance scan`: ranges of scenarios and meshes are those of the scanner."""

import csv

import numpy as np
import pytest

import clearance as cl
import cli_runs
from clearance.simulation.scenario import Scenario
from cli_runs import assert_refused, run, told


@pytest.fixture
def here(tmp_path, monkeypatch):
    return cli_runs.settle(tmp_path, monkeypatch)


def numbers(ranges):
    return np.array([np.inf if value is None else value for value in ranges], dtype=np.float32)


def test_without_anything_a_truck_looks_around_in_a_city():
    found = told("scan")
    mounted = Scenario.load("city").build().scanners["truck"]
    scanner = cl.LaserScanner(541, np.radians(270.0))
    expected = scanner.scan(mounted.vehicle.world, mounted.pose, ignore="truck")
    np.testing.assert_array_equal(numbers(found["ranges"]), expected.ranges)
    assert found["returns"] == np.isfinite(expected.ranges).sum() > 100
    assert found["returns"] + found["no_return"] == 541
    printed = run("scan").stdout
    assert f"541 beams from -2.750000, 0.880000, 0.255000: {found['returns']} returns.\n" in printed
    assert "Nearest: city/house30, 0.750 m.\n" in printed


def test_meshes_are_scanned_from_anywhere(here):
    words = ("--at", f"1,0,0,0,0,{np.pi}", "--beams", "5", "--fov-deg", "90", "--out", "ranges.csv")
    found = told("scan", "wall.obj", "brick.obj@0.5,-0.01,-0.01", *words)
    target = cl.Scene()
    target.add("wall", cl.load_mesh("wall.obj"))
    target.add("brick", cl.load_mesh("brick.obj"), [0.5, -0.01, -0.01])
    expected = cl.LaserScanner(5, np.pi / 2).scan(target, cl.poses.from_rpy([0, 0, np.pi], [1.0, 0.0, 0.0]))
    np.testing.assert_array_equal(numbers(found["ranges"]), expected.ranges)
    rows = list(csv.DictReader((here / "ranges.csv").open()))
    assert [float(row["range"]) for row in rows] == expected.ranges.astype(float).tolist()
    assert [float(row["angle"]) for row in rows] == pytest.approx(np.radians([-45.0, -22.5, 0.0, 22.5, 45.0]))
    assert [row["body"] for row in rows] == [target.names[k] for k in expected.index]
    points = np.array([[float(row[axis]) for axis in "xyz"] for row in rows])
    np.testing.assert_array_equal(points, expected.points)


def test_beams_that_miss_are_null_in_json_and_inf_in_csv(here):
    words = ("scan", "wall.obj@2,0,0", "--beams", "3", "--fov-deg", "180", "--range-min", "3", "--out", "it.csv")
    found = told(*words)
    assert found["ranges"] == [None, None, None]
    assert (found["no_return"], found["too_near"], found["bodies"]) == (2, 1, {})
    assert [row["range"] for row in csv.DictReader((here / "it.csv").open())] == ["inf", "-inf", "inf"]
    assert [row["x"] for row in csv.DictReader((here / "it.csv").open())] == ["", "", ""]


def test_rows_noise_and_hidden_bodies(here):
    words = ("scan", "wall.obj@2,0,0", "wall.obj@4,0,0", "--beams", "4", "--fov-deg", "20")
    assert np.shape(told(*words, "--rows", "3", "--vertical-fov-deg", "10")["ranges"]) == (3, 4)
    exact, hidden = told(*words), told(*words, "--hidden", "wall")
    assert min(exact["ranges"]) < 3.0 < min(hidden["ranges"])
    assert list(hidden["bodies"]) == ["wall_2"]
    noisy = [told(*words, "--noise", "0.01", "--seed", seed)["ranges"] for seed in (1, 1, 2)]
    assert noisy[0] == noisy[1] != noisy[2]
    assert noisy[0] == pytest.approx(exact["ranges"], abs=0.1)


def test_plot_is_written(here):
    pytest.importorskip("matplotlib", reason="plots need the extra 'view'")
    assert "Written: it.png\n" in run("scan", "wall.obj@2,0,0", "--plot", "it.png").stdout
    assert (here / "it.png").read_bytes()[:4] == b"\x89PNG"
    run("scan", "wall.obj@-9,0,0", "--fov-deg", "10", "--plot", "empty.png")  # nothing is seen
    assert not [name for name in cli_runs.everything() if "part" in name]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere: No such file or directory."),
        (["nowhere.toml"], "there is no scenario 'nowhere.toml'"),
        (["wall.obj", "--at", "1,0"], "'--at': a place must be x,y,z or x,y,z,roll,pitch,yaw"),
        (["wall.obj", "--beams", "0"], "beams must be a whole number"),
        (["wall.obj", "--fov-deg", "361"], "fov must be positive and at most a full circle"),
        (["wall.obj", "--range-min", "31"], "0 <= range_min < range_max"),
        (["wall.obj", "--noise", "-1"], "std must be zero or positive"),
        (["wall.obj", "--hidden", "nobody"], "there is no body 'nobody' that could be hidden or ignored."),
        (["wall.obj", "--beams", "many"], "--beams"),
    ],
)
def test_bad_input_ends_with_2(here, words, message):
    assert_refused("scan", *words, message=message)


def test_place_that_cannot_be_written_ends_with_3(here):
    assert_refused("scan", "wall.obj", "--out", "no/it.csv", message="no/it.csv cannot be written", code=3)
