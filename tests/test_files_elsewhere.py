"""Files that name others open only what lies beside them, and nothing is written through links."""

import json
import os

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from clearance.simulation.recordings import Recorder
from hostile import assert_refused
from strangers import URDF, answers, gltf, stl_binary


def test_scenes_read_only_what_lies_beside_them(good, tmp_path):
    numbers = np.array([0, 1, 2, 0], "<u2").tobytes() + np.array([0, 0, 0, 1, 0, 0, 0, 1, 0], "<f4").tobytes()
    (tmp_path / "secret.bin").write_bytes(numbers)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "own.bin").write_bytes(numbers)
    os.symlink(tmp_path / "secret.bin", inside / "link.bin")
    os.mkfifo(inside / "pipe.bin")
    uris = [
        "own.bin",
        "../secret.bin",
        str(tmp_path / "secret.bin"),
        "link.bin",
        "pipe.bin",
        "/dev/zero",
        "missing.bin",
    ]
    uris += ["file://" + str(tmp_path / "secret.bin"), "http://127.0.0.1:1/secret.bin", "a\0b"]
    wanted = []
    for k, uri in enumerate(uris):
        (inside / f"{k}.gltf").write_text(json.dumps(gltf(buffers=[{"byteLength": 44, "uri": uri}])))
        wanted.append(("mesh", inside / f"{k}.gltf"))
    said = answers(wanted, seconds=60.0)
    assert [text == "loaded" for text in said] == [True] + [False] * (len(uris) - 1)


def test_robots_read_only_what_lies_beside_them(good, tmp_path):
    (tmp_path / "secret.stl").write_bytes(stl_binary())
    inside = tmp_path / "inside"
    inside.mkdir()
    os.symlink(tmp_path / "secret.stl", inside / "link.stl")
    os.mkfifo(inside / "pipe.stl")
    uris = [
        "../secret.stl",
        str(tmp_path / "secret.stl"),
        "link.stl",
        "pipe.stl",
        "package://../secret.stl",
        "http://a/b.stl",
    ]
    wanted = []
    for k, uri in enumerate(uris):
        (inside / f"{k}.urdf").write_text(URDF.format(mesh=uri))
        wanted.append(("urdf", inside / f"{k}.urdf"))
    assert_refused(wanted, seconds=60.0)


def some_unfinished_recording(folder):
    world = sim.World()
    world.add("ball", cl.Sphere(0.1), [0.0, 0.0, 1.0])
    with Recorder(world, folder) as recorder:
        recorder.take()
        recorder.checkpoint()
    return folder / "unfinished"


def test_recordings_that_go_on_cut_off_no_other_file(tmp_path):
    unfinished = some_unfinished_recording(tmp_path / "run")
    (tmp_path / "precious").write_text("something of mine" * 100)
    (unfinished / "frames.bin").unlink()
    os.symlink(tmp_path / "precious", unfinished / "frames.bin")
    with pytest.raises(OSError):  # noqa: PT011
        Recorder.resume(tmp_path / "run")
    assert (tmp_path / "precious").stat().st_size == 1700


STATES = {
    "a world elsewhere": {"world": "../world"},
    "a world that is a list": {"world": []},
    "frames as a world": {"world": "frames.bin"},
    "negative steps": {"steps": -1},
    "steps as text": {"steps": "1"},
    "counts as a list": {"counts": [1]},
    "negative counts": {"counts": {"frames.bin": -5}},
    "counts of records that are not there": {"counts": {"frames.bin": 10**12}},
    "no rate": {"about": {"rate": 0.0}},
    "an endless rate": {"about": {"rate": float("inf")}},
    "objects": {"about": {"precision": "O"}},
    "names as text": {"about": {"names": "ball"}},
    "names that are numbers": {"about": {"names": [1]}},
    "beams without end": {"about": {"scans": {"r": {"shape": [2**31, 2**31], "range_max": 1.0, "shown_beams": 1}}}},
    "no about": {"about": None},
}


@pytest.mark.parametrize("what", STATES)
def test_states_that_cannot_be_are_refused(what, tmp_path):
    path = some_unfinished_recording(tmp_path / "run") / "state.json"
    state, changes = json.loads(path.read_text()), STATES[what]
    if isinstance(changes.get("about"), dict):
        changes = {"about": state["about"] | changes["about"]}
    path.write_text(json.dumps(state | changes))
    with pytest.raises((ValueError, OSError)):
        Recorder.resume(tmp_path / "run")
