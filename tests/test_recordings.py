"""Recordings: what is kept is what was, and a run that was cut off gives the same bits as one that was not."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import clearance as cl
from clearance.simulation import World
from clearance.simulation.recordings import UNFINISHED, Recorder, Recording
from clearance.simulation.runs import simulate
from clearance.simulation.scenario import Scenario

# A vehicle with a noisy scanner among balls and a house: motors, contacts with a memory, and chance.
SCENE = """
[world]
step = 0.002

[city]
cell = 0.5
corner = [1.0, -0.25]
storeys = ["3"]

[[robots]]
model = "monster_truck"
name = "truck"
commands = [{ speed = 1.0 }, { time = 0.31, speed = 1.0, steering_deg = 15 }]

[robots.scanner]
resolution = [24, 3]
rate = 7
noise = 0.01
file = "seen"

[[robots]]
model = "pioneer"
name = "ghost"
position = [-1.0, 1.0]
dynamics = false
commands = [{ speed = 0.5, turn_rate_deg = 30 }]

[[balls]]
position = [0.8, 0.1, 0.3]
radius = 0.1

[[balls]]
position = [0.8, 0.15, 0.6]
radius = 0.1

[recording]
rate = 40
duration = 0.8
precision = "float64"
checkpoint_every = 0.001
"""
SCENARIO = Scenario.from_text(SCENE)


def falling_ball():
    world = World()
    world.add("ball", cl.Sphere(0.1), [0.0, 0.0, 1.0], velocity=[1.0, 0.0, 0.0])
    return world


@pytest.fixture(scope="module")
def uncut(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uncut")
    simulate(SCENARIO, folder)
    return folder


def same_files(folder, uncut):
    return all((folder / name).read_bytes() == (uncut / name).read_bytes() for name in ("recording.npz", "seen.npz"))


# What is kept is what was ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_frames_are_the_poses_of_the_world(tmp_path, precision):
    world, expected = falling_ball(), []
    with Recorder(world, tmp_path, precision=precision) as recorder:
        for _ in range(5):
            recorder.take()
            expected.append((world.time, world.poses))
            recorder.advance(20)
        recorder.finish()
    found = Recording.load(tmp_path)
    assert found.poses.dtype == precision
    np.testing.assert_array_equal(found.times, [time for time, _ in expected])
    np.testing.assert_array_equal(found.poses, np.array([poses for _, poses in expected]).astype(precision))
    np.testing.assert_array_equal(found.of("ball"), found.poses[:, 0])


@pytest.mark.parametrize(("rate", "step"), [(50.0, 1e-3), (30.0, 1e-3), (33.3, 0.007), (1000.0, 1e-3)])
def test_frames_are_taken_at_their_rate(tmp_path, rate, step):
    world = World(step=step)
    world.add("ball", cl.Sphere(0.1))
    with Recorder(world, tmp_path, rate=rate) as recorder:
        recorder.run(0.3)
        times = recorder.finish().times
    assert abs(times - np.arange(len(times)) / rate).max() <= 0.5 * step + 1e-12
    assert times[-1] + 1.0 / rate > 0.3 - step


def test_recording_survives_its_file(uncut, tmp_path):
    first = Recording.load(uncut / "recording.npz")
    first.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (uncut / "recording.npz").read_bytes()
    again = Recording.load(tmp_path / "again.npz")
    assert Scenario.from_text(again.scenario) == SCENARIO
    assert (again.names, again.colours) == (first.names, first.colours)
    np.testing.assert_array_equal(again.scans["truck"].ranges, first.scans["truck"].ranges)


def test_recording_brings_its_world_along(uncut):
    recording = Recording.load(uncut)
    world = recording.world()
    assert world.names == recording.names
    np.testing.assert_array_equal(world.poses, recording.poses[0])
    scene = recording.scene(-1)
    np.testing.assert_allclose(scene.pose("ball1"), recording.of("ball1")[-1], atol=1e-15)


def test_scans_come_at_their_rate_and_see_what_is_there(uncut):
    recording = Recording.load(uncut)
    track = recording.scans["truck"]
    np.testing.assert_allclose(track.times, np.arange(6) / 7.0, atol=0.001 + 1e-12)
    assert track.ranges.shape == (6, 3, 24)
    scene = recording.scene(0)
    own = [name for name in scene.names if name.startswith("truck/")]
    origin, directions = track.poses[0, :3, 3], track.directions @ track.poses[0, :3, :3].T
    expected = cl.raycast(scene, origin, directions, track.range_max, ignore=own)
    np.testing.assert_array_equal(np.isfinite(track.ranges[0]), expected.is_hit)
    off = track.ranges[0][expected.is_hit] - expected.distance[expected.is_hit]
    assert 0.005 < off.std() < 0.02  # the noise that was asked for
    assert abs(off).max() < 0.06
    assert {scene.names[k] for k in expected.index[expected.is_hit]} >= {"city/house1", "ball1", "ground"}
    seen = np.load(uncut / "seen.npz")
    np.testing.assert_array_equal(seen["ranges"], track.ranges)


def test_commands_act_at_their_times(uncut):
    recording = Recording.load(uncut)
    truck = recording.of("truck/chassis")
    yaw = np.arctan2(truck[:, 1, 0], truck[:, 0, 0])
    assert abs(yaw[recording.times <= 0.31]).max() < 0.01
    assert truck[12, 0, 3] > truck[0, 0, 3] + 0.1
    ghost = recording.of("ghost/trunk")[:, :3, 3]
    turned = np.radians(30.0) * recording.times[-1]
    start = ghost[0, :2] - [-1.0, 1.0]
    turn = np.array([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]])
    radius = 0.5 / np.radians(30.0)
    moved = np.array([-1.0 + radius * np.sin(turned), 1.0 + radius * (1.0 - np.cos(turned))])
    np.testing.assert_allclose(ghost[-1, :2], moved + turn @ start, atol=1e-9)


def test_bodies_stay_the_same_ones(tmp_path):
    world = falling_ball()
    with Recorder(world, tmp_path) as recorder:
        world.add("late", cl.Sphere(0.1))
        with pytest.raises(ValueError, match="must stay the same ones"):
            recorder.take()


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan, 1001.0])
def test_impossible_rates_are_refused(tmp_path, rate):
    with pytest.raises(ValueError, match="rate must be above zero and at most 1000"):
        Recorder(falling_ball(), tmp_path, rate=rate)


# Cut off --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stops", [[1], [7], [13, 14], [1, 2, 30], [33]])
def test_run_that_was_stopped_goes_on_with_the_same_bits(tmp_path, uncut, stops):
    seen = 0

    def stop():
        nonlocal seen
        seen += 1
        return seen in stops

    for _ in stops:
        assert simulate(SCENARIO, tmp_path, resume=True, stop=stop) is None
        assert not (tmp_path / "recording.npz").exists()
    recording = simulate(SCENARIO, tmp_path, resume=True)
    assert len(recording) == len(Recording.load(uncut))
    assert same_files(tmp_path, uncut)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recording.npz", "seen.npz"]


def test_threads_change_nothing(tmp_path, uncut):
    simulate(SCENARIO, tmp_path / "1", threads=1)
    simulate(SCENARIO, tmp_path / "2", threads=2)
    assert same_files(tmp_path / "1", uncut)
    assert same_files(tmp_path / "2", uncut)


RUN = """
import sys
from clearance.simulation.runs import simulate
from clearance.simulation.scenario import Scenario
simulate(Scenario.load(sys.argv[1]), sys.argv[2], resume=True)
"""


def frames_in(folder):
    try:
        return json.loads((folder / UNFINISHED / "state.json").read_bytes())["counts"]["frames.bin"]
    except (FileNotFoundError, ValueError):
        return 0


@pytest.mark.skipif(os.name != "posix", reason="processes are killed in another way there")
def test_run_that_was_killed_goes_on_with_the_same_bits(tmp_path, uncut):
    (tmp_path / "scene.toml").write_text(SCENE)
    out = tmp_path / "out"
    killed = 0
    for enough in (3, 12, 20, 1000):
        process = subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path / "scene.toml"), str(out)])
        deadline = time.monotonic() + 120.0
        while process.poll() is None and frames_in(out) < enough:
            assert time.monotonic() < deadline
            time.sleep(0.0005)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        if killed and process.returncode == 0:
            break
    assert killed
    simulate(SCENARIO, out, resume=True)
    assert same_files(out, uncut)


def test_frames_after_the_checkpoint_are_forgotten(tmp_path, uncut):
    assert simulate(SCENARIO, tmp_path, stop=iter([False] * 9 + [True]).__next__) is None
    for path in (tmp_path / UNFINISHED).glob("*.bin"):
        with open(path, "ab") as file:
            file.write(b"half a frame")
    simulate(SCENARIO, tmp_path, resume=True)
    assert same_files(tmp_path, uncut)


def unfinished(folder):
    assert simulate(SCENARIO, folder, stop=iter([False] * 3 + [True]).__next__) is None
    return folder / UNFINISHED


def test_damage_is_told(tmp_path):
    inner = unfinished(tmp_path / "a")
    state = json.loads((inner / "state.json").read_bytes())
    (inner / "state.json").write_text('{"about": {}}')
    with pytest.raises(ValueError, match=re.escape(f"{inner / 'state.json'} is damaged")):
        Recorder.resume(tmp_path / "a")
    (inner / "state.json").write_text(json.dumps(state | {"world": "../../elsewhere"}))
    with pytest.raises(ValueError, match="is damaged"):
        Recorder.resume(tmp_path / "a")
    (inner / "state.json").write_text(json.dumps(state))
    os.truncate(inner / "frames.bin", 10)
    with pytest.raises(ValueError, match=r"frames.bin has 10 bytes, but 4 records are"):
        Recorder.resume(tmp_path / "a")
    (inner / state["world"]).write_bytes(b"no world")
    with pytest.raises(ValueError, match="no file of a world"):
        Recorder.resume(tmp_path / "a")


def test_other_scenarios_do_not_go_on(tmp_path, uncut):
    unfinished(tmp_path)
    other = Scenario.from_text(SCENE.replace("speed = 1.0 }", "speed = 0.9 }"))
    with pytest.raises(ValueError, match="was begun with another scenario"):
        simulate(other, tmp_path, resume=True)
    shutil.copytree(uncut, tmp_path / "done")
    with pytest.raises(ValueError, match="was begun with another scenario"):
        simulate(other, tmp_path / "done", resume=True)


def test_nothing_is_overwritten_unasked(tmp_path):
    unfinished(tmp_path)
    with pytest.raises(FileExistsError, match="holds a recording that is not finished already"):
        simulate(SCENARIO, tmp_path)
    simulate(SCENARIO, tmp_path, duration=0.1, overwrite=True)
    with pytest.raises(FileExistsError, match="holds a recording already"):
        simulate(SCENARIO, tmp_path)
    assert len(simulate(SCENARIO, tmp_path, duration=0.1, resume=True)) == 5  # done, and given back
    with pytest.raises(ValueError, match=r"holds a finished recording of 0\.1 s, which does not go on to"):
        simulate(SCENARIO, tmp_path, resume=True)


def test_nothing_to_go_on_with_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / UNFINISHED / "state.json"))):
        Recorder.resume(tmp_path)


@pytest.mark.parametrize("data", [b"", b"PK", b"\x93NUMPY"])
def test_what_is_no_recording_is_refused(tmp_path, data):
    (tmp_path / "recording.npz").write_bytes(data)
    with pytest.raises(ValueError, match=re.escape(f"{tmp_path / 'recording.npz'} is no recording")):
        Recording.load(tmp_path)
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(ValueError, match="is no recording"):
        Recording.load(tmp_path / "other.npz")


def test_missing_recording_names_every_place(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        Recording.load(tmp_path / "none")
    for place in ("none", Path("none") / "recording.npz"):
        assert f"\n    {tmp_path / place}" in str(caught.value)


def test_file_is_written_as_a_whole_or_not_at_all(tmp_path, uncut, monkeypatch):
    recording = Recording.load(uncut)
    (tmp_path / "x.npz").write_bytes(b"old")

    def cut_off(self, data):
        with open(self, "wb") as file:
            file.write(data[:100])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", cut_off)
    with pytest.raises(KeyboardInterrupt):
        recording.save(tmp_path / "x.npz")
    assert (tmp_path / "x.npz").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["x.npz"]
