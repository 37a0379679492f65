"""Results took the state of a pickle by its word: one that was too short was read beyond its end."""

import pytest

import clearance as cl
from clearance import _core

GAP = cl.distance(cl.Sphere(1.0), cl.Sphere(1.0).at([3.0, 0.0, 0.0])).__getstate__()
VERDICT = (True, 2, 1.0, 0, GAP, 0.0, 0.0, 0, 0, "a", "b")


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        *(
            (kind, state)
            for kind in (_core.RobotGap, _core.Nearest)
            for state in ((), (GAP,), (GAP, "a"), (GAP[:5], "a", "b"))
        ),
        *((_core.Verdict, VERDICT[:k]) for k in range(11)),
        (_core.Verdict, (True, 6, *VERDICT[2:])),
        (_core.Verdict, (True, -1, *VERDICT[2:])),
        (_core.Gap, GAP[:-1]),
    ],
)
def test_state_that_is_none_is_refused(kind, state):
    with pytest.raises((IndexError, ValueError, TypeError, RuntimeError)):
        kind.__new__(kind).__setstate__(state)


def test_whole_states_are_taken():
    again = _core.Verdict.__new__(_core.Verdict)
    again.__setstate__(VERDICT)
    assert (again.stop, again.reason, again.pair) == (True, "pair", ("a", "b"))
