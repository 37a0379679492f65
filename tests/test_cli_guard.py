"""`clearance guard`: verdicts of a log are those of the guard, cycle by cycle."""

import csv
import re

import numpy as np
import pytest

import clearance as cl
import cli_runs
from clearance.cli.guard import CHUNK, Log, replay, sample_log
from cli_runs import assert_refused, needs_terminals, on_terminal, run, told

AT_WALL = ("--cell", "wall.obj@0.5,0,0")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a log: the tool goes towards x = 1 at 1 m/s, 10 ms a cycle, and is at 0.37 in the end."""
    cli_runs.settle(tmp_path, monkeypatch)
    rows = [f"{0.01 * k:.2f},{0.01 * k - 0.02:.2f},0,1,0" for k in range(40)]
    (tmp_path / "log.csv").write_text("\n".join(["time,q.x,q.y,qd.x,qd.y", *rows, ""]))
    return tmp_path


def log_of(folder):
    rows = np.loadtxt(folder / "log.csv", delimiter=",", skiprows=1)
    return Log(rows[:, 0], rows[:, 1:3], rows[:, 3:5], None)


def gantry_guard(**options):
    wall = {"wall": cl.load_mesh("wall.obj").at([0.5, 0.0, 0.0])}
    return cl.Guard(cl.Robot.from_urdf("gantry.urdf", collision="hull"), wall, **options)


def test_without_anything_a_humanoid_claps_and_is_stopped():
    found = told("guard", code=1)
    assert found["first_stop"]["reason"] == "pair"
    assert found["first_stop"]["pair"] == ["lArm6", "rArm6"]
    assert 0.04 < found["first_stop"]["distance"] < 0.1
    assert found["cycles"] == sum(found["reasons"].values()) == len(sample_log())
    assert found["reasons"]["budget"] == 0  # it knew all pairs before the log began
    printed = run("guard", code=1).stdout
    assert "STOP: first at 0.460 s, because of lArm6 and rArm6, " in printed


def test_without_a_warm_up_it_says_stop_until_it_knows_all_pairs():
    first = [told("guard", "--budget", "10000", *more, code=1)["first_stop"] for more in (["--cold"], [])]
    assert (first[0]["cycle"], first[0]["reason"]) == (0, "budget")
    assert first[1]["cycle"] > 0


def test_verdicts_are_those_of_the_guard(here):
    found = told("guard", "gantry.urdf", *AT_WALL, "--log", "log.csv", "--out", "verdicts.csv", "--cold", code=1)
    log = log_of(here)
    expected = gantry_guard().replay(log.q, log.qd, time=log.time)
    rows = list(csv.DictReader((here / "verdicts.csv").open()))
    assert [row["stop"] for row in rows] == [str(int(stop)) for stop in expected.stop]
    assert [row["reason"] for row in rows] == expected.reason.tolist()
    for name in ("lower", "distance", "time_to_contact", "work"):
        np.testing.assert_array_equal([float(row[name]) for row in rows], getattr(expected, name))
    assert [(row["body_a"], row["body_b"]) for row in rows] == [tuple(pair) for pair in expected.pair]
    assert [float(row["time"]) for row in rows] == log.time.tolist()
    first = int(np.argmax(expected.stop))
    assert found["first_stop"]["cycle"] == first > 0
    assert found["first_stop"]["time"] == log.time[first]
    # It can still brake: 10 ms at 1 m/s and more, then 20 m/s^2.
    assert 0.5 - 0.1 - log.q[first - 1, 0] - 0.047 > 0.0


def test_log_in_parts_is_one_log(here):
    log = log_of(here)
    many = Log(None, np.tile(log.q, (10 * CHUNK // 40, 1)), np.tile(log.qd, (10 * CHUNK // 40, 1)), None)
    fractions = []
    in_parts, at_once = replay(gantry_guard(), many, fractions.append), gantry_guard().replay(many.q, many.qd)
    for name in ("stop", "reason", "lower", "distance", "work"):
        np.testing.assert_array_equal(getattr(in_parts, name), getattr(at_once, name))
    assert fractions == pytest.approx(np.arange(1, 11) / 10)


def test_limits_of_braking_count(here):
    words = ("guard", "gantry.urdf", *AT_WALL, "--log", "log.csv")
    first = [
        told(*words, *more, code=1)["first_stop"]["cycle"] for more in ([], ["--latency", "0.05"], ["--margin", "0.1"])
    ]
    assert first[1] < first[0]
    assert first[2] < first[0]
    weak = told(*words, "--deceleration", "2", "--acceleration", "2", code=1)
    assert weak["first_stop"]["cycle"] < first[0]


def test_log_that_is_clear_ends_with_0(here):
    printed = run("guard", "gantry.urdf", "--cell", "wall.obj@2,0,0", "--log", "log.csv").stdout
    assert "CLEAR: it never says stop.\n" in printed
    assert "Least to spare: " in printed
    assert told("guard", "gantry.urdf", "--log", "log.csv")["first_stop"] is None


def test_columns_may_lack_names_and_times_and_may_have_commands(here):
    log = log_of(here)
    for name, columns in (
        ("bare.csv", [log.time[:, None], log.q, log.qd]),
        ("untimed.csv", [log.q, log.qd]),
        ("pushed.csv", [log.time[:, None], log.q, log.qd, np.zeros_like(log.qd)]),
    ):
        np.savetxt(here / name, np.concatenate(columns, axis=1), delimiter=",")
    np.save(here / "bare.npy", np.concatenate([log.time[:, None], log.q, log.qd], axis=1))
    words = ("guard", "gantry.urdf", *AT_WALL, "--log")
    first = {
        name: told(*words, name, code=1)["first_stop"] for name in ("log.csv", "bare.csv", "bare.npy", "untimed.csv")
    }
    assert first["log.csv"] == first["bare.csv"] == first["bare.npy"]
    assert first["untimed.csv"] == first["log.csv"] | {"time": None}
    pushed = told(*words, "pushed.csv", code=1)["first_stop"]
    assert pushed["cycle"] > first["log.csv"]["cycle"]  # who knows that it does not accelerate brakes later


def test_number_that_was_not_measured_means_stop(here):
    text = (here / "log.csv").read_text().splitlines()
    text[6] = "0.05,,0,1,0"
    (here / "log.csv").write_text("\n".join(text) + "\n")
    found = told("guard", "gantry.urdf", "--log", "log.csv", "--out", "verdicts.csv", code=1)
    assert found["reasons"]["input"] == 1
    assert (found["first_stop"]["cycle"], found["first_stop"]["distance"]) == (5, None)
    assert (here / "verdicts.csv").read_text().splitlines()[6].startswith("5,0.05,1,input,")


def test_late_updates_are_told(here):
    (here / "late.csv").write_text("time,q.x,q.y,qd.x,qd.y\n0,0,0,0,0\n0.01,0,0,0,0\n0.5,0,0,0,0\n")
    found = told("guard", "gantry.urdf", "--log", "late.csv", "--timeout", "0.1", code=1)
    assert (found["first_stop"]["reason"], found["first_stop"]["cycle"]) == ("stale", 2)


def test_robot_without_pairs_is_warned_of(here):
    (here / "it.srdf").write_text(
        '<robot name="gantry"><disable_collisions link1="frame" link2="tool" reason="Never"/></robot>'
    )
    done = run("guard", "gantry.urdf", "--srdf", "it.srdf", "--log", "log.csv")
    assert "warning: there is nothing to check" in done.stderr
    assert "inf mm" not in done.stdout


def test_page_marks_the_pair_of_the_first_stop(here):
    pytest.importorskip("trimesh", reason="pages need the extra 'view'")
    first = told("guard", "--page", "it.html", code=1)["first_stop"]
    page = (here / "it.html").read_text(encoding="utf-8")
    shown = re.findall(r"<tr><td><i [^>]*></i>([^<]*)</td><td>([^<]*)</td>", page)
    assert [sorted(pair) for pair in shown] == [sorted(first["pair"])]


def test_page_shows_the_first_stop(here):
    pytest.importorskip("trimesh", reason="pages need the extra 'view'")
    run("guard", "gantry.urdf", *AT_WALL, "--log", "log.csv", "--page", "it.html", code=1)
    assert (here / "it.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gantry.urdf"], "a robot needs a --log"),
        (["gantry.urdf", "--log", "nothing.csv"], "nothing.csv: No such file or directory."),
        (
            ["gantry.urdf", "--log", "q.csv"],
            "q.csv has columns that are not known: 'x'; known are 'time', 'q.x', 'q.y'",
        ),
        (["gantry.urdf", "--log", "half.csv"], "half.csv has no column 'q.y', 'qd.x', 'qd.y'"),
        (
            ["gantry.urdf", "--log", "wide.csv"],
            "wide.csv has 3 columns, but 5 were expected: time, q.x, q.y, qd.x, qd.y",
        ),
        (["gantry.urdf", "--log", "word.csv"], "word.csv, line 2: 'slow' is no number; commas part the columns."),
        (["--latency", "-1"], "latency must be finite and not negative"),
        (["--budget", "-1"], "budget must be a number of operations"),
        (["--margin", "inf"], "margin must be a finite number"),
        (["--timeout", "nan"], "timeout must be a finite number"),
        (["--allow", "lArm6,nose"], "there is no link or body 'nose'"),
    ],
)
def test_bad_input_ends_with_2(here, words, message):
    (here / "q.csv").write_text("x,time\n0,0\n")
    (here / "half.csv").write_text("q.x\n0\n")
    (here / "wide.csv").write_text("0,0,0\n")
    (here / "word.csv").write_text("0,0,0,0\nslow,0,0,0\n")
    assert_refused("guard", *words, message=message)


def test_place_that_cannot_be_written_ends_with_3(here):
    assert_refused("guard", "--out", "no/it.csv", message="no/it.csv cannot be written", code=3)


@needs_terminals
def test_terminals_get_a_bar_and_ctrl_c_leaves_nothing(here):
    log = sample_log()
    rows = np.concatenate([log.q, log.qd], axis=1)[:40]
    np.save(here / "long.npy", np.tile(rows, (3000, 1)))
    robot = ("guard", "--log", "long.npy", "--out", "verdicts.csv")
    code, printed, shown = on_terminal(*robot, interrupt=True)
    assert (code, printed) == (130, "")
    assert "replaying" in shown
    assert not list(here.glob("verdicts*"))
