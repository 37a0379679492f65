"""The example scripts run and show what they promise."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import clearance as cl
from clearance import samples

pytest.importorskip("matplotlib", reason="examples draw; they need the extra 'view'")
from matplotlib.image import imread

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_avoidance_keeps_the_arm_apart_where_it_would_collide(tmp_path):
    without, avoiding = load("self_avoidance").main(tmp_path)
    assert without < 0.0 < avoiding
    picture = imread(tmp_path / "self_avoidance.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100


def test_both_runs_keep_the_hand_on_its_path():
    example = load("self_avoidance")
    for avoiding in (False, True):
        angles, _, errors = example.run(avoiding)
        assert errors.max() < 1e-3
        assert np.abs(np.diff(angles, axis=0)).max() < 0.02  # radians in 10 ms: no jerk at a singularity


def test_gradient_of_the_arm_agrees_with_finite_differences():
    example = load("self_avoidance")
    scene, q, h = example.build_scene(), example.REST, 1e-6

    def table_at(angles):
        scene.move(dict(zip(example.LINKS, example.forward(angles)[0], strict=True)))
        return scene.distances()

    expected = np.stack(
        [(table_at(q + h * e).distance - table_at(q - h * e).distance) / (2.0 * h) for e in np.eye(len(q))], axis=1
    )
    found = table_at(q).gradient(example.forward(q)[1])
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_bodies_rest_on_as_many_points_as_their_faces_need(tmp_path):
    found = load("resting_contacts").main(tmp_path)
    counts = {name: len(manifold) for name, manifold in found.items()}
    assert counts == {
        "box on ground": 4,
        "standing on ground": 4,
        "lying on ground": 2,
        "stone on ground": 4,
        "rod on box": 2,
        "plank on box": 4,
        "pebble on standing": 4,
    }
    for manifold in found.values():
        np.testing.assert_allclose(manifold.normal, [0.0, 0.0, 1.0], atol=1e-9)
        np.testing.assert_allclose(manifold.depths, 5e-4, atol=1e-9)
    picture = imread(tmp_path / "resting_contacts.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100


def test_nearest_along_a_path_is_the_least_of_all_pairs(tmp_path):
    along, gap = load("robot_cell").main(tmp_path)
    worst = int(np.argmin(along.distance))
    assert gap.lower <= along.distance[worst] <= gap.upper
    assert (gap.body_a, gap.body_b) == (along.body_a[worst], along.body_b[worst])
    assert 0.0 < gap.lower <= gap.upper < 0.05  # close, and clear
    picture = imread(tmp_path / "robot_cell.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100


def assert_leads_from_shelf_to_machine(path, report):
    assert report.clear
    assert 0.012 <= report.lower <= report.upper < 0.03
    np.testing.assert_array_equal(path[[0, -1]], samples.arm_path()[[0, -1]])
    again = cl.check_path(samples.arm(), samples.arm_cell(), path, margin=0.012)
    assert again.clear


def test_planner_finds_a_way_that_is_proved_and_the_same_every_time(capsys):
    example = load("plan_path")
    path, report = example.main()
    assert_leads_from_shelf_to_machine(path, report)
    printed = capsys.readouterr().out
    assert "proved to keep 12 mm" in printed
    np.testing.assert_array_equal(example.main()[0], path)


def test_shortened_paths_are_shorter_and_planners_refuse_ends_in_contact():
    example = load("plan_path")
    robot, world = samples.arm(), samples.arm_cell()
    planner = example.Planner(robot, world, 0.012, seed=0)
    detour = np.vstack([samples.arm_path()[2:4], samples.arm_path()[2:4]])
    shorter = planner.shorten(detour, attempts=100)
    assert planner.length(shorter) < 0.9 * planner.length(detour)
    np.testing.assert_array_equal(shorter[[0, -1]], detour[[0, -1]])
    into_the_table = robot.configuration({"lift": 2.0, "grip": 0.035})
    with pytest.raises(ValueError, match=r"goal: .* are too close"):
        planner.plan(samples.arm_path()[0], into_the_table)


def test_ompl_plans_with_proofs_too():
    pytest.importorskip("ompl", reason="OMPL is not installed: pip install ompl")
    # In a process of its own: its bindings report leaks when they end.
    done = subprocess.run(
        [sys.executable, EXAMPLES / "plan_path.py", "--ompl"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "OMPL: " in done.stdout
    assert "\nproved to keep 12 mm" in done.stdout


def test_yes_or_no_and_clearances_of_many_configurations_agree(capsys):
    free, found = load("check_configurations").main(5000)
    assert len(free) == len(found.distance) == 5000
    assert 0.3 < free.mean() < 0.8
    np.testing.assert_array_equal(free, found.lower > 0.0)
    assert "the same as in memory: True" in capsys.readouterr().out


def test_arm_over_a_depth_image_is_nearest_to_a_pixel(tmp_path):
    example = load("depth_camera")
    along, gap = example.main(tmp_path)
    assert gap.distance == along.distance.min()
    assert 0.0 < gap.lower <= gap.upper < 0.05
    assert 0 <= gap.feature_b < example.WIDTH * example.HEIGHT
    picture = imread(tmp_path / "depth_camera.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100


def test_guarded_humanoid_brakes_before_its_hands_touch(tmp_path, capsys):
    example = load("guarded_humanoid")
    done = example.main(str(tmp_path))
    hands = example.distances_of_hands(samples.upper_body(), done)
    assert 0 <= done.go < done.stop < done.stand
    assert done.cycles[done.stop].verdict.pair == example.HANDS
    proved = done.cycles[done.stop - 1].verdict.lower
    assert 0.0 < proved <= hands[done.stop :].min() < hands[done.stop]
    assert "lArm6 and rArm6 may touch" in capsys.readouterr().out
    page = (tmp_path / "guarded_humanoid.html").read_text(encoding="utf-8")
    assert f"<td>{1e3 * hands[done.stop]:.3f}</td>" in page
    picture = imread(tmp_path / "guarded_humanoid.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100


def test_guarded_humanoid_says_what_it_takes_to_be_shown_live(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(SystemExit, match="pip install viser"):
        load("guarded_humanoid").main("--live")


def test_vehicles_drive_the_circles_that_are_expected(tmp_path):
    found = load("drive_circles").main(tmp_path)
    assert all(one.deviation < 0.01 for rounds in found.values() for one in rounds)
    picture = imread(tmp_path / "drive_circles.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100


def test_volksbot_drives_into_the_humanoids_and_a_page_plays_it(tmp_path):
    example = load("scenarios")
    recording = example.main("bowling", str(tmp_path), "3.2")
    assert len(recording.names) == 7 + 10 * 22 + 1
    assert "pin1" in example.fallen(recording)
    assert (tmp_path / "bowling.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_scanner_sees_the_room_and_not_its_own_vehicle(tmp_path):
    example = load("laser_scan")
    scans = example.main(tmp_path)
    names = example.room().names
    seen = {names[k] for k in scans["exact"].index if k >= 0}
    assert {"post", "crate", "wall left"} <= seen
    assert not any(name.startswith("vehicle/") for name in seen)
    assert not {names[k] for k in scans["boxes hidden"].index if k >= 0} & set(example.BOXES)
    both = np.isfinite(scans["exact"].ranges) & np.isfinite(scans["depth buffer"].ranges)
    assert np.abs(scans["exact"].ranges[both] - scans["depth buffer"].ranges[both]).max() < 1e-4
    picture = imread(tmp_path / "laser_scan.png")[..., :3]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100
