"""Runs of the command line: in this process, as one of its own, on a terminal; and a gantry to run it on."""

import json
import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("typer", reason="the command line needs the extra 'cli'")
from typer.testing import CliRunner

from clearance.cli import make_app

COMMAND = [sys.executable, "-m", "clearance.cli"]

# A ball on two rails that carry it along x and y; a box hangs a metre above it.
GANTRY = """<robot name="gantry">
  <link name="frame">
    <collision><origin xyz="0 0 1"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision>
  </link>
  <link name="carriage"/>
  <link name="tool"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="x" type="prismatic">
    <parent link="frame"/><child link="carriage"/>
    <axis xyz="1 0 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/>
  </joint>
  <joint name="y" type="prismatic">
    <parent link="carriage"/><child link="tool"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="1" effort="1"/>
  </joint>
</robot>
"""
WALL = "v 0 -5 -5\nv 0 5 -5\nv 0 5 5\nv 0 -5 5\nf 1 2 3\nf 1 3 4\n"  # across x
BRICK = """v 0 0 0
v 200 0 0
v 0 100 0
v 200 100 0
v 0 0 50
v 200 0 50
v 0 100 50
v 200 100 50
f 1 3 4 2
f 5 6 8 7
f 1 2 6 5
f 3 7 8 4
f 1 5 7 3
f 2 4 8 6
"""  # in millimetres


def settle(folder, monkeypatch):
    """Go to a folder that has a gantry, a wall and a brick."""
    monkeypatch.chdir(folder)
    for name, text in (("gantry.urdf", GANTRY), ("wall.obj", WALL), ("brick.obj", BRICK)):
        (folder / name).write_text(text)
    return folder


def run(*words, code=0):
    """Run a command here, and expect an exit code."""
    done = CliRunner().invoke(make_app(), [str(word) for word in words])
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.stderr
    return done


def told(*words, code=0):
    """Run a command with --json, and read what it prints: one line, and nothing that JSON does not have."""
    printed = run(*words, "--json", code=code).stdout
    assert printed.count("\n") == 1
    return json.loads(printed, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def assert_refused(*words, message, code=2):
    """Expect that a command says what is wrong, prints nothing and leaves nothing."""
    before = everything()
    done = run(*words, code=code)
    assert message in done.stderr
    assert done.stdout == ""
    assert everything() == before


def everything():
    """List all files below this folder."""
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names)


def as_process(*words):
    """Run a command as a process of its own, with pipes."""
    return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, timeout=300)


def on_terminal(*words, interrupt=False):
    """Run a command whose standard error is a terminal; give its code, its output and what the terminal shows.

    With `interrupt` it gets Ctrl-C as soon as there is a bar.
    """
    ours, theirs = os.openpty()
    with subprocess.Popen([*COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                more = os.read(ours, 10_000)
            except OSError:  # nobody is at the other end any more
                break
            shown += more
            if interrupt and b"%" in shown:
                process.send_signal(signal.SIGINT)
                interrupt = False
            if not more:
                break
        printed, _ = process.communicate(timeout=300)
    os.close(ours)
    return process.returncode, printed, shown.decode()


needs_terminals = pytest.mark.skipif(os.name != "posix", reason="there are no such terminals there")
