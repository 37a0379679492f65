"""`clearance view`: pages of robots, meshes, scenarios and recordings, and a server that Ctrl-C ends."""

import json
import os
import signal
import subprocess
import urllib.request

import pytest

pytest.importorskip("viser", reason="the viewer needs the extra 'view'")
pytest.importorskip("trimesh", reason="the viewer needs the extra 'view'")

import cli_runs
from cli_runs import COMMAND, assert_refused, run, told


@pytest.fixture
def here(tmp_path, monkeypatch):
    return cli_runs.settle(tmp_path, monkeypatch)


def page_of(folder, *words):
    assert told("view", *words, "--save", "it.html") == {"page": "it.html"}
    page = (folder / "it.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert not [name for name in cli_runs.everything() if "part" in name]
    return page


def test_without_anything_an_arm_is_shown(here):
    assert len(page_of(here)) > 100_000


@pytest.mark.parametrize(
    "words",
    [
        ["gantry.urdf"],
        ["gantry.urdf", "--cell", "wall.obj@0.5,0,0"],
        ["wall.obj", "brick.obj@0.1,0,0", "--scale", "0.001"],
        ["bowling"],
    ],
)
def test_files_are_shown(here, words):
    page_of(here, *words)


def test_recordings_are_shown(here):
    run("simulate", "bowling", "--duration", "0.1", "--out", "drive")
    folder = page_of(here, "drive")
    assert page_of(here, "drive/recording.npz") == folder


@pytest.mark.skipif(os.name != "posix", reason="signals are sent in another way there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_is_served_until_it_is_interrupted(here, number):
    command = [*COMMAND, "view", "gantry.urdf", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        url = json.loads(process.stdout.readline())["url"]
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert answer.status == 200
        process.send_signal(number)
        printed, told_of = process.communicate(timeout=60)
    assert (process.returncode, printed, told_of) == (0, "", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.urdf"], "nothing.urdf: No such file or directory."),
        (["nothing.stl"], "nothing.stl: No such file or directory."),
        (["gantry.urdf", "wall.obj"], "a robot is shown with what --cell puts around it"),
        (["wall.obj", "--cell", "brick.obj"], "--cell, --srdf and --package belong to a robot, but there is none."),
        (["--host", "there is no such host"], "host must be an address of this machine"),
        (["--port", "70000"], "port must be a number from 0 to 65535, but it is 70000."),
        (["empty"], "empty"),
    ],
)
def test_bad_input_ends_with_2(here, words, message):
    (here / "empty").mkdir()
    assert_refused("view", *words, message=message)


def test_place_that_cannot_be_written_ends_with_3(here):
    assert_refused("view", "--save", "no/it.html", message="no/it.html cannot be written", code=3)
