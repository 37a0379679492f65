"""The robot cells of the benchmarks: counts, seeds, rigid poses, coherence, and the real meshes where installed."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import cell as generated
import real_cell

EPS = np.finfo(float).eps
SMALLEST = 344_000


@pytest.fixture(scope="module")
def small():
    return generated.cell(SMALLEST)


@pytest.fixture(scope="module")
def real():
    try:
        return real_cell.real_cell()
    except real_cell.MissingDataError as missing:
        pytest.skip(str(missing))


def assert_sound(soup):
    vertices, faces = soup
    assert vertices.dtype == np.float64
    assert faces.dtype == np.int32
    assert np.all(np.isfinite(vertices))
    assert faces.min() >= 0
    assert faces.max() < len(vertices)


def assert_rigid(poses):
    rotation = poses[..., :3, :3]
    # Up to a dozen rotations in a row, each true to some eps; URDF writes quarter turns with 5 digits, still rotations.
    assert np.abs(np.swapaxes(rotation, -1, -2) @ rotation - np.eye(3)).max() <= 100 * EPS
    assert np.all(np.linalg.det(rotation) > 0)
    assert np.all(poses[..., 3, :] == [0, 0, 0, 1])


def longest_steps(scenario):
    """How far the origins of the links move from one step to the next."""
    return np.max(
        [np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1) for poses in scenario.poses.values()], axis=0
    )


# The generated cell --------------------------------------------------------------------------------------------------


def test_cell_has_the_triangles_asked_for(small):
    arms = sum(len(faces) for _, faces in small.links.values())
    assert arms == pytest.approx(300_000, rel=0.03)
    assert len(small.statics[1]) == pytest.approx(SMALLEST - 300_000, rel=0.03)
    for soup in (small.car, small.fixtures, small.statics, *small.links.values()):
        assert_sound(soup)
    with pytest.raises(ValueError, match="triangles is 1000, but"):
        generated.cell(1000)


@pytest.mark.parametrize("count", [44_000, 400_000])
def test_statics_are_scaled_by_tessellation(count):
    vertices, faces = generated.statics(count)
    assert len(faces) == pytest.approx(count, rel=0.03)
    assert np.ptp(vertices, axis=0) == pytest.approx([14.0, 11.0, 4.3], abs=0.2)


@pytest.mark.long
def test_statics_of_forty_million_triangles():
    assert len(generated.statics(40_000_000)[1]) == pytest.approx(40e6, rel=0.03)


def test_car_is_as_large_as_a_car(small):
    assert np.ptp(small.car[0], axis=0) == pytest.approx([4.45, 1.77, 1.3], abs=0.1)


def test_seeds_repeat_and_differ(small):
    again, other = generated.cell(SMALLEST), generated.cell(SMALLEST, seed=2)
    for part in (0, 1):
        assert np.array_equal(again.statics[part], small.statics[part])
    assert not np.array_equal(other.fixtures[0], small.fixtures[0])
    first, second = (generated.motion_planning(small, 40, seed).poses["irb72_6"] for seed in (1, 1))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, generated.motion_planning(small, 40, seed=2).poses["irb72_6"])


def test_arm_turns_about_its_axes():
    joints = np.random.default_rng(3).uniform(*generated.JOINT_LIMITS.T, (5, 4, 6))
    poses = generated.arm_poses(2, joints)
    assert poses.shape == (5, 4, 7, 4, 4)
    assert_rigid(poses)
    assert np.allclose(poses[..., 0, :, :], generated.BASES[2])
    # The tip of the straight arm: the offsets of all joints in a row.
    tip = generated.arm_poses(0, np.zeros(6))[6] @ [*generated.TOOL_TIP, 1.0]
    assert tip == pytest.approx(
        [1.3, 2.7 - (0.32 + 0.30 + 0.8425 + 0.20 + 0.52), 0.40 + 0.38 + 1.075 + 0.20 - 0.10, 1.0]
    )


@pytest.mark.parametrize("make", [generated.play_forward, generated.motion_planning, generated.arm_against_arm])
def test_scenarios_move_what_they_name(small, make):
    scenario = make(small, steps=60)
    assert len(scenario) == 60
    assert set(scenario.poses) <= {*scenario.group_a, *scenario.group_b} <= {*small.links, "statics"}
    assert not {*scenario.group_a} & {*scenario.group_b}
    for poses in scenario.poses.values():
        assert_rigid(poses)


def test_play_forward_is_smooth_and_stays_the_same_motion(small):
    coarse, fine = generated.play_forward(small, 101), generated.play_forward(small, 1001)
    assert np.allclose(fine.poses["irb74_6"][::10], coarse.poses["irb74_6"])
    assert longest_steps(fine).max() < 0.1
    for poses in fine.poses.values():
        assert np.allclose(poses[0], poses[-1])


def test_no_coherence_is_play_forward_shuffled(small):
    forward, shuffled = generated.play_forward(small, 80), generated.no_coherence(small, 80)
    order = np.argsort(shuffled.poses["irb71_6"][:, 0, 3])
    expected = np.argsort(forward.poses["irb71_6"][:, 0, 3])
    for name, poses in forward.poses.items():
        assert np.allclose(poses[expected], shuffled.poses[name][order])
    assert longest_steps(shuffled).mean() > 5 * longest_steps(forward).mean()


def test_planning_goes_in_short_strides_with_jumps(small):
    steps = longest_steps(generated.motion_planning(small, 400))
    assert 0.8 < np.mean(steps < 0.3) < 1.0


# The real cell -------------------------------------------------------------------------------------------------------


def test_real_arms_are_read(real):
    for soup in (*real.links.values(), real.statics):
        assert_sound(soup)
    assert {name: len(arm.limits) for name, arm in real.arms.items()} == {"iiwa": 7, "kr16": 6, "jaco": 6, "xarm": 7}
    assert sum(len(faces) for _, faces in real.links.values()) > 200_000


@pytest.mark.parametrize("make", [real_cell.swaying, real_cell.scattered])
def test_real_scenarios_are_seeded_and_rigid(real, make):
    first, again, other = (make(real, 50, seed) for seed in (1, 1, 2))
    assert {*first.poses, "statics"} == {*first.group_a, *first.group_b}
    for name, poses in first.poses.items():
        assert poses.shape == (50, 4, 4)
        assert_rigid(poses)
        assert np.array_equal(poses, again.poses[name])
    assert not np.array_equal(first.poses["xarm_link7"], other.poses["xarm_link7"])


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(real_cell, "NEEDED", ("rtb-data-of-tomorrow",))
    with pytest.raises(real_cell.MissingDataError, match="pip install rtb-data-of-tomorrow"):
        real_cell.real_cell()
