"""Paths that are functions of time: what is proved of them, and functions that are none."""

import numpy as np
import pytest

import clearance as cl
import robot_oracle as oracle
import robots
from path_cases import MARGINS, allowed, overlap, random_flat_case, swing, value_at
from robots import as_mapping


def circle(plan, t):
    """Go round in the space of two joints, and come back to the start."""
    return np.array([0.8 * np.sin(2 * np.pi * t), 0.5 + 0.6 * np.cos(2 * np.pi * t)])


@pytest.mark.parametrize("seed", range(12))
def test_callable_paths_are_never_called_clear_where_samples_touch(seed):
    rng = np.random.default_rng([5, seed])
    plan = robots.planar_arm((0.5, 0.4))
    angle, away = rng.uniform(-1.5, 2.0), rng.uniform(0.6, 1.1)
    world = {"pin": (cl.Sphere(0.03).at([away * np.cos(angle), away * np.sin(angle), 0.0]),)}
    rates = [0.8 * 2 * np.pi, 0.6 * 2 * np.pi]
    report = cl.check_path(plan.robot(), as_mapping(world), lambda t: circle(plan, t), 0.01, rates=rates)
    t = np.linspace(0.0, 1.0, 2000)
    distance = oracle.least(plan, world, np.stack([circle(plan, each) for each in t]))
    assert report.lower <= distance.min() + 1e-8
    assert report.upper - report.lower <= 1e-3 * (1 + 1e-9)
    assert report.upper <= distance.min() + 1e-3
    assert np.allclose(report.q_worst, circle(plan, report.t_worst), rtol=0, atol=1e-12)
    value = value_at(plan, world, report.q_worst)
    assert abs(value - report.upper) <= allowed(value)
    assert not (report.clear and np.any(distance <= 0.01))
    if not report.lower <= 0.01 <= report.upper:
        assert report.clear == (report.lower > 0.01)
    if np.any(distance <= 0.01):
        start, end = report.first_violation
        assert 0 <= start <= t[distance <= 0.01][0]
        assert start <= end <= 1


def test_about_half_of_the_callable_paths_touch():
    plan, touched = robots.planar_arm((0.5, 0.4)), []
    q = np.stack([circle(plan, each) for each in np.linspace(0.0, 1.0, 500)])
    for seed in range(12):
        rng = np.random.default_rng([5, seed])
        angle, away = rng.uniform(-1.5, 2.0), rng.uniform(0.6, 1.1)
        world = {"pin": (cl.Sphere(0.03).at([away * np.cos(angle), away * np.sin(angle), 0.0]),)}
        touched.append(np.any(oracle.least(plan, world, q) <= 0.01))
    assert 0.3 <= np.mean(touched) <= 0.7


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (1, -2, 0)])
def test_function_may_turn_a_floating_joint_about_any_axis(axis):
    tips = tuple(cl.Sphere(0.02).at(tip) for tip in 0.9 * np.eye(3))
    free = robots.JointPlan("free", "floating", "map", "body", robots.lift(0.1, 0.2, 0.3, (1.0, 1.0, 0.0), 0.5))
    plan = robots.Plan("jack", {"map": (), "body": tips}, (free,))
    about = np.array(axis) / np.linalg.norm(axis)
    tip = 0.9 * np.eye(3)[np.argmin(np.abs(about))]

    def path(t):
        return [*(0.2 * t * about), *(np.sin(0.75 * t) * about), np.cos(0.75 * t)]

    rates = np.abs(np.concatenate([0.2 * about, 1.5 * about]))
    # A pin where one of the tips comes by in the middle; it is neither there before nor after.
    there = (oracle.link_poses(plan, np.array(path(0.45)))["body"] @ [*tip, 1.0])[:3]
    for off, expected in (([0.0, 0.0, 0.0], False), ((0.1 * plan.joints[0].origin[:3, :3] @ about), True)):
        world = {"pin": (cl.Sphere(0.01).at(there + off),)}
        assert min(value_at(plan, world, path(t)) for t in (0.0, 0.5, 1.0)) > 0.01
        report = cl.check_path(plan.robot(), as_mapping(world), path, rates=rates)
        distance = oracle.least(plan, world, np.stack([path(t) for t in np.linspace(0.0, 1.0, 500)]))
        assert report.clear == expected
        assert report.lower <= distance.min() + 1e-8
        assert report.upper <= distance.min() + 1e-3
        assert report.upper - report.lower <= 1e-3 * (1 + 1e-9)


def test_straight_line_as_a_function_is_the_straight_line():
    for seed in range(10):
        plan, world, (start, end, *_) = random_flat_case(seed)
        margin = MARGINS[seed % len(MARGINS)]
        robot, bodies = plan.robot(), as_mapping(world)
        line = cl.check_path(robot, bodies, [start, end], margin)
        found = cl.check_path(
            robot,
            bodies,
            lambda t, start=start, end=end: start + t * (end - start),
            margin,
            rates=np.abs(end - start) * (1 + 1e-12) + 1e-12,
        )
        assert overlap(found, line)
        if not line.lower <= margin <= line.upper + 1e-3:
            assert found.clear == line.clear


def test_looser_rates_are_right_as_well():
    plan, world = swing(), {"ball": (cl.Sphere(0.05).at([0.0, 1.2, 0.0]),)}
    answers = [
        cl.check_path(plan.robot(), as_mapping(world), lambda t: [3.0 * t], rates=[r]) for r in (3.0, 10.0, 60.0)
    ]
    for report in answers:
        assert report.clear
        assert report.lower <= 0.13 <= report.upper + 1e-12


@pytest.mark.parametrize("bad", [None, [1.0, 2.0], [np.nan], [-1.0], [np.inf], "x", []])
def test_functions_need_rates(bad):
    with pytest.raises((ValueError, TypeError), match="rates"):
        cl.check_path(swing().robot(), cl.Sphere(0.1).at([3.0, 0.0, 0.0]), lambda t: [t], rates=bad)


@pytest.mark.parametrize("bad", [[1.0, 2.0], [np.nan], "x", None])
def test_functions_that_return_no_configuration_are_refused(bad):
    with pytest.raises((ValueError, TypeError)):
        cl.check_path(swing().robot(), cl.Sphere(0.1).at([3.0, 0.0, 0.0]), lambda t: bad, rates=[1.0])


def test_errors_of_a_function_come_through():
    def broken(t):
        raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        cl.check_path(swing().robot(), cl.Sphere(0.1).at([3.0, 0.0, 0.0]), broken, rates=[1.0])
