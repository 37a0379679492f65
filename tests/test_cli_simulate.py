"""`clearance simulate`: what it says, what it leaves, and how it ends."""

import json
import os
import signal
import subprocess
import time
import warnings

import pytest

import petersen_listings
from clearance.simulation.recordings import UNFINISHED, Recording
from clearance.simulation.scenario import Scenario
from cli_runs import COMMAND, as_process, needs_terminals, on_terminal, run, told

BALL = "[[balls]]\nposition = [0.0, 0.0, 1.0]\nradius = 0.1\n[recording]\nduration = 0.2\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ball.toml").write_text(BALL)
    return tmp_path


def test_scenario_is_run_and_recorded(here):
    done = run("simulate", "ball.toml", "--out", "out")
    assert "a scenario: 2 bodies, 0.20 s in 11 frames, 0 scans" in done.stdout
    assert "Recording: out/recording.npz\n" in done.stdout
    assert done.stderr == ""
    assert [path.name for path in (here / "out").iterdir()] == ["recording.npz"]
    assert Recording.load("out").names == ["ground", "ball1"]


def test_report_is_json_if_asked(here):
    pytest.importorskip("trimesh", reason="pages need the extra 'view'")
    report = told("simulate", "ball", "--out", "out", "--page", "--duration", "0.1")
    assert report["frames"] == 6
    assert report["simulated_seconds"] == pytest.approx(0.1)
    assert (here / report["page"]).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (here / report["recording"]).exists()


def test_without_a_file_the_default_runs(here):
    report = told("simulate", "--duration", "0.01")
    assert report["title"] == Scenario.load("city").title
    assert (here / "simulation" / "recording.npz").exists()


def test_files_of_the_thesis_run_with_warnings(here):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # they are told, not raised
        done = run("simulate", petersen_listings.write(here), "--duration", "0.01", "--threads", "1")
    assert "warning: " in done.stderr
    assert "says that it has 3 balls, but it lists 5" in done.stderr
    assert "MonsterTruck: " in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.toml"], "there is no scenario 'nothing.toml'"),
        (["bad.toml"], "bad.toml: the file has an unknown key 'wrold'; did you mean 'world'?"),
        (["fast.toml"], "robot 'pioneer1', commands[0]: "),
        (["garbage.cfg"], "garbage.cfg is no configuration file: line 1 is neither [name] nor key = value.\n"),
        (["bowling", "--resume", "--overwrite"], "--resume and --overwrite exclude each other."),
        (["nothing.cfg"], "there is no configuration file"),
        (["ball.toml", "--duration", "-1"], "duration must be a number from 0 to 1e+06, but it is -1.0."),
        (["ball.toml", "--threads", "0"], "--threads"),
        (["ball.toml", "--nonsense"], "--nonsense"),
    ],
)
def test_bad_input_ends_with_2_and_leaves_nothing(here, words, message):
    (here / "bad.toml").write_text("[wrold]")
    (here / "garbage.cfg").write_bytes(bytes(range(1, 256)) * 9)
    (here / "fast.toml").write_text('[[robots]]\nmodel = "pioneer"\ncommands = [{ speed = 99 }]')
    done = run("simulate", *words, "--out", "out", code=2)
    assert message in done.stderr
    assert done.stdout == ""
    assert not (here / "out").exists()


def test_nothing_is_overwritten_unasked(here):
    run("simulate", "ball", "--out", "out")
    done = run("simulate", "ball", "--out", "out", code=2)
    assert "out holds a recording already" in done.stderr
    assert "--resume, --overwrite" in done.stderr
    run("simulate", "ball", "--out", "out", "--overwrite", "--duration", "0.1")
    assert len(Recording.load("out")) == 6


def test_folder_that_cannot_be_made_ends_with_3(here):
    (here / "file").write_text("in the way")
    for out in ("file/out", "file"):
        done = run("simulate", "ball", "--out", out, code=3)
        assert done.stderr.startswith(f"error: {out} cannot be written: ")
        assert done.stderr.endswith("file is no folder.\n")


# As a process of its own ----------------------------------------------------------------------------------------------


def test_pipes_are_quiet(here):
    done = as_process("simulate", "ball", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert json.loads(done.stdout)["frames"] == 11


@needs_terminals
def test_terminals_get_a_bar(here):
    code, printed, shown = on_terminal("simulate", "ball", "--json")
    assert code == 0
    assert "a scenario" in shown
    assert "%" in shown
    assert json.loads(printed)["frames"] == 11


def wait_for(path, process):
    deadline = time.monotonic() + 120.0
    while not path.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.skipif(os.name != "posix", reason="signals are sent in another way there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_leaves_what_can_be_gone_on_with(here, number):
    long = BALL.replace("duration = 0.2", "duration = 2.0\nprecision = 'float64'")
    (here / "long.toml").write_text(long.replace("[recording]", "[world]\nstep = 1e-5\n[recording]"))
    process = subprocess.Popen(
        [*COMMAND, "simulate", "long"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(here / "simulation" / UNFINISHED / "state.json", process)
    process.send_signal(number)
    printed, told_of = process.communicate(timeout=120)
    assert (process.returncode, printed) == (130, "")
    assert "go on with --resume" in told_of
    assert "Traceback" not in told_of
    assert [path.name for path in (here / "simulation").iterdir()] == [UNFINISHED]
    state = json.loads((here / "simulation" / UNFINISHED / "state.json").read_bytes())
    assert state["counts"]["frames.bin"] > 0
    assert not list((here / "simulation" / UNFINISHED).glob("*.part"))
    run("simulate", "long", "--resume")
    run("simulate", "long", "--out", "uncut")
    assert (here / "simulation" / "recording.npz").read_bytes() == (here / "uncut" / "recording.npz").read_bytes()
