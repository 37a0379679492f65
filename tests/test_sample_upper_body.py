"""The sample upper body has the size, the joints and the clearances that it is said to have."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import clearance as cl
from clearance import samples

HANDS = ("lArm6", "rArm6")
MIRROR = np.diag([1.0, -1.0, 1.0, 1.0])

every_speed = pytest.mark.parametrize("speed", [0.22, 0.65, 1.1])


@pytest.fixture(scope="module")
def robot():
    return samples.upper_body()


def bodies(link):
    return [link.shapes] if isinstance(link.shapes, cl.ConvexHull) else list(link.shapes)


def hand_gaps(robot, q):
    gaps = robot.distances(q)
    return gaps.distance[..., gaps.pairs.index(HANDS)]


def with_equal_arms(robot, q):
    """Configurations whose right arm does what the left one does, while torso and head look straight ahead."""
    names, mirrored = robot.joint_names, np.array(q)
    for k, name in enumerate(names):
        if name.startswith("rArm"):
            mirrored[..., k] = mirrored[..., names.index("l" + name[1:])]
    mirrored[..., [names.index("torso0"), names.index("head0")]] = 0.0
    return mirrored


def test_it_has_as_many_bodies_points_and_joints_as_the_robot_it_stands_for(robot):
    hulls = [body for link in robot.links for body in bodies(link)]
    assert all(isinstance(hull, cl.ConvexHull) for hull in hulls)
    counts = [len(hull.points) for hull in hulls]
    assert (len(hulls), sum(counts), len(robot.joints), robot.dof) == (26, 80, 20, 19)
    assert min(counts) >= 1
    assert max(counts) <= 8
    assert all(hull.radius > 0.0 for hull in hulls)


def test_the_file_has_one_line_per_body_and_joint():
    text = (Path(cl.__file__).parent / "data" / "upper_body.json").read_text(encoding="utf-8")
    lines = [json.loads(line.rstrip(",")) for line in text.splitlines() if line.startswith("    {")]
    assert lines == [line for part in json.loads(text).values() for line in part]
    assert len({(line["link"], line["body"]) for line in lines if "body" in line}) == 26


def test_every_joint_is_limited_and_as_fast_as_the_others(robot):
    assert all(joint.kind == "revolute" for joint in robot.joints)
    assert (robot.lower < 0.0).all()
    assert (robot.upper > 0.0).all()
    assert max(robot.upper.max(), -robot.lower.min()) < np.pi
    np.testing.assert_array_equal(robot.velocity, 0.75 * np.pi)


def test_the_chest_is_shifted_but_not_turned_by_the_coupled_joints(robot):
    assert "torso3" not in robot.joint_names
    shifted = [robot.pose({"torso2": bend}, "torso3") for bend in np.linspace(-0.6, 1.5, 8)]
    for chest in shifted:
        np.testing.assert_allclose(chest[:3, :3], np.eye(3), atol=1e-12)
    assert (np.diff([chest[0, 3] for chest in shifted]) > 0.01).all()


def test_followed_limits_are_those_of_the_joint_that_leads(robot):
    joints = {joint.name: joint for joint in robot.joints}
    lead, follow = joints["torso2"], joints["torso3"]
    assert follow.mimic == ("torso2", -1.0, 0.0)
    assert (follow.lower, follow.upper) == (-lead.upper, -lead.lower)


def test_arms_are_mirror_images(robot):
    links = {link.name: link for link in robot.links}
    q = with_equal_arms(robot, robot.random(20, seed=1))
    placed = {name: robot.pose(q, name) for name in links}
    for k in range(7):
        left, right = (f"{side}Arm{k}" for side in "lr")
        np.testing.assert_allclose(MIRROR @ placed[left] @ MIRROR, placed[right], atol=1e-12)
        for a, b in zip(bodies(links[left]), bodies(links[right]), strict=True):
            np.testing.assert_array_equal(a.points * [1.0, -1.0, 1.0], b.points)
            assert a.radius == b.radius


def test_it_is_as_large_as_a_tall_person(robot):
    shoulder, hand = (robot.pose(robot.neutral, name) for name in ("lArm1", "lArm6"))
    assert 1.2 < shoulder[2, 3] < 1.5
    hull = bodies(robot.links[robot.link_names.index("lArm6")])[1]
    tips = hull.points @ hand[:3, :3].T + hand[:3, 3]
    assert 1.0 < np.linalg.norm(tips - shoulder[:3, 3], axis=1).max() + hull.radius < 1.1
    assert 0.18 < np.ptp(hull.points[:, 1]) + 2.0 * hull.radius < 0.22
    elbow, wrist = (robot.pose(robot.neutral, name)[:3, 3] for name in ("lArm3", "lArm5"))
    np.testing.assert_allclose(np.linalg.norm([elbow - shoulder[:3, 3], wrist - elbow], axis=1), [0.4, 0.39])
    scene = robot.scene(robot.neutral, {"ground": cl.HalfSpace([0.0, 0.0, 1.0], 0.0)})
    assert 0.0 < scene.nearest("base", "ground").distance < 0.1
    ceiling = cl.HalfSpace([0.0, 0.0, -1.0], -1.9)
    assert robot.nearest(robot.neutral, {"ceiling": ceiling}).distance > 0.0


def test_links_that_a_joint_connects_overlap_and_no_others_are_excused(robot):
    joined = {frozenset((joint.parent, joint.child)) for joint in robot.joints}
    free = {frozenset(pair) for pair in robot.pairs}
    assert len(joined) == 20
    assert not joined & free
    assert len(joined | free) == 21 * 20 // 2
    everything = samples.upper_body()
    for joint in robot.joints:
        everything.forbid(joint.parent, joint.child)
    gaps = everything.distances(robot.random(200, seed=5))
    overlapping = [k for k, pair in enumerate(gaps.pairs) if frozenset(pair) in joined]
    assert (gaps.distance[:, overlapping] < -0.01).all()


def test_no_pair_touches_everywhere_and_random_configurations_often_do():
    robot = samples.upper_body()
    assert robot.allow_by_sampling(3000, seed=3).always == []
    assert 0.2 < 1.0 - cl.is_clear(robot, None, robot.random(3000, seed=4)).mean() < 0.6


def test_home_is_clear(robot):
    home = samples.upper_body_home()
    assert robot.within_limits(home)
    assert robot.nearest(home).lower > 0.05
    np.testing.assert_array_equal(with_equal_arms(robot, home), home)
    for hand in HANDS:
        assert robot.pose(home, hand)[0, 3] > 0.4  # ahead of the chest


@every_speed
def test_clap_is_a_line_in_joint_space_within_limits(robot, speed):
    clap = samples.upper_body_clap(speed)
    np.testing.assert_allclose(clap.start + clap.duration * clap.velocity, clap.end, atol=1e-12)
    assert robot.within_limits([clap.start, clap.end]).all()
    assert (np.abs(clap.velocity) <= robot.velocity).all()
    still = [name for name in robot.joint_names if "Arm" not in name]
    assert not clap.velocity[[robot.joint_names.index(name) for name in still]].any()
    for q in (clap.start, clap.end):
        np.testing.assert_array_equal(with_equal_arms(robot, q), q)


@every_speed
def test_hands_meet_at_the_speed_asked_for(robot, speed):
    clap = samples.upper_body_clap(speed)
    times = np.linspace(0.0, clap.duration, 1001)
    gaps = hand_gaps(robot, clap.start + times[:, None] * clap.velocity)
    assert 0.45 < gaps[0] < 0.55
    assert -0.08 < gaps[-1] < -0.03
    assert (np.diff(gaps) < 0.0).all()
    contact = np.interp(0.0, -gaps, times)
    assert contact == pytest.approx(clap.duration / 1.1, rel=0.01)
    around = contact + np.array([-1e-4, 1e-4]) / speed
    before, after = hand_gaps(robot, clap.start + around[:, None] * clap.velocity)
    assert (before - after) / np.ptp(around) == pytest.approx(speed, rel=0.01)


def test_hands_meet_before_anything_else_comes_near(robot):
    clap = samples.upper_body_clap(0.65)
    found = cl.clearances(robot, None, np.linspace(clap.start, clap.end, 400))
    near = found.distance < 0.05
    assert near.sum() > 40
    assert {tuple(pair) for pair in np.array(found.pair)[near].tolist()} == {HANDS}
    others = samples.upper_body()
    others.allow(*HANDS)
    assert cl.check_path(others, None, [clap.start, clap.end], margin=0.05).clear


@pytest.mark.parametrize("speed", [0.0, -0.5, np.nan, np.inf, 9.0])
def test_claps_that_cannot_be_are_refused(speed):
    with pytest.raises(ValueError, match="speed"):
        samples.upper_body_clap(speed)


def test_it_can_be_pickled(robot):
    again = pickle.loads(pickle.dumps(robot))
    assert repr(again) == repr(robot)
    assert again.pairs == robot.pairs
    q = robot.random(50, seed=6)
    np.testing.assert_array_equal(again.distances(q).distance, robot.distances(q).distance)


def test_each_call_gives_its_own():
    samples.upper_body_home()[:] = 9.0
    samples.upper_body_clap(1.0).start[:] = 9.0
    assert samples.upper_body_home().max() < 3.0
    assert samples.upper_body_clap(1.0).start.max() < 3.0
    samples.upper_body().allow(*HANDS)
    assert not samples.upper_body().is_allowed(*HANDS)
