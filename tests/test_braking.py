"""Where joints can be until they stand: the intervals of equations 35 to 37, and every way to drive them."""

from dataclasses import replace

import numpy as np
import pytest

import clearance as cl
import closed_loops
import robot_oracle
import robots
import sweep_oracle as oracle
from robots import PLANS
from sweep_oracle import braking_box

BRAKINGS = (
    {"latency": 0.01, "acceleration": 20.0, "deceleration": 20.0},
    {"latency": 0.03, "acceleration": 5.0, "deceleration": 12.0, "uncertainty": 0.002, "command_error": 1.5},
    {"latency": 0.2, "acceleration": 3.0, "deceleration": 0.7, "command_error": 0.2},
    {"latency": 0.0, "acceleration": 20.0, "deceleration": 4.0, "command_error": 7.0},
)
FIXED = ("seven", "scara", "gripper", "two arms", "stacked", "rover")

every_braking = pytest.mark.parametrize("braking", BRAKINGS)


def states(robot, rng, n):
    """Draw configurations and speeds, some of which are slow enough to turn around within the latency, some zero."""
    scale = 10.0 ** rng.uniform(-3, 0.5, (n, robot.nv)) * (rng.random((n, robot.nv)) < 0.9)
    return robot.random(n, seed=rng), rng.normal(size=(n, robot.nv)) * scale


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        assert np.max(np.abs(one - other)) <= 1e-12


# The formula ---------------------------------------------------------------------------------------------------------


@every_braking
@pytest.mark.parametrize("name", FIXED)
def test_intervals_follow_the_formula(name, braking):
    robot = PLANS[name]().robot()
    rng = np.random.default_rng(1)
    for q, qd in zip(*states(robot, rng, 20), strict=True):
        command = rng.normal(size=robot.nv) * 10
        assert_same(cl.Braking(**braking).intervals(robot, q, qd), braking_box(robot, q, qd, braking))
        found = cl.Braking(**braking).intervals(robot, q, qd, command)
        assert_same(found, braking_box(robot, q, qd, braking, command))


def test_the_values_of_the_paper():
    robot = cl.Robot([cl.Link("foot"), cl.Link("arm")], [cl.Joint("turn", "continuous", "foot", "arm")])
    low, high = cl.Braking().intervals(robot, [0.5], [2.0])
    # After 10 ms of 20 rad/s2 the speed is 2.2 rad/s, and 0.121 rad are needed to lose it.
    assert abs(high[0] - (0.5 + 0.021 + 0.121)) <= 1e-12
    assert low[0] == 0.5
    low, high = cl.Braking().intervals(robot, [0.5], [0.0])
    # At rest: 1 mrad while it speeds up to 0.2 rad/s, and 1 mrad to stop.
    assert abs(high[0] - 0.502) <= 1e-12
    assert abs(low[0] - 0.498) <= 1e-12


def test_numbers_arrays_and_names_mean_the_same():
    robot = robots.scara().robot()
    rng = np.random.default_rng(2)
    names = robot.joint_names
    for q, qd in zip(*states(robot, rng, 5), strict=True):
        values = {key: rng.uniform(0.01, 9.0, 4) for key in ("acceleration", "deceleration", "uncertainty")}
        expected = braking_box(robot, q, qd, {"latency": 0.02, **values})
        assert_same(cl.Braking(0.02, **values).intervals(robot, q, qd), expected)
        by_name = {key: dict(zip(names, value.tolist(), strict=True)) for key, value in values.items()}
        assert_same(cl.Braking(0.02, **by_name).intervals(robot, q, qd), expected)


def test_joints_that_are_not_named_keep_the_default():
    robot = robots.scara().robot()
    found = cl.Braking(acceleration={"elbow": 3.0}).intervals(robot, np.zeros(4), np.ones(4))
    assert_same(found, cl.Braking(acceleration=[20.0, 3.0, 20.0, 20.0]).intervals(robot, np.zeros(4), np.ones(4)))


# Theorems ------------------------------------------------------------------------------------------------------------


def accelerations(rng, low, high, latency, count, pieces=4):
    """Draw ways to drive joints within bounds, (pieces, count, nv), with how long each part takes."""
    shape = (pieces, count, len(low))
    share = np.where(rng.random(shape) < 0.7, rng.random(shape) < 0.5, rng.random(shape))
    share[:, 0], share[:, 1] = 0.0, 1.0
    durations = rng.random((pieces, count, len(low)))
    return low + share * (high - low), latency * durations / durations.sum(axis=0)


def places(robot, q, qd, bounds, braking, rng):
    how = accelerations(rng, *bounds, braking["latency"], 300)
    start = [np.broadcast_to(value, (300, robot.dof)) for value in (q, qd)]
    return closed_loops.driven(*start, *how, braking["deceleration"])


@every_braking
@pytest.mark.parametrize("name", ["scara", "two arms", "rover"])
def test_no_way_to_drive_leaves_the_interval(name, braking):
    plan = robots.Plan("", PLANS[name]().links, tuple(free(joint) for joint in PLANS[name]().joints))
    robot = plan.robot()
    rng = np.random.default_rng(3)
    for q, qd in zip(*states(robot, rng, 15), strict=True):
        most = np.full(robot.nv, braking["acceleration"])
        low, high = cl.Braking(**braking).intervals(robot, q, qd)
        where = places(robot, q, qd, (-most, most), braking, rng)
        assert np.all(where >= low - 1e-12)
        assert np.all(where <= high + 1e-12)
        # No interval is longer than needed.
        room = braking.get("uncertainty", 0.0)
        assert np.max(where.min(axis=(0, 1)) - room - low) <= 1e-12
        assert np.max(high - where.max(axis=(0, 1)) - room) <= 1e-12


@every_braking
def test_no_way_to_follow_a_command_leaves_the_interval(braking):
    plan = robots.scara()
    robot = robots.Plan("", plan.links, tuple(free(joint) for joint in plan.joints)).robot()
    rng = np.random.default_rng(4)
    error = braking.get("command_error", 0.0)
    for q, qd in zip(*states(robot, rng, 30), strict=True):
        command = rng.normal(size=robot.nv) * 20
        low, high = cl.Braking(**braking).intervals(robot, q, qd, command)
        where = places(robot, q, qd, (command - error, command + error), braking, rng)
        assert np.all(where >= low - 1e-12)
        assert np.all(where <= high + 1e-12)


def test_a_command_that_turns_a_joint_around_first_lets_it_run_on():
    robot = cl.Robot([cl.Link("foot"), cl.Link("arm")], [cl.Joint("turn", "continuous", "foot", "arm")])
    low, high = cl.Braking().intervals(robot, [0.0], [0.1], [-20.0])
    # It stands after 5 ms, 0.25 mrad ahead, and is back at the end of the latency.
    assert abs(high[0] - 0.00025) <= 1e-12
    assert abs(low[0] + 0.00025) <= 1e-12


def free(joint):
    """Return a joint without limits."""
    return replace(joint, lower=-np.inf, upper=np.inf)


def test_intervals_end_at_the_limits_that_joints_are_not_beyond():
    robot = robots.scara().robot()
    rng = np.random.default_rng(5)
    braking = {"latency": 0.2, "acceleration": 20.0, "deceleration": 2.0, "uncertainty": 0.01}
    clipped = 0
    for q, qd in zip(*states(robot, rng, 30), strict=True):
        q = np.where(rng.random(4) < 0.2, q * 2, q)  # some are beyond their limits
        low, high = cl.Braking(**braking).intervals(robot, q, qd)
        assert np.all((low <= q) & (q <= high))
        assert np.all((low >= robot.lower) | (q <= robot.lower))
        assert np.all((high <= robot.upper) | (q >= robot.upper))
        clipped += np.sum(high == robot.upper) + np.sum(low == robot.lower)
    assert clipped > 10


def test_intervals_grow_with_what_is_unknown():
    robot = robots.two_arms().robot()
    rng = np.random.default_rng(6)
    tame = {"latency": 0.01, "acceleration": 20.0, "deceleration": 20.0}
    for change in ({"latency": 0.02}, {"acceleration": 30.0}, {"deceleration": 10.0}, {"uncertainty": 0.01}):
        for q, qd in zip(*states(robot, rng, 5), strict=True):
            low, high = cl.Braking(**tame).intervals(robot, q, qd)
            lower, higher = cl.Braking(**{**tame, **change}).intervals(robot, q, qd)
            assert np.all(lower <= low)
            assert np.all(higher >= high)


# Floating joints -----------------------------------------------------------------------------------------------------


def flight(robot, q, qd, how, deceleration, dt=1e-3):
    """Return configurations of a robot that is driven by velocities step by step, then brakes."""
    found = [q]
    for a in how:
        q, qd = robot_oracle.stepped(robot, q, (qd + a * dt / 2) * dt), qd + a * dt
        found.append(q)
    while qd.any():
        slower = np.sign(qd) * np.maximum(np.abs(qd) - deceleration * dt, 0.0)
        q, qd = robot_oracle.stepped(robot, q, (qd + slower) / 2 * dt), slower
        found.append(q)
    return np.array(found)


def test_a_robot_that_floats_stays_inside_as_well():
    robot = robots.walker().robot()
    rng = np.random.default_rng(7)
    for q, qd in zip(*states(robot, rng, 8), strict=True):
        for scale in (1.0, 0.1):
            box = cl.Braking(0.02, 10.0, 10.0).intervals(robot, q, scale * qd)
            ways = [np.full((20, robot.nv), side * 10.0) for side in (-1, 1)]
            ways += [10.0 * rng.choice([-1.0, 1.0], size=(20, robot.nv)) for _ in range(2)]
            for way in ways:
                assert_in_box(robot, flight(robot, q, scale * qd, way, 10.0), *box)


def assert_in_box(robot, q, q_low, q_high):
    """Check configurations; those of a simulation by steps lie within a tenth of a millimetre."""
    box = oracle.JointBox.between(robot, q_low, q_high)
    where, half, middle = box.balls[0]
    angles = [oracle.turn_between(middle, turn) for turn in q[:, 3:7]]
    assert np.max(angles) <= half + 1e-4
    rest = np.r_[0:3, 7 : q.shape[1]]
    low, high = (np.delete(end, np.arange(where.start, where.stop)) for end in (box.low, box.high))
    inside = np.clip(q[:, rest], robot.lower[rest], robot.upper[rest])  # a limit would have held it
    assert np.all(inside >= low - 1e-4)
    assert np.all(inside <= high + 1e-4)


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("argument", ["latency", "acceleration", "deceleration", "uncertainty", "command_error"])
@pytest.mark.parametrize("value", [-0.1, np.nan])
def test_nonsense_is_refused(argument, value):
    with pytest.raises(ValueError, match=argument):
        cl.Braking(**{argument: value}).intervals(robots.scara().robot(), np.zeros(4), np.zeros(4))


def test_brakes_that_do_not_brake_are_refused():
    with pytest.raises(ValueError, match="deceleration"):
        cl.Braking(deceleration=0.0).intervals(robots.scara().robot(), np.zeros(4), np.zeros(4))


@pytest.mark.parametrize(
    ("change", "error", "word"),
    [
        ({"acceleration": [1.0, 2.0]}, ValueError, "acceleration"),
        ({"deceleration": {"nobody": 1.0}}, KeyError, "nobody"),
    ],
)
def test_values_that_do_not_fit_the_robot_are_refused(change, error, word):
    with pytest.raises(error, match=word):
        cl.Braking(**change).intervals(robots.scara().robot(), np.zeros(4), np.zeros(4))


@pytest.mark.parametrize("argument", ["q", "qd", "command"])
def test_the_wrong_number_of_values_is_refused(argument):
    given = {"q": np.zeros(4), "qd": np.zeros(4), "command": np.zeros(4)}
    given[argument] = np.zeros(3)
    with pytest.raises(ValueError, match="4"):
        cl.Braking().intervals(robots.scara().robot(), **given)
