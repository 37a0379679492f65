"""The sample arm, its cell and its path are what they say."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

import clearance as cl
from clearance import samples

BLOCKED = ("scipy", "trimesh", "matplotlib")


@pytest.fixture(scope="module")
def arm():
    return samples.arm()


@pytest.fixture(scope="module")
def cell():
    return samples.arm_cell()


WITHOUT_EXTRAS = f"""
import sys
for name in {BLOCKED!r}:
    sys.modules[name] = None
from clearance import samples
print(samples.arm().nearest(samples.arm_path()[0], samples.arm_cell()).pair)
"""


def test_arm_needs_nothing_but_numpy():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS], check=True, timeout=120, capture_output=True, text=True
    )
    assert done.stdout == "('palm', 'shelf')\n"


def test_arm_reaches_a_metre_and_has_limits_and_speeds(arm):
    q = arm.random(20_000, seed=1)
    assert ((arm.lower <= q) & (q <= arm.upper)).all()
    reach = np.linalg.norm(arm.pose(q, "tcp")[:, :3, 3] - arm.pose(arm.neutral, "upper_arm")[:3, 3], axis=1).max()
    assert 0.9 < reach < 1.1
    assert np.isfinite([arm.lower, arm.upper, arm.velocity]).all()
    assert (arm.velocity > 0.0).all()


def test_fingers_open_together(arm):
    for grip in (0.0, 0.02, 0.05):
        palm, left, right = (arm.pose({"grip": grip}, name) for name in ("palm", "left_finger", "right_finger"))
        for finger, side in ((left, 1.0), (right, -1.0)):
            np.testing.assert_allclose((np.linalg.inv(palm) @ finger)[:3, 3], [0.0, side * grip, 0.076], atol=1e-12)
    assert "grip_mirror" not in arm.joint_names


def test_pairs_that_the_file_excuses_never_touch(arm):
    everything = samples.arm()
    links = everything.link_names
    chain = {frozenset((joint.parent, joint.child)) for joint in arm.joints}
    excused = [
        (a, b)
        for k, a in enumerate(links)
        for b in links[k + 1 :]
        if arm.is_allowed(a, b) and not {frozenset((a, b))} & chain and "tcp" not in (a, b)
    ]
    fixed = {("wrist", "palm"), ("flange", "left_finger"), ("flange", "right_finger"), ("left_finger", "right_finger")}
    excused = [pair for pair in excused if pair not in fixed]
    assert len(excused) == 16
    for pair in excused:
        everything.forbid(*pair)
    gaps = everything.distances(arm.random(20_000, seed=2))
    for pair in excused:
        assert gaps.lower[:, gaps.pairs.index(pair)].min() > 0.01, pair


def test_fingers_meet_when_they_are_closed():
    robot = samples.arm()
    robot.forbid("left_finger", "right_finger")
    closed, ajar = (robot.distances({"grip": grip}) for grip in (0.0, 0.02))
    column = closed.pairs.index(("left_finger", "right_finger"))
    assert closed.distance[column] == pytest.approx(0.002, abs=1e-9)
    assert ajar.distance[column] == pytest.approx(0.042, abs=1e-9)


def test_random_configurations_are_neither_all_free_nor_all_blocked(arm, cell):
    assert 0.3 < cl.is_clear(arm, cell, arm.random(5000, seed=3)).mean() < 0.8


def test_foot_may_stand_on_the_floor_and_nothing_else_in_the_cell(arm, cell):
    assert arm.is_allowed("foot", "floor")
    checked = {pair for pair in arm.distances(arm.neutral, cell).pairs if "foot" in pair}
    assert {b for a, b in checked if a == "foot"} >= set(cell.names) - {"floor"}


def test_furniture_stands_on_the_floor_and_apart(cell):
    scene = samples.arm_cell()
    scene.watch_all()
    table = scene.distances()
    touching = {
        frozenset((a, b)) for a, b, gap in zip(table.name_a, table.name_b, table.distance, strict=True) if gap < 0.005
    }
    stand = {frozenset(("floor", name)) for name in ("table", "shelf", "column", "machine")}
    assert touching == stand | {frozenset(("table", "bin"))}
    assert table.distance.min() > -1e-9


def test_path_is_proved_to_keep_its_distance(arm, cell):
    path = samples.arm_path()
    assert ((arm.lower <= path) & (path <= arm.upper)).all()
    report = cl.check_path(arm, cell, path, margin=0.01, tolerance=1e-5)
    assert report.clear
    assert 0.01 < report.lower <= report.upper < 0.03  # close, and clear
    dense = np.concatenate([np.linspace(a, b, 500) for a, b in itertools.pairwise(path)])
    sampled = cl.clearances(arm, cell, dense)
    assert report.lower <= sampled.distance.min()
    assert len({frozenset(pair) for pair in sampled.pair}) > 5  # many things come near


def test_path_leads_from_between_boards_into_the_machine(arm, cell):
    start, end = (arm.pose(q, "tcp")[:3, 3] for q in samples.arm_path()[[0, -1]])
    for point, name in ((start, "shelf"), (end, "machine")):
        inside = np.linalg.inv(cell.pose(name)) @ [*point, 1.0]
        assert inside[0] < -0.1, name  # behind its front
    # Cartons stand on either side of the gripper, boards lie above and below.
    for way in ([0.0, 0.0, 0.21], [0.0, 0.0, -0.11]):
        assert cl.distance(cl.Sphere(1e-6).at(np.add(start, way)), _placed(cell, "shelf")).distance < 0.03


def test_each_call_gives_its_own():
    samples.arm_path()[:] = 0.0
    assert samples.arm_path().any()
    samples.arm().allow("palm")
    assert not samples.arm().is_allowed("palm", "carousel")


def _placed(scene, name):
    return scene.shape(name).at(scene.pose(name))
