"""A state that is too short is an error, not a look at whatever stands behind it in memory."""

import subprocess
import sys

import pytest

FORGED = """
import clearance as cl
from clearance import _core
gap = cl.distance(cl.Sphere(1.0), cl.Sphere(1.0).at([3.0, 0.0, 0.0])).__getstate__()
states = {
    "Gap": gap,
    "Work": gap[-1].__getstate__(),
    "Nearest": (gap, "a", "b"),
    "RobotGap": (gap, "a", "b"),
    "Verdict": (True, 1, 0.0, 5, gap, 0.0, 0.0, 0, 0, "a", "b"),
}
kind, state = getattr(_core, NAME), states[NAME]
kind.__new__(kind).__setstate__(state)
for length in range(len(state)):
    for _ in range(200):
        try:
            kind.__new__(kind).__setstate__(state[:length])
        except (ValueError, IndexError, TypeError):
            continue
        raise SystemExit(f"a state of {length} was taken")
wrong_reasons = [(True, reason, *state[2:]) for reason in (-1, 6)] if NAME == "Verdict" else []
for wrong in (None, 1, "text", [], {}, state[:-1] + type(state)([object()]), *wrong_reasons):
    try:
        kind.__new__(kind).__setstate__(wrong)
    except (ValueError, IndexError, TypeError, RuntimeError):
        continue
    raise SystemExit(f"{wrong!r} was taken")
"""


@pytest.mark.parametrize("name", ["Gap", "Work", "Nearest", "RobotGap", "Verdict"])
def test_short_states_are_refused(name):
    program = f"NAME = {name!r}\n{FORGED}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
