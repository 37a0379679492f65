"""Ball joints turn every way about a point: floating joints that stay where they are."""

import numpy as np
import pytest

import clearance as cl

LIMB = cl.Capsule(0.05, 0.4).at([0.0, 0.0, 0.25])


def robot_with(kind):
    """A trunk, a limb on a joint that turns every way, and a hand on a hinge."""
    return cl.Robot(
        [cl.Link("trunk", cl.Box([0.3, 0.2, 0.3]).at([0.0, 0.0, -0.4])), cl.Link("limb", LIMB), cl.Link("hand", LIMB)],
        [
            cl.Joint("shoulder", kind, "trunk", "limb", cl.poses.from_rpy([0.2, -0.1, 0.4], [0.1, 0.0, 0.2])),
            cl.Joint("wrist", "revolute", "limb", "hand", [0.0, 0.0, 0.5], axis=[1, 0, 0], lower=-2.0, upper=2.0),
        ],
    )


BALL, FLOATING = robot_with("ball"), robot_with("floating")


def as_floating(q):
    q = np.asarray(q)
    return np.concatenate([np.zeros((*q.shape[:-1], 3)), q], axis=-1)


def test_a_ball_joint_has_four_values_and_three_velocities():
    assert (BALL.dof, BALL.nv, BALL.joint_names) == (5, 4, ["shoulder", "wrist"])
    assert BALL.neutral.tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]
    drawn = BALL.random(50, seed=0)
    np.testing.assert_allclose(np.linalg.norm(drawn[:, :4], axis=1), 1.0)
    assert BALL.within_limits(drawn).all()


def test_it_stands_and_moves_as_a_floating_joint_without_translation():
    q = BALL.random(20, seed=1)
    np.testing.assert_allclose(BALL.poses(q), FLOATING.poses(as_floating(q)), atol=1e-14)
    point = BALL.pose(q, "hand")[..., :3, 3] + 0.1
    np.testing.assert_allclose(
        BALL.jacobian(q, "hand", point), FLOATING.jacobian(as_floating(q), "hand", point)[..., 3:], atol=1e-14
    )


def test_paths_turn_as_those_of_a_floating_joint():
    q = BALL.random(4, seed=2)
    times = np.linspace(0.0, 3.0, 31)
    np.testing.assert_allclose(
        BALL.interpolate(q, times), FLOATING.interpolate(as_floating(q), times)[:, 3:], atol=1e-14
    )
    ours, theirs = cl.check_path(BALL, None, q), cl.check_path(FLOATING, None, as_floating(q))
    assert (ours.clear, ours.lower, ours.upper) == (theirs.clear, theirs.lower, theirs.upper)


@pytest.mark.parametrize("seed", range(5))
def test_swept_volumes_hold_every_turn_between(seed):
    rng = np.random.default_rng(seed)
    low, high = BALL.random(seed=rng), BALL.random(seed=rng)
    low[4], high[4] = sorted([low[4], high[4]])
    swept = cl.sweep(BALL, low, high)
    middle = low[:4] + np.sign(low[:4] @ high[:4]) * high[:4]
    middle /= np.linalg.norm(middle)
    largest = np.arccos(min(abs(middle @ low[:4]), 1.0))  # half of the angle to either end
    for _ in range(200):
        axis = rng.normal(size=3)
        half = largest * rng.uniform(0.0, 1.0)
        turn = np.append(np.sin(half) * axis / np.linalg.norm(axis), np.cos(half))
        q = np.append(product(middle, turn), rng.uniform(low[4], high[4]))
        gaps = BALL.distances(q)
        for pair, distance in zip(gaps.pairs, gaps.distance, strict=True):
            assert swept.lower(*pair) <= distance + 1e-9


def product(a, b):
    a, b = np.asarray(a), np.asarray(b)
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - a[:3] @ b[:3])


def test_a_guard_brakes_before_a_ball_joint_swings_into_something():
    wall = {"wall": cl.Box([0.1, 2.0, 2.0]).at([0.6, 0.0, 0.0])}
    guard = cl.Guard(BALL, wall)
    towards, away = np.array([0.0, 3.0, 0.0, 0.0]), np.zeros(4)
    reached = False
    q = BALL.neutral
    for _ in range(100):
        verdict = guard.update(q, towards)
        if verdict.stop:
            reached = True
            break
        assert verdict.lower > 0.0
        q = np.append(product(q[:4], [0.0, np.sin(0.015), 0.0, np.cos(0.015)]), 0.0)
    assert reached
    assert cl.is_clear(BALL, wall, q)
    assert not guard.update(q, away).stop
